"""A copy takes a journal's place, or nothing changes."""

import json
import os
import shutil

import pytest
from support.serve.core_cases import At, make
from typer.testing import CliRunner

import hsb
from hsb.cli.app import app
from hsb.serve import restoring
from hsb.serve.core import Decide, Reward
from hsb.serve.restoring import restore
from hsb.serve.store.sqlite import SqliteReader, SqliteStore


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def files(folder):
    some = [each for each in folder.iterdir() if each.is_file() and not each.name.endswith((".lock", "-shm"))]
    return {each.name: each.read_bytes() for each in some}


@pytest.fixture
def at(tmp_path):
    """A journal with a backup of when it had ten decisions; it has twenty, and was left as a crash leaves it."""
    local = At(tmp_path / "hsb.db")
    make(local)
    for k in range(20):
        if k == 10:
            reader = SqliteReader(tmp_path / "hsb.db")
            reader.backup(tmp_path / "copy.db")
            reader.close()
        local.says(Decide(0, "home", f"d{k}", 0.5))
        local.says(Reward(0, f"d{k}", 1.0))
    yield local
    local.close()


def crashed(at, folder):
    """The files as a kill leaves them."""
    folder.mkdir()
    for each in ("hsb.db", "hsb.db-wal", "copy.db"):
        shutil.copy(at.store.path.with_name(each), folder / each)
    return folder / "copy.db", folder / "hsb.db"


def decisions(path):
    store = SqliteStore(path)
    results = [row.id for row in store.decisions(1)]
    store.close()
    return results


def test_a_copy_in_the_place_of_what_a_crash_left(at, tmp_path):
    copy, db = crashed(at, tmp_path / "then")
    done = restore(copy, db)
    assert done.report.sound and done.report.decisions == 10 and done.before == db.with_name("hsb.db.before")
    assert names(db.parent) == ["copy.db", "hsb.db", "hsb.db.before", "hsb.db.before-wal", "hsb.db.lock"]
    assert decisions(db) == [f"d{k}" for k in range(10)]
    assert decisions(done.before) == [f"d{k}" for k in range(20)]  # nothing is lost of what was there
    with pytest.raises(hsb.FileError, match=r"hsb\.db\.before exists"):
        restore(copy, db)


def test_to_where_nothing_was(at, tmp_path):
    done = restore(tmp_path / "copy.db", tmp_path / "new.db")
    assert done.before is None and decisions(tmp_path / "new.db") == [f"d{k}" for k in range(10)]
    if os.name == "posix":
        assert (tmp_path / "new.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "kind", ["running", "itself", "wal beside the copy", "wal of another", "not sound", "no journal", "nothing"]
)
def test_what_is_refused_changes_nothing(at, tmp_path, kind):
    copy, db = crashed(at, tmp_path / "then")
    words = {
        "running": "in use by another process",
        "itself": "the journal itself",
        "wal beside the copy": "has a WAL beside it",
        "wal of another": "hsb.db-wal belongs to a file that is missing",
        "not sound": "is not sound, so nothing was changed",
        "no journal": "cannot be read|no journal",
        "nothing": "There is no journal",
    }
    if kind == "running":
        db = at.store.path
    elif kind == "itself":
        copy = db
    elif kind == "wal beside the copy":
        copy.with_name("copy.db-wal").write_bytes(b"?")
    elif kind == "wal of another":
        db.unlink()
    elif kind == "not sound":
        store = SqliteStore(copy)
        store.connection.execute("UPDATE stream SET reward = 0.5 WHERE seq = 4")
        store.close()
    elif kind == "no journal":
        copy.write_bytes(b"what is this?" * 1000)
    else:
        copy.unlink()
    before = files(db.parent)
    with pytest.raises(hsb.FileError, match=words[kind]):
        restore(copy, db)
    assert files(db.parent) == before


@pytest.mark.parametrize("step", range(1, 6))
def test_cut_off_at_any_step_it_goes_on(at, tmp_path, monkeypatch, step):
    """No service starts on what is left, and running it again ends as if it had not been cut off."""
    copy, db = crashed(at, tmp_path / "then")
    real, left = os.replace, [step]

    def replace(*given):
        left[0] -= 1
        if not left[0]:
            raise OSError("cut off")
        real(*given)

    monkeypatch.setattr(restoring.os, "replace", replace)
    with pytest.raises(OSError, match="cut off"):
        restore(copy, db)
    monkeypatch.undo()
    if step > 2:  # the new file is there: what was before it is being put aside
        with pytest.raises(hsb.FileError, match="Run hsb journal restore again"):
            SqliteStore(db)
    done = restore(copy, db)
    assert decisions(db) == [f"d{k}" for k in range(10)] and decisions(done.before) == [f"d{k}" for k in range(20)]
    assert not [each for each in names(db.parent) if "restoring" in each]


def test_the_command(at, tmp_path):
    copy, db = crashed(at, tmp_path / "then")
    result = CliRunner().invoke(app, ["journal", "restore", str(copy), str(db), "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    assert told["before"] == f"{db}.before" and told["checked"]["decisions"] == 10
