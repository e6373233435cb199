"""The state of a policy is a replay of its stream."""

import sqlite3

import pytest
from support.serve.core_cases import SECRET, At, make

import hsb
from hsb.serve.checking import check
from hsb.serve.core import Decide, Reward
from hsb.serve.core.sampling import u_of
from hsb.serve.store.sqlite import SqliteReader


@pytest.fixture
def at(tmp_path):
    local = At(tmp_path / "hsb.db")
    yield local
    assert check(local.store).sound
    local.close()


def another_row(path, kind, data=None):
    """Append a row to the stream of the first policy as another process would."""
    with sqlite3.connect(path, isolation_level=None) as other:
        (head,) = other.execute("SELECT head FROM policy WHERE id = 1").fetchone()
        other.execute("INSERT INTO stream VALUES (1, ?, ?, NULL, NULL, 0, ?, NULL, 0)", (head + 1, kind, data))
        other.execute("UPDATE policy SET head = ? WHERE id = 1", (head + 1,))
    other.close()


def test_propensities_with_floor_ramp_and_baseline(at):
    make(at, floor=0.3, ramp=0.5, baseline="b")
    decisions = at.ask_all([Decide(k, "home", f"d{k}", None, ["a", "b"] if k % 2 else None) for k in range(2000)])
    counts = {}
    for k, answer in enumerate(decisions):
        arm, p = answer.body["arm"], answer.body["propensity"]
        n = 2 if k % 2 else 3
        assert p == pytest.approx(0.5 * (arm == "b") + 0.5 / n) and answer.body["mode"] == "ramp"
        counts[arm] = counts.get(arm, 0) + 1
    assert counts["c"] / 2000 == pytest.approx(1 / 12, abs=0.03)  # half of 1/6; 5 standard deviations
    assert at.says(Decide(0, "home", "x", None, ["a", "c"])) == "refused"
    assert at.says(Decide(0, "home", "x", None, ["a", "c"], "c")) == "created"


def test_decisions_are_those_of_choose(at):
    make(at, policy={"kind": "HSB"}, floor=0)
    for k in range(50):
        policy = at.home.live.policy.copy()
        answer = at.ask(Decide(0, "home", f"d{k}", {"age": k % 7}, ["a", "c"] if k % 3 else None))
        arm, p = policy.choose({"age": k % 7}, u=u_of(SECRET, f"d{k}"), available=["a", "c"] if k % 3 else None)
        assert (answer.body["arm"], answer.body["propensity"]) == (arm, p)
        at.says(Reward(0, f"d{k}", float(k % 2)))
    assert at.home.live.policy.rounds == 50


def test_updates_that_cannot_be_learned_are_passed_over(at):
    """Both were fine when nothing was known; then one makes contexts rows, and the other is a dict."""
    make(at, policy={"kind": "HSB"})
    at.says(Decide(0, "home", "row", [1, 2]))
    at.says(Decide(0, "home", "dict", {"x": 1}))
    assert (at.says(Reward(0, "row", 1.0)), at.says(Reward(0, "dict", 1.0))) == ("learned", "not_learned")
    assert at.home.live.policy.rounds == 1 and at.home.live.not_learned == 1 and at.home.updates == 2


def test_rows_of_a_kind_that_is_not_known_stop_the_service(tmp_path):
    at = At(tmp_path / "hsb.db")
    make(at)
    at.says(Decide(0, "home", "one", None))
    at.close()
    another_row(tmp_path / "hsb.db", 99)
    with pytest.raises(hsb.FileError, match="row 2 of the stream of home is of a kind, 99, that this hsb does not know"):
        At(tmp_path / "hsb.db")
    reader = SqliteReader(tmp_path / "hsb.db")
    report = check(reader)
    reader.close()
    assert not report.sound and "kind, 99" in str(report)
