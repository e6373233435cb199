"""The service in one thread."""

import pytest

from hsb.serve.checking import check
from hsb.serve.core import Create, Decide, Reward
from hsb.serve.local import Local, clock

SPEC = {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}, "floor": 0.1}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "hsb.db"


def test_what_is_answered_is_there_after_a_restart(path):
    local = Local(path)
    local.ask(Create(0, SPEC, b"s" * 32))
    decisions = local.ask_all([Decide(k, "home", f"d{k}", 0.5) for k in range(5)])
    local.ask(Reward(9, "d2", 1.0))
    digest = local.core.policies["home"].version
    local.close()
    again = Local(path)
    assert again.core.policies["home"].version == digest
    assert again.ask(Decide(1, "home", "d3", 0.5)).body["arm"] == decisions[3].body["arm"]  # the same id, the same decision
    assert check(again.store).sound
    again.close()


def test_time_never_goes_back():
    first, second = clock(), clock()
    assert second.mono >= first.mono
