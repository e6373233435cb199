"""Snapshots have a seal: they come back whole, or not at all."""

import json

import pytest
from support.serve.core_cases import At, fill

import hsb
from hsb.serve.core import Change, Decide, Reward, Served
from hsb.serve.core.rows import PolicyRow


@pytest.fixture
def at(tmp_path):
    local = At(tmp_path / "hsb.db")
    fill(local, 20, policy={"kind": "Exp3"}, feedback={"learn": "on_arrival"})
    yield local
    local.close()


def restore(rows):
    return Served.restore(PolicyRow(1, "home", b"0123456789abcdef", rows[0].seq, 9), list(rows))


def test_the_state_comes_back(at):
    at.ask(Change(0, "home", {"floor": 0.25}))
    rows = at.home.frozen(9).rows()
    again = restore(rows)
    assert [row.seq for row in rows] == [again.version] == [12] and again.digests() == at.home.digests()
    assert (again.arms, again.updates, again.settings.floor) == (["a", "b", "c"], 10, 0.25)


def test_a_copy_stays_as_it_was(at):
    frozen, digests = at.home.frozen(9), at.home.digests()
    at.ask(Decide(0, "home", "more", {"age": 1}))
    at.ask(Reward(0, "more", 1.0))
    assert at.home.digests() != digests == restore(frozen.rows()).digests()


@pytest.mark.parametrize("part", ["state", "body"])
def test_another_state_or_file_breaks_the_seal(at, part):
    (row,) = at.home.frozen(9).rows()
    about = json.loads(row.about)
    about["state"] = about["state"].replace('"updates": 10', '"updates": 11')
    wrong = row._replace(about=json.dumps(about)) if part == "state" else row._replace(body=row.body[:-1] + b"?")
    assert wrong != row
    with pytest.raises(hsb.FileError, match="the snapshot of home at row 11: it is damaged"):
        restore([wrong])
    with pytest.raises(hsb.FileError, match="the snapshot of home"):
        Served.restore(PolicyRow(1, "home", b"", 11, 9), [])
