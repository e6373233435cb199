"""VW's cb text: read, written, read by VW itself, and every way in which a line can be wrong."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hsb
import hsb.logs
from hsb.logs import Batch
from hsb.logs.formats.vw import parse


def batch(n=300, seed=0, arms=("a", "b", "c")):
    rng = np.random.default_rng(seed)
    m = len(arms)
    available = rng.random((n, m)) < 0.6
    arm = rng.integers(0, m, n)
    available[np.arange(n), arm] = True
    available[np.arange(n), (arm + 1) % m] = True
    return Batch.of(
        contexts=rng.normal(size=(n, 2)).round(3),
        arm=arm,
        reward=rng.random(n),
        propensity=rng.uniform(0.1, 1.0, n),
        available=available,
        timestamp=1.7e9 + np.arange(n) + 0.25,
        arms=arms,
    )


def same(actual, expected, times=True):
    assert np.array_equal(actual.contexts, expected.contexts)
    assert list(map(str, actual.labels())) == list(map(str, expected.labels()))
    assert np.array_equal(actual.reward, expected.reward)
    assert np.array_equal(actual.propensity, expected.propensity)
    if times:
        assert np.array_equal(actual.timestamp, expected.timestamp)
    for i in range(len(actual)):
        names = {str(actual.arms[k]) for k in actual.pools[actual.pool[i]]}
        assert names == {str(expected.arms[k]) for k in expected.pools[expected.pool[i]]}


def test_vw_round_trip(tmp_path):
    original = batch(arms=(1, 2, 3))
    hsb.logs.write(tmp_path / "log.vw", [original], "vw", names=["x", "y"])
    log = hsb.logs.open(tmp_path / "log.vw")
    [actual] = log
    assert log.source.meaning.context == ("x", "y")
    same(actual, original, times=False)
    raw = (tmp_path / "log.vw").read_bytes()
    (tmp_path / "log.vw.gz").write_bytes(gzip.compress(raw.replace(b"\n", b"\r\n").rstrip()))
    [actual] = hsb.logs.open(tmp_path / "log.vw.gz", context=["y"], arms=[1, 2, 3])
    assert np.array_equal(actual.contexts[:, 0], original.contexts[:, 1])
    one = Batch.of(contexts=[[0.5]], arm=[0], reward=[1], propensity=[1], available=[[True, False]], arms=["a", "b"])
    with pytest.raises(hsb.InputError, match="only one arm"):
        hsb.logs.write(tmp_path / "one.vw", [one], "vw")
    with pytest.raises(hsb.InputError, match="different names"):
        hsb.logs.write(tmp_path / "one.vw", [original], "vw", names=["a b", "c"])


LINES = {
    "": "empty",
    "1:0.5:0.5": "no |",
    "0:0.5:0.5 | x": "from 1 on",
    "x:0.5:0.5 | x": "from 1 on",
    "shared | x": "shared",
    "1:0.5 | x": "not action:cost:probability",
    "1:a:0.5 | x": "not a number",
    "1:nan:0.5 | x": "not a number",
    "1:0.5:0.5 2:0.5:0.5 | x": "two actions",
    "1 2 | x": "no action",
    "| x": "no action",
    "1:0.5:0.5| x": "no action",  # for VW the word that touches | is a tag
    "1:0.5:0.5 1 | x": "twice",
    "1:0.5:0.5 | x:a": "feature",
    "1:0.5:0.5 | x x:2": "feature appears twice",
    "1:0.5:0.5 | x:1e999": "finite",
    "1:0.5:0.5 |n:w x": "namespace",
    "1:0.5:0 | x": "propensity",
    "1:0.5:1.5 | x": "propensity",
    "9:0.5:0.5 | x": "arms given",
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_cannot_be_used(tmp_path, line):
    path = tmp_path / "log.vw"
    path.write_text(f"1:0.5:0.25 'tag | x:2 |n:3 y:2\n{line}\n2:-1:0.25 | x\n")
    log = hsb.logs.open(path, "vw", arms=[1, 2])
    [actual] = log
    assert actual.labels().tolist() == [1, 2]
    assert actual.reward.tolist() == [-0.5, 1.0]
    assert actual.contexts[:, :2].tolist() == [[2.0, 6.0], [1.0, 0.0]]
    [problem] = log.problems.first
    assert problem.line == 2
    assert LINES[line] in problem.reason


@pytest.mark.parametrize("format", ["dsjson", "vw"])
def test_vw_itself_reads_what_is_written_and_learns(tmp_path, format):
    """Clicks depend on the sign of the first feature: VW, trained on the file, knows."""
    vw = pytest.importorskip("vowpalwabbit")
    rng = np.random.default_rng(0)
    n = 3000
    x, arm = rng.uniform(-1, 1, (n, 1)), rng.integers(0, 2, n)
    reward = (rng.random(n) < np.where((x[:, 0] > 0) == (arm == 1), 0.9, 0.1)).astype(float)
    original = Batch.of(
        contexts=x, arm=arm, reward=reward, propensity=np.full(n, 0.5), arms=["no", "yes"], timestamp=np.arange(n)
    )
    hsb.logs.write(tmp_path / f"log.{format}", [original], format)
    kind = "--dsjson --cb_adf -q GT" if format == "dsjson" else "--cb 2"
    learner = vw.Workspace(f"{kind} --quiet -d {tmp_path / f'log.{format}'} -f {tmp_path / 'model'}")
    learner.finish()
    few = Batch.of(contexts=[[-0.8], [0.8]], arm=[0, 0], reward=[0, 0], propensity=[0.5] * 2, arms=["no", "yes"])
    hsb.logs.write(tmp_path / f"few.{format}", [few], format)
    if format == "vw":
        asked = vw.Workspace(f"--quiet -t -i {tmp_path / 'model'}")
        assert [asked.predict(f"| f0:{value}") for value in (-0.8, 0.8)] == [1, 2]
        asked.finish()
        return
    asked = vw.Workspace(f"--dsjson --quiet -t -i {tmp_path / 'model'} -d {tmp_path / 'few.dsjson'} -p {tmp_path / 'said'}")
    asked.finish()
    scores = (tmp_path / "said").read_text().split()  # action:score, the best first, actions from 0
    assert [words.split(",")[0].split(":")[0] for words in scores] == ["0", "1"]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(["1", "2:0.5:0.5", ":", "|", " ", "| ", "x", "x:1", "'t", "0:1:1", "1:1:nan", "|n:2 ", "\t"]),
        max_size=8,
    )
)
def test_fuzz_vw(pieces):
    for line in ("".join(pieces), " ".join(pieces)):
        actual = parse(line)
        if not isinstance(actual, str):
            action, cost, probability, available, features = actual
            assert action % 10 == 2 and cost == probability == 0.5  # "1" before it makes it 12
            assert not available or (2 in available and len(set(available)) == len(available))
            assert all(np.isfinite(value) for value in features.values())
