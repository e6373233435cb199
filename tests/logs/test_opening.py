"""Opening a log: the format is detected, the files of a directory are in order, and options that do not fit are refused."""

import gzip
import json

import numpy as np
import pytest

import hsb
import hsb.logs
from hsb.logs import Batch

EVENT = {"context": {"age": 31}, "arm": "a", "propensity": 0.5, "reward": 1}
DSJSON = {"_label_cost": 0, "_label_probability": 0.5, "_labelIndex": 0, "c": {"x": 1, "_multi": [{"a": 1}, {"a": 2}]}}
STARTS = {
    "yahoo-r6b": "1317513291 id-4 0 |user 1 9 |id-4 |id-7\n",
    "yahoo-r6a": "1241160900 109 1 |user 2:0.5 1:1.000000 |109 2:0.1 1:1.000000 |110 1:1.000000\n",
    "jsonl": json.dumps(EVENT) + "\n",
    "dsjson": json.dumps(DSJSON) + "\n",
    "vw": "2:0.5:0.25 | age:0.3\n",
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("format", STARTS)
def test_the_first_line_shows_the_format(tmp_path, format, packed):
    path, raw = tmp_path / "log", STARTS[format].encode()
    path.write_bytes(gzip.compress(raw) if packed else raw)
    log = hsb.logs.open(path)
    assert log.count() == 1 and not log.problems
    assert repr(log) == repr(hsb.logs.open(path, format))


def test_columns_make_it_a_table(tmp_path):
    (tmp_path / "log").write_text("age,shown,p,click\n0.3,a,0.5,1\n")
    log = hsb.logs.open(tmp_path / "log", arm="shown", propensity="p", reward="click")
    [batch] = log
    assert batch.contexts.tolist() == [[0.3]]
    with pytest.raises(hsb.FileError, match=r"is not in any of the formats yahoo-r6b, .*Give format="):
        hsb.logs.open(tmp_path / "log")


def test_other_columns_are_features(tmp_path):
    table = {"age": [1.0], "shown": ["a"], "p": [0.5], "click": [1], "": [7.0], "day": [3.0]}
    [batch] = hsb.logs.open(table, arm="shown", propensity="p", reward="click")
    assert batch.contexts.tolist() == [[1.0, 3.0]]


def test_parts_of_a_folder_are_in_the_order_of_their_numbers(tmp_path):
    pytest.importorskip("pyarrow")
    for k in (10, 2, 1):
        batch = Batch.of(contexts=np.full((1, 1), float(k)), arm=[0], reward=[1], propensity=[0.5], arms=["a", "b"])
        hsb.logs.write(tmp_path / f"part-{k}.parquet", [batch], "parquet")
    log = hsb.logs.open(tmp_path)
    assert [float(batch.contexts[0, 0]) for batch in log] == [1.0, 2.0, 10.0]
    with pytest.raises(hsb.InputError, match="is a directory; for the format 'vw' give the files themselves"):
        hsb.logs.open(tmp_path, "vw")
    (tmp_path / "empty").mkdir()
    with pytest.raises(hsb.InputError, match=r"There is no log in .*: no file is named .* or \*\.parquet"):
        hsb.logs.open(tmp_path / "empty")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"format": "xml"}, "format must be one of 'yahoo-r6b'"),
        ({"on_error": "stop"}, "on_error must be"),
        ({"rows": 0}, "rows"),
        ({"limits": 3}, "limits must be hsb.logs.Limits"),
        ({"limits": hsb.logs.Limits(line=0)}, "limits must be hsb.logs.Limits of whole numbers above 0"),
        ({"reward": 3}, "reward must be the name of a column, text; given 3"),
        ({"context": []}, "context needs the names of features, at least one"),
        ({"context": [1]}, "context needs names of columns"),
    ],
)
def test_wrong_options_are_refused(tmp_path, options, words):
    (tmp_path / "log.vw").write_text(STARTS["vw"])
    with pytest.raises(hsb.InputError, match=words):
        hsb.logs.open(tmp_path / "log.vw", **options)


@pytest.mark.parametrize(
    ("format", "options", "words"),
    [
        ("yahoo-r6b", {"context": "x"}, "The columns of the format yahoo-r6b are fixed; given context=. Leave it out"),
        ("vw", {"reward": "r", "times": ["x"]}, "the format vw are fixed; given reward="),
        ("vw", {"times": ["x"]}, "given times="),
        ("vw", {"categories": ["x"]}, "given categories="),
        ("dsjson", {"propensity": "p"}, "the format dsjson are fixed; given propensity="),
    ],
)
def test_formats_with_fixed_columns_take_none(tmp_path, format, options, words):
    (tmp_path / "log").write_text(STARTS[format])
    with pytest.raises(hsb.InputError, match=words):
        hsb.logs.open(tmp_path / "log", format, **options)


def test_a_path_is_a_file_that_is_there(tmp_path):
    with pytest.raises(hsb.InputError, match=r"There is no file .*none\.csv\. Check the path"):
        hsb.logs.open(tmp_path / "none.csv", "csv")
    with pytest.raises(hsb.InputError, match="at least one file; given none"):
        hsb.logs.open([])
    with pytest.raises(hsb.InputError, match="path must be a path, several paths, or a table; given 7"):
        hsb.logs.open(7)
    with pytest.raises(hsb.InputError, match="A table in memory has no format; given 'csv'"):
        hsb.logs.open({"x": [1]}, "csv", arm="x", propensity="uniform", reward="x")
