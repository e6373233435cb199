"""The long form: HSB_ATTACK says how many, e.g. HSB_ATTACK=1000000 pytest -s tests/attack/test_attack_numbers.py."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.attack import beta_storm
from support.attack import elementary_cases as cases

COUNT = int(os.environ.get("HSB_ATTACK", "200"))
FOLD = str(Path(__file__).parents[1] / "support" / "attack" / "fold.py")


@pytest.mark.parametrize("name", list(cases.COMPILED))
def test_elementary_functions(name):
    error, x = cases.worst(name, COUNT, seed=int(time.time()))
    print(f"{name}: {COUNT} values, at most {error:.4f} units off, at {x!r}")
    assert error < (1.1 if name == "expm1" else 1.0)


def test_counts_of_any_size():
    off, seconds = beta_storm.storm(COUNT, seed=int(time.time()))
    print(f"{COUNT} nodes of counts from 1e-3 to 1e12: sums within {off:.2g} of 1, slowest {seconds * 1e3:.2f} ms")
    assert off < 1e-9 and seconds < 0.5


@pytest.mark.parametrize(
    "machine",
    [{"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}, {"NUMBA_CPU_NAME": "nehalem"}, {"NUMBA_OPT": "1"}],
    ids=["generic", "nehalem", "hardly optimised"],
)
def test_the_same_bits_compiled_for_other_processors(machine, tmp_path):
    def ran(**environment):
        done = subprocess.run(
            [sys.executable, FOLD], env=os.environ | environment, capture_output=True, text=True, timeout=3000
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert ran(HSB_ENGINE="numba", **machine, NUMBA_CACHE_DIR=str(tmp_path)) == ran()
