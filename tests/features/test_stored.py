"""Readers in files, and under anything that can be thrown at them: refused or taken whole, never half."""

import contextlib
import copy
import json
import pickle
from datetime import date, datetime, time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsb.errors import InputError
from hsb.features import Category, Cycle, FeatureReader, Features, Flag, Number, Tags, Time

TEXT = st.text(max_size=6)
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXT
    | st.dates()
    | st.datetimes()
    | st.times()
    | st.lists(TEXT, max_size=3)
)
ODD = (
    st.binary(max_size=3) | st.complex_numbers() | st.decimals() | st.fractions() | st.timedeltas() | st.sets(TEXT, max_size=3)
)
ODD |= st.lists(st.integers() | TEXT, max_size=3) | st.dictionaries(TEXT, st.integers(), max_size=2) | st.just(object())
ODD |= st.integers(10**300, 10**400) | st.sampled_from(
    [np.float32(1), np.str_("a"), np.bool_(True), np.datetime64("2020-01-01T05"), np.arange(3)]
)
KEYS = st.sampled_from(["a", "b", "c", "d"])
DICTS = st.dictionaries(KEYS, PLAIN, max_size=4) | st.dictionaries(KEYS | TEXT | st.integers(), PLAIN | ODD, max_size=5)
ANY = DICTS | st.lists(PLAIN | ODD, max_size=4) | PLAIN | ODD
FEATURES = st.sampled_from(
    [Features(), Features(), Features().limit(columns=3, text=4), Features(a=Number(), b=Category(limit=2), c=Tags(limit=2), d=Time()),
     Features(a=Cycle(7.5), b=Flag(), c=Category(), d=Number())]
)  # fmt: skip


def outcome(use, *given):
    """What a call gives; None where it is refused."""
    with contextlib.suppress(InputError):
        return use(*given)
    return None


@settings(max_examples=400)
@given(FEATURES, st.lists(ANY, max_size=12), st.integers(2, 12))
def test_anything_is_taken_or_refused_and_never_half(features, contexts, width):
    reader = FeatureReader(features, width)
    z, cells = np.empty(20), np.empty(60, dtype=np.int64)
    for context in contexts:
        before = copy.deepcopy(reader)
        raw = outcome(reader.read, context)
        look = outcome(reader.look, context)
        assert reader == before  # reading is pure
        assert (raw is None) == (look is None)
        admitted = outcome(reader.admit, context)
        assert (raw is None) == (admitted is None)
        if raw is None:
            assert reader == before
            continue
        assert len(raw) == before.inputs and np.array_equal(look[0], raw, equal_nan=True) and admitted == look[1]
        again = reader.read(context)
        assert not reader.look(context)[1] and not reader.admit(context)
        for row in (raw, again):
            reader.encode(row, z, cells)
            assert np.isfinite(z).all() and z[0] == 1.0 and not z[reader.columns :].any()
            assert all(
                0 <= cell < {"binary": 1 << n, "bits": 1 << n, "kary": n}[way]
                for cell, (way, n) in zip(cells, reader.shapes, strict=False)
            )
        reader.observe(again)
        if reader.due:
            a, c = reader.refit()
            assert np.isfinite(a).all() and np.isfinite(c).all()
        twin = FeatureReader.restore(json.loads(json.dumps(reader.to_dict())), reader.arrays())
        assert twin == reader and np.array_equal(twin.read(context), again, equal_nan=True)
        assert twin.column_names == reader.column_names and twin.raw_input_names == reader.raw_input_names


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(0, 5) | st.none(), min_size=1), min_size=1, max_size=9))
def test_the_same_contexts_make_the_same_reader(contexts):
    one, two = made(contexts), made(contexts)
    assert one == two
    assert json.dumps(one.to_dict()) == json.dumps(two.to_dict())


def made(contexts, features=None):
    reader = FeatureReader(features or Features())
    for context in contexts:
        reader.admit(context)
        reader.observe(reader.read(context))
        if reader.due:
            reader.refit()
    return reader


ROWS = [
    {
        "n": t * 1.5,
        "c": "abc"[t % 3],
        "f": t % 2 == 0,
        "w": datetime(2024, 1, 1 + t),
        "t": ["x", "y"][: t % 3],
        "d": date(2024, 1, 1),
    }
    for t in range(20)
] + [{"h": time(3)}]


def test_copies_go_their_own_way():
    reader = made(ROWS)
    for twin in (reader.copy(), copy.deepcopy(reader), pickle.loads(pickle.dumps(reader))):
        assert twin == reader
        twin.admit({"c": "new"})
        assert twin != reader
        twin = reader.copy()
        twin.observe(twin.read(ROWS[0]))
        assert twin != reader and twin.rows == reader.rows + 1
    assert reader == made(ROWS) and reader != 3
    assert reader.nbytes > reader.inputs * 512 * 8


