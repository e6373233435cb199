"""Decisions as plain data: what comes back from JSON is learned as the original would be, and once."""

import datetime as dt
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.loss_range_cases import made
from support.policies import CANNOT_WIDEN, CONTEXTS, each_policy, play, state
from support.storage_cases import ARMS

import hsb

OBJECT = object()


def through_json(decision: hsb.Decision) -> hsb.Decision:
    return hsb.Decision.from_dict(json.loads(json.dumps(decision.to_dict())))


@each_policy
def test_it_is_learned_exactly_as_the_original(name: str) -> None:
    """Late, with arms not available, after an arm was added; then refused, also where the original is given."""
    policy = made(name)
    play(policy, slice(0, 30))
    decisions = [policy.decide(float(x), available=[0, 2] if x < 0.3 else None) for x in CONTEXTS[:20]]
    if name not in CANNOT_WIDEN and name != "Exp4":
        policy.add_arm(("late", 4))
    twin = policy.copy()
    twin.ledger.past = dict(policy.ledger.past)
    sent = [through_json(decision) for decision in decisions]
    twin.ledger.lineage = policy.ledger.lineage
    for copy, decision in zip(sent, decisions, strict=True):
        policy.learn(copy, loss=0.7)
        twin.learn(decision, loss=0.7)
    assert state(policy) == state(twin)
    assert bytes(policy.ledger.bits) == bytes(twin.ledger.bits)
    for again in (decisions[3], sent[3], through_json(sent[3])):
        with pytest.raises(hsb.InputError, match="learned already"):
            policy.learn(again, loss=0.7)


def test_what_is_said_of_the_time_of_deciding_matters() -> None:
    """The control: without rounds and advice the default learns a late decision otherwise."""
    policies = [hsb.HSB(hsb.BinaryTree(depth=3), arms=3, seed=0) for _ in range(2)]
    policies[1].ledger.lineage = policies[0].ledger.lineage
    late = policies[0].decide(0.2)
    policies[1].decide(0.2)
    for policy in policies:
        for _ in range(200):
            policy.learn(hsb.Decision(context=0.2, arm=late.arm, propensity=0.9), loss=1.0)
    less = {name: value for name, value in late.to_dict().items() if name not in ("rounds", "advice_share")}
    policies[0].learn(through_json(late), loss=1.0)
    policies[1].learn(hsb.Decision.from_dict(less), loss=1.0)
    assert policies[0].probabilities(0.2).tolist() != policies[1].probabilities(0.2).tolist()


def test_one_of_another_policy_is_learned_once_too() -> None:
    policy, other = hsb.Exp3(arms=2, seed=0), hsb.Exp3(arms=2, seed=1)
    foreign = through_json(other.decide(None))
    policy.learn(foreign, loss=1.0)
    with pytest.raises(hsb.InputError, match="learned already"):
        policy.learn(through_json(foreign), loss=1.0)
    other.learn(through_json(foreign), loss=1.0)  # which has not learned it yet


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda part: (
        st.lists(part, max_size=3)
        | st.lists(part, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.sampled_from(["tuple", "dict", "$date"]), part, max_size=3)
    ),
    max_leaves=6,
)


@given(context=PLAIN, arm=ARMS, propensity=st.floats(0, 1), available=st.none() | st.lists(ARMS, max_size=3))
def test_any_plain_data_comes_back(context: Any, arm: Any, propensity: float, available: Any) -> None:
    decision = hsb.Decision(context=context, arm=arm, propensity=propensity, available=available)
    back = through_json(decision)
    for name in ("context", "arm", "propensity", "available", "id", "number", "memo", "_learned_by"):
        assert repr(getattr(back, name)) == repr(getattr(decision, name))


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (np.float32(0.5), 0.5),
        (np.array([1, 2]), [1, 2]),
        (np.array(["a", "b"]), ["a", "b"]),
        ([np.int8(3), np.array([0.5])], [3, [0.5]]),
        ({"age": np.float64(3.0), "at": None}, {"age": 3.0, "at": None}),
        (np.array([0.25, None], dtype=object), [0.25, None]),
    ],
    ids=str,
)
def test_arrays_become_lists(context: Any, expected: Any) -> None:
    assert through_json(hsb.Decision(context=context, arm=1, propensity=0.5)).context == expected


@pytest.mark.parametrize("context", [OBJECT, {1: 2}, b"x", [{1}], 1j, np.timedelta64(1, "D")], ids=list("abcdef"))
def test_other_contexts_cannot_be_written(context: Any) -> None:
    with pytest.raises(hsb.InputError, match="cannot be written as plain data"):
        hsb.Decision(context=context, arm=1, propensity=0.5).to_dict()


