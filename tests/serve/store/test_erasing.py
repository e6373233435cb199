"""What is erased or forgotten in a journal."""

import pytest
from support.serve.core_cases import At, make

from hsb.serve.core import Decide, Reward
from hsb.serve.store.erasing import not_elsewhere, words_of

ALICE = "alice@example.org"


def context(k):
    user = ALICE if k % 5 == 0 else f"user {k % 4}"
    return {"user": user, "lists": [ALICE, "news"] if k % 10 == 0 else ["news"], "country": "de" if k % 3 else "fr", "x": k % 7}


def filled(at, first, last):
    at.ask_all([Decide(k, "home", f"d{k}", context(k)) for k in range(first, last)])
    at.ask_all([Reward(k, f"d{k}", float(k % 2)) for k in range(first, last)])


@pytest.fixture
def at(tmp_path):
    local = At(tmp_path / "hsb.db")
    yield local
    local.close()


def test_words_that_no_other_decision_has(at):
    make(at, policy={"kind": "HSB"})
    filled(at, 0, 40)
    mine = [f"d{k}" for k in range(0, 40, 5)]
    words = words_of(at.store, 1, mine)
    assert sorted(words) == [ALICE, "de", "fr", "news"]
    assert not_elsewhere(at.store, 1, words, mine, 0) == ([ALICE], None)
    assert not_elsewhere(at.store, 1, words, mine[1:], 0) == ([], None)
    assert not_elsewhere(at.store, 2, ["de"], [], 0) == (["de"], None)
