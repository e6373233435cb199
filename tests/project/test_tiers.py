"""Which tests make test takes: `tests/support/tiers.py`."""

import itertools

import pytest
from support.tiers import cover, starts_processes


@pytest.mark.parametrize("sizes", [(5, 5), (7, 27), (3, 4, 2), (1, 9)])
def test_each_value_of_each_parameter_is_met(sizes):
    cases = [dict(zip("abc", values, strict=False)) for values in itertools.product(*map(range, sizes))]
    taken = [cases[k] for k in cover(cases)]
    for name, size in zip("abc", sizes, strict=False):
        assert {case[name] for case in taken} == set(range(size))
    assert len(taken) <= sum(sizes)


def test_what_starts_processes_is_found_by_its_imports():
    class Module:
        pass

    plain, starting, helped = Module(), Module(), Module()
    plain.pytest = pytest
    starting.process = __import__("subprocess")
    helped.running = __import__("support.serve.processes", fromlist=["Process"]).Process
    assert [starts_processes(module) for module in (plain, starting, helped)] == [False, True, True]
