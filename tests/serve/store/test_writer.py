"""The thread that writes the journal."""

import threading

from support.serve.core_cases import fill
from support.waiting import LIMIT

from hsb.serve.checking import check
from hsb.serve.core import Decide, Now
from hsb.serve.local import Local
from hsb.serve.store.writer import Writer


def test_the_writing_thread(tmp_path):
    local = Local(tmp_path / "hsb.db")
    fill(local)
    reported, ready = [], threading.Event()
    writer = Writer(local.store, lambda message: (reported.append(message), ready.set()))
    writer.start()
    now = Now(10**15, 10**9)
    local.core.handle(Decide(7, "home", "thread", {"age": 4}), now)
    (commit,) = [each for each in local.core.flush(now) if hasattr(each, "batch")]
    writer.submit(commit.batch)
    assert ready.wait(LIMIT)
    (answer,) = local.core.handle(reported[0], now)
    assert (answer.request, answer.status) == (7, "created")
    writer.stop()
    local.close()


def test_a_full_disk(tmp_path):
    """SQLite itself says that there is no room: 507, nothing is written, and it goes on when there is."""
    local = Local(tmp_path / "hsb.db")
    fill(local)
    (pages,) = local.store.connection.execute("PRAGMA page_count").fetchone()
    local.store.connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()
    many = [Decide(k, "home", f"big-{k}", {"text": "x" * 250}) for k in range(200)]
    assert {each.status for each in local.ask_all(many)} == {"full"}
    local.store.connection.execute("PRAGMA max_page_count = 100000").fetchall()
    assert {each.status for each in local.ask_all(many)} == {"created"}
    assert local.stopped is None and check(local.store).sound
    local.close()


def test_a_fault_of_ours_stops_it(tmp_path):
    """What the tables refuse is no request's fault: everything is answered 503 and the process must end."""
    local = Local(tmp_path / "hsb.db")
    fill(local)
    local.store.connection.execute("DROP TABLE pending")
    assert local.ask(Decide(1, "home", "one", {"age": 1})).status == "away"
    assert local.stopped is not None and local.stopped.code == 70
    assert local.ask(Decide(1, "home", "two", {"age": 1})).status == "away"
    local.store.lock.release()
