"""Read, check and complete the TOML file of `hsb run`. Errors name the key.

    rounds = 20000                               # all of these have defaults: 100000 rounds, 10 runs, seed 0, a binary tree of depth 10
    runs = 10
    problem = {name = "smooth", arms = 4}        # or file = {path = "t.csv", contexts = ["age"], losses = ["a", "b"]}
    structure = {kind = "BinaryTree", depth = 8}
    [[policies]]
    policy = "HSB"
    [[policies]]
    policy = "mine:Greedy"                       # the class Greedy of mine.py, a subclass of hsb.Policy; label = "..." names it in the report
    epsilon = [0.1, 0.2]                         # its keyword argument; a list of values is a sweep: a policy for each

A name with a colon, "module:Class", is your class: a policy, a problem (`name`) or a structure (`kind`). Its module is imported from
Python's path or the current directory, so its code runs. Only modules that the file names are imported.
"""

import hashlib
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..checks import whole
from ..errors import InputError, quoted
from ..problems import Problem
from ..problems.losses_file import Losses
from ..specs import known_keys, make_problem, needs_structure, policy_kind, policy_spec, structure, table, within
from .cache import source_of
from .sweeps import Plain, sweep, with_words

KEYS = {"title", "rounds", "runs", "seed", "problem", "file", "structure", "policies"}
MOST = {"rounds": 10**12, "runs": 10**6, "seed": 2**64 - 1}
FILE_KEYS = {"path", "contexts", "losses", "low", "high"}


def read(path: Path) -> dict[str, Any]:
    """Read the file as plain data, checked and with all defaults. Policies are a table by label.

    A wrong key, value or column raises an InputError of one line that names it, before anything is run.
    """
    data = read_toml(path)
    with within(path.name):
        return _complete_spec(data, path)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises an InputError of one line if it is not TOML."""
    if path.exists() and not path.is_file():
        raise InputError(f"Cannot read {quoted(str(path))}: it is not a file.")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise InputError(
            f"{path.name} is not TOML that can be read: its values are nested too deeply. Nest them less."
        ) from None
    except ValueError as error:
        if isinstance(error, UnicodeDecodeError):
            raise InputError(f"Cannot read {quoted(str(path))}: it is not text in UTF-8.") from None
        raise InputError(f"{path.name} is not TOML: {error}.") from None
    except OSError as error:
        raise InputError(f"Cannot read {quoted(str(path))}: {error.strerror}.") from None


def _complete_spec(data: dict[str, Any], path: Path) -> dict[str, Any]:
    known_keys(data, KEYS)
    if ("problem" in data) == ("file" in data):
        raise InputError('Give either problem or file, e.g. problem = {name = "stationary"}.')
    spec: dict[str, Any] = {"title": data.get("title", path.stem)}
    if not isinstance(spec["title"], str):
        raise InputError(f"title: must be text; given {spec['title']!r}.")
    problem: Problem
    if "file" in data:
        with within("file"):
            spec["file"] = _file(table(data["file"]), path.parent)
            problem = losses = Losses(spec["file"])
            data = {"rounds": len(losses.contexts)} | data
    else:
        with within("problem"):
            asked = table(data["problem"], "name")
            problem = make_problem(asked)
            spec["problem"] = asked if ":" in asked["name"] else problem.to_dict()
    for name, default in (("rounds", 100_000), ("runs", 10), ("seed", 0)):
        spec[name] = whole(name, data.get(name, default), 0 if name == "seed" else 1, MOST[name])
    if isinstance(problem, Losses) and spec["rounds"] > len(problem.contexts):
        raise InputError(f"rounds: the file has {len(problem.contexts):,} rows; given {spec['rounds']:,}.")
    with within("structure"):
        shared = dict(_structures(data.get("structure", {"kind": "BinaryTree", "depth": 10}), problem))
    spec["structure"] = next(iter(shared.values()))
    spec["policies"] = dict(_policies(data, shared, spec["rounds"], problem))
    own = {name.partition(":")[0] for name in _own_classes([spec.get("problem"), spec["structure"], spec["policies"]])}
    return spec | ({"code": {module: source_of(module) for module in sorted(own)}} if own else {})


def _policies(data: Plain, shared: dict[str, Plain], rounds: int, problem: Problem) -> Iterator[tuple[str, Plain]]:
    """Yield each policy's label and settings. A table with lists defines several policies."""
    listed = data.get("policies", [])
    if not isinstance(listed, list) or not listed or not all(isinstance(each, dict) for each in listed):
        raise InputError('policies: at least one table [[policies]] is needed, e.g. with policy = "HSB".')
    labels = set()
    for i, each in enumerate(listed):
        with within(f"policies[{i}]"):
            for label, settings in _swept(dict(each), shared, problem):
                problem.check(policy_spec({"structure": next(iter(shared.values()))} | settings, problem, rounds)(0))
                if label in labels:
                    raise InputError(f"label: two policies are labelled {quoted(label)}. Give every policy a different label.")
                labels.add(label)
                yield label, settings


def _swept(settings: Plain, shared: dict[str, Plain], problem: Problem) -> Iterator[tuple[str, Plain]]:
    """Yield the policies that one table defines. A policy without a structure takes the file's; if there are several, each in turn."""
    label = str(settings.pop("label", settings.get("policy", "")))
    structures: dict[str, Plain | None] = {"": None}
    if "structure" in settings:
        with within("structure"):
            structures = dict(_structures(settings.pop("structure"), problem))
    elif len(shared) > 1 and needs_structure(policy_kind(settings.get("policy"))):
        structures = dict(shared)
    for words, where in structures.items():
        for more, chosen in sweep(settings):
            yield with_words(label, words, more), chosen | ({} if where is None else {"structure": where})


def _structures(data: Any, problem: Problem) -> Iterator[tuple[str, Plain]]:
    """Yield the structures that one table defines, checked, each with words for a policy's label."""
    for words, settings in sweep(table(data, "kind")):
        structure(settings, problem)
        yield words, settings


def _file(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    known_keys(data, FILE_KEYS)
    for name in ("path", "contexts", "losses"):
        if name not in data:
            raise InputError(f"{name} is missing. A file needs path, contexts and losses (both lists of column names).")
    for name in ("contexts", "losses"):
        if not isinstance(data[name], list) or not data[name] or not all(isinstance(each, str) for each in data[name]):
            raise InputError(f"{name}: must be a list of column names; given {quoted(data[name])}.")
    path = (folder / str(data["path"])).resolve()
    if path.exists() and not path.is_file():
        raise InputError(f"path: {quoted(str(path))} is not a file.")
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"path: cannot read {quoted(str(path))}: {error.strerror}.") from None
    return data | {"path": str(path), "name": path.name, "sha256": digest}


def _own_classes(data: Any) -> Iterator[str]:
    """Yield every "module:Class" in plain data."""
    if isinstance(data, list):
        data = dict(enumerate(data))
    if isinstance(data, dict):
        for key, value in data.items():
            if key in ("name", "kind", "policy") and ":" in str(value):
                yield value
            yield from _own_classes(value)
