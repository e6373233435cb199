"""The vocabulary of an encoder: the forms of contexts, limits on names, and features that are inferred."""

from collections import OrderedDict, namedtuple
from datetime import date, time
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from support.reader_cases import learned

import hsb
from hsb.errors import InputError
from hsb.features import Category, FeatureReader, Features, Flag, Number, Tags, Time


class Sort(StrEnum):
    A = "a"


def test_forms_of_contexts():
    Point = namedtuple("Point", "a b")
    named = [{"a": 1, "b": "x"}, OrderedDict(a=1, b="x"), MappingProxyType({"a": 1, "b": "x"}), Point(1, "x")]
    named += [pd.Series({"a": 1, "b": "x"}), np.array([(1, "x")], dtype=[("a", "f8"), ("b", "U3")])[0], {Sort.A: 1, "b": "x"}]
    reader = learned(named[:1])
    for context in named:
        assert reader.read(context).tolist() == [1.0, 0.0] and not reader.look(context)[1] and not reader.admit(context)
    rows = [(1, "x"), [1, "x"], np.array([1, "x"], dtype=object), pd.array([1, "x"], dtype=object).tolist()]
    unnamed = learned(rows[:1])
    for context in rows:
        assert unnamed.read(context).tolist() == [1.0, 0.0] and not unnamed.look(context)[1]
    assert unnamed.raw_input_names == ["x0", "x1"]
    alone = learned([0.5])
    for context in (0.5, np.float32(0.5), Fraction(1, 2), np.array(0.5)):
        assert alone.read(context).tolist() == [0.5]
    assert alone.raw_input_names == ["x"]
    for reader_, wrong in (
        (reader, rows[0]),
        (reader, 0.5),
        (unnamed, named[0]),
        (unnamed, 0.5),
        (alone, [0.5]),
        (alone, named[0]),
    ):
        for use in (reader_.read, reader_.admit):
            with pytest.raises(InputError, match="So far contexts were"):
                use(wrong)
    with pytest.raises(InputError, match="2 values so far; given 3"):
        unnamed.read((1, "x", 2))
    for wrong in (
        None,
        "text",
        b"b",
        True,
        object(),
        np.zeros((2, 2)),
        pd.DataFrame({"a": [1]}),
        dict,
        {1, 2},
        date(2020, 1, 1),
    ):
        with pytest.raises(InputError):
            FeatureReader(Features()).read(wrong)
    declared = FeatureReader(Features(a=Number(), b=Category()))
    for context in named + rows:
        declared.admit(context)
        assert declared.read(context).tolist() == [1.0, 0.0]
    with pytest.raises(InputError, match="2 features are declared"):
        declared.read([1])
    assert FeatureReader(Features(a=Number())).read(3).tolist() == [3.0]


def test_limits_are_errors():
    narrow = FeatureReader(Features().limit(columns=2, text=5))
    with pytest.raises(InputError, match=r"3 features, more than 2.*columns=3"):
        narrow.read({"a": 1, "b": 1, "c": 1})
    with pytest.raises(InputError, match=r"3 features, more than 2"):
        narrow.admit({"a": 1, "b": 1, "c": 1})
    with pytest.raises(InputError, match=r"6 characters, more than 5.*text=6"):
        narrow.read({"a": "abcdef"})
    with pytest.raises(InputError, match="name 'abcdef'"):
        narrow.admit({"abcdef": 1})
    assert narrow == FeatureReader(Features().limit(columns=2, text=5))
    for wrong in ({"columns": 0}, {"text": 1.5}, {"width": 1}, {"width": 10**9}):
        with pytest.raises(InputError):
            Features().limit(**wrong)


def test_found_out_features_can_be_declared():
    reader = learned([{"a": 1, "b": "x", "c": True, "d": ["t"], "e": time(3), "f": None}])
    inferred = reader.knowledge.inferred_features()
    assert inferred == Features(a=Number(), b=Category(), c=Flag(), d=Tags(), e=Time())
    assert FeatureReader(inferred).knowledge.inferred_features() == inferred


def test_dates_as_text_are_warned_of() -> None:
    """Once, when the first is taken in; not where it was declared, nor of other text."""
    policy = hsb.HSB(arms=2, seed=0)
    with pytest.warns(UserWarning, match="'seen' has dates as text"):
        policy.learn(policy.decide({"seen": "2026-05-17"}), reward=1.0)
    policy.learn(policy.decide({"seen": "2026-05-18", "at": "12-05", "no": "2026-05", "id": "2026-05-17-x"}), reward=1.0)
    policy = hsb.HSB(arms=2, seed=0)
    with pytest.warns(UserWarning, match="'at' has dates as text"):
        policy.learn(policy.decide({"at": "2026-05-17T09:30:00Z"}), reward=1.0)
    for kind in (hsb.Time(), hsb.Category()):
        policy = hsb.HSB(arms=2, features=hsb.Features(seen=kind), seed=0)
        policy.learn(policy.decide({"seen": "2026-05-17"}), reward=1.0)
    with pytest.raises(InputError, match="Declare all features, or none"):
        policy.decide({"country": "FR"})
