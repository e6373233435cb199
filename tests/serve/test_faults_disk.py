"""A disk that is full and has room again, damaged files, tables of a newer hsb, a machine that may not be written to: real processes."""

import os
import random
import shutil
import sqlite3
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from support.serve.namespaces import read_only, seen_by, small_disk
from support.serve.processes import KEY, Clients, Process, command, sound, timed
from support.serve.sizes import LEVEL, figures, size
from support.waiting import LIMIT, wait_until

from hsb.errors import FileError
from hsb.serve.checking import check
from hsb.serve.core import Create, Decide, Reward, TakeSnapshot
from hsb.serve.local import Local
from hsb.serve.store.sqlite import SqliteReader, readable

pytestmark = [pytest.mark.long, pytest.mark.sized]
MEGABYTES = 80  # of a disk that is filled: with less than 64 free the service says that it is not ready
EACH = 10  # more for each time: the journal grows


def fill(path):
    """Leave no room."""
    with open(path, "wb", buffering=0) as file:
        for part in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(part))
            except OSError:
                pass


def until(true):
    """Wait for it; how many seconds it took."""
    began = time.monotonic()
    wait_until(true)
    return time.monotonic() - began


def copied(service, path, to):
    """The journal of a process, as a copy that outlives its disk; nobody is writing."""
    for end in ("", "-wal"):
        if os.path.exists(seen_by(service.process, f"{path}{end}")):
            shutil.copyfile(seen_by(service.process, f"{path}{end}"), f"{to}{end}")
    return to


def refused_a_key(service):
    """Ask for keys until one is refused; the ids of those that were given.

    A small commit may still fit into pages that the file had before the disk was full. What was given must then be kept.
    """
    given = []
    while (answer := service.ask("POST", "/v1/keys", {"name": "k", "scopes": ["read"]}))[0] != 507:
        assert answer[0] == 201 and len(given) < 1000, answer
        given.append(answer[1]["id"])
    return given


def kept_keys(path):
    connection = sqlite3.connect(path)
    kept = {id for (id,) in connection.execute("SELECT id FROM key")}
    connection.close()
    return kept


def filled(tmp_path, fillings, fault=None):
    """Fill a disk under load as many times, and make room again; the clients, and the seconds until it decided again."""
    folder, clients, again, keys = tmp_path / "disk", Clients(), [], []
    folder.mkdir()
    path = folder / "hsb.db"
    with Process(path, before=small_disk(folder, MEGABYTES + EACH * (fillings - 1)), fault=fault) as service:
        service.make()
        for k in range(fillings):
            before = clients.statuses.get(507, 0)
            clients.load(service)
            time.sleep(0.3)
            fill(seen_by(service.process, folder / "filler"))
            until(lambda count=before: clients.statuses.get(507, 0) > count + 10)
            assert service.ask("GET", "/readyz")[1]["checks"]["disk"] is False
            assert service.ask("GET", "/v1/policies/home")[0] == 200  # reading goes on
            keys += refused_a_key(service)
            clients.end()
            time.sleep(0.5)  # deadlines pass while it is full
            os.unlink(seen_by(service.process, folder / "filler"))
            until(lambda: service.ask("GET", "/v1/policies/late")[1]["pending"] == 0)  # and close by themselves when it is not
            good = len(clients.said)
            clients.load(service)
            again.append(until(lambda count=good: len(clients.said) > count + 10))
            clients.end()
            assert service.ask("GET", "/readyz")[0] == 200
            copy = copied(service, path, tmp_path / f"copy{k}.db")
            sound(copy, clients)
            assert set(keys) <= kept_keys(copy)
        lines = service.stop()
    assert {line["why"] for line in lines if line["level"] == "error"} == {"full"}
    return clients, again


def test_a_full_disk(tmp_path):
    clients, again = filled(tmp_path, size("fillings"))
    refused = clients.statuses[507]
    assert set(clients.statuses) <= {200, 201, 202, 410, 503, 507}
    figures(
        "disk full",
        fillings=len(again),
        acknowledged=len(clients.said),
        lost=0,
        answered_507=refused,
        longest_until_it_decides=max(again),
    )


