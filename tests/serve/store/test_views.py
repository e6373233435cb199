"""Views of a journal: lists, single decisions, and sums over time against a count of the rows."""

from collections import Counter

import pytest
from support.serve.core_cases import HOUR, SECOND, At, make

from hsb.serve.core import Decide, Forget, Reward, TakeSnapshot, Void
from hsb.serve.store import views


@pytest.fixture
def at(tmp_path):
    """A decision each ten minutes; every second one has a reward, the last one is void."""
    local = At(tmp_path / "hsb.db")
    make(local, feedback={"learn": "on_arrival", "wait": 2_000_000})
    for k in range(20):
        local.ask(Decide(k, "home", f"d{k}", {"x": k}))
        if k % 2:
            local.ask(Reward(k, f"d{k}", k / 20))
        local.later(HOUR // 6)
    local.ask(Void(0, "d18"))
    yield local
    local.close()


@pytest.mark.parametrize("bucket", [HOUR, HOUR // 4])
def test_sums_over_time_are_those_of_the_rows(at, bucket):
    first = next(at.store.decisions(1)).at
    since, until = first + HOUR + 1, first + 3 * HOUR
    decided, learned = views.stats(at.store, 1, since, until, bucket)
    rows = [row for row in at.store.decisions(1) if since <= row.at < until]
    counts = Counter((row.at // bucket * bucket, row.arm) for row in rows)
    assert {(start, arm): n for start, arm, n in decided} == counts and sum(counts.values()) == 11
    sums = {}
    for row, decision in at.store.entries(1):
        if decision is not None and since <= row.at < until:
            values = sums.setdefault((row.at // bucket * bucket, decision.arm), [0, 0, 0.0, 0.0])
            for k, value in enumerate((1, 0, row.reward, row.reward**2)):
                values[k] += value
    assert {(start, arm): values for start, arm, *values in learned} == {
        position: [n, defaulted, pytest.approx(total), pytest.approx(squares)]
        for position, (n, defaulted, total, squares) in sums.items()
    }


def test_a_span_begins_with_the_row_at_its_start(at):
    """Whatever row that is: the search for it by halves leaves none out."""
    for left, row in zip(range(20, 0, -1), at.store.decisions(1), strict=True):
        decided, learned = views.stats(at.store, 1, row.at, at.wall, HOUR)
        assert (sum(n for _, _, n in decided), sum(n for _, _, n, *_ in learned)) == (left, (left + 1) // 2)
    assert views.stats(at.store, 1, at.wall, at.wall + HOUR, HOUR) == ([], [])


def test_lists_of_decisions_lead_on(at):
    newest = views.decisions(at.store, 1, 0, 3, True)
    assert [row.id for _, row in newest] == ["d19", "d18", "d17"]
    assert [row.id for _, row in views.decisions(at.store, 1, newest[-1][0], 2, True)] == ["d16", "d15"]
    oldest = views.decisions(at.store, 1, 0, 2, False)
    assert [row.id for _, row in oldest] == ["d0", "d1"]
    assert [row.id for _, row in views.decisions(at.store, 1, oldest[-1][0], 1, False)] == ["d2"]
    assert views.decisions(at.store, 2, 0, 5, True) == []


def test_a_decision_and_its_state(at):
    row, rewards, state = views.decision(at.store, "d3")
    assert row.id == "d3" and [(each.id, each.value) for each in rewards] == [("1", 0.15)]
    assert state == {"state": "learned", "learned_at_version": 3, "learned_reward": 0.15, "defaulted": False}
    assert views.decision(at.store, "d4")[2] == {"state": "pending", "deadline": views.decision(at.store, "d4")[0].deadline}
    assert views.decision(at.store, "d18")[2]["state"] == "void" and views.decision(at.store, "nobody") is None
    at.ask(Decide(0, "home", "later", None, activate=False))
    assert views.decision(at.store, "later")[2]["state"] == "inactive"


def test_those_that_wait(at):
    waiting = list(at.store.pending(1))
    assert views.pending_count(at.store, 1) == (len(waiting), min(row.deadline for row in waiting)) == (9, waiting[0].deadline)
    assert views.pending_count(at.store, 2) == (0, None)


def test_contexts_without_forgotten_ones(at, monkeypatch):
    assert views.contexts(at.store, 1, 2, 3) == ([{"x": 1}, {"x": 3}], [{"x": 19}, {"x": 18}, {"x": 17}])
    at.ask(Forget(0, "home", ["d1", "d18"]))
    assert views.contexts(at.store, 1, 2, 3) == ([{"x": 3}], [{"x": 19}, {"x": 17}])
    monkeypatch.setattr(views, "MOST_LETTERS", 16)  # two of seven letters
    assert views.contexts(at.store, 1, 9, 0)[0] == [{"x": 3}, {"x": 5}]


def test_snapshots_are_listed_and_read(at):
    at.ask(TakeSnapshot(0, "home"))
    seq = at.home.version
    snapshots = views.snapshot_list(at.store, 1)
    row, _, size, learners = snapshots[0]
    assert [each[0] for each in snapshots] == sorted({each[0] for each in snapshots}, reverse=True)
    body, digest = views.snapshot_file(at.store, 1, seq)
    assert (row, size, learners) == (seq, len(body), 1) and digest == at.home.digests()[""]
    assert views.snapshot_file(at.store, 1, seq + 1) is None


def test_audit_entries_lead_on(at):
    insert = "INSERT INTO audit_entry (at, key, what, policy, detail) VALUES (?, 1, 'Change', ?, NULL)"
    at.store.transact(lambda store: [store.connection.execute(insert, (k * SECOND, "ab"[k % 2])) for k in range(6)] and None)
    newest = views.audit_entries(at.store, None, 2)
    assert [entry[0] // SECOND for entry in newest] == [5, 4]
    assert [entry[0] // SECOND for entry in views.audit_entries(at.store, None, 9, newest[-1][5])] == [3, 2, 1, 0]
    assert [entry[0] // SECOND for entry in views.audit_entries(at.store, "a", 9)] == [4, 2, 0]
