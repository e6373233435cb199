"""What the numba engine keeps is never stale, and never trusted if it is damaged."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hsb

PACKAGE = Path(hsb.__file__).parent
EXPS = """
import numpy as np
from hsb.engine.kernels import maths
out = np.empty(1)
maths.exps(np.array([1.0]), out)
print(out[0], sum(maths.exps.stats.cache_hits.values()))
"""


def run(*arguments, source=PACKAGE.parent, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "HSB", "NUMBA"))}
    env = clean | {"PYTHONPATH": str(source)} | environment
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def copied(tmp_path):
    """A copy of the package, to be changed."""
    shutil.copytree(PACKAGE, tmp_path / "src" / "hsb", ignore=shutil.ignore_patterns("__pycache__", "_engine.*"))
    return tmp_path / "src"


def test_what_numba_compiled_is_used_again_until_any_source_changes(copied, tmp_path):
    settings = {"HSB_ENGINE": "numba", "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    first, hits = run("-c", EXPS, source=copied, **settings).split()
    assert hits == "0" and run("-c", EXPS, source=copied, **settings).split() == [first, "1"]
    path = copied / "hsb" / "reproducible_math.py"  # the file of no kernel
    path.write_text(path.read_text().replace("    return scaled(y, k)\n", "    return 0.5 * scaled(y, k)\n"))
    changed, hits = run("-c", EXPS, source=copied, **settings).split()
    assert hits == "0" and float(changed) == 0.5 * float(first)


@pytest.mark.parametrize("end", ["nbi", pytest.param("nbc", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda b: bytes(len(b)), id="zeros"),
        pytest.param(lambda b: b[: len(b) // 2], id="cut", marks=pytest.mark.long),
        pytest.param(lambda b: b"", id="empty", marks=pytest.mark.long),
    ],
)
def test_what_a_power_cut_left_of_it_is_compiled_anew(tmp_path, end, damage):
    settings = {"HSB_ENGINE": "numba", "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    first, _ = run("-c", EXPS, **settings).split()
    (path,) = (tmp_path / "kept").rglob(f"maths.exps-*.{end}")
    path.write_bytes(damage(path.read_bytes()))
    assert run("-c", EXPS, **settings).split() == [first, "0"]
    assert run("-c", EXPS, **settings).split() == [first, "1"]
