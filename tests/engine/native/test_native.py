"""The native engine: which one runs and why, the same bits as the others, and what happens if the library is not what it should be."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hsb
from hsb.engine import native
from hsb.engine.kernels import jit

FOLD = Path(__file__).parents[2] / "support" / "attack" / "fold.py"
PACKAGE = Path(hsb.__file__).parent
LIBRARY = PACKAGE / "engine" / "native" / native.library_name()
BUILT = pytest.mark.skipif(jit.engine != "native", reason="there is no C compiler here, or another engine was asked for")
TOLD = "from hsb.engine.kernels import jit; print(jit.engine, '|', jit.reason)"
PLAYED = """
import hsb, sys
policy = hsb.HSB(arms=["a", "b", "c"], seed=0)
for t in range(30):
    decision = policy.decide({"x": t % 7, "kind": "uv"[t % 2]})
    policy.learn(decision, reward=float(decision.arm == "b"))
print(policy.digest(), "numba" in sys.modules)
"""


def run(*arguments, source=PACKAGE.parent, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "HSB", "NUMBA"))}
    env = clean | {"PYTHONPATH": str(source)} | environment
    return subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def usual():
    return run("-c", PLAYED).stdout


@BUILT
def test_the_library_runs_without_numba(usual):
    assert usual.split()[1] == "False"
    assert run("-c", TOLD).stdout.startswith("native | ")


@BUILT
def test_every_level_of_processor_that_runs_here_has_the_same_bits():
    usual = run(str(FOLD)).stdout
    assert usual.count(":") == 15
    library, _ = native.load()
    tried = 0
    for level in library.levels.split():
        done = run(str(FOLD), HSB_ENGINE_LEVEL=level)
        if done.returncode == 0:
            tried += 1
            assert done.stdout == usual
    assert tried >= 1


@BUILT
@pytest.mark.long
def test_plain_python_has_the_same_bits():
    usual, plain = run(str(FOLD)), run(str(FOLD), HSB_ENGINE="python")
    assert plain.stdout == usual.stdout and plain.returncode == 0 and plain.stderr == ""


@pytest.fixture
def copied(tmp_path):
    """A copy of the package, to be damaged."""
    shutil.copytree(PACKAGE, tmp_path / "src" / "hsb", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src"


@BUILT
@pytest.mark.parametrize("damage", ["missing", "cut", "other sources", "empty"])
def test_a_library_that_is_not_what_it_should_be_is_passed_over(copied, damage, usual):
    library = copied / "hsb" / "engine" / "native" / native.library_name()
    if damage == "missing":
        library.unlink()
    elif damage == "other sources":
        with (copied / "hsb" / "engine" / "kernels" / "arms.py").open("a") as file:
            file.write("\n# another source\n")
    else:
        library.write_bytes(library.read_bytes()[: 4000 if damage == "cut" else 0])
    told = run("-c", TOLD, source=copied).stdout
    why = {"missing": "no native library", "other sources": "from other sources"}.get(damage, "is damaged")
    assert told.startswith("numba | ") and why in told
    played = run("-c", PLAYED, source=copied, HSB_ENGINE="python")
    assert played.stdout.split()[0] == usual.split()[0]


@BUILT
def test_arguments_that_no_variant_takes_are_refused():
    from hsb.engine.kernels import maths, rounds

    x = np.linspace(-1.0, 1.0, 5)
    out = np.empty(5)
    maths.exps(x, out)
    assert np.allclose(out, np.exp(x))
    for wrong in (
        (x.astype(np.float32), out),
        (x.reshape(5, 1), out),
        (x[::-1], out),
        (x.astype(">f8"), out),
        (list(x), out),
        (x,),
    ):
        with pytest.raises(TypeError, match=r"no compiled variant of maths.exps takes these arguments"):
            maths.exps(*wrong)
    with pytest.raises(TypeError):
        rounds.decide(None, None, None, None, 0.5, ())
