"""Reading one value: categories and tags beyond their limit share columns, numbers of declared categories count by their text."""

import numpy as np
import pytest
from support.reader_cases import meet

from hsb.errors import InputError
from hsb.features import Category, FeatureReader, Features, Tags


def test_declared_categories_take_numbers_by_their_text():
    reader = FeatureReader(Features(zip=Category()))
    for value in (7, "7", 7.0, np.int8(7), np.float32(7)):
        meet(reader, {"zip": value})
    meet(reader, {"zip": True})
    meet(reader, {"zip": 0.5})
    assert reader.column_names == ["constant", "zip=7", "zip=True", "zip=0.5"]
    with pytest.raises(InputError, match="too long"):
        reader.read({"zip": 10**5000})


def test_categories_beyond_the_limit_share_columns():
    reader = FeatureReader(Features(c=Category(limit=3)))
    for t in range(20):
        meet(reader, {"c": f"c{t}"})
    assert reader.columns == 4 and reader.shared == 17 and reader.unseen == 0
    raw, unseen = reader.look({"c": "c12"})
    assert not unseen and 3 <= raw[0] < 6
    z, cells = reader.encode_row(raw)
    assert z[1 + int(raw[0]) - 3] == 1.0 and z.sum() == 2.0 and cells[0] == 2 + raw[0] - 3
    assert reader.shapes == [("kary", 5)]
    assert FeatureReader(Features(c=Category(limit=3))).read({"c": "c12"}).tolist() == [-1.0]
    again = reader.copy().read({"c": "c12"})
    assert again[0] == raw[0] == 4.0  # the hash is the same everywhere


def test_tags_beyond_the_limit_share_columns():
    reader = FeatureReader(Features(t=Tags(limit=2)))
    meet(reader, {"t": ["a", "b", "c", "a"]})
    assert reader.raw_input_names == ["t: a", "t: b"]
    raw, unseen = reader.look({"t": ["c", "d", "e", "f"]})
    assert not unseen and set(raw.tolist()) <= {0.0, 2.0} and raw.max() == 2.0
    reader.observe(raw)
    assert reader.shared == int((raw == 2.0).sum())
    z, cells = reader.encode_row(raw)
    assert z.tolist() == [1.0, *(raw / 2)] and cells.tolist() == [31 if x else 1 for x in raw]
    assert reader.read({"t": []}).tolist() == [0.0, 0.0] and np.isnan(reader.read({})).all()
