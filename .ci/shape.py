"""Measure the shape of the package: how deep its classes are, how wide its policies, how many calls a round takes.

    python .ci/shape.py         # a table; exit status 1 and the offenders if a limit is exceeded
    python .ci/shape.py --all   # and the worst ten of every measure

Measures of the source, read with `ast` and never imported. "Own" means defined in src/hsb.

- ancestors: the own classes that a class inherits from, directly or not; the largest number of any class. Base names are followed through
  imports, re-exports and aliases. What is not own counts as nothing: object, Protocol, NamedTuple, the standard library.
- lines of a file: of any file, blank ones and comments too.
- modules: the modules and packages directly in src/hsb, without `__init__` and `__main__`. A folder without `__init__.py` is no package.
- repeated class names: the distinct names that two or more classes have, nested classes included.
- foreign attributes: the distinct pairs (file, `_x`) where the file uses `self._x` and never defines it. A file defines `_x` if it assigns
  `self._x` or `cls._x`, or if one of its class bodies assigns or annotates `_x`, has a method or property `_x`, or lists it in `__slots__`.
  `self._x += 1` reads first, so it defines nothing. `_replace` and the like, which every NamedTuple has, are public.
- lines with foreign attributes: the lines on which these uses are. One pair may be used on many lines.
- starmap, FunctionType: the places that name them, imports included.
- dict updates: `vars(x).update` and `x.__dict__.update`, called or passed on, for any x.
- NotImplementedError: the places in `FOLDERS` that raise it.
- bases of one class: the classes in `FOLDERS` with exactly one direct own subclass, except `Policy`, from which users derive their own.

Folders of `FOLDERS` that do not exist are left out.

Measures of a policy, `hsb.HSB(arms=["a", "b"], seed=0)` after `ROUNDS` rounds.

- attributes: the names in its `__dict__`, and the `__slots__` of own classes, set or not.
- repeated methods: the methods, properties, class and static methods that two or more own classes of its MRO define, without Python's own
  (`__init__` and the like). Measured for this policy, and for the class in `hsb.Policy.kinds` that has the most.
- public names: what `dir()` lists without a leading underscore, attributes included.
- frames: the calls of own functions that `sys.setprofile` reports. A compiled kernel called from Python counts once, as does each resumption
  of a generator. `decide` and `learn` are of a context seen before, the median of `REPEATS`; `learn, new category` is the first time that a
  decision with a new value of a category is learned. Python 3.12 and later run list comprehensions without a frame and count fewer.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "hsb"
FOLDERS = ("policy", "learners", "policies")
TUPLES = {
    "_asdict",
    "_fields",
    "_field_defaults",
    "_make",
    "_replace",
}  # documented, with an underscore to keep clear of the fields
CONTEXT = {"device": "web", "age": 31, "hour": 14}
ROUNDS = 100
REPEATS = 5
NAMED, WORST = 5, 10  # offenders printed: of an exceeded limit, and with --all

Sources = dict[str, ast.Module]
"""The modules of a package by path, relative to the package and with slashes: `policies/hsb.py`."""


class Measure(NamedTuple):
    """A measure: its name, its value, its limit, and the offenders, the worst first."""

    name: str
    found: int
    limit: int
    offenders: list[str]

    @property
    def exceeded(self) -> bool:
        """Return whether the value exceeds the limit."""
        return self.found > self.limit


class Use(NamedTuple):
    """A name in a file, and its line."""

    file: str
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.name}"


def read_sources(package: Path) -> Sources:
    """Parse every module of a package."""
    paths = sorted(package.rglob("*.py"))
    return {path.relative_to(package).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def top_modules(package: Path) -> list[str]:
    """The modules and packages directly in a package, without `__init__` and `__main__`."""
    modules = {path.stem for path in package.glob("*.py")} | {path.parent.name for path in package.glob("*/__init__.py")}
    return sorted(modules - {"__init__", "__main__"})


def file_lengths(package: Path) -> dict[str, int]:
    """Return the number of lines of each module of a package, the longest first."""
    lengths = {
        path.relative_to(package).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in package.rglob("*.py")
    }
    return dict(sorted(lengths.items(), key=lambda item: (-item[1], item[0])))


# Classes and their bases ------------------------------------------------------------------------------------------------------------------


def dotted(node: ast.expr) -> str:
    """`a.b.C` of an expression `a.b.C` or `a.b.C[T]`; empty if it is neither."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr) if dotted(value):
            return f"{dotted(value)}.{attr}"
        case ast.Subscript(value=value):
            return dotted(value)
    return ""


