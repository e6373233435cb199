"""What the native library is made of: nothing that is not its own, the same bytes each time."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hsb
from hsb.engine import native
from hsb.engine.kernels import jit

PACKAGE = Path(hsb.__file__).parent
LIBRARY = PACKAGE / "engine" / "native" / native.library_name()
BUILT = pytest.mark.skipif(jit.engine != "native", reason="there is no C compiler here, or another engine was asked for")


def run(*arguments, source=PACKAGE.parent, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "HSB", "NUMBA"))}
    env = clean | {"PYTHONPATH": str(source)} | environment
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return done.stdout


@BUILT
@pytest.mark.skipif(shutil.which("nm") is None or sys.platform != "linux", reason="reads symbols with nm")
def test_the_library_calls_python_memset_and_strcmp_alone():
    """Python's stable ABI and `strcmp` are the glue's; kernels fill memory. Above all no exp, log or pow of the C library."""
    listed = subprocess.run(["nm", "-D", "--undefined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
    values = {line.split()[1].partition("@")[0] for line in listed.splitlines() if line.split()[0] == "U"}
    assert {name for name in values if not re.match("_?Py", name)} <= {"memset", "strcmp"}


@pytest.mark.long
@BUILT
def test_another_build_has_the_same_bytes(tmp_path):
    run("-m", "hsb.engine.native.build", "--out", str(tmp_path), PYTHONHASHSEED="7")
    assert (tmp_path / LIBRARY.name).read_bytes() == LIBRARY.read_bytes()


def test_whole_tables_let_other_threads_go_on():
    code = "from hsb.engine.native.build import declared; print(*(name for name, _, _, free in declared() if free))"
    free = run("-c", code, HSB_ENGINE="build").split()
    assert sorted(free) == [
        *("encode.encode_rows", "encode.observe_rows", "replay.run"),
        *("tables.decide", "tables.fill", "tables.learn", "tables.play", "yahoo.parse"),
    ]
