"""Logs in Yahoo!'s formats: files, round trips, and what a file can have wrong. All lines are made up here."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.logs import format_row, rows_of

import hsb
import hsb.logs
from hsb.logs import Batch, Pools

GOOD = b"1317513291 id-4 0 |user 1 9 136 |id-4 |id-7\n"


def read(tmp_path, data, name="log", **options):
    path = tmp_path / name
    path.write_bytes(data)
    log = hsb.logs.open(path, options.pop("format", "yahoo-r6b"), **options)
    return log, list(log)


def test_many_problems_keep_the_first_few(tmp_path):
    log, batches = read(tmp_path, b"nonsense\n" * 50 + GOOD)
    assert (len(log.problems), len(log.problems.first), len(batches[0])) == (50, 10, 1)
    assert "40 more" in str(log.problems)
    assert len(list(log)) == 1  # read again: counted anew
    assert len(log.problems) == 50


def test_crlf_gzip_and_several_files(tmp_path):
    lines = GOOD * 3
    (tmp_path / "a.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "b").write_bytes(lines.replace(b"\n", b"\r\n"))
    (tmp_path / "c").write_bytes(lines[:-1] + b"\n" + b"1317513291 id-8 0 |user 1 |id-8")
    log = hsb.logs.open([tmp_path / "a.gz", tmp_path / "b", tmp_path / "c"], rows=4)
    batches = list(log)
    assert [len(batch) for batch in batches] == [4, 4, 2]
    assert batches[0].arms == ("id-4", "id-7")
    assert log.arms == ["id-4", "id-7", "id-8"]
    assert sum(len(batch) for batch in log.head(5)) == 5
    assert log.count() == 10


def test_a_gzip_file_that_is_cut_off_or_damaged(tmp_path):
    rng = np.random.default_rng(0)
    lines = b"".join(b"%d id-4 0 |user 1 %d |id-4 |id-7\n" % (t, 2 + t % 99) for t in rng.integers(0, 10**9, 5000))
    packed = gzip.compress(lines)
    for damaged in (packed[:-9], packed[: len(packed) // 2], packed[:500] + b"\xff" * 50 + packed[550:]):
        with pytest.raises(hsb.FileError, match="damaged or cut off"):
            read(tmp_path, damaged, "log.gz")


def test_a_line_longer_than_the_buffer(tmp_path, monkeypatch):
    monkeypatch.setattr("hsb.experiments.paper.yahoo.CHUNK", 256)
    data = GOOD + b"x" * 1000 + b"\n" + GOOD * 20 + b"y" * 300
    log, batches = read(tmp_path, data)
    assert sum(len(batch) for batch in batches) == 21
    assert [problem.line for problem in log.problems.first] == [2, 23]
    assert "longer" in log.problems.first[0].reason


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=400))
def test_fuzz_bytes(tmp_path_factory, raw):
    log, batches = read(tmp_path_factory.mktemp("fuzz"), b"#" + GOOD + raw)
    assert len(log.problems) + sum(map(len, batches)) == len((b"#" + GOOD + raw).removesuffix(b"\n").split(b"\n"))


def table(rng, n, r6a):
    arms = [f"{'' if r6a else 'id-'}{k}" for k in (0, 5, 12, 999)]
    available = rng.random((n, 4)) < 0.6
    arm = rng.integers(0, 4, n)
    available[np.arange(n), arm] = True
    contexts = rng.integers(-(10**6), 10**6, (n, 6)) / 10**6 if r6a else (rng.random((n, 136)) < 0.1).astype(float)
    contexts[:, 0] = 1.0
    return Batch.of(
        contexts=contexts,
        arm=arm,
        reward=(rng.random(n) < 0.3).astype(float),
        propensity=1 / available.sum(axis=1),
        available=available,
        timestamp=np.arange(n),
        arms=arms,
    )


@pytest.mark.parametrize("r6a", [False, True])
@pytest.mark.parametrize("name", ["log", "log.gz"])
def test_round_trip(tmp_path, r6a, name):
    format = "yahoo-r6a" if r6a else "yahoo-r6b"
    batch = table(np.random.default_rng(2), 500, r6a)
    assert hsb.logs.write(tmp_path / name, [batch, batch.take(slice(0, 7))], format) == 507
    raw = (tmp_path / name).read_bytes()
    text = gzip.decompress(raw) if name.endswith("gz") else raw
    assert text == b"".join(
        format_row((*row[:4], sorted(row[4], key=batch.arms.index), 0), r6a).encode()
        for row in rows_of([batch, batch.take(slice(7))])
    )
    log = hsb.logs.open(tmp_path / name)
    assert log.format == format
    [back] = log
    assert np.array_equal(back.contexts[:500], batch.contexts)
    assert np.array_equal(back.reward[:500], batch.reward)
    assert back.labels()[:500].tolist() == batch.labels().tolist()
    assert np.array_equal(back.propensity[:500], batch.propensity)
    assert len(log.problems) == 0


def test_what_cannot_be_written_leaves_nothing(tmp_path):
    good = table(np.random.default_rng(3), 5, False)
    changed = {
        "clicks": {"reward": good.reward + 0.5},
        "seconds": {"timestamp": good.timestamp + 0.5},
        "uniformly": {"propensity": good.propensity * 0.9},
        "0 or 1": {"contexts": good.contexts * 2},
        "136 features": {"contexts": good.contexts[:, :5]},
        "names articles": {"arms": ("a", "b", "c", "d")},
    }
    for what, columns in changed.items():
        with pytest.raises(hsb.InputError, match=what):
            hsb.logs.write(tmp_path / "log", [good, Batch(**(good.__dict__ | columns))])
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(hsb.InputError, match="no directory"):
        hsb.logs.write(tmp_path / "nowhere" / "log", [good])


def test_opening(tmp_path):
    (tmp_path / "ydata-fp-td-clicks-v2_0.20111002").write_bytes(GOOD)
    (tmp_path / "ydata-fp-td-clicks-v2_0.20111001.gz").write_bytes(gzip.compress(GOOD.replace(b"id-4", b"id-3")))
    (tmp_path / "README").write_text("not a log")
    assert hsb.logs.open(tmp_path).count() == 2
    log = hsb.logs.open(tmp_path)
    list(log)
    assert log.arms == ["id-3", "id-7", "id-4"]  # in the order of the dates
    for bad, what in (
        (lambda: hsb.logs.open(tmp_path / "none"), "no file"),
        (lambda: hsb.logs.open([]), "at least one file"),
        (lambda: hsb.logs.open(3), "path"),
        (lambda: hsb.logs.open(tmp_path, "csv"), "format"),
        (lambda: hsb.logs.open(tmp_path, on_error="ignore"), "on_error"),
        (lambda: hsb.logs.open(tmp_path, rows=0), "rows"),
        (lambda: hsb.logs.open(tmp_path, "yahoo-r6a"), "no log"),
        (lambda: log.head(0), "head"),
    ):
        with pytest.raises(hsb.InputError, match=what):
            bad()
    with pytest.raises(hsb.FileError, match="not in any of the formats"):
        hsb.logs.open(tmp_path / "README")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"propensity": [0.5, 0.0]}, "propensity"),
        ({"propensity": [0.5, np.nan]}, "propensity"),
        ({"arm": [0, 2]}, "arm"),
        ({"reward": [0.0, np.inf]}, "reward"),
        ({"reward": [0.0]}, "reward"),
        ({"contexts": [[np.nan], [0.0]]}, "contexts"),
        ({"available": [[True, True], [True, False]]}, "not available in that row"),
        ({"available": [[1, 1], [1, 1]]}, "booleans"),
    ],
)
def test_a_batch_is_checked(change, what):
    given = {"contexts": [[0.1], [0.2]], "arm": [0, 1], "reward": [0, 1], "propensity": [0.5, 0.5], "arms": ["a", "b"]}
    assert Batch.of(**given).is_uniform
    with pytest.raises(hsb.InputError, match=what):
        Batch.of(**(given | change))


def test_pools():
    pools = Pools.of([[2, 0], [], [1]])
    assert pools.sizes.tolist() == [2, 0, 1]
    assert pools.table(3).tolist() == [[True, False, True], [False] * 3, [False, True, False]]


def test_the_synthetic_log_has_the_statistics_it_claims():
    log = hsb.logs.SyntheticToday(100_000, seed=5)
    batches = list(log)
    contexts = np.concatenate([batch.contexts for batch in batches])
    clicks = np.concatenate([batch.reward for batch in batches])
    sizes = np.concatenate([batch.pools.sizes for batch in batches])
    assert len(log) == len(clicks) == 100_000
    assert contexts[:, 0].all()
    assert abs((contexts.sum(axis=1) == 1).mean() - 0.25) < 0.03
    assert abs(clicks.mean() - 0.04) < 0.01
    assert 20 <= sizes.min() <= sizes.max() <= 50
    assert len(log.arms) == 50
    shown = np.concatenate([batch.propensity for batch in batches])
    assert abs((shown * sizes.mean()).mean() - 1) < 0.2
    again = list(hsb.logs.SyntheticToday(100_000, seed=5))
    assert all(
        np.array_equal(a.contexts, b.contexts) and np.array_equal(a.reward, b.reward)
        for a, b in zip(batches, again, strict=True)
    )
    other = next(iter(hsb.logs.SyntheticToday(100_000, seed=6)))
    assert not np.array_equal(other.reward, batches[0].reward)
    for bad in ({"visits": 0}, {"visits": 10, "seed": -1}, {"visits": 10, "articles": 3}):
        with pytest.raises(hsb.InputError):
            hsb.logs.SyntheticToday(**bad)
