"""The same updates give the same bits on every machine: here, with the processor's newer instructions switched off, in processes of their own.

What is learned must not depend on the C library's, NumPy's or LLVM's choice of instructions. `tests/attack` compiles everything anew for a
processor without them.
"""

import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy._core import _multiarray_umath as umath

from hsb.engine.state import frequencies

ATTACK = Path(__file__).parents[1] / "support" / "attack"
DISPATCHED = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]
OLD_GLIBC = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-FMA4"}
OLD_NUMPY = {"NPY_DISABLE_CPU_FEATURES": " ".join(DISPATCHED)}
CODE = """
import hashlib, math
import numpy as np
x = np.random.default_rng(0).uniform(-30, 0, 100_000)
print(hashlib.sha256(np.array([math.exp(v) for v in x]).tobytes() + np.exp(x).tobytes()).hexdigest())
"""


def ran(*arguments: str, **environment: str) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run([sys.executable, *arguments], env=env | environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(platform.system() != "Linux" or platform.machine() != "x86_64", reason="glibc's switches for x86")
def test_the_same_bits_without_newer_instructions():
    if os.environ.get("HSB_ENGINE") == "python":
        pytest.skip("the same rounds, one by one, take minutes")
    usual = ran(str(ATTACK / "fold.py"))
    assert usual.count(":") == 15
    assert ran(str(ATTACK / "fold.py"), **OLD_GLIBC, **OLD_NUMPY) == usual


@pytest.mark.skipif(platform.system() != "Linux" or "FMA3" not in umath.__cpu_features__, reason="glibc's switches for x86")
def test_the_switches_do_something():
    if not umath.__cpu_features__["FMA3"]:
        pytest.skip("this processor has none of these instructions")
    assert ran("-c", CODE) != ran("-c", CODE, **OLD_GLIBC, **OLD_NUMPY)


def test_frequencies_are_far_from_where_rounding_would_tell_machines_apart():
    """Numbers far out are rounded to 2^-40; the C library's last bit could matter only next to the middle between two."""
    seen = 0
    for column in range(1024):
        row = np.random.Generator(np.random.PCG64([0x46524551, column])).normal(size=128)
        far = np.abs(row[np.abs(row) >= frequencies.RIM]) * frequencies.GRID
        seen += len(far)
        assert (np.abs(far - np.floor(far) - 0.5) > 2e-3).all(), column
    assert seen > 20
