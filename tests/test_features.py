"""Features: what contexts may be, against a naive encoder; nothing changes where something is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_features import NaiveEncoder

from hsb.features import Cycle, Encoder, Features

NAN = float("nan")


def learned(contexts, features=None, width=None):
    """An encoder that met contexts as a policy does."""
    encoder = Encoder(features or Features(), width)
    for context in contexts:
        meet(encoder, context)
    return encoder


def meet(encoder, context):
    raw = encoder.read(context)
    if encoder.news:
        assert encoder.admit(context)
        raw = encoder.read(context)
        assert not encoder.news
    else:
        assert not encoder.admit(context)
    encoder.observe(raw)
    if encoder.due:
        encoder.refit()
    return raw


VALUES = {
    "a": st.none() | st.integers(-3, 3) | st.sampled_from([NAN, 0.5, 1e6]),
    "b": st.none() | st.sampled_from(["x", "y", "", "z z"]),
    "c": st.booleans() | st.none(),
    "d": st.integers(-30, 30) | st.none(),
}
CONTEXTS = st.lists(st.fixed_dictionaries({}, optional=VALUES), max_size=20)


@pytest.mark.nojit
@given(CONTEXTS, st.fixed_dictionaries({}, optional=VALUES))
def test_as_the_naive_encoder(contexts, last):
    naive, encoder = NaiveEncoder(), Encoder(Features())
    for context in contexts:
        naive.admit(context)
        meet(encoder, context)
        naive.observed.append(context)
        if encoder.due:
            naive.fitted = len(naive.observed)
    z, cells = encoder.encoded(encoder.read(last))
    assert z == pytest.approx(naive.z(last), rel=1e-9, abs=1e-9)
    assert cells.tolist() == naive.cells(last)
    assert len(encoder.place_names) == len(z) and len(encoder.shapes) == len(cells)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=10), st.floats(-100, 100))
def test_cycles_as_the_naive_encoder(hours, last):
    naive, encoder = NaiveEncoder({"h": 24.0}), Encoder(Features(h=Cycle(24)))
    for hour in hours:
        naive.admit({"h": hour})
        meet(encoder, {"h": hour})
    z, cells = encoder.encoded(encoder.read({"h": last}))
    assert z == pytest.approx(naive.z({"h": last}), abs=1e-9)
    assert cells.tolist() == naive.cells({"h": last})


def test_refits_say_how_z_moved():
    rng = np.random.default_rng(0)
    encoder = Encoder(Features())
    probe = {"a": 0.3, "b": "x", "c": True, "d": None}
    for t in range(300):
        context = {"a": rng.normal() * 2 + 1, "b": "xy"[t % 2], "c": t % 3 == 0, "d": None if t % 5 else 7.0 + t}
        raw = encoder.read(context)
        if encoder.news:
            encoder.admit(context)
            raw = encoder.read(context)
        encoder.observe(raw)
        if encoder.due:
            before, _ = encoder.encoded(encoder.read(probe))
            had = encoder.layout.F[: encoder.slots, 4].copy()
            a, c = encoder.refit()
            after, _ = encoder.encoded(encoder.read(probe))
            assert len(a) == len(c) == encoder.places
            for s, place in enumerate(encoder.layout.I[: encoder.slots, 1]):
                if had[s] == 0.0 and encoder.slot_names[s] != "b":
                    assert (a[place], c[place]) == (1.0, 0.0)
                    before[place] = after[place]  # its scale was not known
            there = np.append(before, 0.0)[encoder.missing_places] == 0.0  # -1 takes the 0
            c = np.where(there, c, 0.0)  # what is missing stays 0
            assert after == pytest.approx(a * before + c, rel=1e-12, abs=1e-12)


def test_a_late_row_is_shorter():
    encoder = Encoder(Features())
    encoder.admit({"a": 1.0})
    short = encoder.read({"a": 1.0})
    encoder.admit({"a": 2.0, "b": "x"})
    encoder.admit({"a": 2.0})
    z, cells = encoder.encoded(short)
    assert (z == encoder.encoded(encoder.read({"a": 1.0}))[0]).all() and cells.tolist() == [1, 0]
    encoder.observe(short)
    assert np.array_equal(encoder.sample, [[1.0, NAN]], equal_nan=True)
    longer, more = np.full(9, 7.0), np.full(5, 7)
    encoder.encode(short, longer, more)
    assert longer.tolist() == [*z, *[0.0] * (9 - len(z))] and more.tolist() == [1, 0, 0, 0, 0]