class Classes:
    """The classes of a package, named by module and qualified name (`hsb.policy.Policy`), and which derives from which."""

    def __init__(self, sources: Sources, root: str) -> None:
        self.files: dict[str, str] = {}
        """The file of each class."""
        self._modules: set[str] = set()
        self._names: dict[str, str] = {}  # what a name of a module stands for: hsb.HSB -> hsb.policies.HSB
        self._stars: dict[str, list[str]] = {}
        written: dict[str, list[tuple[str, str]]] = {}  # of each class: the scope and the text of each base
        for file, tree in sources.items():
            parts = [root, *file.removesuffix(".py").split("/")]
            is_package = parts[-1] == "__init__"
            module = ".".join(parts[:-1] if is_package else parts)
            self._modules.add(module)
            self._read_names(module, tree, is_package)
            for name, node in _class_definitions(tree, module):
                self.files[name] = file
                written[name] = [(name.rpartition(".")[0], text) for text in map(dotted, node.bases) if text]
        self.bases = {
            name: [base for scope, text in texts if (base := self._resolve_in(scope, text, name))]
            for name, texts in written.items()
        }
        """The own bases of each class."""

    def _read_names(self, module: str, tree: ast.Module, is_package: bool) -> None:
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        first = alias.name.partition(".")[0]
                        self._names[f"{module}.{alias.asname or first}"] = alias.name if alias.asname else first
                case ast.ImportFrom(module=source, names=names, level=level):
                    above = module.split(".")
                    above = above[: len(above) - level + is_package] if level else []
                    origin = ".".join([*above, *([source] if source else [])])
                    for alias in names:
                        if alias.name == "*":
                            self._stars.setdefault(module, []).append(origin)
                        else:
                            self._names[f"{module}.{alias.asname or alias.name}"] = f"{origin}.{alias.name}"
        for statement in tree.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if dotted(value):
                    self._names.setdefault(f"{module}.{name}", f"{module}.{dotted(value)}")

    def _resolve_in(self, scope: str, text: str, derived: str) -> str:
        """The class that a base's text means in a scope: the innermost that has it. Empty if it is not own."""
        while scope:
            base = self._resolve(f"{scope}.{text}")
            if base and base != derived:
                return base
            if scope in self._modules:
                break
            scope = scope.rpartition(".")[0]
        return ""

    def _resolve(self, name: str, steps: int = 20) -> str:
        """The class that a full name means, through imports, re-exports and aliases. Empty if it is not own.

        A name belongs to the longest module in front of it, and only that module's imports and aliases count. `steps` ends circles.
        """
        if name in self.files:
            return name
        module = name.rpartition(".")[0]
        while module and module not in self._modules:
            module = module.rpartition(".")[0]
        if not module or not steps:
            return ""
        first, dot, rest = name[len(module) + 1 :].partition(".")
        origins = [self._names[f"{module}.{first}"]] if f"{module}.{first}" in self._names else []
        origins += [f"{star}.{first}" for star in self._stars.get(module, [])]
        return next(filter(None, (self._resolve(origin + dot + rest, steps - 1) for origin in origins)), "")

    def ancestors(self, name: str) -> set[str]:
        """The own classes that a class inherits from, directly or not."""
        ancestors: set[str] = set()
        waiting = list(self.bases[name])
        while waiting:
            base = waiting.pop()
            if base not in ancestors:
                ancestors.add(base)
                waiting += self.bases[base]
        return ancestors

    def children(self, name: str) -> list[str]:
        """The own classes that derive directly from a class."""
        return sorted(child for child, bases in self.bases.items() if name in bases)


