"""What the native library is made of: nothing that is not its own, the same bytes each time. What the numba engine keeps is never stale."""

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
from hsb.engine.native.platforms import OTHERS

PACKAGE = Path(hsb.__file__).parent
LIBRARY = PACKAGE / "engine" / "native" / native.library_name()
BUILT = pytest.mark.skipif(jit.engine != "native", reason="there is no C compiler here, or another engine was asked for")
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


@BUILT
@pytest.mark.skipif(shutil.which("nm") is None or sys.platform != "linux", reason="reads symbols with nm")
def test_the_library_calls_python_memset_and_strcmp_alone():
    """Python's stable ABI and `strcmp` are the glue's; kernels fill memory. Above all no exp, log or pow of the C library."""
    listed = subprocess.run(["nm", "-D", "--undefined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
    found = {line.split()[1].partition("@")[0] for line in listed.splitlines() if line.split()[0] == "U"}
    assert {name for name in found if not re.match("_?Py", name)} <= {"memset", "strcmp"}


@pytest.mark.long
@BUILT
def test_another_build_has_the_same_bytes(tmp_path):
    run("-m", "hsb.engine.native.build", "--out", str(tmp_path), PYTHONHASHSEED="7")
    assert (tmp_path / LIBRARY.name).read_bytes() == LIBRARY.read_bytes()


def test_on_windows_the_linker_is_told_all_that_the_glue_takes_of_python(tmp_path, monkeypatch):
    """The list is read from the glue's declarations, and each thing used there must be declared."""
    glue = (PACKAGE / "engine" / "native" / "glue.c").read_text()
    (tmp_path / "glue.c").write_text(glue)
    monkeypatch.setattr(subprocess, "run", lambda *given, **named: None)
    assert OTHERS["windows-x86_64"].prepare(str(tmp_path)) == ["python3.lib"]
    exported = {line.split()[0] for line in (tmp_path / "python3.def").read_text().splitlines()[2:]}
    types = {"PyObject", "PyCFunction", "PyMethodDef", "PyModuleDef", "PyModuleDef_Base"}
    assert exported == set(re.findall(r"\b_?Py_?[A-Z]\w+", glue)) - types - {"PyInit__engine", "Py_LIMITED_API"}
    data = {line.split()[0] for line in (tmp_path / "python3.def").read_text().splitlines() if line.endswith(" DATA")}
    assert data == {"_Py_NoneStruct", "PyExc_TypeError", "PyExc_SystemError"}
    assert OTHERS["linux-aarch64"].prepare(str(tmp_path)) == []


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


@pytest.mark.parametrize("end", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "damage", [lambda b: bytes(len(b)), lambda b: b[: len(b) // 2], lambda b: b""], ids=["zeros", "cut", "empty"]
)
def test_what_a_power_cut_left_of_it_is_compiled_anew(tmp_path, end, damage):
    settings = {"HSB_ENGINE": "numba", "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    first, _ = run("-c", EXPS, **settings).split()
    (path,) = (tmp_path / "kept").rglob(f"maths.exps-*.{end}")
    path.write_bytes(damage(path.read_bytes()))
    assert run("-c", EXPS, **settings).split() == [first, "0"]
    assert run("-c", EXPS, **settings).split() == [first, "1"]


def test_whole_tables_let_other_threads_go_on():
    code = "from hsb.engine.native.build import declared; print(*(name for name, _, _, free in declared() if free))"
    free = run("-c", code, HSB_ENGINE="build").split()
    assert sorted(free) == [
        *("encode.encode_rows", "encode.observe_rows", "replay.run"),
        *("tables.decide", "tables.fill", "tables.learn", "tables.play", "yahoo.parse"),
    ]
