"""A decision in a receipt: it comes back whole, or not at all."""

import pytest

from hsb.serve.core import Create, Decide, Reward
from hsb.serve.local import Local

SPEC = {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}, "floor": 0.1, "durability": "receipt"}


@pytest.fixture
def local(tmp_path):
    local = Local(tmp_path / "hsb.db")
    local.ask(Create(0, SPEC, b"s" * 32))
    yield local
    local.close()


def test_a_receipt_brings_its_decision(local):
    decision = local.ask(Decide(1, "home", "d1", 0.5, fresh=True)).body
    assert decision["receipt"]
    assert local.ask(Reward(2, "d1", 1.0, receipt=decision["receipt"])).status in ("learned", "accepted")


@pytest.mark.parametrize(
    "change", [lambda text: text[:-4], lambda text: "A" + text[1:], lambda text: text + "AAAA", lambda text: ""]
)
def test_a_receipt_that_was_changed_is_none(local, change):
    decision = local.ask(Decide(1, "home", "d1", 0.5, fresh=True)).body
    status = local.ask(Reward(2, "d2", 1.0, receipt=change(decision["receipt"]))).status
    assert status not in ("learned", "accepted")