def test_other_arms_cannot_be_written_either() -> None:
    with pytest.raises(hsb.InputError, match="cannot be written"):
        hsb.Decision(context=0, arm=frozenset(), propensity=0.5).to_dict()
    with pytest.raises(hsb.InputError, match="propensity must be a number"):
        hsb.Decision(context=0, arm=1, propensity="half").to_dict()  # type: ignore[arg-type]


RIGHT = {"context": 0.3, "arm": "a", "propensity": 0.5}
WRONG: list[tuple[Any, str]] = [
    (3, "from_dict needs a dict"),
    ([RIGHT], "from_dict needs a dict"),
    ({}, "A decision needs 'context'; given nothing"),
    ({"context": 1, "arm": 2}, "A decision needs 'propensity'; given 'context', 'arm'"),
    (RIGHT | {"reward": 1}, "no field 'reward'. The fields are context, arm"),
    (RIGHT | {"propensity": "0.5"}, "'propensity' of a decision must be a number; given '0.5'"),
    (RIGHT | {"propensity": True}, "'propensity' of a decision must be a number"),
    (RIGHT | {"arm": ["a"]}, "'arm' of a decision must be None, a boolean"),
    (RIGHT | {"arm": {"tuple": 3}}, "'arm' of a decision must be"),
    (RIGHT | {"arm": {"list": []}}, "'arm' of a decision must be"),
    (RIGHT | {"available": "abc"}, "'available' of a decision must be None or a list"),
    (RIGHT | {"available": [["a"]]}, "'available' of a decision must be"),
    (RIGHT | {"context": OBJECT}, "'context' of a decision must be plain data"),
    (RIGHT | {"context": {"a": {1: 2}}}, "'context' of a decision must be plain data"),
    (RIGHT | {"id": 1.0}, "'id' of a decision must be None or the text"),
    (RIGHT | {"id": True}, "'id' of a decision must be"),
    (RIGHT | {"id": 17}, "'id' of a decision must be"),
    (RIGHT | {"id": "17"}, "'id' of a decision must be"),
    (RIGHT | {"id": "a-017"}, "'id' of a decision must be"),
    (RIGHT | {"lineage": "a"}, "A decision has no field 'lineage'"),
    (RIGHT | {"arms": -1}, "'arms' of a decision must be"),
    (RIGHT | {"rounds": 0.5}, "'rounds' of a decision must be"),
    (RIGHT | {"advice_share": 2.0}, "'advice_share' of a decision must be a share"),
    (RIGHT | {"learned_by": {"a": 1}}, "'learned_by' of a decision must be"),
    (RIGHT | {"learned_by": [["a", "b"]]}, "'learned_by' of a decision must be"),
]


@pytest.mark.parametrize(("data", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_data_is_named(data: Any, message: str) -> None:
    assert hsb.Decision.from_dict(RIGHT).arm == "a"
    with pytest.raises(hsb.InputError, match=message):
        hsb.Decision.from_dict(data)


def test_contexts_with_dates_and_sets_come_back() -> None:
    """What a policy takes can wait in a queue: what comes back is learned as the original would be."""
    day, hour = dt.date(2026, 3, 1), dt.datetime(2026, 3, 1, 21, 30, tzinfo=dt.UTC)
    context = {"day": day, "when": hour, "at": dt.time(9, 30), "stamp": np.datetime64("2026-03-01T10:00"), "likes": {"b", "a"}}
    policies = [hsb.HSB(arms=["a", "b"], seed=0) for _ in range(2)]
    for policy, send in zip(policies, (lambda decision: decision, through_json), strict=True):
        for _ in range(5):
            policy.learn(send(policy.decide(context)), reward=1.0)
    assert policies[0].digest() == policies[1].digest()
    assert policies[1].learner.named_columns["when"] == "time"
    back = through_json(policies[0].decide(context)).context
    assert back == context | {"stamp": dt.datetime(2026, 3, 1, 10), "likes": ["a", "b"]}
    alone = {"$date": "no date"}  # a context of the user's that looks like ours
    assert through_json(hsb.Decision(context=alone, arm=0, propensity=0.5)).context == alone
    with pytest.raises(hsb.FileError, match="where a date is needed"):
        hsb.Decision.from_dict({"context": alone, "arm": 0, "propensity": 0.5})
