"""The journal in SQLite: the same as the model's, whatever comes; one process; snapshots, damage, versions, backups."""

import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import ANY

import pytest
from support.serve.core_cases import SECRET, fill
from support.serve.model_store import ModelStore
from support.serve.simulate import World

import hsb
from hsb.serve.checking import check
from hsb.serve.core import AddCandidate, Change, CoreLimits, Create, Decide, Forget, Now, Promote, Reward, TakeSnapshot
from hsb.serve.local import Local
from hsb.serve.store import recover
from hsb.serve.store.erasing import erase_some
from hsb.serve.store.locking import kind_of
from hsb.serve.store.schema import VERSION
from hsb.serve.store.sqlite import DAY, SqliteReader, SqliteStore


class Twins(ModelStore):
    """A model and a SQLite file that are given the same batches and must say the same."""

    def __init__(self, path):
        super().__init__()
        self.file = SqliteStore(path)
        self.file.connection.execute("PRAGMA synchronous = OFF")

    def prepare(self, batch):
        self.batch = batch
        self.outcomes, changes = super().prepare(batch)
        return self.outcomes, changes

    def begin(self, process, at):
        processes = super().begin(process, at)
        assert self.file.begin(process, at) == processes
        return processes

    def write(self, changes):
        super().write(changes)
        assert self.file.commit(self.batch) == self.outcomes
        while changes.erased and self.file.transact(erase_some):
            pass


@pytest.mark.parametrize("seed", range(6))
def test_the_same_as_the_model(seed, tmp_path):
    store = Twins(tmp_path / "hsb.db")
    World(seed, store=store).run(200)
    file = store.file
    assert file.policies() == store.policies()
    assert file.last() == max(row.at for rows in store.rows.values() for row in rows) or file.last() >= 0
    assert file.deadlines() == store.deadlines()
    for policy in store.policies():
        assert file.stream(policy.id) == store.stream(policy.id)
        for name in ("decisions", "rewards", "pending", "closed", "statuses"):
            assert sorted(getattr(file, name)(policy.id)) == sorted(getattr(store, name)(policy.id)), name
        ends = [[row[1:] for row in each.ends(policy.id, 0, 10_000)[0]] for each in (file, store)]
        assert sorted(ends[0]) == sorted(ends[1]) and len(ends[0]) == len(list(file.decisions(policy.id)))
    report = check(file)
    assert report.sound and report.digests == check(store).digests
    file.close()


def test_it_goes_on_where_it_was(tmp_path):
    local = Local(tmp_path / "hsb.db")
    fill(local, floor=0.1)
    local.ask(TakeSnapshot(0, "home"))
    local.ask_all([Reward(k, f"home-{k}", 1.0) for k in range(30, 50)])
    before = local.core.policies["home"].digests()
    local.close()
    again = Local(tmp_path / "hsb.db")
    result = recover(again.store)["home"]
    assert result.served.digests() == again.core.policies["home"].digests() == before
    assert (result.since, result.served.version, result.notes) == (31, 51, [])
    assert again.ask(Decide(1, "home", "home-3", {"age": 3, "country": "d"})).status == "stored"
    assert again.ask(Reward(1, "home-3", 1.0)).status == "duplicate"
    again.close()


def test_one_row_at_a_time_or_many(tmp_path):
    """The fold is the same in whatever slices, for the default policy with late feedback and losses near 1."""
    values = {}
    for size in (1, 7, 100):
        local = Local(tmp_path / f"{size}.db")
        local.ask(Create(0, {"name": "home", "arms": ["a", "b"]}, SECRET))
        for start in range(0, 700, 100):
            local.ask_all([Decide(k, "home", f"d{k}", {"x": k % 9, "c": "pq"[k % 2]}) for k in range(start, start + 100)])
            rewards = [Reward(k, f"d{k}", float(k % 11 == 0)) for k in range(start, start + 100)]
            for at in range(0, 100, size):
                local.ask_all(rewards[at : at + size])
        values[size] = local.core.policies["home"].digests()
        assert recover(local.store)["home"].served.digests() == values[size]
        report = check(local.store)
        assert report.sound and report.decisions == report.updates == 700
        local.close()
    assert values[1] == values[7] == values[100]


