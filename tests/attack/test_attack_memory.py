"""A thousand rounds of the native engine under valgrind: kernels touch nothing that is not theirs, and use nothing that was never set."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hsb
from hsb.engine.kernels import jit

PLAYED = """
import numpy as np, hsb
rng = np.random.default_rng(0)
def live(policy, context, rounds):
    for t in range(rounds):
        policy.learn(policy.decide(context(t)), loss=float(rng.random()))
number = lambda t: float(rng.random())
live(hsb.HSB(hsb.BinaryTree(depth=10), arms=3, seed=0), number, 250)
live(hsb.HSB(hsb.BinaryTree(depth=40), arms=20, seed=0), number, 250)
live(hsb.HSB(hsb.Lexicographic(leaves=8), arms=3, learning_rate=0.1, seed=0), number, 125)
live(hsb.HSB(arms=3, seed=0), lambda t: {"x": number(t), "kind": "abc"[t % 3]}, 250)
hsb.simulate(hsb.HSB(hsb.BinaryTree(depth=5), arms=3, seed=0), rng.random(125), rng.random((125, 3)))
print("played")
"""
BEYOND = """
import numpy as np
from hsb.engine.kernels import maths
maths.exps(np.lib.stride_tricks.as_strided(np.empty(4), shape=(4000,), strides=(8,)), np.empty(4000))
print("played")
"""


def complaints(program: str, level: str) -> int:
    """How many lines of what valgrind says are about the library; Python and NumPy have lines of their own."""
    env = os.environ | {"HSB_ENGINE": "native", "HSB_ENGINE_LEVEL": level, "PYTHONMALLOC": "malloc"}
    env["PYTHONPATH"] = str(Path(hsb.__file__).parents[1])
    command = ["valgrind", "-q", "--error-limit=no", "--num-callers=30", sys.executable, "-c", program]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=900)
    assert done.stdout == "played\n", done.stderr[-2000:]
    return sum("_engine" in line for line in done.stderr.splitlines())


@pytest.mark.skipif(shutil.which("valgrind") is None or jit.engine != "native", reason="needs valgrind and the native library")
@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3"])
def test_a_thousand_rounds_are_clean(level):
    if level not in jit._library.levels.split():
        pytest.skip("the library has other levels here")
    assert complaints(PLAYED, level) == 0
    assert complaints(BEYOND, level) > 0  # the control
