"""The counters of .ci/shape.py, on small packages whose counts are known, and its ancestors against Python's own."""

import importlib.util
import sys
from pathlib import Path

import pytest

import hsb

SCRIPT = Path(__file__).parents[2] / ".ci" / "shape.py"
SPEC = importlib.util.spec_from_file_location("hsb_shape", SCRIPT)
shape = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(shape)

DEEP = {
    "__init__.py": "from .policies import C as Renamed\n",
    "__main__.py": "",
    "base.py": "import typing\nclass A(typing.Protocol): ...\nclass Error(ValueError): ...\n",
    "policies/__init__.py": "from .c import *\n",
    "policies/b.py": "from .. import base\nT = int\nclass B(base.A[T], dict): ...\nAlias = B\n",
    "policies/c.py": "from .b import Alias\nclass C(Alias):\n    class Error(Exception): ...\n    class Worse(Error): ...\n",
    "top.py": "from typing import NamedTuple\nimport own as whole\nclass D(whole.Renamed): ...\nclass E(NamedTuple): ...\n",
    "data/numbers.csv": "1\n",
    "__pycache__/top.py": "",
}


@pytest.fixture
def package(tmp_path):
    def write(files):
        for name, text in files.items():
            path = tmp_path / "own" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "own"

    return write


def sources(package, text, file="policies/one.py"):
    return shape.read_sources(package({file: text}))


def test_ancestors_are_followed_through_imports_re_exports_and_aliases(package):
    classes = shape.Classes(shape.read_sources(package(DEEP)), "own")
    counts = {name: len(classes.ancestors(name)) for name in classes.files}
    assert counts == {
        "own.base.A": 0,
        "own.base.Error": 0,
        "own.policies.b.B": 1,
        "own.policies.c.C": 2,
        "own.policies.c.C.Error": 0,
        "own.policies.c.C.Worse": 1,
        "own.top.D": 3,
        "own.top.E": 0,
    }


def test_the_longest_file_comes_first(package):
    lengths = shape.file_lengths(package({"a.py": "x = 1\n", "b/c.py": "# no code\n\n\n", "d.txt": "1\n2\n3\n4\n"}))
    assert list(lengths.items()) == [("b/c.py", 3), ("a.py", 1)]


def test_circles_and_a_function_named_like_its_module_end(package):
    files = {
        "__init__.py": "from .b import b\n",
        "a.py": "from .b import *\nLoop = Loop.more\nclass A(Loop, Missing): ...\n",
        "b.py": "from . import b\nfrom .a import *\nimport own\ndef b(): ...\nclass B(own.b.Gone, own.b.A): ...\n",
    }
    classes = shape.Classes(shape.read_sources(package(files)), "own")
    assert classes.bases == {"own.a.A": [], "own.b.B": ["own.a.A"]}


def test_ancestors_of_policies_are_those_that_python_sees():
    classes = shape.Classes(shape.read_sources(Path(hsb.__file__).parent), "hsb")
    kinds = [kind for kind in hsb.Policy.kinds.values() if kind.__module__.startswith("hsb.")]
    assert kinds
    for kind in kinds:
        seen = {f"{each.__module__}.{each.__qualname__}" for each in shape.own_classes(kind, "hsb")}
        name = f"{kind.__module__}.{kind.__qualname__}"
        assert classes.ancestors(name) == seen - {name}


def test_a_base_of_one_class(package):
    files = {
        "policies/a.py": "class One: ...\nclass Two: ...\nclass Policy: ...\nclass None_: ...\n",
        "policies/b.py": "from .a import One, Policy, Two\nclass X(One, Two, Policy): ...\nclass Y(Two): ...\n",
        "elsewhere.py": "class One: ...\nclass Child(One): ...\n",
        "policy.py": "class Base: ...\nclass Child(Base): ...\n",
    }
    classes = shape.Classes(shape.read_sources(package(files)), "own")
    assert shape.bases_of_one(classes) == {"own.policies.a.One": "own.policies.b.X"}
    assert shape.bases_of_one(classes, folders=["learners"]) == {}


def test_modules_at_the_top(package):
    assert shape.top_modules(package(DEEP)) == ["base", "policies", "top"]


def test_repeated_class_names(package):
    result = shape.repeated_classes(shape.read_sources(package(DEEP)))
    assert result == {"Error": ["base.py", "policies/c.py"]}


DEFINITIONS = ["self._x = 1", "self._x: int = 1", "(self._x, y) = 1, 2", "for self._x in (): pass", "cls._x = 1"]
BODIES = [
    "_x = 1",
    "_x: int",
    "def _x(self): ...",
    "@property\n    def _x(self): ...",
    "__slots__ = ('_x',)",
    "__slots__ = '_x'",
]


