"""Queries of a journal: what the store answers about decisions, rewards and deadlines, against sums by hand."""

import pytest
from support.serve.core_cases import SECOND, At, make

from hsb.serve.core import Decide, Reward, Void
from hsb.serve.core.orders import Learn, Needs
from hsb.serve.core.rows import RowKind

WAIT = 60 * SECOND


@pytest.fixture
def at(tmp_path):
    """Of six decisions, the first three have a reward and are due, the fourth is void, and two wait."""
    local = At(tmp_path / "hsb.db")
    make(local, feedback={"wait": 60})
    local.ask_all([Decide(k, "home", f"d{k}", {"x": k}) for k in range(4)])
    local.ask_all([Reward(k, f"d{k}", k / 4) for k in range(3)])
    local.ask(Void(0, "d3"))
    local.later(WAIT)
    local.ask_all([Reward(0, "d0", 0.5, "2"), *(Decide(k, "home", f"d{k}", {"x": k}) for k in (4, 5))])
    yield local
    local.close()


def test_ends_of_decisions(at):
    rows, last = at.store.ends(1, 0, 100)
    assert last == 6 and [(row.position, row.how) for row in rows] == [
        (1, "learned"),
        (2, "learned"),
        (3, "learned"),
        (4, "void"),
        (5, "pending"),
        (6, "pending"),
    ]
    arms = {row.id: row.arm for row in at.store.decisions(1)}
    assert [row.arm for row in rows] == [arms[f"d{k}"] for k in range(6)]
    parts, position = [], 0
    while position < last:
        part, position = at.store.ends(1, position, 4)
        parts += part
    assert parts == rows and at.store.ends(2, 0, 4) == ([], 4)


def test_statuses(at):
    statuses = {row.decision: tuple(row[1:]) for row in at.store.statuses(1)}
    assert statuses["d0"] == (1, 1, False, 1, None) and statuses["d1"] == (1, 0, False, 1, None)
    assert statuses["d3"] == (0, 0, False, 0, "void") and statuses["d5"] == (0, 0, True, 0, None)


def test_rewards_of_some_decisions(at):
    rewards = at.store.rewards_of(["d0", "d2", "d4", "nobody"])
    assert {name: [(row.id, row.value, row.late) for row in rows] for name, rows in rewards.items()} == {
        "d0": [("1", 0.0, False), ("2", 0.5, True)],
        "d2": [("1", 0.5, False)],
    }


def test_deadlines_and_the_last_row(at):
    assert at.store.deadlines() == {1: at.wall + WAIT} == {1: min(row.deadline for row in at.store.pending(1))}
    assert at.store.last() == at.wall and at.store.damage() == []


def test_a_stream_is_read_in_parts(at):
    whole = list(at.store.entries(1))
    assert [row.seq for row, _ in whole] == [1, 2, 3, 4] and whole[0][0].kind == RowKind.CREATE and whole[0][1] is None
    assert [(row.decision, decision.id) for row, decision in whole[1:]] == [(f"d{k}", f"d{k}") for k in range(3)]
    assert at.store.stream(1, 1, 2) == whole[1:3] and at.store.stream(1, 4) == []


def test_facts_of_a_batch(at):
    needs = Needs({"d0", "d4", "nobody"}, [Learn(1, at.wall + WAIT, 1)], {1}, True, {("d0", "2")})
    facts = at.store.facts(needs)
    assert facts.due == {1: ["d4"]} and facts.next == {1: None} and facts.heads == {1: 4} and facts.last_policy == 1
    assert set(facts.decisions) == {"d0", "d4"}
    first, waiting = facts.decisions["d0"], facts.decisions["d4"]
    assert (first.closed, first.count, list(first.rewards)) == ("learned", 2, ["2"])  # only the one that was asked for
    assert (waiting.closed, waiting.count, waiting.pending.deadline) == (None, 0, at.wall + WAIT)
    assert at.store.facts(needs._replace(due=[Learn(1, at.wall, 9)])).next == {1: at.wall + WAIT}
