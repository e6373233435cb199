"""Parts are run once each, survive a kill, and give the same whatever runs them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import toy_experiments as toy
from support.waiting import wait_until

import hsb
from hsb.experiments import NAMES, load_experiments
from hsb.experiments.base import Experiment, Part
from hsb.experiments.cache import Cache, Finished, key, source_of
from hsb.experiments.runner import PartFailed, run


def results(finished):
    return [each.result for each in finished]


def test_results_come_in_the_order_of_the_parts_for_any_number_of_jobs(tmp_path):
    alone = run(toy.parts(5), tmp_path / "one", jobs=1)
    shared = run(toy.parts(5), tmp_path / "two", jobs=2)
    assert results(alone) == results(shared) == [{"x": x, "square": x * x, "pair": [x, x]} for x in range(5)]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == sorted(
        path.name for path in (tmp_path / "two").iterdir()
    )


def test_finished_parts_are_not_run_again(tmp_path):
    log = tmp_path / "log"
    first = run(toy.parts(3, log=str(log)), tmp_path / "cache", jobs=1)
    again = run(toy.parts(4, log=str(log)), tmp_path / "cache", jobs=1)
    assert again[:3] == first
    assert [line.split()[0] for line in log.read_text().splitlines()] == ["2", "1", "0", "3"]


def test_a_killed_run_goes_on(tmp_path):
    log, held = tmp_path / "log", tmp_path / "held"
    held.touch()
    script = (
        "from support import toy_experiments as toy; from pathlib import Path; from hsb.experiments.runner import run\n"
        f"run(toy.parts(6, log={str(log)!r}, held={str(held)!r}), Path({str(tmp_path / 'cache')!r}), jobs=1)"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": str(Path(toy.__file__).parents[1])}
    )
    wait_until(lambda: len(list((tmp_path / "cache").glob("*.json"))) >= 3)
    started.send_signal(signal.SIGKILL)
    started.wait()
    kept = len(list((tmp_path / "cache").glob("*.json")))
    assert kept == 3
    held.unlink()
    assert results(run(toy.parts(6, log=str(log), held=str(held)), tmp_path / "cache", jobs=2)) == results(
        run(toy.parts(6), tmp_path / "other", jobs=1)
    )
    played = [line.split()[0] for line in log.read_text().splitlines()]
    assert len(played) <= 7  # all six, and at most the one that was killed before it was kept


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_names_its_part_and_keeps_the_others(tmp_path, jobs):
    broken = Part("the bad one", f"{toy.MODULE}:square", {"x": "seven"}, rounds=1)  # the shortest, hence the last
    with pytest.raises(
        PartFailed, match=r"'the bad one' failed: TypeError: can't multiply .* \(toy_experiments.py, line \d+\)"
    ):
        run([broken, *toy.parts(3)], tmp_path, jobs=jobs)
    kept = [Cache(tmp_path).get(part) for part in toy.parts(3)]
    assert sum(each is not None for each in kept) >= (3 if jobs == 1 else 2)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_long_part_tells_how_far_it_is(tmp_path, jobs):
    """Each of two parts of 100 rounds says 40 and goes on; the bar is told of that, never of less than before, and of 200 in the end."""
    told, heard = [], tmp_path / "heard"

    def tell(done, total):
        told.append((done, total))
        if done % 100:
            heard.touch()

    parts = [Part(f"slow {x}", f"{toy.MODULE}:slow", {"x": x, "heard": str(heard)}, rounds=100) for x in range(2)]
    run(parts, tmp_path, jobs=jobs, progress=tell)
    assert told[0] == (0, 200) and told[-1] == (200, 200) and told == sorted(told)
    assert {done % 100 for done, _ in told} & {40, 80}  # 80 if both have said so
    quiet = []
    run(toy.parts(2), tmp_path, jobs=jobs, progress=lambda done, total: quiet.append(done))
    assert (quiet[0], quiet[-1], len(quiet)) == (0, 30, 3)  # control: parts that say nothing count when they are finished


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    def interrupt(done, total):
        if done >= 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(toy.parts(3), tmp_path, jobs=1, progress=interrupt)
    assert len(list(tmp_path.glob("*.json"))) == 1


def test_progress_counts_rounds_and_starts_with_those_that_were_kept(tmp_path):
    told = []
    run(toy.parts(2), tmp_path, jobs=1)
    run(toy.parts(3), tmp_path, jobs=1, progress=lambda *both: told.append(both))
    assert told == [(30, 60), (60, 60)]


def test_a_damaged_file_is_run_again(tmp_path):
    (part,) = toy.parts(1)
    run([part], tmp_path, jobs=1)
    path = tmp_path / f"{key(part)}.json"
    path.write_text(path.read_text()[:20])
    assert Cache(tmp_path).get(part) is None
    assert results(run([part], tmp_path, jobs=1)) == [{"x": 0, "square": 0, "pair": [0, 0]}]
    assert json.loads(path.read_text())["part"] == part.name


def test_what_is_not_a_number_comes_back(tmp_path):
    (part,) = toy.parts(1)
    Cache(tmp_path).put(part, Finished([float("inf"), None], 1.5))
    assert Cache(tmp_path).get(part) == Finished([float("inf"), None], 1.5)


def test_the_key_follows_the_source_of_what_a_part_calls(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "made_up"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "outer.py").write_text("from .inner import N\nfrom . import __name__\n")
    keys = []
    for inner in ("N = 1", "N = 2", "N = 1"):
        (package / "inner.py").write_text(inner)
        source_of.cache_clear()
        keys.append(key(Part("f", "made_up.outer:f", {})))
    assert keys[0] == keys[2] != keys[1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"jobs": 0}, "jobs must be a whole number of at least 1; given 0"),
        ({"jobs": 1.5}, "jobs must be"),
        ({"engine": "steam"}, "engine must be one of local, dask, ray; given 'steam'"),
        ({"parts": [*toy.parts(1), *toy.parts(1)]}, "a different name"),
        ({"parts": [Part("p", "nowhere.at_all:f", {})]}, "no module 'nowhere.at_all'"),
        ({"parts": [Part("p", f"{toy.MODULE}:square", {"x": {1, 2}})]}, "Part 'p': its arguments must be plain data"),
    ],
)
def test_bad_input_is_refused(tmp_path, given, words):
    with pytest.raises(hsb.InputError, match=words):
        run(given.pop("parts", toy.parts(2)), tmp_path, **given)
    assert not list(tmp_path.iterdir())


def test_prepare_is_for_more_than_two_workers(tmp_path):
    called = []
    run(toy.parts(3), tmp_path / "a", jobs=1, prepare=lambda: called.append(1))
    run(toy.parts(1), tmp_path / "b", jobs=2, prepare=lambda: called.append(1))
    run(toy.parts(3), tmp_path / "a", jobs=3, prepare=lambda: called.append(1))
    run(toy.parts(3), tmp_path / "d", jobs=2, prepare=lambda: called.append(1))
    assert not called
    run(toy.parts(3), tmp_path / "c", jobs=3, prepare=lambda: called.append(1))
    assert called == [1]


@pytest.mark.long
def test_what_is_compiled_first_is_what_policies_call():
    """By Numba, that is: with the native library nothing is compiled."""
    code = (
        "from hsb.experiments.runner import compile_first; from hsb.engine.kernels import jit, tables; "
        "assert compile_first() > 0; print(jit.engine, len(getattr(tables.play, 'signatures', ())))"
    )
    env = os.environ | {"HSB_ENGINE": "numba"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    engine, compiled = done.stdout.split()
    assert engine == "numba" and int(compiled) == 1  # one, whatever is played


def test_every_experiment_is_found_by_its_name():
    result = load_experiments("all")
    assert [each.name for each in result] == list(NAMES)
    assert all(isinstance(each, Experiment) and each.title and type(each).__doc__ for each in result)
