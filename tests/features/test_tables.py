"""Tables of contexts: what a table may be, and times as text or with zones."""

from datetime import datetime, time, timezone

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hsb
from hsb.errors import InputError
from hsb.features import FeatureReader, Features, Number, Time

WRONG = [3, "a", b"a", None, {"a": 1}, {"a": [1], "b": [1, 2]}, np.zeros((2, 2, 2)), {1: [1]}, {"a": "abc"}]
WRONG += [pd.DataFrame([[1]]), pd.DataFrame([[1, 2]], columns=["a", "a"]), pl.LazyFrame({"a": [1]})]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: type(wrong).__name__)
def test_what_no_table_can_be(wrong):
    with pytest.raises(InputError):
        FeatureReader(Features()).table(wrong)


def test_times_with_a_zone_are_as_their_clocks_show_them():
    moment = datetime(2024, 1, 1, 5, 30, tzinfo=timezone.utc)  # noqa: UP017
    frames = [pl.DataFrame({"w": [moment]}), pa.table({"w": [moment]}), pd.DataFrame({"w": [moment]}), [{"w": moment}]]
    for frame in frames:
        reader = FeatureReader(Features())
        table = reader.table(frame)
        reader.admit(table.context(0))
        raw = dict(zip(reader.raw_input_names, reader.read_part(table, 0, 1)[0][0].tolist(), strict=True))
        assert raw["w hour"] == 5.5 and raw["w weekday"] == 0.0
    plain = FeatureReader(Features())
    table = plain.table({"h": [time(5), None]})
    plain.admit(table.context(0))
    assert plain.read_part(table, 0, 1)[0].tolist() == [[5.0]]


def test_anything_with_an_arrow_stream():
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table({"a": [1, 2]}).__arrow_c_stream__(requested_schema)

    assert FeatureReader(Features()).table(Stream()).context(1) == {"a": 2}


def test_text_of_times_where_they_are_declared():
    """The same as the times themselves: one by one, as a list and as a data frame; refused where no time was declared."""
    features = Features(at=Time(), age=Number())
    times = [datetime(2026, 11, 1 + t % 20, t % 24, t) for t in range(40)]
    rows = [{"at": at, "age": t} for t, at in enumerate(times)]
    texts = [{"at": at.isoformat(sep="T" if t % 2 else " "), "age": t} for t, at in enumerate(times)]
    by_time, by_text = (hsb.HSB(features=features, arms=["a", "b"], seed=0) for _ in range(2))
    for t, (row, text) in enumerate(zip(rows, texts, strict=True)):
        decisions = by_time.decide(row), by_text.decide(text)
        assert decisions[0].arm == decisions[1].arm
        by_time.learn(decisions[0], loss=t % 2)
        by_text.learn(decisions[1], loss=t % 2)
    for form in (list, pd.DataFrame):
        pair = by_time.decide_many(form(rows)), by_text.decide_many(form(texts))
        assert list(pair[0].arms) == list(pair[1].arms) and np.array_equal(pair[0].propensities, pair[1].propensities)
    assert by_time.digest() == by_text.digest()
    for wrong in ("soon", "", "2026", "25:00", "2026-13-01", "2026-11-16T"):
        with pytest.raises(InputError, match=r"Feature 'at' was given the text '.*', which is no time. Write times as in"):
            by_text.decide({"at": wrong})
    undeclared = hsb.HSB(arms=["a", "b"], seed=0)
    undeclared.learn(undeclared.decide({"at": times[0]}), loss=0)
    first, again = undeclared.probabilities({"at": times[0]}), undeclared.probabilities({"at": times[0].isoformat()})
    assert np.array_equal(first, again)  # a feature that has had times takes the text of one, and no other
    with pytest.raises(InputError, match="'at' has had a date or time; given"):
        undeclared.decide({"at": "soon"})