def change(path, sql, *given):
    with sqlite3.connect(path) as file:
        file.execute(sql, given)
    file.close()


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE decision SET propensity = 0.9 WHERE id = 'home-7'", "propensity of decision home-7"),
        ("UPDATE decision SET arm = (arm + 1) % 3 WHERE id = 'home-7'", "arm of decision home-7"),
        ("UPDATE decision SET context = '{\"age\":99}' WHERE id = 'home-3'", "differs from a replay of the stream"),
        ("UPDATE reward SET value = 0.5 WHERE decision = 'home-3'", "its rewards give 0.5"),
        ("UPDATE reward SET late = 1 WHERE decision = 'home-3'", "row"),
        ("DELETE FROM stream WHERE seq = 9", "rows are missing"),
        ("UPDATE stream SET reward = 1 - reward WHERE seq = 9", "row 9 learns"),
        ("DELETE FROM pending WHERE decision = 'home-55'", "home-55 must be pending"),
        ("UPDATE policy SET head = head - 1", "should end at"),
        ("UPDATE policy SET secret = x'00'", "u of decision"),
        ("UPDATE snapshot SET digest = 'x'", "digest differs"),
    ],
)
def test_check_finds_what_was_changed(tmp_path, sql, said):
    path = tmp_path / "hsb.db"
    local = Local(path)
    fill(local, floor=0.05)
    local.ask(TakeSnapshot(0, "home"))
    local.close()
    reader = SqliteReader(path)
    assert check(reader).sound
    reader.close()
    change(path, sql)
    reader = SqliteReader(path)
    report = check(reader)
    reader.close()
    assert not report.sound and said in str(report)


def test_a_second_process_is_refused(tmp_path):
    store = SqliteStore(tmp_path / "hsb.db")
    code = f"from hsb.serve.store.sqlite import SqliteStore; SqliteStore({str(tmp_path / 'hsb.db')!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "is in use by another process, number" in done.stderr
    store.close()
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_files_that_are_none_of_ours(tmp_path):
    SqliteStore(tmp_path / "new.db").close()
    change(tmp_path / "new.db", "UPDATE meta SET value = ? WHERE name = 'schema'", str(VERSION + 1))
    with pytest.raises(hsb.FileError, match="Install a newer hsb"):
        SqliteStore(tmp_path / "new.db")
    change(tmp_path / "new.db", "UPDATE meta SET value = ? WHERE name = 'schema'", str(VERSION - 1))
    for kind in (SqliteStore, SqliteReader):
        with pytest.raises(hsb.FileError, match="Use the hsb that wrote it, or start a new journal"):
            kind(tmp_path / "new.db")
    change(tmp_path / "other.db", "CREATE TABLE mine (x)")
    with pytest.raises(hsb.FileError, match="no journal of hsb"):
        SqliteStore(tmp_path / "other.db")
    (tmp_path / "text.db").write_text("hello " * 1000)
    with pytest.raises(hsb.FileError, match="cannot be opened"):
        SqliteStore(tmp_path / "text.db")
    with pytest.raises(hsb.FileError, match="There is no journal"):
        SqliteReader(tmp_path / "none.db")
    with pytest.raises(hsb.FileError, match="must be a file in a folder"):
        SqliteStore(tmp_path)


def test_network_file_systems_are_known():
    mounts = "1 0 0:1 / / rw - ext4 /dev/sda rw\n2 1 0:2 / /mnt/my\\040files rw - nfs host:/ rw\n3 1 0:2 / /mnt rw - ext4 /dev/b rw\n"
    assert kind_of(mounts, "/mnt/my files/db") == "nfs"
    assert kind_of(mounts, "/mnt/my") == "ext4" == kind_of(mounts, "/")


def test_snapshots_come_and_go(tmp_path):
    local = Local(tmp_path / "hsb.db", now=Now(0, 0), limits=CoreLimits(updates=10, pause=10**9))
    local.ask(Create(0, {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}}, SECRET), Now(1, 1))
    for day in range(6):
        for part in range(5):
            now = Now(day * DAY + part * 10**9, day * DAY + part * 10**9)
            names = [f"d{day}-{part}-{k}" for k in range(10)]
            local.ask_all([Decide(0, "home", name, None) for name in names], now)
            local.ask_all([Reward(0, name, 1.0) for name in names], now)
    days = [rows[0].at // DAY for rows in local.store.snapshots(1)]
    assert days == [5, 5, 5, 5, 4, 3, 2, 1, 0] or days == [5, 5, 5, 4, 3, 2, 1, 0]
    assert check(local.store).sound
    local.close()


def test_the_wal_is_bounded(tmp_path):
    path = tmp_path / "hsb.db"
    store = SqliteStore(path, wal=1 << 18)
    store.close()
    local = Local(path)
    local.store.wal = 1 << 18
    local.ask(Create(0, {"name": "home", "arms": ["a"], "policy": {"kind": "Uniform"}}, SECRET))
    sizes = []
    for k in range(60):
        local.ask_all([Decide(0, "home", f"d{k}-{j}", {"text": "x" * 200}) for j in range(50)])
        sizes.append(Path(f"{path}-wal").stat().st_size)
    assert max(sizes) < 4 << 20 and sizes[-1] < 2 * max(sizes[:20])
    local.store.empty_wal()
    assert Path(f"{path}-wal").stat().st_size == 0
    local.close()


def test_nobody_waits_for_a_reader(tmp_path):
    """A long read, e.g. for a copy of a large file, does not hold up what is committed meanwhile."""
    local = Local(tmp_path / "hsb.db")
    local.ask(Create(1, {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}}, b"0123456789abcdef"))
    reader = local.store.reader()
    with reader.one_moment():
        before = reader.policies()
        assert local.ask(Decide(2, "home", "d1", 0.5)).status == "created"
        began = time.monotonic()
        local.store.empty_wal()
        assert time.monotonic() - began < 9.0  # waiting for a lock takes 10
        assert reader.policies() == before and not list(reader.decisions(1))
    local.store.empty_wal()
    assert (tmp_path / "hsb.db-wal").stat().st_size == 0
    assert local.store.connection.execute("PRAGMA busy_timeout").fetchone() == (10_000,)  # but for a lock it waits
    reader.close()
    local.close()


