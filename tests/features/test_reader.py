"""Features: what contexts may be, against a naive reader; nothing changes where something is refused."""

import json
import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.features import NaiveCounts, NaiveReader, leading_bits
from support.reader_cases import learned, meet

from hsb.errors import InputError
from hsb.features import Category, Cycle, FeatureReader, Features, Flag, Number, Tags, Time

NAN = float("nan")
VALUES = {
    "a": st.none() | st.integers(-3, 3) | st.sampled_from([NAN, 0.5, 1e6]),
    "b": st.none() | st.sampled_from(["x", "y", "", "z z"]),
    "c": st.booleans() | st.none(),
    "d": st.integers(-30, 30) | st.none(),
}
CONTEXTS = st.lists(st.fixed_dictionaries({}, optional=VALUES), max_size=20)


@pytest.mark.nojit
@given(CONTEXTS, st.fixed_dictionaries({}, optional=VALUES))
def test_as_the_naive_reader(contexts, last):
    naive, reader = NaiveReader(), FeatureReader(Features())
    for context in contexts:
        naive.admit(context)
        meet(reader, context)
        naive.observed.append(context)
        if reader.due:
            naive.fitted = len(naive.observed)
    z, cells = reader.encode_row(reader.read(last))
    assert z == pytest.approx(naive.z(last), rel=1e-9, abs=1e-9)
    assert cells.tolist() == naive.cells(last)
    assert len(reader.column_names) == len(z) and len(reader.shapes) == len(cells)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=10), st.floats(-100, 100))
def test_cycles_as_the_naive_reader(hours, last):
    naive, reader = NaiveReader({"h": 24.0}), FeatureReader(Features(h=Cycle(24)))
    for hour in hours:
        naive.admit({"h": hour})
        meet(reader, {"h": hour})
    z, cells = reader.encode_row(reader.read({"h": last}))
    assert z == pytest.approx(naive.z({"h": last}), abs=1e-9)
    assert cells.tolist() == naive.cells({"h": last})


@pytest.mark.nojit
def test_counts_as_the_naive_ones():
    rng = np.random.default_rng(3)
    reader = FeatureReader(Features(n=Number(), c=Category(limit=3), t=Tags(limit=2), f=Flag(), h=Cycle(24)))
    reader.admit({"t": ["a", "b"]})
    kinds = [{"n": "number", "c": "category", "f": "number", "h": "number"}.get(name, "tag") for name in reader.raw_input_names]
    naive = NaiveCounts(kinds, 3)
    values = {
        "number": [NAN, math.inf, -2.5, 0.0, 1.0, 7.0],
        "category": [NAN, -1.0, 0.0, 2.0, 3.0, 5.0],
        "tag": [NAN, 0.0, 1.0, 2.0],
    }
    rows = np.array([[rng.choice(values[kind]) for kind in kinds] for _ in range(1500)])
    by_table = reader.copy()
    with np.errstate(over="ignore"):  # where nothing is compiled, NumPy tells when 64 bits run over
        for row in rows:
            reader.observe(row)
            naive.observe(row.tolist())
        by_table.observe_rows(rows)
    assert by_table == reader
    assert np.array_equal(reader.sample, naive.sample(512), equal_nan=True)
    assert (reader.rows, reader.unseen, reader.shared) == (1500, naive.unseen(), naive.shared())
    for s, kind in enumerate(kinds):
        if kind == "number":
            assert reader.layout.F[s, :3] == pytest.approx(naive.moments(s), rel=1e-12)
    reader.refit()
    z, cells = np.empty((1500, 40)), np.empty((1500, 9), dtype=np.int64)
    reader.encode_rows(rows, z, cells)
    for row, row_z, row_cells in zip(rows[:50], z, cells, strict=False):
        one, ones = reader.encode_row(row)
        assert row_z[: len(one)].tolist() == one.tolist() and row_cells[: len(ones)].tolist() == ones.tolist()


