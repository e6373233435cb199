"""Contexts that are no contexts: refused in words, at once and without a change, whatever their size and shape."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hsb

pd = pytest.importorskip("pandas")


def nested(levels: int, inside: Any = 1.0) -> Any:
    for _ in range(levels):
        inside = [inside]
    return inside


def cyclic() -> Any:
    own: list[Any] = []
    own.append({"again": own})
    return own


LARGE: dict[str, Callable[[], Any]] = {
    "a range": lambda: range(10**9),
    "a long row": lambda: [0.0] * 10**6,
    "a long array": lambda: np.zeros(10**6),
    "many names": lambda: dict.fromkeys(map(str, range(10**6)), 0.0),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("form", [{"age": 1.0}, [1.0, 2.0], 0.5, None])
def test_what_is_far_too_long_is_counted_and_not_looked_at(name, form):
    policy, context = hsb.HSB(arms=2, seed=0), LARGE[name]()
    if form is not None:
        policy.learn(policy.decide(form), loss=1.0)
    before = policy.digest()
    tracemalloc.start()
    try:
        with pytest.raises(hsb.InputError, match=r"features|values|Contexts|contexts"):
            policy.decide(context)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
    assert policy.digest() == before


def test_the_limit_that_is_set_is_the_limit():
    policy = hsb.HSB(arms=2, features=hsb.Features().limit(columns=3), seed=0)
    policy.learn(policy.decide({"a": 1.0, "b": 1.0, "c": 1.0}), loss=1.0)
    with pytest.raises(hsb.InputError, match="more than 3"):
        policy.decide({"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0})
    assert policy.decide({"a": 1.0, "b": 1.0}).propensity > 0.0


@pytest.mark.parametrize("context", [nested(2000), cyclic(), (nested(2000),), {"a": nested(2000)}])
def test_plain_data_ends(context):
    with pytest.raises(hsb.InputError, match="more than 100 levels, or contains itself"):
        hsb.Decision(context=context, arm="a", propensity=0.5).to_dict()


def test_plain_data_of_some_levels_comes_back():
    for context in (nested(100), (((1.0, ("a",)),),), {"a": {"b": nested(98)}}):
        plain = hsb.Decision(context=context, arm="a", propensity=0.5).to_dict()
        assert hsb.Decision.from_dict(plain).context == context
    inside: Any = 1.0
    for _ in range(100):
        inside = (inside,)
    plain = hsb.Decision(context=inside, arm="a", propensity=0.5).to_dict()
    assert hsb.Decision.from_dict(plain).context == inside


def test_what_is_nested_too_deeply_is_no_decision():
    arm: Any = "a"
    for _ in range(5000):
        arm = {"tuple": [arm]}
    for data in ({"context": nested(5000), "arm": "a"}, {"context": 0.5, "arm": arm}):
        with pytest.raises(hsb.InputError, match="must be"):
            hsb.Decision.from_dict({**data, "propensity": 0.5})


@pytest.mark.parametrize("declared", [hsb.Category(), hsb.Number(), None])
def test_a_length_of_time_is_no_feature(declared):
    features = hsb.Features() if declared is None else hsb.Features(c=declared)
    for value in (np.timedelta64(1, "s"), np.timedelta64(1, "Y"), pd.Timedelta(seconds=1)):
        with pytest.raises(hsb.InputError, match=r"length of time.*total_seconds"):
            hsb.HSB(arms=2, features=features, seed=0).decide({"c": value})


class Stream:
    """Says that it is a table of Arrow, and is none."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return None


@pytest.mark.parametrize("table", [pd.Series({"age": 1.0}), pd.Series([1.0]), Stream()])
def test_a_series_is_no_table(table):
    pytest.importorskip("pyarrow")
    with pytest.raises(hsb.InputError, match="table of contexts is"):
        hsb.simulate(hsb.HSB(arms=2, seed=0), table, np.zeros((1, 2)))


def test_a_series_of_polars_is_no_table():
    pl = pytest.importorskip("polars")
    with pytest.raises(hsb.InputError, match=r"to_frame"):
        hsb.simulate(hsb.HSB(arms=2, seed=0), pl.Series([1.0]), np.zeros((1, 2)))
