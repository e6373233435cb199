"""A slate is a sequence of decisions that cannot be changed, and plain data."""

import json
import pickle
from typing import Any

import pytest

import hsb

CONTEXT = {"age": 31, "device": "web"}


def page(**settings: Any) -> hsb.Slate:
    return hsb.HSB(arms=["a", ("b", 1), None, 4], seed=0, **settings).decide(CONTEXT, k=3)


def test_it_is_a_sequence_with_columns() -> None:
    slate = page()
    assert len(slate) == 3 and [decision.arm for decision in slate] == list(slate.arms)
    assert [decision.slot for decision in slate] == [0, 1, 2]
    assert slate[1].arm == slate.arms[1] and slate[-2:] == (slate[1], slate[2])
    assert slate[0].available is None and set(slate[2].available or ()) == {"a", ("b", 1), None, 4} - set(slate.arms[:2])
    assert {decision.page for decision in slate} == {slate.id} == {slate[0].id}
    assert len({decision.id for decision in slate}) == 3
    assert repr(slate).startswith("Slate(context={'age': 31, 'device': 'web'}, arms=[")


def test_it_cannot_be_changed() -> None:
    slate: Any = page()
    with pytest.raises(TypeError):
        slate[0] = slate[1]
    with pytest.raises(AttributeError):
        slate.arms = ()
    with pytest.raises(AttributeError):
        slate.more = 1


@pytest.mark.parametrize("settings", [{}, {"slots": 3}], ids=str)
def test_json_and_pickle_keep_it(settings: dict[str, Any]) -> None:
    policy = hsb.HSB(arms=list("abcd"), seed=0, **settings)
    for t in range(30):
        policy.learn(policy.decide({"age": t}, k=3), rewards=[1, 0, None])
    slate = policy.decide({"age": 5}, k=3)
    sent = hsb.Slate.from_dict(json.loads(json.dumps(slate.to_dict())))
    assert sent.to_dict() == slate.to_dict() and repr(sent) == repr(slate) and sent.id == slate.id
    assert [decision.slot for decision in sent] == [0, 1, 2]
    one, other, third = policy.copy(), policy.copy(), policy.copy()
    one.learn(slate, rewards=[0, 1, None])
    other.learn(sent, rewards=[0, 1, None])
    third.learn(pickle.loads(pickle.dumps(slate)), rewards=[0, 1, None])
    assert one.digest() == other.digest() == third.digest() != policy.digest()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "from_dict needs a dict with 'context' and 'slots'"),
        ({"slots": []}, "from_dict needs a dict with 'context' and 'slots'"),
        ({"context": 1, "slots": []}, "one or more hsb.Decision objects"),
        ({"context": 1, "slots": [3]}, "Slot 0 of a slate must be a dict without 'context'"),
        ({"context": 1, "slots": [{"arm": 1, "propensity": 0.5, "context": 2}]}, "Slot 0 of a slate"),
        ({"context": 1, "slots": [{"arm": 1}]}, "A decision needs 'propensity'"),
        ({"context": 1, "slots": [{"arm": 1, "propensity": 0.5, "slot": -1}]}, "'slot' of a decision must be"),
        ({"context": 1, "slots": [{"arm": 1, "propensity": 0.5}] * 2}, "The arms of a slate must differ"),
    ],
)
def test_what_is_no_slate_is_refused(data: Any, message: str) -> None:
    with pytest.raises(hsb.InputError, match=message):
        hsb.Slate.from_dict(data)


def test_it_needs_decisions() -> None:
    for wrong in ([], [1], (None,)):
        with pytest.raises(hsb.InputError, match="one or more"):
            hsb.Slate(wrong)  # type: ignore[arg-type]
