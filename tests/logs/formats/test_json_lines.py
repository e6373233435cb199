"""Logs as JSON lines, dates in logs, and features of which some are declared."""

import json
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest

import hsb
import hsb.logs
from hsb.logs.named import Kinds, with_others

ARMS = ["film", "sale"]


def event(t: int) -> dict[str, Any]:
    context = {
        "user": {"age": 20 + t % 40, "member": t % 3 == 0},
        "device": "ios" if t % 2 else "web",
        "tags": ["new"] * (t % 2),
    }
    context |= {} if t % 5 else {"spend": 1.5 * t}
    arm = ARMS[t // 2 % 2]
    return {
        "context": context,
        "arm": arm,
        "propensity": 0.25 + 0.5 * (t % 2),
        "reward": t % 2,
        "id": f"e{t}",
        "timestamp": 60 * t,
    }


def written(path: Any, events: list[Any]) -> Any:
    path.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in events))
    return path


def test_json_lines(tmp_path):
    """Found without a format; nested features by their path; what a line does not have is missing."""
    path = written(tmp_path / "log.jsonl", [event(t) for t in range(60)])
    log = hsb.logs.open(path)
    (batch,) = log.by_name()
    assert batch.named is not None
    assert list(batch.named.columns) == ["user.age", "user.member", "device", "tags", "spend"]
    for t in (0, 7, 10, 59):
        answer, result = event(t), batch.named.context(t)
        assert (result["user.age"], result["user.member"], result["device"]) == (
            20 + t % 40,
            t % 3 == 0,
            "ios" if t % 2 else "web",
        )
        assert result["tags"] == answer["context"]["tags"]
        assert result["spend"] == answer["context"].get("spend") or np.isnan(result["spend"])
        assert batch.arms[batch.arm[t]] == answer["arm"] and batch.propensity[t] == answer["propensity"]
    assert batch.reward.tolist() == [t % 2 for t in range(60)] and batch.timestamp.tolist() == [60.0 * t for t in range(60)]
    assert len(log.problems) == 0


def test_a_table_and_its_json_lines_teach_the_same(tmp_path):
    events = [event(t) for t in range(200)]
    for each in events:
        each["context"] = {"age": each["context"]["user"]["age"], "device": each["context"]["device"]}
    table = {name: [each["context"][name] for each in events] for name in ("age", "device")}
    table |= {"shown": [each["arm"] for each in events], "p": [each["propensity"] for each in events]}
    table |= {"click": [each["reward"] for each in events]}
    one = hsb.logs.open(written(tmp_path / "log.jsonl", events))
    other = hsb.logs.open(table, context=["age", "device"], arm="shown", propensity="p", reward="click")
    policies = [hsb.HSB(arms=ARMS, seed=0) for _ in range(2)]
    for policy, log in zip(policies, (one, other), strict=True):
        assert hsb.learn_from(policy, log) == 200
    assert policies[0].digest() == policies[1].digest()


def test_lines_that_cannot_be_used_are_listed(tmp_path):
    odd = ["nonsense", "", '{"arm": "film"}', "[1]", event(3) | {"propensity": 0.0}, event(4) | {"reward": None}, event(0)]
    log = hsb.logs.open(written(tmp_path / "log.jsonl", [event(k) for k in range(3)] + odd))
    assert sum(map(len, log.by_name())) == 3
    assert [problem.line for problem in log.problems.first] == [4, 5, 6, 7, 8, 9, 10]
    assert "repeated" in log.problems.first[-1].reason or "id" in log.problems.first[-1].reason
    with pytest.raises(hsb.FileError, match="line 4"):
        list(hsb.logs.open(tmp_path / "log.jsonl", on_error="raise").by_name())


