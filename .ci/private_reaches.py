"""Count the package's private reaches into other modules, and the kernels with too many arguments.

    python .ci/private_reaches.py 50            # private reaches: fails above 50
    python .ci/private_reaches.py 5 --kernels   # kernels with more than ten positional parameters: fails above 5

A private reach is `x._name` where x is not `self`, `cls`, `super()` or a class of the module, and the module itself defines no `_name`: not
on self or cls, nor as a class variable, slot, method, function or variable. An import of a `_name` from another module is one too. The
methods that every NamedTuple has, `_replace` and the like, are public. `--list` prints the location of each.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "hsb"
TUPLES = {"_asdict", "_fields", "_make", "_replace"}  # documented, with an underscore to keep clear of the fields
KERNELS = {"kernel", "free_kernel"}
MOST_PARAMETERS = 10


class Place(NamedTuple):
    """A location and the text found there."""

    file: str
    line: int
    name: str


def is_private(name: str) -> bool:
    """Return whether a name begins with one underscore and is not a method of NamedTuple."""
    return name.startswith("_") and not name.startswith("__") and name != "_" and name not in TUPLES


def defined(tree: ast.Module) -> set[str]:
    """Return every name that a module defines: functions, classes, variables, attributes of self or cls, slots."""
    names = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                names.add(name)
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=ast.Tuple(elts=inputs) | ast.List(elts=inputs)):
                names |= {
                    raw_input.value
                    for raw_input in inputs
                    if isinstance(raw_input, ast.Constant) and isinstance(raw_input.value, str)
                }
    return names


def reaches(file: str, tree: ast.Module) -> Iterator[Place]:
    """Return the private reaches of a module."""
    own = defined(tree)
    at_home = {"self", "cls"} | {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=holder)) if holder in at_home:
                continue
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
                continue
            case ast.Attribute(attr=name, lineno=line) if is_private(name) and name not in own:
                yield Place(file, line, name)
            case ast.ImportFrom(names=names, lineno=line):
                yield from (Place(file, line, alias.name) for alias in names if is_private(alias.name))


def long_kernels(file: str, tree: ast.Module) -> Iterator[Place]:
    """Return the compiled functions with more than `MOST_PARAMETERS` positional parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            marks = {mark.func if isinstance(mark, ast.Call) else mark for mark in node.decorator_list}
            count = len(node.args.posonlyargs) + len(node.args.args)
            if count > MOST_PARAMETERS and any(isinstance(mark, ast.Name) and mark.id in KERNELS for mark in marks):
                yield Place(file, node.lineno, f"{node.name} ({count} parameters)")


def main() -> int:
    """Count and print; exit status 1 if the limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("limit", type=int, help="the largest total allowed")
    parser.add_argument("--kernels", action="store_true", help="count kernels with too many parameters instead")
    parser.add_argument("--list", action="store_true", help="print the location of each")
    options = parser.parse_args()
    places: list[Place] = []
    for path in sorted(PACKAGE.rglob("kernels/*.py" if options.kernels else "*.py")):
        count = long_kernels if options.kernels else reaches
        places += count(str(path.relative_to(PACKAGE)), ast.parse(path.read_text(encoding="utf-8")))
    if options.list:
        for place in sorted(places):
            print(f"{place.file}:{place.line} {place.name}")
    for file, number in Counter(place.file for place in places).most_common():
        print(f"{number:4} {file}")
    what = "kernels with too many parameters" if options.kernels else "private reaches"
    print(f"{len(places):4} {what}, at most {options.limit} allowed")
    return int(len(places) > options.limit)


if __name__ == "__main__":
    sys.exit(main())
