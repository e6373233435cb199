"""What is erased or forgotten in a journal."""

import pytest
from support.serve.core_cases import At, make

from hsb.serve.core import Decide, Purge, Reward
from hsb.serve.store import erasing
from hsb.serve.store.erasing import about_person, not_elsewhere, words_of

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


def test_a_part_of_a_word_is_another_word(at):
    make(at, policy={"kind": "HSB"})
    at.ask_all([Decide(0, "home", "mine", {"user": "anna"}), Decide(1, "home", "other", {"user": "annabel", "x": "an\\na"})])
    assert not_elsewhere(at.store, 1, ["anna", "annabel"], ["mine"], 0) == (["anna"], None)


def test_people_are_found_in_one_policy(at):
    make(at, policy={"kind": "HSB"})
    filled(at, 0, 20)
    mine = [f"d{k}" for k in range(0, 20, 5)]
    assert about_person(at.store, 1, '$."user"', ALICE, 0) == (mine, None)
    assert about_person(at.store, 2, '$."user"', ALICE, 0) == ([], None)
    assert about_person(at.store, 1, '$."x"', "6", 0)[0] == ["d6", "d13"]
    assert about_person(at.store, 1, '$."user"', ALICE, 10)[0] == mine[2:]  # the rows after the tenth


def test_policies_are_erased_in_parts(at, monkeypatch):
    monkeypatch.setattr(erasing, "ROWS", 8)
    make(at, policy={"kind": "Exp3"}, feedback={"learn": "on_arrival"})
    filled(at, 0, 20)
    at.ask(Purge(0, "home"))
    parts = 0
    while at.store.transact(erasing.erase_some):
        parts += 1
    assert parts >= 3 and not erasing.erase_some(at.store)
    for table in ("decision", "reward", "pending", "closed", "stream", "snapshot"):
        assert at.store.rows(f"SELECT COUNT(*) FROM {table}") == [(0,)], table