def test_other_names_losses_and_what_was_available(tmp_path):
    events = [
        {"context": [0.5, t], "action": t % 3, "loss": t % 2, "available": [0, 1, 2] if t % 2 else [t % 3, (t + 1) % 3]}
        for t in range(30)
    ]
    path = written(tmp_path / "log.json", events)
    log = hsb.logs.open(path, arm="action", available="available", propensity="uniform")
    (batch,) = log
    assert batch.contexts[:3].tolist() == [[0.5, 0.0], [0.5, 1.0], [0.5, 2.0]]
    assert batch.reward.tolist() == [1 - t % 2 for t in range(30)]
    assert set(np.round(1 / batch.propensity).tolist()) == {2, 3}
    chosen = hsb.logs.open(path, context="x1", arm="action", propensity=0.5)
    assert next(iter(chosen)).contexts[:2].tolist() == [[0.0], [1.0]]
    with pytest.raises(hsb.InputError, match=r"no column 'what'.*action"):
        hsb.logs.open(path, arm="what", propensity=0.5)
    with pytest.raises(hsb.FileError, match="has no line like"):
        hsb.logs.open(written(tmp_path / "none.jsonl", ["{}"]), format="jsonl")


def test_decisions_as_policies_write_them(tmp_path):
    """`Decision.to_dict` with a reward is a line of such a log."""
    policy, lines = hsb.HSB(arms=ARMS, seed=0), []
    for t in range(20):
        decision = policy.decide({"age": 20 + t, "country": "FR"})
        lines.append(decision.to_dict() | {"reward": t % 2})
    log = hsb.logs.open(written(tmp_path / "log.jsonl", lines), id=None)
    assert log.by_name().count() == 20 and set(log.arms) <= set(ARMS)


DATES = {
    "days": (["2026-11-19", "", "2025-01-01"], "time"),
    "times": (["2026-11-19T09:30", "2026-11-19 10:00:00", "NA"], "time"),
    "zones": (["2026-11-19T09:30:00Z", "2026-11-19T09:30:00+02:00"], "time"),
    "no month": (["2026-13-19", "2026-14-19"], "category"),
    "years": (["2026", "2025"], "number"),
    "codes": (["2026-A", "2026-B"], "category"),
    "hours": (["09:30", "10:30"], "category"),
}


@pytest.mark.parametrize("name", DATES)
def test_dates_of_a_file_without_types_are_times(name):
    values, kind = DATES[name]
    kinds = Kinds({}, untyped=True)
    kinds.look({"x": values})
    assert kinds.known == {"x": kind}
    typed = Kinds({})
    typed.look({"x": values})
    assert typed.known == {"x": "category"}  # a table with types says itself what is a time


def test_times_can_be_said(tmp_path):
    table = {"at": ["2026-11-19", None, "2026-11-21"], "arm": ["a", "b", "a"], "p": [0.5] * 3, "click": [1, 0, 1]}
    named = {"context": ["at"], "arm": "arm", "propensity": "p", "reward": "click"}
    (batch,) = hsb.logs.open(table, **named, times="at").by_name()
    assert [batch.named.context(t)["at"] for t in range(3)] == [date(2026, 11, 19), None, date(2026, 11, 21)]
    days = hsb.logs.open(table, **named, times=["at"])
    assert [x[0] for batch in days for x in batch.contexts.tolist()] == [
        20776.0,
        20778.0,
    ]  # since 1970; numbers cannot be missing
    (tmp_path / "log.csv").write_text("at,arm,p,click\n2026-11-19,a,0.5,1\n2026-11-20,b,0.5,0\n")
    (result,) = hsb.logs.open(tmp_path / "log.csv", **named).by_name()
    assert result.named.context(1)["at"] == date(2026, 11, 20)
    (kept,) = hsb.logs.open(tmp_path / "log.csv", **named, categories="at").by_name()
    assert kept.named.context(1)["at"] == "2026-11-20"
    with pytest.raises(hsb.InputError, match="is in both categories and times"):
        hsb.logs.open(table, **named, times="at", categories="at")
    with pytest.raises(hsb.InputError, match="times must be among context"):
        hsb.logs.open(table, **named, times="when")