def test_refits_say_how_z_moved():
    rng = np.random.default_rng(0)
    reader = FeatureReader(Features())
    probe = {"a": 0.3, "b": "x", "c": True, "d": None}
    for t in range(300):
        context = {"a": rng.normal() * 2 + 1, "b": "xy"[t % 2], "c": t % 3 == 0, "d": None if t % 5 else 7.0 + t}
        raw, unseen = reader.look(context)
        if unseen:
            reader.admit(context)
            raw = reader.read(context)
        reader.observe(raw)
        if reader.due:
            before, _ = reader.encode_row(reader.read(probe))
            had = reader.layout.F[: reader.inputs, 4].copy()
            a, c = reader.refit()
            after, _ = reader.encode_row(reader.read(probe))
            assert len(a) == len(c) == reader.columns
            for s, column in enumerate(reader.layout.I[: reader.inputs, 1]):
                if had[s] == 0.0 and reader.raw_input_names[s] != "b":
                    assert (a[column], c[column]) == (1.0, 0.0)
                    before[column] = after[column]  # its scale was not known
            there = np.append(before, 0.0)[reader.missing_columns] == 0.0  # -1 takes the 0
            c = np.where(there, c, 0.0)  # what is missing stays 0
            assert after == pytest.approx(a * before + c, rel=1e-12, abs=1e-12)


def test_a_late_row_is_shorter():
    reader = FeatureReader(Features())
    reader.admit({"a": 1.0})
    short = reader.read({"a": 1.0})
    reader.admit({"a": 2.0, "b": "x"})
    reader.admit({"a": 2.0})
    z, cells = reader.encode_row(short)
    assert (z == reader.encode_row(reader.read({"a": 1.0}))[0]).all() and cells.tolist() == [1, leading_bits(1.0), 0]
    reader.observe(short)
    assert np.array_equal(reader.sample, [[1.0, NAN]], equal_nan=True)
    longer, more = np.full(9, 7.0), np.full(5, 7)
    reader.encode(short, longer, more)
    assert longer.tolist() == [*z, *[0.0] * (9 - len(z))] and more.tolist() == [1, leading_bits(1.0), 0, 0, 0]


def test_the_reservoir_is_uniform():
    """512 of 8192 rows: each sixteenth of the rows has 32 of them on average; chi-squared with 15 degrees stays below 37.7 (.001)."""
    reader = learned([{"t": float(t)} for t in range(8192)])

    def chi2(rows):
        counts = np.histogram(rows, 16, (0, 8192))[0]
        return ((counts - 32.0) ** 2 / 32.0).sum()

    rows = reader.sample[:, 0]
    assert len(set(rows.tolist())) == 512 == len(rows)
    assert chi2(rows) < 37.7
    assert chi2(np.arange(8192 - 512, 8192)) > 1000  # the last rows would not do
    assert reader.sample.shape == (512, 1) and learned([{"t": 1.0}]).sample.tolist() == [[1.0]]


def test_sampled_rows_are_whole():
    reader = learned([{"a": float(t), "b": -float(t)} for t in range(2000)])
    assert (reader.sample[:, 0] == -reader.sample[:, 1]).all()


def test_many_values_are_cut_into_even_cells():
    rng = np.random.default_rng(1)
    reader = learned([{"x": x} for x in np.exp(3 * rng.normal(size=4096)).tolist()])
    cells = [reader.encode_row(np.array([x]))[1][0] for x in np.exp(3 * rng.normal(size=4096))]
    counts = np.bincount(cells, minlength=32)[1:]
    assert len(counts) == 31 and counts.min() > 4096 / 31 / 3 and counts.max() < 4096 / 31 * 3
    even = learned([{"x": float(t % 62)} for t in range(256)])
    assert np.bincount([even.encode_row(np.array([float(x)]))[1][0] for x in range(62)]).tolist() == [0, *[2] * 31]
    half = learned([{"x": 0.0 if t % 2 else t / 1000} for t in range(2048)])
    used = {half.encode_row(np.array([0.0 if t % 2 else t / 1000]))[1][0] for t in range(2048)}
    assert len(used) == 31  # what is common takes one cell, not half of them
    assert half.encode_row(np.array([math.inf]))[1][0] == 31 and half.encode_row(np.array([-math.inf]))[1][0] == 1


