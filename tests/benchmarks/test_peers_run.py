"""The comparison with other libraries, for real: every adapter whose library is installed, and the quick run."""

import functools
import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from peers import conduct, problems
from peers.base import Algorithm, Library, Table
from peers.environments import Environment, environment
from peers.features import ENCODINGS, encode
from peers.libraries import library, names
from peers.play import Tabled, play

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


# -- libraries -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
def test_every_adapter_imports_without_its_library_and_says_what_it_is(name):
    result = library(name)
    assert result.name and result.package and result.module and result.source and result.algorithms
    assert len({algorithm.name for algorithm in result.algorithms}) == len(result.algorithms)
    for algorithm in result.algorithms:
        assert set(algorithm.encodings) <= set(ENCODINGS) and algorithm.encodings
        assert algorithm.default not in algorithm.grid and len(algorithm.grid) <= 6
        assert json.loads(json.dumps([algorithm.default, *algorithm.grid])) == [algorithm.default, *algorithm.grid]


@functools.cache
def installed(name):
    return not environment(library(name), Path("nowhere"), install=False).why_not


ALGORITHMS = [(name, algorithm) for name in names() for algorithm in library(name).algorithms]


@pytest.mark.filterwarnings("ignore")  # what other libraries warn of is their own
@pytest.mark.parametrize(("name", "algorithm"), ALGORITHMS, ids=lambda part: getattr(part, "name", part))
def test_every_algorithm_that_is_installed_plays_and_repeats(name, algorithm):
    """Each encoding, one round at a time and in batches, late feedback; the same seed, the same arms."""
    if not installed(name) or (algorithm.needs and not find_spec(algorithm.needs)):
        pytest.skip("not installed here")
    rng = np.random.default_rng(5)
    contexts, table = rng.random((45, 1)), rng.integers(0, 2, (45, 3))
    for settings, encoding in [(algorithm.default, e) for e in algorithm.encodings] + [
        (s, algorithm.encodings[-1]) for s in algorithm.grid
    ]:
        X = encode(contexts, encoding, algorithm.constant)
        outcomes = []
        for how in ({"batch": algorithm.batch}, {"batch": algorithm.batch}, {"delay": 5}):
            player = algorithm.make(Table(3, X.shape[1], len(X), 7), settings)
            outcomes.append(play(player, Tabled(contexts, table), X, **how))
        assert outcomes[0].rounds == outcomes[2].rounds == 45
        assert outcomes[0].loss == outcomes[1].loss


def test_a_library_that_is_not_there_is_left_out_with_a_reason(tmp_path):
    absent = Library("No such", "no-such-package", "no_such_package", (), "")
    assert environment(absent, tmp_path, install=False).why_not == "it is not installed"
    own = Library("No such", "no-such-package", "no_such_package", (), "", own_environment=("no-such-package",))
    assert environment(own, tmp_path, install=False) == Environment("", "", "it is not installed")
    assert not list(tmp_path.iterdir())


def test_a_process_that_dies_is_an_answer_and_the_others_go_on(tmp_path):
    env = Environment(sys.executable, "1")
    broken = conduct.Entry("hsb", library("hsb"), Algorithm("no such algorithm", library("hsb").algorithms[0].make), env)
    uniform = next(a for a in library("hsb").algorithms if a.name == "uniform play")
    fine = conduct.Entry("hsb", library("hsb"), uniform, env)
    told = []
    plan = conduct.QUICK._replace(whole=True)
    conductor = conduct.Conductor(plan, tmp_path, 2, lambda *said: told.append(said))
    result = conductor.run(conduct.measures([broken, fine], plan, tmp_path / "worlds", "size"), "size")
    assert "the process ended with 1" in result["hsb", "no such algorithm"]["size"]["error"]
    assert len(list((tmp_path / "results").glob("*.json"))) == 1  # it is asked again the next time
    assert result["hsb", "uniform play"]["size"]["peak"] > 2**20
    assert told[-1] == ("size", 2, 2)


# -- the whole -----------------------------------------------------------------------------------------------------------


def command(out, *more):
    options = ["--quick", "--installed", "--out", str(out), *more]
    return [sys.executable, "-m", "peers", *options], os.environ | {"PYTHONPATH": str(ROOT / "benchmarks")}


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The quick run, stopped once on its way."""
    out = tmp_path_factory.mktemp("peers")
    line, env = command(out)
    stopped = subprocess.Popen(line, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while stopped.poll() is None and len(list((out / "results").glob("*.json"))) < 3:
        time.sleep(0.05)
    os.killpg(stopped.pid, signal.SIGKILL)
    stopped.wait()
    before = {path: path.stat().st_mtime_ns for path in (out / "results").glob("*.json")}
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    return out, before, done


def test_quick_goes_on_where_it_was_stopped(quick):
    out, before, _ = quick
    assert len(before) >= 3
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in before.items())
    assert len(list((out / "results").glob("*.json"))) > len(before)


def test_quick_prints_and_writes_every_installed_library(quick):
    out, _, done = quick
    text, everything = (out / "peers.md").read_text(), (out / "everything.md").read_text()
    tables = json.loads((out / "data" / "peers.json").read_text())["tables"]
    assert "HSB, default" in done.stdout and "HSB, default" in text and "| **hsb, default** |" in text
    assert len(text) < len(everything) / 2
    installed = [name for name in names() if not environment(library(name), out / "environments", install=False).why_not]
    for name in installed:
        for algorithm in library(name).algorithms[:2]:
            assert (
                f"| {library(name).name}: {algorithm.name} |" in text
                and f"| {library(name).name}: {algorithm.name} |" in everything
            )
    for name in set(names()) - set(installed):
        assert f"- {library(name).name}: it is not installed." in text
    for problem in problems.PROBLEMS:
        assert f"### {problem}" in everything and problem in [one["title"] for one in tables]
    assert all(len(row) == len(one["head"]) for one in tables for row in one["rows"])
    assert "fails" not in everything.partition("## What goes wrong")[0]
    for picture in ("peers.png", "peers.svg"):
        assert (out / picture).stat().st_size > 10_000


def test_a_second_run_plays_nothing_again(quick):
    out, *_ = quick
    before = {path: path.stat().st_mtime_ns for path in (out / "results").glob("*.json")}
    line, env = command(out)
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert {path: path.stat().st_mtime_ns for path in (out / "results").glob("*.json")} == before


def test_ctrl_c_stops_at_once_and_keeps_no_half_result(tmp_path):
    line, env = command(tmp_path, "--only", "hsb")
    running = subprocess.Popen(
        line, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while running.poll() is None and not list((tmp_path / "results").glob("*.json")):
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    _, said_last = running.communicate(timeout=60)
    assert running.returncode == 1 and "goes on from here" in said_last
    kept = [json.loads(path.read_text())["result"] for path in (tmp_path / "results").glob("*.json")]
    assert kept and not any("ended" in result for result in kept)


def test_a_library_that_does_not_exist_is_refused(tmp_path):
    line, env = command(tmp_path / "out", "--only", "rivers")
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "there is no rivers" in done.stderr
    assert not (tmp_path / "out").exists()
