"""Work in several processes."""

import operator

import pytest

from hsb.evaluate.parallel import ProgressCounter, spread


@pytest.mark.parametrize(("jobs", "backend"), [(1, "sequential"), (2, "threading")])
def test_every_task_is_done_once(jobs, backend):
    results = list(spread(jobs, operator.mul, [(a, b) for a in range(4) for b in range(4)], backend=backend))
    assert sorted(results) == sorted(a * b for a in range(4) for b in range(4))


def test_an_error_comes_out():
    with pytest.raises(ZeroDivisionError):
        list(spread(1, operator.truediv, [(1, 1), (1, 0)], backend="sequential"))


def test_nobody_needs_to_be_told():
    ProgressCounter(None, 10)
