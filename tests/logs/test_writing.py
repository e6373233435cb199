"""Batches to files, and a log from one format to another."""

import numpy as np
import pytest

import hsb.logs
from hsb.logs.writing import convert, write


@pytest.mark.parametrize("format", ["yahoo-r6b", "parquet", "dsjson", "vw"])
def test_what_is_written_is_read(tmp_path, format):
    log = hsb.logs.SyntheticToday(500, seed=1)
    path = tmp_path / f"log.{format}"
    assert write(path, log, format) == 500
    options = {} if format in ("parquet", "yahoo-r6b") else {"format": format}
    again = list(hsb.logs.open(path, **options))
    assert sum(len(batch) for batch in again) == 500
    rewards = np.concatenate([batch.reward for batch in log])
    np.testing.assert_allclose(np.concatenate([batch.reward for batch in again]), rewards)


def test_a_file_appears_when_it_is_whole(tmp_path):
    def broken():
        yield from hsb.logs.SyntheticToday(100, seed=1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write(tmp_path / "log.parquet", broken(), "parquet")
    assert list(tmp_path.iterdir()) == []


def test_problems_are_counted_and_the_rest_converted(tmp_path):
    path = tmp_path / "log"
    path.write_text("1317513291 id-4 0 |user 1 9 |id-4 |id-7\nnonsense\n")
    result = convert(path, tmp_path / "log.parquet", "yahoo-r6b")
    assert result.rows == 1 and len(result.problems) == 1
