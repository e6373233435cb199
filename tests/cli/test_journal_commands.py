"""hsb journal check, backup, export."""

import json
import sqlite3

import pytest

import hsb.logs
from hsb import cli
from hsb.serve import checking
from hsb.serve.core import Create, Decide, Reward, TakeSnapshot
from hsb.serve.local import Local


@pytest.fixture
def db(tmp_path):
    local = Local(tmp_path / "hsb.db")
    local.ask(Create(0, {"name": "home", "arms": ["a", "b", "c"], "floor": 0.1}, b"0123456789abcdef"))
    for k in range(40):
        local.ask(Decide(k, "home", f"d{k}", {"age": k, "country": "dfe"[k % 3]}, ["a", "b"] if k % 2 else None))
        local.ask(Reward(k, f"d{k}", float(k % 3 == 0)))
    local.ask(TakeSnapshot(0, "home"))
    local.close()
    return tmp_path / "hsb.db"


def run(capsys, *arguments):
    code = cli.main([str(each) for each in arguments])
    result = capsys.readouterr()
    return code, result.out, result.err


def test_check(db, capsys):
    code, out, _ = run(capsys, "journal", "check", db)
    assert code == 0 and "40 decisions re-derived" in out and out.endswith("sound.\n")
    code, out, _ = run(capsys, "journal", "check", db, "--json")
    assert code == 0 and json.loads(out)["updates"] == 40 and len(json.loads(out)["digests"]["home"]) == 64
    with sqlite3.connect(db) as file:
        file.execute("UPDATE decision SET propensity = propensity * 0.999 WHERE id = 'd30'")
    file.close()
    code, out, _ = run(capsys, "journal", "check", db)
    assert code == 1 and "propensity of decision d30" in out


def test_check_beside_a_service(db, capsys, monkeypatch):
    """What is written while it looks is of later: it finds nothing wrong with it."""
    local = Local(db)
    local.ask(Create(0, {"name": "other", "arms": ["a", "b"]}, b"0123456789abcdef"))
    usual = checking._check_statuses

    def standings(journal, policy, report):
        usual(journal, policy, report)
        local.ask(Decide(1, "other", f"o{policy.id}", {"age": 1}))
        assert local.ask(Reward(1, f"o{policy.id}", 1.0)).status == "learned"

    monkeypatch.setattr(checking, "_check_statuses", standings)
    code, out, _ = run(capsys, "journal", "check", db)
    local.close()
    assert code == 0 and "2 policies, 40 decisions re-derived" in out


def test_backup(db, tmp_path, capsys):
    code, out, _ = run(capsys, "journal", "backup", db, tmp_path / "copy.db")
    assert code == 0 and "written to" in out
    assert run(capsys, "journal", "check", tmp_path / "copy.db")[1] == run(capsys, "journal", "check", db)[1]
    code, _, err = run(capsys, "journal", "backup", db, tmp_path / "copy.db")
    assert code == 2 and "exists" in err


def test_export(db, tmp_path, capsys):
    assert run(capsys, "journal", "export", db, "home", tmp_path / "log.dsjson")[0] == 0
    events = [json.loads(line) for line in (tmp_path / "log.dsjson").read_text().splitlines()]
    assert [event["EventId"] for event in events] == [f"d{k}" for k in range(40)]
    assert events[4]["c"]["GUser"] == {"age": 4, "country": "f"}
    (batch,) = hsb.logs.open(tmp_path / "log.dsjson")
    assert len(batch) == 40 and batch.reward.sum() == 14 and set(batch.arms) <= {"a", "b", "c"}
    assert batch.available[1].sum() == 2
    code, out, _ = run(capsys, "journal", "export", db, "home", tmp_path / "log.parquet", "--format", "parquet", "--json")
    assert code == 0 and json.loads(out)["rows"] == 40
    (stored,) = hsb.logs.open(tmp_path / "log.parquet")
    assert stored.propensity.tolist() == batch.propensity.tolist() and stored.contexts.shape == (40, 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "none.db"], "There is no journal none.db"),
        (["export", "DB", "house", "x.dsjson"], "no policy 'house'"),
        (["export", "DB", "home", "x.csv", "--format", "csv"], "must be one of"),
        (["export", "DB", "home", "no/such/x.dsjson"], "no folder"),
    ],
)
def test_what_is_wrong_is_one_line(db, capsys, arguments, said):
    code, out, err = run(capsys, "journal", *[db if each == "DB" else each for each in arguments])
    assert code == 2 and out == "" and err.count("\n") == 1 and said in err