@given(st.lists(st.floats(allow_nan=False) | st.sampled_from([0.0, 1.0, 5e-324, -1e308, 1e308]), min_size=2, max_size=40))
def test_cells_and_columns_of_any_numbers(values):
    reader = learned([{"x": value} for value in values])
    reader.refit()
    order = sorted(set(values))
    cells, z = [], []
    for x in order:
        (_, column), (cell, bits) = reader.encode_row(np.array([x]))
        assert bits == leading_bits(x)
        cells.append(cell)
        z.append(column)
    assert cells == sorted(cells) and cells[0] >= 1 and cells[-1] <= 31
    assert len(order) > 31 or len(set(cells)) == len(order)
    assert np.isfinite(z).all() and np.abs(z).max() <= 4.0 and z == sorted(z)
    assert np.isfinite(reader.layout.F).all() or any(map(math.isinf, values))
    assert reader.copy() == reader


def test_what_values_are():
    moment = datetime(2024, 2, 29, 18, 30)
    context = {
        "n": Decimal("2.5"), "f": Fraction(1, 2), "i": np.int32(3), "s": np.str_("a"), "b": np.True_, "d": date(1970, 1, 2),
        "m": moment, "p": pd.Timestamp(moment), "8": np.datetime64(moment, "ns"), "h": time(6), "t": {"y", "x"}, "e": [], "z": np.array(2.0),
    }  # fmt: skip
    reader = FeatureReader(Features())
    assert reader.admit(context) and not reader.admit(context)
    raw = dict(zip(reader.raw_input_names, reader.read(context).tolist(), strict=True))
    day = moment.toordinal() - date(1970, 1, 1).toordinal() + 18.5 / 24
    assert raw == {
        "n": 2.5, "f": 0.5, "i": 3.0, "s": 0.0, "b": 1.0, "d day": 1.0, "d weekday": 4.0, "z": 2.0,
        "m day": day, "m hour": 18.5, "m weekday": 3.0, "p day": day, "p hour": 18.5, "p weekday": 3.0,
        "8 day": day, "8 hour": 18.5, "8 weekday": 3.0, "h hour": 6.0, "t: x": 1.0, "t: y": 1.0,
    }  # fmt: skip
    for missing in (
        None,
        NAN,
        pd.NA,
        pd.NaT,
        np.datetime64("NaT"),
        Decimal("NaN"),
        Decimal("sNaN"),
        np.float32("nan"),
        np.ma.masked,
    ):
        raw, unseen = reader.look(dict.fromkeys(context, missing))
        assert np.isnan(raw).all() and unseen


WRONG = [
    b"a",
    1j,
    {"a": 1},
    [1, 2],
    ["a", 1],
    object(),
    timedelta(1),
    np.timedelta64(1, "D"),
    np.zeros((2, 2)),
    10**400,
    lambda: 0,
    int,
]
WRONG += [np.datetime64(2**40, "Y"), Fraction(10**400), "x" * 257, ["x" * 257], np.array([1.0])]


@pytest.mark.parametrize("value", WRONG, ids=lambda value: f"{type(value).__name__}")
@pytest.mark.filterwarnings("error")
def test_what_no_feature_can_be(value):
    for reader in (FeatureReader(Features()), learned([{"a": 1.0}]), learned([{"a": "x"}]), learned([{"b": 1}, {"a": None}])):
        before = reader.copy()
        for use in (reader.read, reader.admit):
            with pytest.raises(InputError, match="'a'"):
                use({"b": 2.0, "a": value})
        assert reader == before