def _class_definitions(node: ast.AST, scope: str) -> Iterator[tuple[str, ast.ClassDef]]:
    """Every class in a node with its full name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            name = f"{scope}.{child.name}"
            yield name, child
            yield from _class_definitions(child, name)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _class_definitions(child, f"{scope}.{child.name}")
        else:
            yield from _class_definitions(child, scope)


def bases_of_one(classes: Classes, folders: Sequence[str] = FOLDERS) -> dict[str, str]:
    """The classes in the folders with exactly one direct own subclass, each with that subclass. `Policy` is left out."""
    bases = {}
    for name, file in sorted(classes.files.items()):
        children = classes.children(name)
        if file.partition("/")[0] in folders and "/" in file and len(children) == 1 and not name.endswith(".Policy"):
            bases[name] = children[0]
    return bases


def repeated_classes(sources: Sources) -> dict[str, list[str]]:
    """The names that two or more classes have, each with the files that define one."""
    files: dict[str, list[str]] = {}
    for file, tree in sources.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, []).append(file)
    return {name: places for name, places in files.items() if len(places) > 1}


# Attributes and idioms --------------------------------------------------------------------------------------------------------------------


def defined_attributes(tree: ast.Module) -> set[str]:
    """The attributes that a file defines: assigned on self or cls, or assigned, annotated, defined or listed as slots in a class body."""
    names: set[str] = set()
    read_first = {id(node.target) for node in ast.walk(tree) if isinstance(node, ast.AugAssign)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()) if id(node) not in read_first:
                names.add(name)
            case ast.ClassDef(body=body):
                for statement in body:
                    names |= _defined_by(statement)
    return names


def _defined_by(statement: ast.stmt) -> set[str]:
    """The attributes that one statement of a class body defines."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.AnnAssign(target=ast.Name(id=name), value=value):
            return {name} | (_strings(value) if name == "__slots__" and value else set())
        case ast.Assign(targets=targets, value=value):
            names = {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
            return names | (_strings(value) if "__slots__" in names else set())
    return set()


def _strings(node: ast.expr) -> set[str]:
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def foreign_attributes(sources: Sources) -> list[Use]:
    """Every use of a `self._x` in a file that never defines `_x`."""
    uses = []
    for file, tree in sources.items():
        known = defined_attributes(tree) | TUPLES
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=ast.Name(id="self"), attr=name, lineno=line):
                    if name.startswith("_") and not name.startswith("__") and name not in known:
                        uses.append(Use(file, line, name))
    return sorted(uses)


def uses_of(sources: Sources, word: str) -> list[Use]:
    """The places that name a function or class of another module, imports included."""
    uses = []
    for file, tree in sources.items():
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=ast.Name(id="ir")):  # LLVM's, of the same name
                    continue
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) if name.split(".")[-1] == word:
                    uses.append(Use(file, node.lineno, word))
    return sorted(uses)


def dict_updates(sources: Sources) -> list[Use]:
    """Return the places with `vars(x).update` or `x.__dict__.update`."""
    uses = []
    for file, tree in sources.items():
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=ast.Call(func=ast.Name(id="vars")) | ast.Attribute(attr="__dict__"), attr="update"):
                    uses.append(Use(file, node.lineno, ast.unparse(node)))
    return sorted(uses)


