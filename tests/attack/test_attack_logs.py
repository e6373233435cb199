"""The long form: HSB_ATTACK says how many, e.g. HSB_ATTACK=100000 pytest tests/attack."""

import os
import time

import pytest
from support.attack import log_storms

import hsb

COUNT = int(os.environ.get("HSB_ATTACK", "200"))


def test_damaged_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    print(log_storms.parquet_storm(1, COUNT, tmp_path))


def test_forged_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    print(log_storms.parquet_forgeries(2, COUNT, tmp_path))


def test_mutated_lines(tmp_path):
    print(log_storms.line_storm(3, 10 * COUNT, tmp_path))


def test_bombs(tmp_path):
    for name, path, options in log_storms.bombs(tmp_path, min(COUNT, 2048) << 20):
        begin = time.perf_counter()
        with pytest.raises(log_storms.ALLOWED):
            list(hsb.logs.open(path, **options))
        assert time.perf_counter() - begin < 60.0, name
