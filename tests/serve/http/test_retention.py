"""Forgetting what decisions were asked, when they are old: what stays, what is replayed, which snapshot comes first."""

import pytest
from support.serve.core_cases import At, make
from support.serve.http_cases import decide, running
from support.waiting import wait_until

from hsb.serve.checking import check
from hsb.serve.core import AddCandidate, Change, Decide, Forget, Reward, TakeSnapshot, sealed_snapshots
from hsb.serve.http import retention
from hsb.serve.store import recover
from hsb.serve.store.erasing import ROWS, old_contexts
from hsb.serve.store.sqlite import SqliteReader

SECOND, HOUR = 10**6, 3600 * 10**6


def contexts(at):
    return [row.context for row in at.store.decisions(1)]


def filled(at, first, last):
    at.ask_all([Decide(k, "home", f"d{k}", {"x": k % 7}) for k in range(first, last)])
    at.ask_all([Reward(k, f"d{k}", float(k % 2)) for k in range(first, last) if k % 10 != 9])


@pytest.fixture
def at(tmp_path):
    local = At(tmp_path / "hsb.db")
    yield local
    local.close()


def snapshots(at):
    return [rows[0].seq for rows in at.store.snapshots(1)]


def test_what_is_old_and_what_waits(at):
    make(at, feedback={"learn": "on_arrival", "wait": 3 * 3600})
    filled(at, 0, 40)
    at.later(2 * HOUR)
    filled(at, 40, 60)
    result = old_contexts(at.store, 1, at.wall - HOUR, 0)
    assert (
        result.ids == [f"d{k}" for k in range(40) if k % 10 != 9]
        and result.waiting == 10
        and result.position == 40
        and not result.more
    )
    assert result.learned == 1 + 36
    assert old_contexts(at.store, 1, at.wall + 1, 40).ids == [f"d{k}" for k in range(40, 59) if k % 10 != 9]
    assert old_contexts(at.store, 2, at.wall + 1, 0) == ([], 0, None, 60, False)
    answer = at.ask(Forget(0, "home", [f"d{k}" for k in range(40)], result.learned, True))
    assert answer.body["forgotten"] == 36 == at.core.counts["forgotten"]
    assert [text == "" for text in contexts(at)] == [k < 40 and k % 10 != 9 for k in range(60)]
    at.later(4 * HOUR)  # those that waited are closed
    assert old_contexts(at.store, 1, at.wall - HOUR, 9).ids[:2] == ["d9", "d19"]
    assert check(at.store).sound


def test_many_are_taken_in_parts(at):
    make(at)
    for k in range(0, 3 * ROWS, 1000):
        at.ask_all([Decide(j, "home", f"d{j}", 0.5) for j in range(k, k + 1000)])
    at.later(25 * HOUR)
    position, ids, more = 0, [], True
    while more:
        result = old_contexts(at.store, 1, at.wall, position)
        ids, position, more = ids + result.ids, result.position, result.more
    assert len(ids) == len(set(ids)) == len(contexts(at))


def test_one_snapshot_comes_first_and_serves_until_the_learners_are_others(at):
    make(at)
    filled(at, 0, 100)
    for first in (0, 30, 60):
        assert at.says(Forget(0, "home", [f"d{k}" for k in range(first, first + 30)], first + 28, True)) == "done"
    assert snapshots(at) == [91]  # updates of 90 decisions
    filled(at, 100, 200)
    assert at.says(Forget(0, "home", ["d90"], 83, True)) == "done" and snapshots(at) == [91]
    assert at.says(Forget(0, "home", ["d101"], 93, True)) == "done" and snapshots(at) == [181, 91]
    assert at.says(AddCandidate(0, "home", "new", {"kind": "Exp3"})) == "created"
    assert at.says(Forget(0, "home", ["d102"], 94, True)) == "done" and snapshots(at) == [182, 181, 91]
    assert at.says(Forget(0, "home", ["d103"])) == "done" and snapshots(at) == [182, 181, 91]
    assert recover(at.store)["home"].served.digests() == at.home.digests() and check(at.store).sound


def test_nothing_is_forgotten_where_the_snapshot_cannot_be_read(at, monkeypatch):
    """As of a file that hsb.load refuses: with the contexts gone too, what was learned would be lost at the next start."""
    make(at)
    filled(at, 0, 20)
    real = sealed_snapshots.pack
    monkeypatch.setattr(sealed_snapshots, "pack", lambda policy: real(policy)[:-30])
    response = at.ask(Forget(0, "home", ["d1"]))
    assert response.status == "refused" and "cannot be read again" in response.body["detail"]
    assert all(contexts(at)) and not snapshots(at)
    assert at.says(Change(0, "home", {"floor": 0.1})) == "done"  # what came after it is carried out
    response = at.ask(TakeSnapshot(0, "home"))
    assert response.status == "refused" and "cannot be read again" in response.body["detail"] and not snapshots(at)
    monkeypatch.undo()
    assert at.says(Forget(0, "home", ["d1"])) == "done" and snapshots(at) == [at.home.version]


def test_durations(at):
    make(at, keep_contexts="P90D")
    assert at.home.settings.keep_contexts == 90 * 86_400
    assert at.says(Change(0, "home", {"keep_contexts": None})) == "done" and at.home.settings.keep_contexts is None
    for wrong in ("90 days", 0, "P40000D", True):
        answer = at.ask(Change(0, "home", {"keep_contexts": wrong}))
        assert answer.status == "refused" and "keep_contexts must be a duration of at most 36,500 days" in answer.body["detail"]


def test_the_service_forgets_beside_its_requests(tmp_path, monkeypatch):
    monkeypatch.setattr(retention, "PAUSE", 0.05)
    path = tmp_path / "hsb.db"
    with running(path) as one:
        one.make("home", keep_contexts=0.2)
        one.make("other")
        ids = [decide(one, name, id=f"{name}-{k}")["id"] for name in ("home", "other") for k in range(20)]
        one.post("/v1/rewards", {"rewards": [{"decision": id, "reward": 1} for id in ids[:10]]})

        def kept():
            return ["forgotten" not in one.get(f"/v1/policies/{id.split('-')[0]}/decisions/{id}").json for id in ids]

        wait_until(
            lambda: kept() == [False] * 10 + [True] * 30
        )  # those that wait stay, and those of a policy that says nothing
        assert "hsb_forgotten_total 10.0" in one.get("/metrics").raw.decode()
        digest = one.get("/v1/policies/home?digest=true").json["digests"]
        key = one.key
    with running(path) as one:
        assert one.get("/v1/policies/home?digest=true", key=key).json["digests"] == digest
    store = SqliteReader(path)
    assert check(store).sound
    store.close()
