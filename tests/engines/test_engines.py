"""The engines for real: a cluster of two workers on this machine each. `make test-engines` runs this, not `make test`."""

import importlib.util
import os

import numpy as np
import pytest

import hsb
from hsb.evaluate import compare_off_policy
from hsb.experiments.base import Options, Part
from hsb.experiments.custom import CustomComparison
from hsb.experiments.runner import PartFailed, run
from hsb.experiments.spec import read
from hsb.experiments.study import conduct
from hsb.logs import Batch

SPEC = """
rounds = 2000
runs = 4
problem = {name = "stationary"}
structure = {kind = "BinaryTree", depth = 5}
policies = [{policy = "HSB", horizon = true}, {policy = "SExp3", horizon = true}, {policy = "Uniform"}]
"""
PACKAGES = {"dask": "distributed", "ray": "ray"}

pytestmark = [
    pytest.mark.parametrize("engine", ["dask", "ray"]),
    pytest.mark.filterwarnings("ignore"),  # these packages warn of their own ways
]


@pytest.fixture(autouse=True)
def _installed(engine):
    if importlib.util.find_spec(PACKAGES[engine]) is None:
        pytest.skip(f"{PACKAGES[engine]} is not installed here")


@pytest.fixture
def own(tmp_path):
    (tmp_path / "mine.toml").write_text(SPEC)
    return CustomComparison(read(tmp_path / "mine.toml"))


def test_results_are_those_of_one_process(own, tmp_path, engine):
    alone = conduct([own], Options(seed=1), tmp_path / "alone", jobs=1)
    spread = conduct([own], Options(seed=1), tmp_path / engine, jobs=2, engine=engine)
    assert [each.result for each in spread.studies[0].finished] == [each.result for each in alone.studies[0].finished]
    claims = [(folder / "claims.json").read_bytes() for folder in (tmp_path / "alone", tmp_path / engine)]
    assert claims[0] == claims[1]


def test_parts_run_in_two_workers_that_are_not_this_process(tmp_path, engine):
    parts = [Part(f"part {i}", "hsb.evaluate.engines:where", {"wait": 0.3, "number": i}) for i in range(8)]
    values = {each.result for each in run(parts, tmp_path, jobs=2, engine=engine)}
    assert len(values) == 2
    assert os.getpid() not in values


def test_an_error_names_its_part_and_the_cluster_stops(tmp_path, engine):
    bad = Part("the bad one", "hsb.theory:exp3_bound", {"arms": -1, "horizon": 10})
    good = Part("a good one", "hsb.theory:exp3_bound", {"arms": 2, "horizon": 10})
    with pytest.raises(PartFailed, match="'the bad one' failed: InputError: arms must be"):
        run([good, bad], tmp_path, jobs=2, engine=engine)
    if engine == "ray":
        import ray

        assert not ray.is_initialized()
    assert run([good], tmp_path, jobs=2, engine="local")


def test_candidates_on_files_are_judged_as_in_one_process(tmp_path, engine):
    """Two workers read the files of a log; their sums put together are those of one reading, to 1e-12."""
    for k in range(4):
        rng = np.random.default_rng(k)
        x, arm = rng.random((1500, 2)), rng.integers(0, 3, 1500)
        reward = (rng.random(1500) < 0.2 + 0.5 * (arm == (3 * x[:, 0]).astype(int))).astype(float)
        batch = Batch.of(contexts=x, arm=arm, reward=reward, propensity=np.full(1500, 1 / 3), arms=["a", "b", "c"])
        hsb.logs.write(tmp_path / f"part-{k}.parquet", [batch], "parquet")
    log = hsb.logs.open(tmp_path)
    policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b", "c"], seed=0)
    hsb.learn_from(policy, log.head(500), context=lambda rows: rows[:, :1])
    candidates = {"policy": policy, "always b": "b", "uniform": None}
    options = {"context": {"policy": lambda rows: rows[:, :1]}, "baseline": "uniform"}
    alone = compare_off_policy(candidates, log, **options)
    spread = compare_off_policy(candidates, log, engine=engine, jobs=2, **options)
    for name, each in alone.items():
        numbers = [
            each.value,
            *each.interval,
            *(() if each.difference is None else (each.difference.value, *each.difference.joint)),
        ]
        other = spread[name]
        others = [
            other.value,
            *other.interval,
            *(() if other.difference is None else (other.difference.value, *other.difference.joint)),
        ]
        assert np.allclose(numbers, others, rtol=1e-12, atol=1e-12)
        assert each.result.rows == other.result.rows == 6000
