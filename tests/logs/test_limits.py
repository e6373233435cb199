"""Limits on what a reader accepts: a file beyond them is refused, and its message names the line."""

import gzip
import resource

import pytest
from support.attack import log_storms

import hsb
import hsb.logs


def test_bombs_are_bounded(tmp_path):
    """Each gives 2 MB, of which 32 KB are free; it is refused and says where, and memory does not grow with it."""
    limits = hsb.logs.Limits(free=1 << 15, line=1 << 17, empty=1000)
    for name, path, options in log_storms.bombs(tmp_path, 2 << 20):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(log_storms.ALLOWED) as caught:
            list(hsb.logs.open(path, limits=limits, **options))
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, (
            name
        )  # KB; kernels are compiled on the way
        assert "line" in str(caught.value) or "format" in str(caught.value), name


def test_limits_are_settings(tmp_path):
    line = b"1317513291 id-4 0 |user 1 9 |id-4 |id-7\n"
    (tmp_path / "log.gz").write_bytes(gzip.compress(line * 1000))
    assert hsb.logs.open(tmp_path / "log.gz").count() == 1000
    tight = hsb.logs.Limits(ratio=2, free=100)
    with pytest.raises(hsb.FileError, match=r"not read beyond line .*decompress it first"):
        list(hsb.logs.open(tmp_path / "log.gz", limits=tight))
    for blank in (b"\n" * 9, b" \r\n" * 9):
        (tmp_path / "log").write_bytes(line + blank + line)
        assert hsb.logs.open(tmp_path / "log").count() == 2
        with pytest.raises(hsb.FileError, match=r"beyond line 7: 5 lines from line 2 on are empty"):
            list(hsb.logs.open(tmp_path / "log", limits=hsb.logs.Limits(empty=5)))