def not_implemented(sources: Sources, folders: Sequence[str] = FOLDERS) -> list[Use]:
    """The places in the folders that raise NotImplementedError."""
    uses = []
    for file, tree in sources.items():
        if "/" in file and file.partition("/")[0] in folders:
            for node in ast.walk(tree):
                match node:
                    case ast.Raise(exc=ast.Name(id="NotImplementedError") | ast.Call(func=ast.Name(id="NotImplementedError"))):
                        uses.append(Use(file, node.lineno, "NotImplementedError"))
    return sorted(uses)


# Policies ---------------------------------------------------------------------------------------------------------------------------------


def own_classes(kind: type, root: str) -> list[type]:
    """The classes of an MRO that a package defines."""
    return [each for each in kind.__mro__ if each.__module__.partition(".")[0] == root]


def attributes(thing: Any, root: str) -> list[str]:
    """Return the names in an object's `__dict__` and the slots of its classes in the package."""
    names = set(getattr(thing, "__dict__", ()))
    for kind in own_classes(type(thing), root):
        inputs = vars(kind).get("__slots__", ())
        names |= {inputs} if isinstance(inputs, str) else set(inputs)
    return sorted(names - {"__dict__", "__weakref__"})


def repeated_methods(kind: type, root: str) -> dict[str, int]:
    """The methods and properties that two or more own classes of an MRO define, the most often defined first. None of Python's own."""
    methods = (FunctionType, property, classmethod, staticmethod)
    counts = Counter(
        name for each in own_classes(kind, root) for name, value in vars(each).items() if isinstance(value, methods)
    )
    return {name: count for name, count in counts.most_common() if count > 1 and not (name[:2] == name[-2:] == "__")}


