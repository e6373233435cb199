"""The TOML file of `hsb run`: what it may say, and objects made from it. Errors name the key."""

from __future__ import annotations

import hashlib
import inspect
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..arguments import whole
from ..errors import InputError
from ..policies import Policy
from ..problems import Problem, named
from ..structures import OneOf, Structure, from_dict
from .losses import Losses

KEYS = {"title", "rounds", "runs", "seed", "problem", "file", "structure", "policies"}
FILE_KEYS = {"path", "contexts", "losses", "low", "high"}


def read(path: Path) -> dict[str, Any]:
    """The file as checked plain data, with everything it leaves out filled in. Policies are a table by label.

    A wrong key, value or column is an InputError of one line that names it; nothing has been run then.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise InputError(f"Cannot read {str(path)!r}: {reason}.") from None
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path.name} is not TOML: {error}.") from None
    with _within(path.name):
        return _checked(given, path)


def _checked(given: dict[str, Any], path: Path) -> dict[str, Any]:
    _known("", given, KEYS)
    if ("problem" in given) == ("file" in given):
        raise InputError('problem or file: one of them is needed, e.g. problem = {name = "stationary"}.')
    spec: dict[str, Any] = {"title": given.get("title", path.stem)}
    if not isinstance(spec["title"], str):
        raise InputError(f"title: must be text; given {spec['title']!r}.")
    if "file" in given:
        with _within("file"):
            spec["file"] = _file(_table(given["file"]), path.parent)
            table = Losses(spec["file"])
            given = {"rounds": len(table.contexts)} | given
        problem: Problem | Losses = table
    else:
        with _within("problem"):
            asked = {"name": given["problem"]} if isinstance(given["problem"], str) else _table(given["problem"])
            if "name" not in asked:
                raise InputError("name: is missing. See hsb.problems for the names.")
            spec["problem"] = _made(lambda: named(**asked)).to_dict()
        problem = named(**spec["problem"])
    for name, default in (("rounds", 100_000), ("runs", 10), ("seed", 0)):
        spec[name] = whole(name, given.get(name, default), least=0 if name == "seed" else 1)
    if isinstance(problem, Losses) and spec["rounds"] > len(problem.contexts):
        raise InputError(f"rounds: the file has {len(problem.contexts):,} rows; given {spec['rounds']:,}.")
    with _within("structure"):
        spec["structure"] = structure(_table(given.get("structure", {"kind": "BinaryTree", "depth": 10})), problem).to_dict()
    spec["policies"] = dict(_policies(given, spec, problem))
    return spec


def _policies(given: dict[str, Any], spec: dict[str, Any], problem: Problem | Losses) -> Iterator[tuple[str, dict[str, Any]]]:
    listed = given.get("policies", [])
    if not isinstance(listed, list) or not listed or not all(isinstance(each, dict) for each in listed):
        raise InputError('policies: at least one table [[policies]] is needed, e.g. with policy = "HSB".')
    labels = set()
    for i, each in enumerate(listed):
        settings = dict(each)
        with _within(f"policies[{i}]"):
            label = str(settings.pop("label", settings.get("policy", "")))
            if "structure" in settings:
                with _within("structure"):
                    settings["structure"] = structure(_table(settings["structure"]), problem).to_dict()
            made = entrant(settings, spec, problem)(0)
            if isinstance(problem, Losses):
                problem.check(made)
            if label in labels:
                raise InputError(f"label: {label!r} is taken. Give every policy a label of its own.")
        labels.add(label)
        yield label, settings


def entrant(settings: dict[str, Any], spec: dict[str, Any], problem: Problem | Losses) -> Callable[[int], Policy]:
    """Makes the policy from a seed."""
    settings = dict(settings)
    name = settings.pop("policy", None)
    kind: Any = Policy.kinds.get(name) if isinstance(name, str) else None
    possible = [known for known, each in sorted(Policy.kinds.items()) if _plain(each)]
    if kind is None or not _plain(kind):
        raise InputError(f"policy: must be one of {', '.join(possible)}; given {name!r}.")
    parameters = inspect.signature(kind).parameters
    _known("", settings, set(parameters) - {"arms", "seed"} | {"structure"})
    where = settings.pop("structure", spec["structure"])
    if settings.get("horizon") is True:
        settings["horizon"] = spec["rounds"]
    if isinstance(settings.get("loss_range"), list):
        settings["loss_range"] = tuple(settings["loss_range"])
    first = (from_dict(where),) if next(iter(parameters)) in ("structure", "features") else ()
    arms = problem.arms

    def make(seed: int) -> Policy:
        made: Policy = _made(lambda: kind(*first, arms=arms, seed=seed, **settings))
        return made

    return make


def structure(given: dict[str, Any], problem: Problem | Losses) -> Structure:
    """A structure from {kind = ..., its arguments}, over the contexts of the problem."""
    given = dict(given)
    kind: Any = Structure.kinds.get(str(given.pop("kind", "")))
    if kind is None:
        raise InputError(f"kind: must be one of {', '.join(sorted(Structure.kinds))}.")
    if kind is OneOf:
        _known("", given, {"structures"})
        return OneOf(*(structure(_table(each), problem) for each in given.get("structures", [])))
    parameters = inspect.signature(kind).parameters
    _known("", given, set(parameters) - {"space"})
    made = _made(lambda: kind(**given, space=problem.space))
    assert isinstance(made, Structure)
    return made


def world(spec: dict[str, Any]) -> Problem | Losses:
    """The problem, or the file of losses."""
    if "file" in spec:
        return Losses(spec["file"])
    return named(**spec["problem"])


def _file(given: dict[str, Any], folder: Path) -> dict[str, Any]:
    _known("", given, FILE_KEYS)
    for name in ("path", "contexts", "losses"):
        if name not in given:
            raise InputError(f"{name}: is missing. A file needs path, contexts and losses (both lists of column names).")
    for name in ("contexts", "losses"):
        if not isinstance(given[name], list) or not given[name] or not all(isinstance(each, str) for each in given[name]):
            raise InputError(f"{name}: must be a list of column names; given {given[name]!r}.")
    path = (folder / str(given["path"])).resolve()
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"path: cannot read {str(path)!r}: {error.strerror}.") from None
    return given | {"path": str(path), "name": path.name, "sha256": digest}


def _plain(kind: type[Policy]) -> bool:
    """Can it be made from plain data?"""
    needed = [name for name, each in inspect.signature(kind).parameters.items() if each.default is inspect.Parameter.empty]
    return set(needed) <= {"structure", "features", "arms"}


def _known(where: str, given: dict[str, Any], known: set[str]) -> None:
    for name in given:
        if name not in known:
            raise InputError(f"{where}{name}: unknown key. The keys are {', '.join(sorted(known))}.")


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"must be a table; given {value!r}.")
    return value


def _made(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except TypeError as error:  # an argument that is missing
        raise InputError(f"{str(error).replace('.__init__()', '')}.") from None


@contextmanager
def _within(where: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
