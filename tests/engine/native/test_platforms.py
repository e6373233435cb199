"""The systems that the native engine is linked for."""

import re
import subprocess
from pathlib import Path

import pytest

import hsb
from hsb.engine.native import platforms
from hsb.engine.native.platforms import LEVELS, OTHERS

PACKAGE = Path(hsb.__file__).parent


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


@pytest.mark.parametrize("name", OTHERS)
def test_a_system_has_its_own_triple_levels_and_wheel(name):
    system, machine = name.split("-")
    other = OTHERS[name]
    assert other.levels == LEVELS[machine] and other.triple.startswith(machine.replace("arm64", "arm64-apple"))
    assert other.library == ("_engine.pyd" if system == "windows" else "_engine.abi3.so")
    assert ("win" if system == "windows" else system) in other.wheel
    assert [each.wheel for each in OTHERS.values()].count(other.wheel) == 1


def test_the_compiler_named_by_cc_comes_first_then_those_on_the_path(tmp_path, monkeypatch):
    for name in ("mine", "gcc"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "mine -O1")
    assert platforms.find_compiler() == ["mine", "-O1"]
    monkeypatch.setenv("CC", "missing")
    assert platforms.find_compiler() == [str(tmp_path / "gcc")]
    (tmp_path / "gcc").unlink()
    monkeypatch.setattr(platforms.importlib.util, "find_spec", lambda name: None)
    assert platforms.find_compiler() is None
