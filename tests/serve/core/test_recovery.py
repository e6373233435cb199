"""Policies are recovered from a snapshot and the rows after it."""

import sqlite3

from support.serve.core_cases import fill

from hsb.serve.checking import check
from hsb.serve.core import Forget, Reward, TakeSnapshot
from hsb.serve.local import Local
from hsb.serve.store import recover
from hsb.serve.store.sqlite import SqliteStore


def test_a_damaged_snapshot_is_passed_over(tmp_path):
    path = tmp_path / "hsb.db"
    local = Local(path)
    fill(local)
    local.ask(TakeSnapshot(0, "home"))
    local.ask_all([Reward(k, f"home-{k}", 1.0) for k in range(30, 50)])
    local.ask(TakeSnapshot(0, "home"))
    before = local.core.policies["home"].digests()
    local.close()
    with sqlite3.connect(path) as file:
        (body,) = file.execute("SELECT body FROM snapshot WHERE seq = 51").fetchone()
        file.execute("UPDATE snapshot SET body = ? WHERE seq = 51", (body[:200] + b"x" + body[201:],))
    file.close()
    store = SqliteStore(path)
    result = recover(store)["home"]
    assert result.since == 31 and "damaged" in result.notes[0] and result.served.digests() == before
    report = check(store)
    assert report.problems == 1 and "damaged" in str(report)
    store.close()


def test_a_journal_that_lost_its_snapshots_says_what_cannot_be_replayed(tmp_path):
    """The control of the test above: without the snapshot the state is another one, and the check does not claim to know it."""
    local = Local(tmp_path / "hsb.db")
    fill(local, 40)
    local.ask(Forget(1, "home", [f"home-{k}" for k in range(10)]))
    digests = local.core.policies["home"].digests()
    local.store.connection.execute("DELETE FROM snapshot")
    report = check(local.store)
    assert report.sound and not report.digests and report.not_replayable == 0 < report.forgotten
    local.close()
    again = Local(tmp_path / "hsb.db")
    assert again.core.policies["home"].digests() != digests
    again.close()