@pytest.mark.parametrize("body", BODIES)
def test_a_class_body_defines_an_attribute(package, body):
    assert shape.foreign_attributes(sources(package, f"class A:\n    {body}\n    def f(self): return self._x\n")) == []


@pytest.mark.parametrize("statement", DEFINITIONS)
def test_a_method_defines_an_attribute(package, statement):
    text = f"class A:\n    def f(self, cls):\n        {statement}\n        return self._x\n"
    assert shape.foreign_attributes(sources(package, text)) == []


@pytest.mark.parametrize("statement", ["self._x", "self._x += 1", "del self._x", "other._x = self._x", "_x = self._x"])
def test_a_foreign_attribute_is_noticed(package, statement):
    text = f"class A:\n    def f(self, other):\n        {statement}\n        self.y, self.__z, self._replace\n"
    (use,) = shape.foreign_attributes(sources(package, text))
    assert use == ("policies/one.py", 3, "_x")


def test_a_definition_in_another_file_is_no_definition(package):
    files = {
        "a.py": "class A:\n    _x = 1\n",
        "b.py": "class B:\n    def f(self):\n        self._x\n        return self._x, self._y\n",
    }
    measures = {each.name: each for each in shape.measure_sources(package(files), "own")}
    assert measures["foreign attributes"].found == 2
    assert measures["lines with foreign attributes"].found == 2
    assert measures["foreign attributes"].offenders == ["b.py _x (2)", "b.py _y (1)"]


IDIOMS = """
import itertools, types
from itertools import starmap as spread
def f(self, other):
    vars(self).update(a=1)
    keep(vars(other).update, {})
    self.__dict__.update({})
    itertools.starmap(f, ())
    isinstance(f, types.FunctionType)
    raise NotImplementedError
def g():
    raise NotImplementedError("not yet")
"""
CLEAN = '''
def f(self, settings):
    """starmap, FunctionType, vars(self).update(), raise NotImplementedError"""
    settings.update(vars(self))
    vars(self).items()
    return NotImplemented
'''


def test_idioms_are_counted(package):
    result = sources(package, IDIOMS)
    assert [use.line for use in shape.uses_of(result, "starmap")] == [3, 8]
    assert [use.line for use in shape.uses_of(result, "FunctionType")] == [9]
    assert [use.line for use in shape.dict_updates(result)] == [5, 6, 7]
    assert [use.line for use in shape.not_implemented(result)] == [10, 12]


def test_clean_code_has_none_and_exceeds_nothing(package):
    measures = shape.measure_sources(package({"policies/one.py": CLEAN}), "own")
    assert {each.name: each.found for each in measures if each.found} == {"lines of a file": len(CLEAN.splitlines())}
    assert "exceeded" not in shape.report(measures)


def test_not_implemented_counts_in_its_folders_alone(package):
    assert shape.not_implemented(sources(package, IDIOMS, file="policies.py")) == []
    assert shape.not_implemented(sources(package, IDIOMS, file="evaluate/models.py")) == []


class Base:
    __slots__ = ("raw_input",)

    def __init__(self):
        self.a = 1

    def method(self): ...

    @property
    def size(self): ...


class Derived(Base):
    value = 1

    def __init__(self):
        super().__init__()
        self.b = 2

    def method(self): ...

    @property
    def size(self): ...

    def other(self): ...


def test_attributes_and_repeated_methods_of_an_object():
    root = __name__.partition(".")[0]
    assert shape.attributes(Derived(), root) == ["a", "b", "raw_input"]
    assert shape.repeated_methods(Derived, root) == {"method": 2, "size": 2}
    assert shape.repeated_methods(Base, root) == {}
    assert shape.attributes(Derived(), "hsb") == ["a", "b"]


def test_frames_are_those_of_the_package_alone(package):
    text = "import json\ndef inner(): return json.dumps({})\ndef outer(): return [inner(), inner()] and None\n"
    place = package({"calls.py": text})
    names = {}
    exec(compile(text, str(place / "calls.py"), "exec"), names)
    before = sys.getprofile()
    assert shape.frames(names["outer"], place) == ["calls.py outer", "calls.py inner", "calls.py inner"]
    assert shape.frames(names["outer"], place.parent / "ow") == []
    assert sys.getprofile() is before


def test_an_exceeded_limit_names_its_offenders():
    measures = [shape.Measure("too many", 7, 6, list("abcdefg")), shape.Measure("few", 1, 1, ["h"])]
    assert [each.exceeded for each in measures] == [True, False]
    text = shape.report(measures).splitlines()
    assert text[1].endswith("exceeded") and not text[2].endswith("exceeded")
    assert text[-6:] == ["  a", "  b", "  c", "  d", "  e", "  and 2 more"]
    everything = shape.report(measures, everything=True).splitlines()
    assert "  g" in everything and everything[-1] == "  h"
