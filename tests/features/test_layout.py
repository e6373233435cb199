"""The columns of features: a column for each meaning, shared by a hash when all are used."""

from datetime import datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.reader_cases import learned, meet

from hsb.engine.kernels.inputs import SETTLED
from hsb.features import FeatureReader, Features, Tags, Time


def test_a_feature_with_several_inputs_has_one_column_for_missing():
    for features in (Features(), Features(t=Tags(), w=Time())):
        reader = learned(
            [{"t": None, "w": None}, {"t": ["a", "b"], "w": datetime(2024, 1, 1)}, {"t": ["c"], "w": None}], features
        )
        assert [name for name in reader.column_names if "missing" in name] == ["t is missing", "w is missing"]
        z = dict(zip(reader.column_names, reader.encode_row(reader.read({"t": []}))[0], strict=True))
        assert z["t is missing"] == 0.0 and z["w is missing"] == 1.0 and z["t: a"] == 0.0


def test_columns_beyond_the_width_share_and_add_up():
    contexts = [{**{f"n{j}": float((j + 1) * t % 17) for j in range(10)}, "c": f"c{t % 9}"} for t in range(200)]
    reader = learned(contexts, width=8)
    assert reader.columns == 8 == len(reader.column_names) and reader.crowded == 12
    wide = learned(contexts, width=100)
    for context in contexts[:20]:
        z, cells = reader.encode_row(reader.read(context))
        same = wide.encode_row(wide.read(context))[1]
        assert (cells == same).all() and np.isfinite(z).all()
        assert (z[1:] != 0).any()
    a, c = reader.refit()
    for p, names in enumerate(reader.layout.names):
        if len(names) > 1:
            assert (a[p], c[p]) == (1.0, 0.0)
    single = [p for p, names in enumerate(reader.layout.names) if len(names) == 1]
    assert [reader.column_names[p] for p in single] == [wide.column_names[p] for p in single]
    assert reader.copy() == reader and reader.copy().column_names == reader.column_names


@given(
    st.lists(st.dictionaries(st.sampled_from("abcd"), st.sampled_from("uvwxyz"), max_size=4), max_size=30), st.integers(2, 12)
)
def test_a_shared_column_is_the_sum_of_what_is_there(contexts, width):
    narrow, wide = learned(contexts, width=width), learned(contexts)
    for context in contexts:
        z, _ = wide.encode_row(wide.read(context))
        value = dict(zip(wide.column_names, z, strict=True))
        assert narrow.encode_row(narrow.read(context))[0].tolist() == [
            sum(value[name] for name in names) for names in narrow.layout.names
        ]


def test_a_number_that_shares_its_column_is_scaled_once():
    contexts = [{"a": float(t % 5), "b": float(t % 7), "c": float(t)} for t in range(129)]
    reader = FeatureReader(Features(), width=2)  # all three share column 1
    for t, context in enumerate(contexts):
        meet(reader, context)
        assert (reader.encode_row(reader.read(contexts[3]))[0][1] == 0.0) == (t < 63)
    assert reader.layout.F[:3, SETTLED].tolist() == [64.0] * 3
