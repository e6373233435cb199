"""A journal's files: one process whatever they are called, for their owner alone; and no room in other ways than by a full disk."""

import os
import resource
import stat
import sys
import time

import pytest

import hsb
from hsb.serve.core import Create, Decide, Now, Reward
from hsb.serve.core.clock import MOST, Clock
from hsb.serve.exporting import export
from hsb.serve.local import Local, clock
from hsb.serve.store import Full
from hsb.serve.store.sqlite import SqliteReader, SqliteStore

SECRET = b"0123456789abcdef"
NEW = Create(0, {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3", "learning_rate": 0.2}}, SECRET)
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, modes and limits as POSIX has them")


def test_a_symbolic_link_is_the_same_journal(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.db"
    store = SqliteStore(tmp_path / "hsb.db")
    link.symlink_to(tmp_path / "hsb.db")
    with pytest.raises(hsb.FileError, match=f"in use by another process, number {os.getpid()}"):
        SqliteStore(link)
    store.close()
    again = SqliteStore(link)
    assert again.path == tmp_path / "hsb.db"
    with pytest.raises(hsb.FileError, match="in use"):
        SqliteStore(tmp_path / "hsb.db")
    again.close()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["elsewhere", "hsb.db", "hsb.db.lock"]


def test_a_journal_with_two_names_is_refused(tmp_path):
    path, other = tmp_path / "hsb.db", tmp_path / "other.db"
    store = SqliteStore(path)
    other.hardlink_to(path)
    with pytest.raises(hsb.FileError, match="2 names"):
        SqliteStore(other)
    store.close()
    with pytest.raises(hsb.FileError, match="2 names"):
        SqliteStore(path)
    other.unlink()
    SqliteStore(path).close()


def test_the_lock_is_on_the_file_itself(tmp_path):
    """Whatever it is called: here the file beside it, by which a link would be told, is gone."""
    store = SqliteStore(tmp_path / "hsb.db")
    (tmp_path / "hsb.db.lock").unlink()
    with pytest.raises(hsb.FileError, match="in use by another process"):
        SqliteStore(tmp_path / "hsb.db")
    store.close()


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_files_are_for_their_owner_alone(tmp_path):
    before = os.umask(0o022)
    try:
        local = Local(tmp_path / "hsb.db")
        local.ask_all([NEW])
        for k in range(3):
            local.ask(Decide(0, "home", f"d{k}", {"x": float(k)}))
            local.ask(Reward(0, f"d{k}", 1.0))
        values = {each.name: mode(each) for each in tmp_path.iterdir()}
        assert {"hsb.db", "hsb.db-wal", "hsb.db-shm", "hsb.db.lock"} <= values.keys()
        reader = SqliteReader(tmp_path / "hsb.db")
        reader.backup(tmp_path / "copy.db")
        for format in ("dsjson", "parquet"):
            export(reader, "home", tmp_path / f"home.{format}", format)
        reader.close()
        local.close()
    finally:
        os.umask(before)
    values |= {each.name: mode(each) for each in tmp_path.iterdir()}
    assert set(values.values()) == {0o600}, values


def test_no_room_for_want_of_a_larger_file_is_no_lost_commit(tmp_path):
    """RLIMIT_FSIZE, and likewise a quota, is a failed write to SQLite: nothing was written, and it goes on when there is room."""
    local = Local(tmp_path / "hsb.db")
    local.ask(NEW)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (tmp_path / "hsb.db-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        answer = local.ask(Decide(0, "home", "one", {"x": 1.0}))
        with pytest.raises(Full):
            local.store.transact(lambda store: store.connection.execute("INSERT INTO meta VALUES ('x', ?)", ("y" * 10_000,)))
        local.store.written = local.store.wal
        local.store.checkpoint()  # what is in the WAL cannot be copied to the file either, and is not lost
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert answer.status == "full" and local.stopped is None
    now = Now(clock().wall, clock().mono + 2_000_000)
    assert local.ask(Decide(0, "home", "one", {"x": 1.0}), now).status == "created"
    local.close()


def test_a_machine_that_was_suspended_holds_no_deadlines(monkeypatch):
    """CLOCK_BOOTTIME goes on while a machine is suspended, as the wall clock does; the monotonic clock does not."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        pytest.skip("this system has no such clock")
    begun = clock()
    one = Clock(begun, last=0)
    asleep, wall, steady = 3 * MOST * 1000, time.time_ns, time.clock_gettime_ns
    monkeypatch.setattr(time, "time_ns", lambda: wall() + asleep)
    monkeypatch.setattr(time, "clock_gettime_ns", lambda which: steady(which) + (asleep if which == time.CLOCK_BOOTTIME else 0))
    assert clock().wall - begun.wall >= 3 * MOST
    assert not one.see(clock())
