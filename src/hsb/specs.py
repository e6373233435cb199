"""Problems, structures and policies made from plain data, as settings and TOML files hold it. Errors name the key.

A name stands for a class of hsb, "module:Class" for one of the user's own, other keys for its arguments. Nothing else is imported by name.
"""

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from typing import Any, Literal, Protocol

from .errors import InputError, quoted
from .features import Features
from .features.kinds import FeatureKind
from .policy import Policy
from .problems import Problem, named
from .problems.losses_file import Losses
from .structures import OneOf, Structure

Plain = dict[str, Any]
NEEDED = {"structure", "features", "arms"}  # arguments of a policy that need not be given: they follow from the problem


def world(given: Plain) -> Problem:
    """The problem of that `name`, with the other keys as its settings; or, where there is a `path`, a file of losses.

    >>> world({"name": "smooth", "arms": 4})
    Smooth(arms=4, model=0)
    """
    if "path" in given:
        return Losses(given)
    settings = dict(given)
    if "name" not in settings:
        raise InputError("name: is missing. See hsb.problems for the names.")
    name = str(settings.pop("name"))
    if ":" not in name:
        return named(name, **settings)
    problem: Problem = made(imported(name, Problem), settings)
    return problem


class Domain(Protocol):
    """What a policy is made for: arms, by number or name, and the space of its contexts. A problem is one."""

    @property
    def arms(self) -> Any:
        """How many, or which."""

    @property
    def space(self) -> Any:
        """Where contexts lie."""


def structure(given: Plain, problem: Domain) -> Structure:
    """A structure from {"kind": ..., its arguments}, over the contexts of the problem.

    >>> structure({"kind": "BinaryTree", "depth": 3}, world({"name": "two-features"})).space
    Box([0.0, 0.0], [1.0, 1.0])
    """
    settings = dict(given)
    kind = _kind("kind", settings.pop("kind", None), Structure, list(Structure.kinds))
    if kind is OneOf:
        known_keys(settings, {"structures"})
        return OneOf(*(structure(table(each), problem) for each in settings.get("structures", [])))
    found: Structure = made(kind, settings, space=problem.space)
    return found


def policy_spec(given: Plain, problem: Domain, rounds: int, *, bare: bool = False) -> Callable[[int], Policy]:
    """Makes the policy {"policy": ..., "structure": ..., its settings} from a seed. `horizon` may be true: the rounds to be played.

    `bare`: those that can do without a structure need none: HSB, and LinUCB, which then takes as many numbers as the space has features.

    >>> tree = {"kind": "BinaryTree", "depth": 2}
    >>> policy_spec({"policy": "SExp3", "structure": tree, "horizon": True}, world({"name": "stationary"}), 1000)(0).settings()["horizon"]
    1000.0
    """
    settings = dict(given)
    kind = policy_kind(settings.pop("policy", None))
    where = settings.pop("structure", None)
    if settings.get("horizon") is True:
        settings["horizon"] = rounds
    for name in ("loss_range", "reward_range"):
        if isinstance(settings.get(name), list):
            settings[name] = tuple(settings[name])
    takes = needs_structure(kind)
    if takes and where is None and (not bare or takes == "always"):
        raise InputError("structure: is missing.")
    first: list[Any] = [structure(where, problem)] if takes and where is not None else []
    if takes == "features" and not first:
        first = [problem.space.features]

    def make(seed: int) -> Policy:
        policy: Policy = made(kind, settings, *first, arms=problem.arms, seed=seed)
        return policy

    return make


def needs_structure(kind: Any) -> Literal["", "always", "perhaps", "features"]:
    """Does a policy take a structure: never, always, perhaps, or instead a number of features?

    >>> from hsb.policies import HSB, Exp3, LinUCB, TreeThompson
    >>> [needs_structure(kind) for kind in (Exp3, TreeThompson, HSB, LinUCB)]
    ['', 'always', 'perhaps', 'features']
    """
    name, first = next(iter(inspect.signature(kind).parameters.items()), ("", None))
    if name == "features":
        return "features"
    if name != "structure" or first is None:
        return ""
    return "perhaps" if first.default is None else "always"


def policy_kind(name: Any) -> Any:
    """The class of a policy that can be made from settings, by its name or as "module:Class"."""
    return _kind("policy", name, Policy, [each for each, kind in Policy.kinds.items() if needed(kind) <= NEEDED])