def test_what_was_learned_goes_on_the_same_after_a_file():
    straight = made(ROWS * 30)
    half = made(ROWS * 10)
    half = FeatureReader.restore(half.to_dict(), half.arrays())
    for context in ROWS * 20:
        half.admit(context)
        half.observe(half.read(context))
        if half.due:
            half.refit()
    assert half == straight


def forged(**changes):
    def forge(data, arrays):
        for name, change in changes.items():
            if name in arrays:
                arrays[name] = change(arrays[name])
            else:
                data[name] = change(data[name])

    return forge


def put(index, value):
    def change(array):
        array = array.copy()
        array[index] = value
        return array

    return change


FORGERIES = {
    "no journal": forged(journal=lambda journal: None),
    "an unknown event": forged(journal=lambda journal: [*journal, ["drop", 0]]),
    "a name twice": forged(journal=lambda journal: [*journal, ["name", "n"]]),
    "a long name": forged(journal=lambda journal: [*journal, ["name", "n" * 300]]),
    "a category twice": forged(journal=lambda journal: [*journal, ["value", 1, "a"]]),
    "a category of a number": forged(journal=lambda journal: [*journal, ["value", 0, "a"]]),
    "a part of no time": forged(journal=lambda journal: [*journal, ["value", 3, "minute"]]),
    "a column too many": forged(journal=lambda journal: [*journal, ["missing", 99]]),
    "a column below 0": forged(journal=lambda journal: [*journal, ["value", -1, "a"]]),
    "missing twice": forged(journal=lambda journal: [*journal, ["missing", 0]]),
    "a kind twice": forged(journal=lambda journal: [*journal, ["kind", 0, "flag"]]),
    "a form twice": forged(journal=lambda journal: [*journal, ["form", "row", 3]]),
    "True for 1": forged(journal=lambda journal: [*journal, ["value", True, "z"]]),
    "events of text": forged(journal=lambda journal: [*journal, "name"]),
    "no width": forged(width=lambda width: "8"),
    "a width of 1": forged(width=lambda width: 1),
    "a vast width": forged(width=lambda width: 1 << 40),
    "other features": forged(features=lambda features: {"kinds": [["n", {"kind": "Number"}]], "limits": {}}),
    "no features": forged(features=lambda features: 7),
    "rows below 0": forged(counts=put(0, -1)),
    "another sample": forged(sample=lambda sample: sample[1:]),
    "an input too few": forged(moments=lambda moments: moments[1:]),
    "integers for floats": forged(moments=lambda moments: moments.astype(np.int64)),
    "a mean of NaN": forged(moments=put((0, 1), np.nan)),
    "a huge shift": forged(moments=put((0, 3), 1e300)),
    "a count below 0": forged(moments=put((0, 0), -1.0)),
    "a scale below 0": forged(moments=put((0, 4), -1.0)),
    "too many cuts": forged(cuts=put(0, 31)),
    "cuts below 0": forged(cuts=put(0, -1)),
    "cuts of a category": forged(cuts=put(1, 2)),
    "edges that fall": forged(edges=lambda edges: -edges),
    "edges of NaN": forged(edges=put((0, 0), np.nan)),
    "something behind the edges": forged(edges=put((1, 3), 5.0)),
    "no edges": forged(edges=lambda edges: None),
    "short counts": forged(counts=lambda counts: counts[:2]),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_files_that_do_not_fit_are_refused(name):
    reader = made(ROWS)
    data, arrays = json.loads(json.dumps(reader.to_dict())), reader.arrays()
    assert FeatureReader.restore(data, arrays) == reader
    FORGERIES[name](data, arrays)
    with pytest.raises(ValueError, match=r"\w"):
        FeatureReader.restore(data, arrays)


@given(st.lists(st.floats(), max_size=12))
def test_raw_rows_from_anywhere_stay_inside(raw):
    reader = made(ROWS, Features(n=Number(), c=Category(limit=2), f=Flag(), w=Time(), t=Tags(limit=1), d=Time(), h=Time()))
    z, cells = reader.encode_row(np.array(raw, dtype=np.float64))
    assert np.isfinite(z).all()
    assert all(
        0 <= cell < {"binary": 1 << n, "bits": 1 << n, "kary": n}[way]
        for cell, (way, n) in zip(cells, reader.shapes, strict=True)
    )
    reader.observe(np.array(raw, dtype=np.float64))
    reader.refit()
    assert reader.copy() == reader
