"""The parser of Yahoo!'s lines: equal to a naive one, and every way in which a line can be wrong. All lines are made up here."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.logs import format_row, parse, rows_of

import hsb
import hsb.logs

GOOD = b"1317513291 id-4 0 |user 1 9 136 |id-4 |id-7\n"
GOOD_A = b"1241160900 109 1 |user 2:0.000012 3:0.5 1:1.000000 |109 2:0.1 1:1.000000 |110 1:1.000000\n"


def read(tmp_path, data, name="log", **options):
    path = tmp_path / name
    path.write_bytes(data)
    log = hsb.logs.open(path, options.pop("format", "yahoo-r6b"), **options)
    return log, list(log)


def same(batches, data, r6a=False):
    rows, bad = parse(data, r6a)
    batch_rows = rows_of(batches)
    assert len(batch_rows) == len(rows)
    for got, expected in zip(batch_rows, rows, strict=True):
        assert got[:3] == expected[:3]
        assert np.array_equal(got[3], expected[3])
        assert got[4] == set(expected[4])
        assert got[5] == 1.0 / len(expected[4])
    return bad


@pytest.mark.nojit
def test_lines_as_they_should_be(tmp_path):
    data = (
        GOOD + b"1317513291 id-7 1 |user 1 |id-4 |id-7\n1317513299 id-9 0 |user 1 2 |id-9 |id-4 |id-10"
    )  # a tie in time; no final newline
    log, batches = read(tmp_path, data)
    assert same(batches, data) == []
    assert log.arms == ["id-4", "id-7", "id-9", "id-10"]
    assert len(log.problems) == 0
    assert log.uniform
    batch = batches[0]
    assert batch.contexts.shape == (3, 136)
    assert batch.timestamp.dtype == np.float64
    assert batch.available.tolist() == [[True, True, False, False], [True, True, False, False], [True, False, True, True]]


@pytest.mark.nojit
def test_r6a(tmp_path):
    data = GOOD_A + b"1241160901 110 0 |user 2:-0.25 6:0.999999 1:1.000000 |110 |109 2:0.1 1:1.0\r\n"
    log, batches = read(tmp_path, data, format="yahoo-r6a")
    assert same(batches, data, r6a=True) == []
    assert log.arms == ["109", "110"]
    assert batches[0].contexts[0].tolist() == [1.0, 0.000012, 0.5, 0.0, 0.0, 0.0]


MALFORMED = {
    b"": "empty",
    b"   ": "empty",
    b"x id-4 0 |user 1 |id-4": "time",
    b"1.5 id-4 0 |user 1 |id-4": "time",
    b"-5 id-4 0 |user 1 |id-4": "time",
    b"1317513291": "time",
    b"1234567890123456789 id-4 0 |user 1 |id-4": "time",
    b"1317513291 4 0 |user 1 |id-4": "second word",
    b"1317513291 id-04 0 |user 1 |id-04": "second word",
    b"1317513291 id-4 2 |user 1 |id-4": "third word",
    b"1317513291 id-4 01 |user 1 |id-4": "third word",
    b"1317513291 id-4 0": "|user",
    b"1317513291 id-4 0 |use": "|user",
    b"1317513291 id-4 0 |usher 1 |id-4": "|user",
    b"1317513291 id-4 0 |user": "no features",
    b"1317513291 id-4 0 |user |id-4": "no features",
    b"1317513291 id-4 0 |user 0 |id-4": "user feature",
    b"1317513291 id-4 0 |user 137 |id-4": "user feature",
    b"1317513291 id-4 0 |user 1|id-4": "user feature",
    b"1317513291 id-4 0 |user 1:1.0 |id-4": "user feature",
    b"1317513291 id-4 0 |user 1 2": "no candidates",
    b"1317513291 id-4 0 |user 1 |": "candidate",
    b"1317513291 id-4 0 |user 1 |id-4 |id-": "candidate",
    b"1317513291 id-4 0 |user 1 |id-4 9 |id-5": "candidate",
    b"1317513291 id-4 0 |user 1 |id-4|id-5": "candidate",
    b"1317513291 id-4 0 |user 1 |id-4 |id-4": "twice",
    b"1317513291 id-4 0 |user 1 |id-5 |id-6": "not among",
    b"\x00\xff\x1f garbage \x00": "time",
    b"1317513291 id-4 0 |user 1 |id-4 \x00": "candidate",
}


@pytest.mark.nojit
@pytest.mark.parametrize("line", MALFORMED)
def test_a_malformed_line_is_counted_named_and_not_used(tmp_path, line):
    data = GOOD + line + b"\n" + GOOD
    assert parse(data, False)[1] == [2]
    log, batches = read(tmp_path, data)
    assert same(batches, data) == [2]
    assert len(log.problems) == 1
    problem = log.problems.first[0]
    assert problem.line == 2
    assert MALFORMED[line] in problem.reason
    assert str(tmp_path / "log") in str(log.problems)
    assert log.arms == ["id-4", "id-7"]  # a malformed line names no arms
    with pytest.raises(hsb.FileError, match="line 2"):
        read(tmp_path, data, on_error="raise")


@pytest.mark.parametrize(
    "line", [b"1 1 0 |user 1:1 1:1 |1", b"1 1 0 |user 7:1 |1", b"1 1 0 |user 1:1e5 |1", b"1 1 0 |user 1: |1"]
)
def test_malformed_r6a(tmp_path, line):
    log, batches = read(tmp_path, line + b"\n" + GOOD_A, format="yahoo-r6a")
    assert same(batches, line + b"\n" + GOOD_A, r6a=True) == [1]
    assert len(log.problems) == 1


def test_pools_that_change_all_the_time(tmp_path):
    rng = np.random.default_rng(1)
    lines = []
    for t in range(6000):
        pool = rng.choice(3000, int(rng.integers(1, 30)), replace=False)
        lines.append(format_row((t, f"id-{pool[0]}", t % 2, np.eye(136)[t % 136], [f"id-{a}" for a in pool], 0.0), False))
    data = "".join(lines).encode()
    log, batches = read(tmp_path, data)
    assert same(batches, data) == []
    assert len(log.arms) > 2000  # the table of names has grown
    assert len(batches) > 1  # a batch ends when it has no room for another pool


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_fuzz_lines_are_read_as_the_naive_reader_reads_them(tmp_path_factory, data):
    """Pieces of good lines, cut, joined and disturbed: no crash, nothing used that the naive reader refuses."""
    r6a = data.draw(st.booleans())
    words = st.sampled_from(
        [
            "1317513291",
            "id-4",
            "4",
            "0",
            "1",
            "|user",
            "|user 1 3",
            "2:0.5",
            "1:1.0",
            "|id-4",
            "|id-7",
            "|4 2:0.1",
            "|",
            " ",
            "  ",
            "\r",
            "id-",
            "-1",
        ]
    )
    good = GOOD_A.decode()[:-1] if r6a else GOOD.decode()[:-1]
    line = st.one_of(
        st.just(good), st.lists(words, max_size=9).map(" ".join), st.text(st.characters(max_codepoint=127), max_size=30)
    )
    cut = st.tuples(st.integers(0, len(good)), st.integers(0, len(good))).map(
        lambda ends: good[: min(ends)] + good[max(ends) :]
    )
    lines = data.draw(st.lists(st.one_of(line, cut), max_size=12))
    text = "\n".join(lines) + data.draw(st.sampled_from(["", "\n", "\r\n"]))
    raw = text.encode("latin-1")
    log, batches = read(tmp_path_factory.mktemp("fuzz"), raw, format="yahoo-r6a" if r6a else "yahoo-r6b", rows=3)
    bad = same(batches, raw, r6a)
    assert len(log.problems) == len(bad)
    assert [problem.line for problem in log.problems.first] == bad[:10]