def test_production_may_send_what_the_file_had(tmp_path):
    """A policy trained on a CSV file takes yes and no, and dates as text, where it has flags and times."""
    rows = [f"{('yes', 'no')[t % 2]},2026-11-{1 + t % 28:02d},{'ab'[t % 2]},0.5,{t % 2}" for t in range(60)]
    (tmp_path / "log.csv").write_text("\n".join(["newsletter,seen,arm,p,click", *rows]) + "\n")
    policy = hsb.HSB(arms=["a", "b"], seed=0)
    log = hsb.logs.open(tmp_path / "log.csv", context=["newsletter", "seen"], arm="arm", propensity="p", reward="click")
    assert hsb.learn_from(policy, log) == 60
    assert policy.learner.named_columns == {"newsletter": "flag", "seen": "time"}
    typed = policy.probabilities({"newsletter": False, "seen": date(2026, 11, 5)})
    for no, day in (("no", "2026-11-05"), ("No ", date(2026, 11, 5)), ("FALSE", datetime(2026, 11, 5, tzinfo=UTC).date())):
        assert policy.probabilities({"newsletter": no, "seen": day}).tolist() == typed.tolist()
    columns = {"newsletter": ["no", "yes"], "seen": ["2026-11-05", "2026-11-06"]}
    assert len(policy.decide_many(columns)) == 2
    for wrong in ({"newsletter": "perhaps"}, {"seen": "some day"}, {"newsletter": 1}):
        with pytest.raises(hsb.InputError, match=r"has had (True or False|a date or time); given"):
            policy.decide(wrong)


def test_declaring_some_features_keeps_the_others():
    table = {
        "at": ["2026-11-19", "2026-11-20"],
        "n": [1, 2],
        "s": ["x", None],
        "none": [None, None],
        "f": [True, False],
        "t": [["u"], []],
    }
    log = hsb.logs.open(
        table | {"arm": ["a", "b"], "p": [0.5, 0.5], "r": [1, 0]}, context=list(table), arm="arm", propensity="p", reward="r"
    )
    declared = hsb.Features(at=hsb.Time(), n=hsb.Category(limit=7)).limit(width=99)
    result = with_others(declared, list(log.by_name()))
    kinds = {"at": hsb.Time(), "n": hsb.Category(limit=7), "s": hsb.Category(), "f": hsb.Flag(), "t": hsb.Tags()}
    assert result == hsb.Features(kinds).limit(width=99)


def test_decisions_on_requests_have_features_of_arms(tmp_path):
    policy, twin, lines = hsb.HSB(arms=hsb.Open(), seed=0), hsb.HSB(arms=hsb.Open(), seed=0), []
    for t in range(30):
        decision = policy.decide({"age": 20.0 + t}, arms={f"a{k}": {"price": k} for k in range(t % 3, t % 3 + 3)})
        lines.append(decision.to_dict() | {"reward": t % 2})
        twin.learn(hsb.Decision(context=decision.context, arm=decision.arm, propensity=decision.propensity), reward=t % 2)
    bad = [
        lines[0] | {"id": "x", "context": {"$request": [{"age": 1.0}]}},
        lines[0] | {"id": "y", "context": {"$request": [{"age": 1.0}, [["a0", {"price": "low"}]]]}, "arm": "a0"},
        lines[0] | {"id": "z", "context": {"age": 1.0}},
    ]
    log = hsb.logs.open(written(tmp_path / "log.jsonl", lines + bad))
    other = hsb.HSB(arms=hsb.Open(), seed=0)
    assert hsb.learn_from(other, log) == 30 and other.digest() == twin.digest()
    assert [(problem.line, problem.reason) for problem in log.problems.first] == [
        (31, 'the line is not a JSON object with a "context"'),
        (32, "feature 'price' of an arm is not a number, as others are"),
        (33, "the line lacks arm_features, which other lines have"),
    ]


def test_features_of_arms_beside_the_context(tmp_path):
    lines = [
        {"context": {"age": 30 + t}, "arm": "a", "propensity": 0.5, "reward": 1, "items": {"a": {"price": t}, "b": None}}
        for t in range(4)
    ]
    log = hsb.logs.open(written(tmp_path / "log.jsonl", lines), arm_features="items")
    assert hsb.learn_from(hsb.HSB(arms=hsb.Open(), seed=0), log) == 4 and set(log.arms) == {"a", "b"}
    for wrong in ("items*", {"price": "items"}):
        with pytest.raises(hsb.InputError, match="In JSON lines arm_features is one name"):
            hsb.logs.open(tmp_path / "log.jsonl", arm_features=wrong)
