"""HSB's own Parquet files: round trips, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hsb
import hsb.logs
from hsb.logs import Batch

pytest.importorskip("pyarrow")


def rows_of(batches):
    results = []
    for batch in batches:
        for i in range(len(batch)):
            available = frozenset(batch.arms[k] for k in batch.pools[batch.pool[i]])
            numbers = (batch.reward[i], batch.propensity[i], str(batch.timestamp[i]))
            results.append((batch.contexts[i].tobytes(), batch.arms[batch.arm[i]], *numbers, available))
    return results


@st.composite
def logs(draw):
    """Batches of a log whose arms grow: binary features or not, pools of all kinds, times or none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d, m = draw(st.integers(1, 20)), draw(st.integers(1, 6))
    labels = draw(st.sampled_from([["a", "é", "c,", "d", '"', "f"], [3, 1, 4, 15, 9, 2], [1.5, "x", 2, "y", "z", 0]]))
    batches = []
    for _ in range(draw(st.integers(1, 4))):
        n, m = draw(st.integers(1, 40)), min(6, m + draw(st.integers(0, 1)))
        available = rng.random((n, m)) < 0.5
        arm = rng.integers(0, m, n)
        available[np.arange(n), arm] = True
        is_binary = draw(st.booleans())
        batches.append(
            Batch.of(
                contexts=rng.integers(0, 2, (n, d)) if is_binary else rng.normal(size=(n, d)),
                arm=arm,
                reward=rng.random(n),
                propensity=1 / available.sum(axis=1) if draw(st.booleans()) else rng.uniform(0.01, 1, n),
                timestamp=rng.random(n) if draw(st.booleans()) else None,
                available=available,
                arms=labels[:m],
            )
        )
    return batches


@settings(max_examples=60, deadline=None)
@given(logs(), st.integers(1, 50), st.integers(1, 60))
def test_round_trip(tmp_path_factory, batches, rows, group):
    path = tmp_path_factory.mktemp("stored") / "log.parquet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hsb.logs.formats.native.GROUP", group)
        total = hsb.logs.write(path, batches, "parquet")
    log = hsb.logs.open(path, rows=rows)
    assert len(log) == total == log.count()
    assert rows_of(log) == rows_of(batches)
    assert tuple(log.arms) == batches[-1].arms
    assert all(len(batch) <= rows for batch in log)
    both = hsb.logs.open([path, path])
    assert rows_of(both) == rows_of(batches) * 2


def test_files_with_other_arms(tmp_path):
    first = Batch.of(contexts=[[1.0]] * 2, arm=[0, 1], reward=[0, 1], propensity=[0.5] * 2, arms=["a", "b"])
    second = Batch.of(contexts=[[0.5]] * 2, arm=[0, 1], reward=[0, 1], propensity=[0.5] * 2, arms=["c", "a"])
    hsb.logs.write(tmp_path / "1.parquet", [first], "parquet")
    hsb.logs.write(tmp_path / "2.parquet", [second], "parquet")
    log = hsb.logs.open([tmp_path / "1.parquet", tmp_path / "2.parquet"])
    assert log.arms == ["a", "b", "c"]
    assert rows_of(log) == rows_of([first, second])


def test_from_text_and_back_replays_the_same(tmp_path):
    outcome = hsb.logs.SyntheticToday(30_000, seed=3)
    hsb.logs.write(tmp_path / "log.gz", outcome)
    with (tmp_path / "bad").open("w") as file:
        file.write("nonsense\n")
    seen = []
    result = hsb.logs.convert(
        [tmp_path / "log.gz", tmp_path / "bad"], tmp_path / "log.parquet", "yahoo-r6b", progress=seen.append
    )
    assert (result.rows, result.problems.count, seen[-1]) == (30_000, 1, 30_000)
    text, stored = hsb.logs.open(tmp_path / "log.gz"), hsb.logs.open(tmp_path / "log.parquet")
    assert stored.uniform
    assert rows_of(stored) == rows_of(text)
    encoder = hsb.encode.Chain(hsb.encode.PCA(1), hsb.encode.MinMax()).fit(text.head(5000))
    results = [
        hsb.replay(hsb.HSB(hsb.BinaryTree(depth=6), arms=["id-0"], seed=1), log, context=encoder) for log in (text, stored)
    ]
    assert results[0] == results[1]
    assert (tmp_path / "log.parquet").stat().st_size < 30_000 * 30  # bytes a visit
    mapped = hsb.logs.open(tmp_path / "log.parquet", context=["timestamp"], arm="arm", propensity="reward", reward="reward")
    assert mapped.count() == outcome.head(30_000).count() - len(mapped.problems)  # columns can be named for any Parquet file


def test_what_cannot_be_written(tmp_path):
    good = {"contexts": [[1.0]], "arm": [0], "reward": [0], "propensity": [0.5]}
    a, b = Batch.of(**good, arms=["a"]), Batch.of(**good, arms=["b"])
    wide = Batch.of(**(good | {"contexts": [[1.0, 2.0]]}), arms=["a"])
    for batches, what in (
        ([a, b], "same order"),
        ([], "nothing"),
        ([a, wide], "features"),
        ([Batch.of(**good, arms=[(1,)])], "Labels"),
    ):
        with pytest.raises(hsb.InputError, match=what):
            hsb.logs.write(tmp_path / "log.parquet", batches, "parquet")
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(hsb.InputError, match="format"):
        hsb.logs.convert(tmp_path, tmp_path / "log.txt")
    import pyarrow.parquet as pq

    hsb.logs.write(tmp_path / "log.parquet", [a], "parquet")
    pq.write_table(pq.read_table(tmp_path / "log.parquet").replace_schema_metadata(None), tmp_path / "other.parquet")
    with pytest.raises(hsb.InputError, match="needs the names"):
        hsb.logs.open(tmp_path / "other.parquet")


def test_importing_hsb_imports_no_frames():
    code = "import sys, hsb, hsb.logs, hsb.features.encoders; print([m for m in ('pyarrow', 'pandas', 'polars') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
