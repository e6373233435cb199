"""Engines for parallel work: what is installed, and parts that run here."""

import importlib.util
import operator

import pytest

import hsb
from hsb.evaluate.engines import check_engine, spread, spread_over_workers, workers


def test_an_engine_that_is_not_installed_says_how_to_install_it(monkeypatch):
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in ("ray", "distributed") else there(name))
    for engine in ("ray", "dask"):
        with pytest.raises(hsb.InputError, match=rf"pip install 'hsb\[{engine}\]'"):
            check_engine(engine)


@pytest.mark.parametrize("engine", ["spark", "", "Local", 3, None])
def test_an_unknown_engine_is_refused(engine):
    with pytest.raises(hsb.InputError, match="engine must be one of local, dask, ray; given"):
        check_engine(engine)


def test_one_job_or_one_part_runs_here_in_order():
    calls = []

    def product(a, b):
        calls.append((a, b))  # a process of its own would not add to this list
        return a * b

    tasks = [(k, 10) for k in range(4)]
    assert list(spread("local", 1, product, tasks)) == [0, 10, 20, 30] and calls == tasks
    assert list(spread("local", 8, product, tasks[:1])) == [0] and len(calls) == 5
    assert list(spread("local", 8, product, [])) == []


def test_each_part_starts_when_its_result_is_wanted():
    results = spread("local", 1, operator.truediv, [(1, 1), (1, 0), (4, 2)])
    assert next(results) == 1.0
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_workers_here_need_no_cluster():
    with workers("local", 3) as cluster:
        assert cluster is None
        assert list(spread_over_workers("local", 1, operator.mul, [(2, 3), (4, 5)])) == [6, 20]
