"""HSB's own Parquet files, OBP's dictionary, and decisions: round trips, and what is refused."""

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
    found = []
    for batch in batches:
        for i in range(len(batch)):
            available = frozenset(batch.arms[k] for k in batch.pools[batch.pool[i]])
            numbers = (batch.reward[i], batch.propensity[i], str(batch.timestamp[i]))
            found.append((batch.contexts[i].tobytes(), batch.arms[batch.arm[i]], *numbers, available))
    return found


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
    made = hsb.logs.SyntheticToday(30_000, seed=3)
    hsb.logs.write(tmp_path / "log.gz", made)
    with (tmp_path / "bad").open("w") as file:
        file.write("nonsense\n")
    seen = []
    found = hsb.logs.convert(
        [tmp_path / "log.gz", tmp_path / "bad"], tmp_path / "log.parquet", "yahoo-r6b", progress=seen.append
    )
    assert (found.rows, found.problems.count, seen[-1]) == (30_000, 1, 30_000)
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
    assert mapped.count() == made.head(30_000).count() - len(mapped.problems)  # columns can be named for any Parquet file


def test_damaged_files(tmp_path):
    path = tmp_path / "log.parquet"
    hsb.logs.write(path, hsb.logs.SyntheticToday(20_000, seed=3), "parquet")
    raw = path.read_bytes()
    path.write_bytes(raw[:-100])
    with pytest.raises(hsb.FileError, match="Parquet"):
        hsb.logs.open(path)
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.write_bytes(raw)
    table = pq.read_table(path).replace_schema_metadata({"hsb": pq.ParquetFile(path).metadata.metadata[b"hsb"]})
    for name, value in (("arm", 99), ("pool", 999), ("propensity", 0.0), ("reward", float("nan"))):
        column = table[name].to_pylist()
        column[5] = value
        if name == "propensity":
            column = [0.04 if one is None else one for one in column]
        changed = table.set_column(
            table.schema.get_field_index(name), table.schema.field(name), pa.array(column, table.schema.field(name).type)
        )
        pq.write_table(changed, path)
        with pytest.raises(hsb.FileError, match="damaged"):
            list(hsb.logs.open(path))


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


def test_obp():
    rng = np.random.default_rng(0)
    n, m = 200, 4
    feedback = {
        "n_rounds": n,
        "n_actions": m,
        "context": rng.normal(size=(n, 3)),
        "action_context": np.eye(m),
        "action": rng.integers(0, m, n),
        "position": None,
        "reward": rng.random(n),
        "expected_reward": None,
        "pi_b": None,
        "pscore": rng.uniform(0.1, 1, n),
    }
    log = hsb.logs.from_obp(feedback, rows=64)
    back = hsb.logs.to_obp(log)
    for name in ("context", "action", "reward", "pscore", "action_context"):
        assert np.array_equal(back[name], feedback[name])
    assert set(back) == set(feedback)
    assert back["pi_b"] is None
    bad = feedback | {"pscore": feedback["pscore"].copy(), "action": feedback["action"].copy()}
    bad["pscore"][[3, 4]] = 0.0, np.nan
    bad["action"][5] = m
    log = hsb.logs.from_obp(bad)
    assert (log.count(), len(log.problems)) == (n - 3, 3)
    table = rng.dirichlet(np.ones(m), n)[:, :, None]
    chosen = hsb.logs.from_obp({**feedback, "pscore": None, "pi_b": table})
    assert np.array_equal(next(iter(chosen)).propensity, table[np.arange(n), feedback["action"], 0])
    uniform = hsb.logs.to_obp(hsb.logs.from_obp(feedback | {"pscore": np.full(n, 1 / m)}))
    assert uniform["pi_b"].shape == (n, m, 1)
    for make, what in (
        (lambda: hsb.logs.from_obp({"context": 1}), "no column 'n_actions'"),
        (lambda: hsb.logs.from_obp([]), "dictionary"),
        (lambda: hsb.logs.from_obp(feedback | {"pscore": None}), "pi_b"),
        (lambda: hsb.logs.from_obp(feedback | {"context": np.zeros(n)}), "shape"),
        (lambda: hsb.logs.to_obp(hsb.logs.SyntheticToday(10_000)), "available"),
        (lambda: hsb.logs.to_obp([]), "no row"),
    ):
        with pytest.raises(hsb.InputError, match=what):
            make()


def test_decisions_to_files(tmp_path):
    policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=["a", "b", "c"], seed=0)
    decisions = [policy.decide(x, available=["a", "b"] if x > 0.5 else None) for x in np.linspace(0, 1, 20)]
    rewards = np.linspace(0, 1, 20).tolist()
    made = hsb.logs.from_decisions(decisions, rewards, arms=policy.arms)
    assert made.labels().tolist() == [decision.arm for decision in decisions]
    assert made.available.sum(axis=1).tolist() == [3] * 10 + [2] * 10
    for format in ("parquet", "dsjson"):
        hsb.logs.write(tmp_path / f"log.{format}", [made], format)
        assert rows_of(hsb.logs.open(tmp_path / f"log.{format}")) == rows_of([made])
    with pytest.raises(hsb.InputError, match="not one of arms"):
        hsb.logs.from_decisions(decisions, rewards, arms=["a"])
    with pytest.raises(hsb.InputError, match="one number for each decision"):
        hsb.logs.from_decisions(decisions, [1.0], arms=policy.arms)


def test_importing_hsb_imports_no_frames():
    code = "import sys, hsb, hsb.logs, hsb.features.encoders; print([m for m in ('pyarrow', 'pandas', 'polars') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
