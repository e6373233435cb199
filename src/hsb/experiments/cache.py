"""Results of parts in files, each under a hash of everything that it depends on, so that no part runs twice and no stale result is used."""

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
NOT_PLAYED = ("cli", "experiments")  # no result depends on these, except on the module of the part itself and on
PLAYED = ("data", "ecoc", "kernels", "yahoo.py")  # in experiments/paper: the paper's parts call these


class Finished(NamedTuple):
    """The result of a part, and its duration in seconds."""

    result: Any
    seconds: float


class Cache:
    """A folder of results, one JSON file per part. Damaged and foreign files count as absent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, part: Part) -> Finished | None:
        """Return the stored result of an equal part; None if nothing is stored."""
        path = self._path(part)
        try:
            stored = json.loads(path.read_bytes())
            return Finished(stored["result"], float(stored["seconds"]))
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def put(self, part: Part, finished: Finished) -> None:
        """Store a result, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stored = {"part": part.name, "function": part.function, "arguments": part.arguments, **finished._asdict()}
        write_atomically(self._path(part), json.dumps(stored).encode())

    def _path(self, part: Part) -> Path:
        return self.folder / f"{key(part)}.json"


def key(part: Part) -> str:
    """Return the hash of a part: of its function, its arguments and the source that computes it, not of its name or place.

    >>> a, b = (Part(name, "hsb.theory:exp3_bound", {"arms": 3, "horizon": 100}) for name in "ab")
    >>> key(a) == key(b), key(a) == key(a._replace(arguments={"arms": 4, "horizon": 100}))
    (True, False)
    """
    try:
        arguments = json.dumps(part.arguments, sort_keys=True)
    except (TypeError, ValueError) as error:
        needed = "its arguments must be plain data (numbers, text, lists, dicts)"
        raise InputError(f"Part {quoted(part.name)}: {needed}: {error}.") from None
    content = json.dumps([part.function, arguments, source_of(part.function.partition(":")[0]), _library()])
    return hashlib.sha256(content.encode()).hexdigest()


def plain(value: Any) -> Any:
    """Convert NumPy's numbers and arrays, which json cannot write."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not plain data")


@cache
def source_of(module: str) -> str:
    """Return a hash of the source of a module and of the modules beside it that it imports, directly or not."""
    sources, to_read = dict[str, bytes](), [module]
    while to_read:
        name = to_read.pop()
        try:
            spec = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            spec = None
        if spec is None or spec.origin is None:
            if name == module:
                raise InputError(
                    f"There is no module {quoted(name)}, which has the function of a part. Check the name and Python's path."
                )
            continue  # a name that the package itself defines
        sources[name] = Path(spec.origin).read_bytes()
        to_read += set(_siblings(sources[name], module.rpartition(".")[0])) - set(sources)
    return hashlib.sha256(repr(sorted(sources.items())).encode()).hexdigest()


def _siblings(source: bytes, package: str) -> list[str]:
    """Return the modules of `package` that a source imports as `from .name import ...` or `from . import name`."""
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and node.level == 1]
    names = [name for node in imports for name in ([node.module] if node.module else [alias.name for alias in node.names])]
    return [f"{package}.{name}" for name in names]


@cache
def _library() -> str:
    """Return a hash of the library that parts call: of its version, its sources and its compiled engine."""
    from .. import __version__
    from ..engine.native import sources_digest

    total = hashlib.sha256(json.dumps([__version__, np.__version__, sources_digest()]).encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        inner = path.relative_to(PACKAGE)
        called = inner.parts[:2] == ("experiments", "paper") and inner.parts[2] in PLAYED
        if inner.parts[0] not in NOT_PLAYED or called:
            total.update(inner.as_posix().encode() + b"\0" + path.read_bytes())
    return total.hexdigest()