KINDS = {"number": [1, 2.5], "category": ["a", "b"], "flag": [True, False], "time": [date(2020, 1, 1)], "tags": [["a"], []]}


@pytest.mark.parametrize("had", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_kinds_do_not_mix(had, other):
    reader = learned([{"a": value} for value in KINDS[had]])
    for value in KINDS[other]:
        if had == other:
            reader.read({"a": value})
            continue
        for use in (reader.read, reader.admit):
            with pytest.raises(InputError, match=r"Feature 'a' has had .*; given .*\. Give "):
                use({"a": value})


def test_messages_say_how_to_fix_it():
    reader = learned([{"zip": 1234}])
    with pytest.raises(InputError, match=r"declare it: features=hsb.Features\(zip=hsb.Category\(\)\)"):
        reader.read({"zip": "1234A"})
    declared = FeatureReader(Features(country=Category(), age=Number()))
    with pytest.raises(InputError, match=r"'contry' is not declared; declared are 'country', 'age'\. Did you mean 'country'\?"):
        declared.read({"contry": "FR"})
    with pytest.raises(InputError, match="text; given 3"):
        reader.read({3: 1})
    with pytest.raises(InputError, match="Flatten"):
        reader.read({"a": {"b": 1}})
    with pytest.raises(InputError, match=r"Give a list: \['a'\]"):
        learned([{"t": ["a"]}]).read({"t": "a"})
    with pytest.raises(InputError, match="inf"):
        FeatureReader(Features(h=Cycle(24))).read({"h": math.inf})


def test_rows_of_numbers_go_straight_through():
    reader = learned([np.array([1.0, 2.0])])
    row = np.array([3.0, 4.0])
    raw, unseen = reader.look(row)
    raw[0] = 9.0
    assert row[0] == 3.0 and not unseen
    assert reader.look(np.array([NAN, 1.0], dtype=np.float32))[1]
    swapped = learned([[None, 1.0], [5.0, 2.0]])  # x1 has the first input
    assert swapped.raw_input_names == ["x1", "x0"]
    assert swapped.read(np.array([7.0, 8.0])).tolist() == [8.0, 7.0]


def test_features_are_plain_data():
    features = Features({"a b": Category(limit=3)}, h=Cycle(24), t=Tags(), f=Flag(), n=Number(), w=Time()).limit(text=9)
    again = Features.from_dict(json.loads(json.dumps(features.to_dict())))
    assert again == features and hash(again) == hash(features) and list(again) == list(features) and len(again) == 6
    assert repr(features) == (
        "Features({'a b': Category(limit=3), 'h': Cycle(24), 't': Tags(), 'f': Flag(), 'n': Number(), 'w': Time()}).limit(text=9)"
    )
    assert eval(repr(features)) == features
    assert features != Features() and Features(a=Number(), b=Flag()) != Features(b=Flag(), a=Number())
    wrong = [
        lambda: Features({"a": int}),
        lambda: Features({"a": Number}),
        lambda: Features({1: Number()}),
        lambda: Features([1]),
    ]
    wrong += [
        lambda: Features({"a": Number()}, a=Flag()),
        lambda: Category(limit=0),
        lambda: Cycle(0),
        lambda: Cycle("a"),
        lambda: Cycle(NAN),
    ]
    wrong += [lambda: Category(limit=1 << 20), lambda: Features({"a" * 300: Number()}), lambda: FeatureReader({"a": 1})]
    for data in (
        {},
        {"kinds": 1, "limits": {}},
        {"kinds": [["a", {"kind": "X"}]], "limits": {}},
        3,
        {"kinds": [], "limits": {"x": 1}},
    ):
        wrong.append(lambda data=data: Features.from_dict(data))
    for make in wrong:
        with pytest.raises(InputError):
            make()