def frames(call: Callable[[], object], package: Path) -> list[str]:
    """The functions of a package that run during a call, in order, each as often as it is called."""
    inside, codes = str(package) + os.sep, list[CodeType]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(inside):
            codes.append(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return [f"{Path(code.co_filename).relative_to(package).as_posix()} {code.co_qualname}" for code in codes]


class Rounds(NamedTuple):
    """A default policy after its rounds, and the frames of three calls."""

    policy: Any
    decide: list[str]
    learn: list[str]
    learn_new: list[str]


def play_rounds(make: Callable[[], Any], package: Path) -> Rounds:
    """Play `ROUNDS` rounds with a new policy, then trace calls that are typical and one that meets a new category."""
    policy = make()
    for i in range(ROUNDS):
        # every tenth context is the one traced later; the others vary so that all three columns are worth a split
        context = {"device": ("web", "ios")[i % 2], "age": 18 + 7 * i % 60, "hour": i % 24} if i % 10 else CONTEXT
        policy.learn(policy.decide(context), reward=float(i % 3 == 0))
    decides, learns, decisions = [], [], list[Any]()
    for _ in range(REPEATS):
        decides.append(frames(lambda: decisions.append(policy.decide(CONTEXT)), package))
        learns.append(frames(lambda: policy.learn(decisions[-1], reward=1.0), package))
    unseen = policy.decide(CONTEXT | {"device": "a new one"})
    learn_new = frames(lambda: policy.learn(unseen, reward=1.0), package)
    middle = REPEATS // 2  # the median: some rounds do more than learn
    return Rounds(policy, sorted(decides, key=len)[middle], sorted(learns, key=len)[middle], learn_new)


# The table --------------------------------------------------------------------------------------------------------------------------------


def measure_sources(package: Path, root: str = "hsb") -> list[Measure]:
    """The measures of the source."""
    sources = read_sources(package)
    classes = Classes(sources, root)
    depths = sorted(((len(classes.ancestors(name)), name) for name in classes.files), key=lambda pair: (-pair[0], pair[1]))
    deep = [f"{name} ({depth})" for depth, name in depths if depth]
    top, lengths = top_modules(package), file_lengths(package)
    repeated = sorted(repeated_classes(sources).items(), key=lambda item: (-len(item[1]), item[0]))
    foreign = foreign_attributes(sources)
    pairs = Counter((use.file, use.name) for use in foreign)
    lines = Counter(file for file, _ in {(use.file, use.line) for use in foreign})
    zeros = [
        ("uses of starmap", uses_of(sources, "starmap")),
        ("uses of FunctionType", uses_of(sources, "FunctionType")),
        ("dict updates", dict_updates(sources)),
        ("NotImplementedError in policies", not_implemented(sources)),
    ]
    alone = [f"{name} <- {child}" for name, child in bases_of_one(classes).items()]
    return [
        Measure("ancestors of a class", depths[0][0] if depths else 0, 3, deep),
        Measure("lines of a file", max(lengths.values(), default=0), 500, [f"{file} ({n})" for file, n in lengths.items()]),
        Measure("modules at the top", len(top), 26, top),
        Measure("repeated class names", len(repeated), 12, [f"{name} ({', '.join(files)})" for name, files in repeated]),
        Measure("foreign attributes", len(pairs), 15, [f"{file} {name} ({n})" for (file, name), n in pairs.most_common()]),
        Measure("lines with foreign attributes", lines.total(), 15, [f"{file} ({n})" for file, n in lines.most_common()]),
        *(Measure(name, len(uses), 0, list(map(str, uses))) for name, uses in zeros),
        Measure("bases of one class in policies", len(alone), 0, alone),
    ]


def measure_policies(package: Path) -> list[Measure]:
    """The measures of a policy that runs, of the package in that place and no other."""
    sys.path.insert(0, str(package.parent))
    import hsb

    if Path(hsb.__file__).resolve().parent != package:
        raise SystemExit(f"shape: hsb was imported from {hsb.__file__}, not from {package}.")
    # with a seed, every run of this script counts the same
    rounds = play_rounds(lambda: hsb.HSB(arms=["a", "b"], seed=0), package)
    held = attributes(rounds.policy, "hsb")
    mine = repeated_methods(type(rounds.policy), "hsb")
    kinds = sorted(((len(repeated_methods(kind, "hsb")), name) for name, kind in hsb.Policy.kinds.items()), reverse=True)
    public = [name for name in dir(rounds.policy) if not name.startswith("_")]
    calls = [("decide", rounds.decide, 16), ("learn", rounds.learn, 22), ("learn, new category", rounds.learn_new, 150)]
    return [
        Measure("attributes of the default policy", len(held), 12, held),
        Measure("repeated methods, default policy", len(mine), 8, [f"{name} ({count})" for name, count in mine.items()]),
        Measure("repeated methods, any policy", kinds[0][0], 8, [f"{name} ({count})" for count, name in kinds]),
        Measure("public names of the default policy", len(public), 40, public),
        *(Measure(f"frames of {name}", len(run), limit, _tally(run)) for name, run, limit in calls),
    ]


def _tally(run: list[str]) -> list[str]:
    return [f"{name} ({count})" for name, count in Counter(run).most_common()]


def report(measures: Sequence[Measure], *, everything: bool = False) -> str:
    """Return the table, then the offenders: of the measures that exceed their limit, or the worst ten of every measure."""
    lines = [f"{'measure':36}{'found':>6}{'limit':>7}"]
    lines += [f"{each.name:36}{each.found:6}{each.limit:7}{'  exceeded' if each.exceeded else ''}" for each in measures]
    most = WORST if everything else NAMED
    for each in measures:
        if each.offenders and (everything or each.exceeded):
            rest = len(each.offenders) - most
            lines += ["", f"{each.name}: {each.found}, at most {each.limit}"]
            lines += [f"  {offender}" for offender in each.offenders[:most]]
            lines += [f"  and {rest} more"] if rest > 0 else []
    return "\n".join(lines)


def main() -> int:
    """Measure and print; exit status 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="list the worst ten of every measure")
    options = parser.parse_args()
    measures = measure_sources(PACKAGE) + measure_policies(PACKAGE)
    print(report(measures, everything=options.all))
    return int(any(each.exceeded for each in measures))


if __name__ == "__main__":
    sys.exit(main())
