"""Which engine runs the kernels, and what Python may call of them."""

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import hsb
from hsb.engine import native
from hsb.engine.kernels import jit

PACKAGE = Path(hsb.__file__).parent
TOLD = "from hsb.engine.kernels import jit; print(jit.engine, '|', jit.reason)"


def run(*arguments, source=PACKAGE.parent, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "HSB", "NUMBA"))}
    env = clean | {"PYTHONPATH": str(source)} | environment
    return subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, timeout=600)


@pytest.fixture
def copied(tmp_path):
    """A copy of the package, to be damaged."""
    shutil.copytree(PACKAGE, tmp_path / "src" / "hsb", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src"


def test_an_engine_that_cannot_be_had_is_refused(copied):
    (copied / "hsb" / "engine" / "native" / native.library_name()).unlink(missing_ok=True)
    assert "HSB_ENGINE must be one of native, numba, python" in run("-c", TOLD, HSB_ENGINE="fast").stderr
    refused = run("-c", TOLD, source=copied, HSB_ENGINE="native").stderr
    assert "there is no native library" in refused and "python -m hsb.engine.native.build" in refused


def test_a_function_without_words_is_called_with_the_arithmetic_of_compiled_code():
    @jit.kernel
    def quotient(x, out):
        for i in range(len(x)):
            out[i] = x[i] / (x[i] - x[0])

    out = np.empty(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quotient(np.array([1.0, 3.0]), out)
    assert out.tolist() == [np.inf, 1.5]


def test_this_process_has_one_of_the_engines():
    assert jit.engine in jit.ENGINES and jit.declared == []  # kernels are listed only while the library is built
