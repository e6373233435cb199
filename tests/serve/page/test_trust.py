"""Views of guarantees and of the audit: what admins did, and what is not proved."""

import pytest
from support.serve.core_cases import SECOND, At, make

from hsb.serve.core import AddArm, AddCandidate, Change, Decide, RemoveArm, Reward, TakeSnapshot
from hsb.serve.core.rows import RowKind, StreamRow
from hsb.serve.page import trust
from hsb.serve.page.sheets import TallyCache, sheet

PROVED = {"certificate": "proved", "bound": 3.0, "first_arms": ["a", "b", "c"]}


@pytest.fixture
def at(tmp_path):
    local = At(tmp_path / "hsb.db")
    make(local, floor=0, feedback={"learn": "on_arrival"})
    yield local
    local.close()


def page_of(at):
    return sheet(at.core, at.home, at.wall)


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        (RowKind.ARM, {"remove": "a"}, "removed a"),
        (RowKind.CANDIDATE, {"drop": "new"}, "dropped new"),
        (RowKind.CANDIDATE, {"add": "new", "policy": {"kind": "Exp3", "encoding": [1]}}, 'added new: {"kind": "Exp3"}'),
        (RowKind.FORGET, {"words": ["x", "y"]}, "2 words"),
        (RowKind.FORGET, {"words": ["x"]}, "1 word"),
        (RowKind.CREATE, {"arms": ["a", "b"], "policy": {}}, "2 arms, {}"),
        (RowKind.SETTINGS, {"floor": 0.1}, '{"floor": 0.1}'),
        (RowKind.ARCHIVE, {}, ""),
    ],
)
def test_rows_in_words(kind, data, words):
    assert trust.audit_entry(kind, data) == words


def test_each_kind_of_row_but_updates_has_a_name():
    assert set(trust.AUDIT_ENTRIES) == set(RowKind) - {RowKind.UPDATE}


def test_actions_are_the_newest_first_and_not_all():
    rows = [StreamRow(1, seq, RowKind.SETTINGS, None, None, False, '{"floor": 0}', None, seq * SECOND) for seq in range(1, 61)]
    actions = trust.actions(rows)
    assert [action["seq"] for action in actions] == list(range(60, 60 - trust.SHOWN, -1))
    assert actions[0]["what"] == "settings" and actions[0]["when"].startswith("1970-01-01")


def test_what_is_not_proved_is_said(at):
    always = trust.guarantee(at.store, TallyCache(), page_of(at), PROVED)["not_proved"]
    assert len(always) == 2 and "without feedback" in always[0]
    bare = trust.guarantee(at.store, TallyCache(), page_of(at), PROVED | {"certificate": None, "bound": None})["not_proved"]
    assert ["no certificate" in bare[0], "no regret bound" in bare[1], bare[2:] == always] == [True] * 3
    at.ask(Change(0, "home", {"floor": 0.125, "ramp": 0.5, "baseline": "a"}))
    at.ask(AddArm(0, "home", "d"))
    changed = trust.guarantee(at.store, TallyCache(), page_of(at), PROVED)["not_proved"]
    assert (
        "gets the baseline" in changed[0] and "in 12.5 % of decisions" in changed[1] and "were added or removed" in changed[2]
    )
    assert changed[3:] == always


def test_the_audit_of_a_short_log(at):
    at.ask(AddCandidate(0, "home", "new", {"kind": "Exp3"}))
    at.ask(RemoveArm(0, "home", "c"))
    at.ask_all([Decide(k, "home", f"d{k}", None) for k in range(8)])
    at.ask_all([Reward(k, f"d{k}", 1.0) for k in range(8)])
    at.ask(TakeSnapshot(0, "home"))
    digest = at.home.live.policy.digest()
    view = trust.audit(at.store, TallyCache(), page_of(at), {"journal": "hsb.db", "digest": digest, "audit_entries": None})
    assert view["updates"] == 8 and view["behind"] == 0 and len(view["honesty"]) == 5
    assert all(doubt["look"] != "fails" for doubt in view["honesty"])
    assert [action["words"] for action in view["actions"][:2]] == ["removed c", 'added new: {"kind": "Exp3"}']
    (snapshot,) = view["snapshots"]
    assert snapshot["seq"] == at.home.version and snapshot["same"] is True and digest in snapshot["digests"]
    other = trust.audit(at.store, TallyCache(), page_of(at), {"journal": "hsb.db", "digest": "0", "audit_entries": None})
    assert other["snapshots"][0]["same"] is False