@pytest.mark.skipif(LEVEL == "small", reason="in make test-serve")
def test_updates_that_a_full_disk_loses_are_noticed(tmp_path):
    with pytest.raises(AssertionError):
        filled(tmp_path, 1, fault="dropped_when_full")


def made(path, decisions=120, snapshots=2):
    """A journal with decisions, updates and snapshots, and the arm of each decision."""
    with Process(path) as service:
        service.make()
        arms = {}
        for k in range(decisions):
            arms[f"d{k}"] = service.ask("POST", "/v1/policies/home/decisions", {"id": f"d{k}", "context": k / 50})[1]["arm"]
            assert service.ask("POST", f"/v1/decisions/d{k}/reward", {"reward": k % 2})[0] == 200
            if k in range(50, 50 + snapshots * 20, 20):
                assert service.ask("POST", "/v1/policies/home/snapshots")[0] == 201
        service.stop()
    return arms


def refused(path):
    """What a start on a file says that is refused: one line, without a trace."""
    done = subprocess.run(
        command("serve", "--db", str(path), "--port", "0"),
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"HSB_ADMIN_KEY": KEY},
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr, done.stderr
    return done.stderr


def test_damaged_files(tmp_path):
    """A damaged snapshot is passed over, a damaged page refused by name, tables of a newer hsb too; the check names each."""
    path, damaged = tmp_path / "hsb.db", tmp_path / "damaged.db"
    arms = made(path)
    sound(path, by_command=True)
    shutil.copy(path, damaged)
    with sqlite3.connect(damaged) as connection:
        ((body, seq),) = connection.execute(
            "SELECT body, seq FROM snapshot WHERE policy = 1 ORDER BY seq DESC LIMIT 1"
        ).fetchall()
        torn = body[: len(body) // 2] + bytes([body[len(body) // 2] ^ 0x40]) + body[len(body) // 2 + 1 :]
        connection.execute("UPDATE snapshot SET body = ? WHERE policy = 1 AND seq = ?", (torn, seq))
    connection.close()
    with Process(damaged) as service:  # from the older one, and the rest of the stream
        assert service.ask("POST", "/v1/policies/home/decisions", {"id": "d7", "context": 7 / 50})[1]["arm"] == arms["d7"]
        state = service.ask("GET", "/v1/policies/home")[1]
        lines = service.stop()
    assert state["updates"] == len(arms)
    assert any("snapshot" in str(line) and str(seq) in str(line) for line in lines), lines
    checked = subprocess.run(command("journal", "check", str(damaged)), capture_output=True, text=True)
    assert checked.returncode == 1 and f"at row {seq}: it is damaged" in checked.stdout, checked
    with sqlite3.connect(damaged) as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    connection.close()
    assert "version 99" in refused(damaged) and "newer hsb" in refused(damaged)


def pages(path, table):
    """Where the pages of a table are in a file, and how large they are."""
    connection = sqlite3.connect(path)
    if table == "sqlite_master":
        connection.close()
        return [0], 4096
    (length,) = connection.execute("PRAGMA page_size").fetchone()
    try:
        results = [number for (number,) in connection.execute("SELECT pageno FROM dbstat WHERE name = ?", (table,))]
    except sqlite3.OperationalError:  # this SQLite has no dbstat: the page that the table begins with
        results = [connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]]
    connection.close()
    return [(number - 1) * length for number in results], length


@pytest.mark.parametrize("table", ["policy", "decision", "stream", "sqlite_master", "pending_due"])
def test_a_damaged_page(tmp_path_factory, table):
    """Refused at the start, or noticed by the check; never a trace, never served as if nothing were wrong."""
    path = _whole(tmp_path_factory)
    damaged = tmp_path_factory.mktemp("damaged") / "hsb.db"
    shutil.copy(path, damaged)
    offsets, length = pages(damaged, table)
    with open(damaged, "rb+") as file:
        file.seek(offsets[-1])
        file.write(os.urandom(length) if offsets[-1] else b"SQLite format 3\0" + os.urandom(length - 16))
    checked = subprocess.run(command("journal", "check", str(damaged)), capture_output=True, text=True)
    assert checked.returncode in (1, 2) and "Traceback" not in checked.stderr and checked.stdout + checked.stderr, checked
    try:
        service = Process(damaged)
    except AssertionError as error:
        code, answer = error.args[0][1:]
        lines = [line for line in answer.splitlines() if '"event": "start"' not in line]  # it listens before it reads
        assert code == 2 and len(lines) == 1 and str(damaged) in lines[0], answer
        return
    with service:  # what is read at the start is whole; it serves, or ends by itself when it meets the damage
        for k in range(20):
            try:
                status = service.ask("POST", "/v1/policies/home/decisions", {"id": f"d{k * 15}", "context": k * 15 / 50})[0]
            except OSError:
                assert service.process.wait(LIMIT) == 70
                return
            assert status in (200, 201, 409, 503), status