def test_a_backup_while_it_is_written(tmp_path):
    local = Local(tmp_path / "hsb.db")
    fill(local)
    reader = local.store.reader()
    local.ask(Reward(0, "home-40", 1.0))
    assert reader.backup(tmp_path / "copy.db") > 0
    with pytest.raises(hsb.FileError, match="exists"):
        reader.backup(tmp_path / "copy.db")
    with pytest.raises(sqlite3.OperationalError):
        reader.connection.execute("DELETE FROM decision")
    reader.close()
    before = local.core.policies["home"].digests()
    local.close()
    copy = Local(tmp_path / "copy.db")
    assert copy.core.policies["home"].digests() == before and check(copy.store).sound
    copy.close()


def test_candidates_survive(tmp_path):
    local = Local(tmp_path / "hsb.db", limits=CoreLimits(following=13))
    fill(local)
    assert local.ask(AddCandidate(0, "home", "tree", {"kind": "Exp3", "learning_rate": 0.3})).status == "created"
    candidate = local.core.policies["home"].candidates["tree"]
    assert candidate.at == 32 and candidate.policy.rounds == 30 and candidate.tallies[0] == 30
    local.ask(Promote(0, "home", "tree"))
    local.ask_all([Reward(k, f"home-{k}", 1.0) for k in range(30, 45)])
    local.ask(TakeSnapshot(0, "home"))
    local.ask(Promote(0, "home", "before-33"))
    local.ask(Change(0, "home", {"ramp": 0.0, "baseline": "b"}))
    answer = local.ask(Decide(0, "home", "z", {"age": 4}))
    assert (answer.body["arm"], answer.body["propensity"], answer.body["mode"]) == ("b", 1.0, "shadow")
    before, tallies = local.core.policies["home"].digests(), local.core.policies["home"].candidates["before-49"].tallies
    assert set(before) == {"", "before-49"}
    local.close()
    again = Local(tmp_path / "hsb.db")
    assert again.core.policies["home"].digests() == before
    assert again.core.policies["home"].candidates["before-49"].tallies == tallies
    assert check(again.store).sound
    again.close()


def test_contexts_as_they_were_given(tmp_path):
    local = Local(tmp_path / "hsb.db")
    fill(local)
    odd = {"b": 1, "a": "\ud800 ü \x00", "c": None, "d": 1e300, "e": True}
    assert local.ask(Decide(1, "home", "odd", odd)).status == "created"
    (text,) = [row.context for row in local.store.decisions(1) if row.id == "odd"]
    assert json.loads(text) == odd and list(json.loads(text)) == list(odd)
    assert local.ask(Reward(1, "odd", 1.0)).status == "learned"
    assert check(local.store).sound
    local.close()


def test_what_is_forgotten_is_not_learned_again(tmp_path):
    """After a start the state is what it was, though updates before the snapshot have lost their contexts."""
    local = Local(tmp_path / "hsb.db")
    fill(local, 40)
    ids = [f"home-{k}" for k in range(0, 40, 5)]
    learned = Reward(0, "home-25", 1.0)  # in the same batch: it is forgotten in the next one
    answers = local.ask_all([learned, Forget(1, "home", ids)])
    assert [each.status for each in answers] == ["learned", "done"]
    assert answers[1].body["forgotten"] == 7 and answers[1].body["more"]
    assert local.ask(Forget(2, "home", ids)).body == answers[1].body | {"forgotten": 1, "more": False, "at": ANY}
    local.ask_all([Reward(k, f"home-{k}", 0.0) for k in range(20, 40)])
    digests = local.core.policies["home"].digests()
    local.close()
    again = Local(tmp_path / "hsb.db")
    assert again.core.policies["home"].digests() == digests
    report = check(again.store)
    assert report.sound and report.forgotten == 8 and report.digests == {"home": digests[""]}
    assert again.ask(Forget(3, "home", ["nobody", "home-0"])).body["forgotten"] == 0
    assert again.ask(Forget(4, "home", [7])).status == "refused" and again.ask(Forget(5, "none", [])).status == "unknown"
    again.close()


def test_a_decision_and_its_reward_in_one_batch(tmp_path):
    """Learned on arrival, in the transaction in which the decision is written."""
    local = Local(tmp_path / "hsb.db")
    local.ask(Create(0, {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}}, SECRET))
    answers = local.ask_all([Decide(1, "home", "one", 0.5), Reward(2, "one", 1.0), Decide(3, "home", "two", 0.5)])
    assert [each.status for each in answers] == ["created", "learned", "created"] and check(local.store).sound
    local.close()