def declared(given: Any) -> Features:
    """The features that a table declares: age = "number", hour = {kind = "cycle", period = 24}.

    >>> declared({"age": "number", "hour": {"kind": "cycle", "period": 24}})
    Features(age=Number(), hour=Cycle(24))
    """
    kinds = {each.name: each for each in FeatureKind.kinds.values()}
    found = {}
    for name, said in table(given).items():
        with within(f"features.{name}"):
            settings = dict(table(said, "kind"))
            kind = kinds.get(str(settings.pop("kind", "")).lower())
            if kind is None:
                raise InputError(f"kind: must be one of {', '.join(kinds)}; given {quoted(said)}.")
            known_keys(settings, {field.name for field in fields(kind)})  # type: ignore[arg-type]
            for field in fields(kind):  # type: ignore[arg-type]
                if field.default is MISSING and field.name not in settings:
                    raise InputError(f"{field.name}: is missing; a {kind.name} needs one.")
            found[name] = kind(**settings)
    return Features(found)


def table(value: Any, key: str | None = None) -> Plain:
    """A table as it is; text alone is a table with that text under `key`."""
    if isinstance(value, str) and key is not None:
        return {key: value}
    if not isinstance(value, dict):
        raise InputError(f"must be a table; given {quoted(value)}.")
    return value


def imported(name: str, base: type) -> Any:
    """The class "module:Class", a subclass of `base`, from Python's path or, after that, from the current directory.

    Importing runs the module's code. The current directory stays on the path, so that the module may import what lies beside it.

    >>> imported("hsb.problems:Smooth", __import__("hsb").problems.Problem).__name__
    'Smooth'
    """
    module_name, _, class_name = name.partition(":")
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise InputError(f"{quoted(name)}: importing {module_name} failed: {error}.") from None
        reason = f"there is no module {quoted(error.name)} in {here} or on Python's path"
        raise InputError(f"{quoted(name)}: {reason}. Run hsb where {error.name}.py is.") from None
    except (ImportError, SyntaxError, TypeError, ValueError) as error:
        raise InputError(f"{quoted(name)}: importing {quoted(module_name)} failed: {type(error).__name__}: {error}.") from None
    kind = getattr(module, class_name, None)
    if not isinstance(kind, type) or not issubclass(kind, base):
        kinds = [each for each, value in vars(module).items() if isinstance(value, type) and issubclass(value, base)]
        where = getattr(module, "__file__", None) or module_name
        lacking = f"no subclass of hsb's {base.__name__} of the name {quoted(class_name)}"
        raise InputError(f"{quoted(name)}: {where} has {lacking}; it has {', '.join(sorted(kinds)) or 'none at all'}.")
    if inspect.isabstract(kind):
        raise InputError(
            f"{quoted(name)} is not complete: it must define {', '.join(sorted(vars(kind)['__abstractmethods__']))}."
        )
    return kind


def _kind(key: str, name: Any, base: Any, listed: list[str]) -> Any:
    if isinstance(name, str) and ":" in name:
        try:
            return imported(name, base)
        except InputError as error:
            raise InputError(f"{key}: {error}") from None
    if name not in listed:
        raise InputError(f"{key}: must be one of {', '.join(sorted(listed))}, or 'module:Class'; given {quoted(name)}.")
    return base.kinds[name]


def made(kind: Any, given: Plain, *first: Any, **provided: Any) -> Any:
    """The object; InputError that names a key which is unknown or missing."""
    signature = inspect.signature(kind)
    known = [name for name, each in signature.parameters.items() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    more = set(signature.parameters) - set(known)
    if more <= {"unknown"}:  # which HSB has to name what it does not take
        provided = {name: value for name, value in provided.items() if name in known}
        known_keys(given, set(known[len(first) :]) - set(provided))
    try:
        signature.bind(*first, **given, **provided)
    except TypeError as error:
        raise InputError(f"{kind.__name__}: {error}.") from None
    return kind(*first, **given, **provided)


def needed(kind: Any) -> set[str]:
    """The arguments of a class that must be given."""
    given = inspect.signature(kind).parameters.items()
    return {
        name for name, each in given if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    }


def known_keys(given: Plain, known: set[str]) -> None:
    """InputError that names a key which is not one of those known."""
    for name in given:
        if name not in known:
            raise InputError(f"{name}: unknown key. The keys are {', '.join(sorted(known))}.")


@contextmanager
def within(where: str) -> Iterator[None]:
    """Errors say where they come from.

    >>> with within("policies[0]"):
    ...     raise InputError("policy: is missing.")
    Traceback (most recent call last):
    hsb.errors.InputError: policies[0]: policy: is missing.
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
