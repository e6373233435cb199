"""Results of parts in files, each under a hash of all that it follows from, so that nothing is run twice and nothing stale is used."""

import ast
import hashlib
import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, quoted
from ..files.atomic import write_atomically
from .base import Part

PACKAGE = Path(__file__).parent.parent
NOT_PLAYED = ("cli", "experiments")  # no result depends on these, but for the module of the part itself and
PLAYED = ("data", "ecoc", "kernels", "yahoo.py")  # what the paper's parts call: in experiments/paper


class Finished(NamedTuple):
    """What a part returned, and how long it took."""

    result: Any
    seconds: float


class Cache:
    """A folder of results, one JSON file a part. Files that are damaged, or not ours, count as absent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, part: Part) -> Finished | None:
        """What was kept of an equal part."""
        path = self._path(part)
        try:
            kept = json.loads(path.read_bytes())
            return Finished(kept["result"], float(kept["seconds"]))
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def put(self, part: Part, finished: Finished) -> None:
        """Keep a result, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = {"part": part.name, "function": part.function, "arguments": part.arguments, **finished._asdict()}
        write_atomically(self._path(part), json.dumps(kept).encode())

    def _path(self, part: Part) -> Path:
        return self.folder / f"{key(part)}.json"


def key(part: Part) -> str:
    """The hash of a part: its function and arguments, and the source that computes it. Its name and place in a list do not matter.

    >>> a, b = (Part(name, "hsb.theory:exp3_bound", {"arms": 3, "horizon": 100}) for name in "ab")
    >>> key(a) == key(b), key(a) == key(a._replace(arguments={"arms": 4, "horizon": 100}))
    (True, False)
    """
    try:
        arguments = json.dumps(part.arguments, sort_keys=True)
    except (TypeError, ValueError) as error:
        needed = "its arguments must be plain data (numbers, text, lists, dicts)"
        raise InputError(f"Part {quoted(part.name)}: {needed}: {error}.") from None
    said = json.dumps([part.function, arguments, source_of(part.function.partition(":")[0]), _library()])
    return hashlib.sha256(said.encode()).hexdigest()


def plain(value: Any) -> Any:
    """What json cannot write by itself: NumPy's numbers and arrays."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not plain data")


@cache
def source_of(module: str) -> str:
    """A hash of the source of a module and of those beside it that it imports, and so on."""
    sources, to_read = dict[str, bytes](), [module]
    while to_read:
        name = to_read.pop()
        try:
            found = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            found = None
        if found is None or found.origin is None:
            if name == module:
                raise InputError(f"There is no module {quoted(name)} to run a part of.")
            continue  # a name that the package itself defines
        sources[name] = Path(found.origin).read_bytes()
        to_read += set(_siblings(sources[name], module.rpartition(".")[0])) - set(sources)
    return hashlib.sha256(repr(sorted(sources.items())).encode()).hexdigest()


def _siblings(source: bytes, package: str) -> list[str]:
    """The modules of its own package that a source imports as `from .name import ...` or `from . import name`."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and node.level == 1]
    names = [name for node in found for name in ([node.module] if node.module else [alias.name for alias in node.names])]
    return [f"{package}.{name}" for name in names]


@cache
def _library() -> str:
    """A hash of the library that parts call: its version, its sources and what it computes with."""
    from .. import __version__
    from ..engine.native import sources_digest

    total = hashlib.sha256(json.dumps([__version__, np.__version__, sources_digest()]).encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        inner = path.relative_to(PACKAGE)
        called = inner.parts[:2] == ("experiments", "paper") and inner.parts[2] in PLAYED
        if inner.parts[0] not in NOT_PLAYED or called:
            total.update(inner.as_posix().encode() + b"\0" + path.read_bytes())
    return total.hexdigest()
