"""Feedback that is missing by arm is seen on the page; where it is only slow, or missing alike, nothing is said."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("jinja2")

from support.serve import page_harness as harness

from hsb.serve.core import Change, Create, Decide, Now, Reward
from hsb.serve.core.rows import DecisionEnd
from hsb.serve.local import clock
from hsb.serve.page.sheets import TallyCache

WAIT = 600_000_000  # microseconds
PART = 20  # decisions at once


def served(path, came, *, decisions=1200, delay=(0, 0), **feedback):
    """A policy of A, which earns .3, and B, which earns .5; feedback of A and of B comes with these probabilities after these delays."""
    server, now, rng = harness.Harness(path), clock(), np.random.default_rng(0)
    step, names = 5_000_000, ["A", "B"]
    spec = {"name": "home", "arms": names, "floor": 0.3, "feedback": {"wait": WAIT / 1e6, **feedback}}

    def at(k):
        return Now(now.wall - (decisions - k) * step, now.mono - (decisions - k) * step)

    server.local.ask(Create(0, spec, b"s" * 32), at(0))
    due = []
    for first in range(0, decisions, PART):
        part = range(first, first + PART)
        answers = server.local.ask_all([Decide(k, "home", f"d{k}", {"x": float(rng.random())}) for k in part], at(first))
        for k, answer in zip(part, answers, strict=True):
            arm = names.index(answer.body["arm"])
            if rng.random() < came[arm]:
                due.append((first + delay[arm], Reward(k, f"d{k}", float(rng.random() < (0.3, 0.5)[arm]))))
        server.local.ask_all([each for when, each in due if when <= first], at(first))
        due = [each for each in due if each[0] > first]
    server.local.tick(now)
    return server


def looked_at(made):
    client = made.client()
    values = {name: client.get(f"/p/home/{name}.json").json() for name in ("feedback", "overview", "guarantee", "audit")}
    text, proved = client.get("/p/home/feedback").text, client.get("/p/home/guarantee").text
    assert "64 of a feature" in proved and "makes every decision itself, without a floor" in proved  # of what the bound is
    assert ("Feedback by arm" in text) == bool(values["feedback"]["came"])
    made.close()
    return values


def test_missing_by_arm_is_an_alarm(tmp_path):
    """Probabilities of .2 and 1."""
    result = looked_at(served(tmp_path / "hsb.db", (0.2, 1.0)))
    a, b = result["feedback"]["came"]
    assert a["share"] == pytest.approx(0.2, abs=0.06) and b["share"] == 1.0
    assert a["decisions"] + b["decisions"] == pytest.approx(1200 - 120, abs=PART)  # the young ones are not counted
    assert result["feedback"]["missing"]["look"] == "fails" and result["feedback"]["missing"]["e"] > 1e6
    (alarm,) = [each for each in result["overview"]["alarms"] if "feedback depends on the arm: feedback came" in each]
    assert "for A" in alarm and "100 %" in alarm and result["guarantee"]["not_proved"][0] == alarm
    looks = {each["question"]: each["look"] for each in result["audit"]["honesty"]}
    assert [look for question, look in looks.items() if "over all decisions" in question] == ["holds"]
    assert not any("do not fit" in each or "does not fit" in each for each in result["overview"]["alarms"])


@pytest.mark.parametrize(
    ("came", "more"),
    [((0.5, 0.5), {}), ((1.0, 1.0), {"delay": (0, 60)}), ((0.2, 1.0), {"default_reward": 0.0})],
    ids=["missing alike", "only slower", "no feedback is a reward of 0"],
)
def test_no_alarm_where_the_arm_has_no_say(tmp_path, came, more):
    """The controls: half of all feedback missing; that of B five minutes later, in time; missing by arm, but with a default reward."""
    result = looked_at(served(tmp_path / "hsb.db", came, **more))
    assert result["feedback"]["missing"]["look"] != "fails"
    assert not any("feedback depends on the arm: feedback came" in each for each in result["overview"]["alarms"])
    assert sum(each["decisions"] for each in result["feedback"]["came"]) > 1000


def ends(rows):
    """A reader of decisions that ended so."""
    return SimpleNamespace(ends=lambda policy, after, limit: (rows[after : after + limit], min(after + limit, len(rows))))


def page(now):
    return SimpleNamespace(id=1, arms=["a", "b"], first_arms=2, now=now, open=False)


def test_young_decisions_count_neither_way():
    """Of 500 young decisions only a's are answered yet. The control: counted, they would be strong evidence of what is not so."""
    rng = np.random.default_rng(0)
    arms = rng.integers(2, size=500).tolist()
    young = [DecisionEnd(k + 1, a, 0.5, b"\x03", 1000 + k, "learned" if a == 0 else "pending") for k, a in enumerate(arms)]
    evidence = TallyCache().evidence(ends(young), page(999))
    assert evidence.decisions.sum() == 0 and evidence.log_e_value() == 0.0
    closed = [row._replace(how="expired") if row.how == "pending" else row for row in young]
    assert TallyCache().evidence(ends(closed), page(10_000)).log_e_value() > math.log(1000.0)
    assert TallyCache().evidence(ends(young), page(10_000)).decisions.sum() == arms.index(1)  # it stops at the first that waits


def test_slices_and_looks_make_no_difference():
    rng = np.random.default_rng(1)
    how = np.array(["learned", "expired", "void", "forgotten"])[rng.choice(4, 12_000, p=[0.6, 0.3, 0.05, 0.05])].tolist()
    rows = [DecisionEnd(k + 1, int(rng.integers(2)), 0.5, b"\x03", k, how[k]) for k in range(12_000)]
    once, often = TallyCache(), TallyCache()
    for now in (10, 10, 4999, 5000, 7001, 20_000):
        result = often.evidence(ends(rows), page(now))
    whole = once.evidence(ends(rows), page(20_000))
    assert np.array_equal(result.decisions, whole.decisions) and np.allclose(result.sums, whole.sums)
    assert whole.decisions.sum() == sum(each in ("learned", "expired") for each in how)


def test_arms_that_come_later_are_counted(tmp_path):
    server = harness.Harness(tmp_path / "hsb.db")
    now = clock()
    early = Now(now.wall - 4 * WAIT, now.mono - 4 * WAIT)
    server.local.ask(Create(0, {"name": "home", "arms": ["A"], "feedback": {"wait": WAIT / 1e6}}, b"s" * 32), early)
    server.local.ask_all([Decide(1, "home", "d1", {}), Reward(1, "d1", 1.0)], early)
    from hsb.serve.core import AddArm

    server.local.ask(AddArm(2, "home", "B"), early)
    server.local.ask_all([Decide(3, "home", f"e{k}", {}, ["B"]) for k in range(3)], early)
    server.local.ask(Change(4, "home", {"feedback": {"wait": WAIT / 1e6}}), early)
    server.local.tick(now)
    came = looked_at(server)["feedback"]["came"]
    assert [(each["arm"], each["decisions"], each["answered"]) for each in came] == [("A", 1, 1), ("B", 3, 0)]