@pytest.mark.parametrize("part", range(2))
def test_bytes_that_have_changed(part, tmp_path):
    """Wherever they are: a start that is refused in words or works, a check that says so or finds nothing wrong with what matters."""
    path, damaged, rng, result = tmp_path / "hsb.db", tmp_path / "damaged.db", random.Random(part), Counter()
    local = Local(path)
    local.ask(Create(0, {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}}, b"0123456789abcdef"))
    for k in range(60):
        local.ask_all([Decide(0, "home", f"d{k}", {"x": k}), *([Reward(0, f"d{k - 1}", 1.0)] if k % 3 else [])])
        if k == 30:
            local.ask(TakeSnapshot(0, "home"))
    local.close()
    whole = path.read_bytes()
    for _ in range(size("changed files") // 2):
        changed, offset = bytearray(whole), rng.randrange(len(whole))
        for k in range(offset, min(len(whole), offset + rng.choice([1, 1, 4, 64, 512]))):
            changed[k] = rng.randrange(256)
        damaged.write_bytes(changed)
        result[_tried(damaged, _checked)] += 1
        result[_tried(damaged, _started)] += 1
        for end in ("-wal", "-shm"):
            damaged.with_name(f"damaged.db{end}").unlink(missing_ok=True)
    assert result["refused"] and result["sound"] and result["started"] and (result["wrong"] or LEVEL == "small")


def _tried(path, work):
    try:
        with readable(path):
            return work(path)
    except FileError:
        return "refused"


def _checked(path):
    reader = SqliteReader(path)
    try:
        return "sound" if check(reader).sound else "wrong"
    finally:
        reader.close()


def _started(path):
    Local(path).close()
    return "started"


_made = {}


def _whole(factory):
    if "path" not in _made:
        _made["path"] = factory.mktemp("whole") / "hsb.db"
        made(_made["path"], snapshots=1)
    return _made["path"]


@pytest.mark.skipif(LEVEL == "small", reason="in make test-serve: everything is compiled anew")
def test_a_machine_that_may_not_be_written_to(tmp_path):
    """Home, caches, temporary files, the packages themselves: all read-only. Only the journal's folder is not."""
    folder = tmp_path / "only"
    folder.mkdir()
    env = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "TMPDIR")}
    env |= {"HOME": str(tmp_path / "home"), "NUMBA_CACHE_DIR": ""}
    Path(env["HOME"]).mkdir()
    with Process(folder / "hsb.db", before=read_only(folder), env=env) as service:
        with pytest.raises(OSError, match="Read-only"):
            Path(seen_by(service.process, tmp_path / "home" / "x")).touch()
        service.make(home={"arms": ["a", "b"]})  # the default policy, which is compiled
        times = timed(service, 50)
        rows = [{"context": {"age": k, "country": "de"}} for k in range(1000)]
        assert service.ask("POST", "/v1/policies/home/decisions/batch", {"decisions": rows})[0] == 200
        first = service.ask("GET", "/v1/policies/home/decisions?limit=1")[1]["decisions"][0]["id"]
        assert service.ask("POST", f"/v1/decisions/{first}/reward", {"reward": 1})[0] == 200
        assert service.ask("GET", "/p/home/overview")[0] in (200, 303, 401)
        sound(copied(service, folder / "hsb.db", tmp_path / "copy.db"))
        ready = service.seconds
        service.stop()
    figures("read-only machine", ready_seconds=ready, decisions=len(times) + len(rows))
