"""A journal is what it says, or it is noticed."""

import sqlite3

import pytest

from hsb.serve.checking import check
from hsb.serve.core import Create, Decide, Reward
from hsb.serve.local import Local
from hsb.serve.store.sqlite import SqliteReader


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "hsb.db"
    local = Local(path)
    local.ask(Create(0, {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}, "floor": 0.1}, b"s" * 32))
    for k in range(20):
        local.ask(Decide(k, "home", f"d{k}", 0.5))
        local.ask(Reward(k, f"d{k}", k % 2))
    local.close()
    return path


def report(path):
    reader = SqliteReader(path)
    try:
        return check(reader)
    finally:
        reader.close()


def test_a_sound_journal_is_counted(journal):
    result = report(journal)
    assert result.sound and (result.policies, result.decisions, result.rewards, result.updates) == (1, 20, 20, 20)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE decision SET propensity = propensity / 2 WHERE id = 'd3'",
        "UPDATE reward SET value = 1 - value WHERE decision = 'd4'",
        "UPDATE decision SET u = 0.999 WHERE id = 'd7'",
    ],
)
def test_a_change_is_noticed(journal, change):
    with sqlite3.connect(journal) as file:
        file.execute(change)
    file.close()
    result = report(journal)
    assert not result.sound and result.problems and result.first
