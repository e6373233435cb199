"""Making problems, structures and policies from plain data, such as TOML files. Errors name the key.

A name refers to a class of hsb, "module:Class" to a class of the user; the other keys are its arguments. Nothing else is imported by name.
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
from .problems import Problem, by_name
from .problems.losses_file import Losses
from .structures import OneOf, Structure

Plain = dict[str, Any]
NEEDED = {"structure", "features", "arms"}  # required arguments of a policy that follow from the problem


def make_problem(spec: Plain) -> Problem:
    """Make the problem called `name`, with the other keys as its settings; or, if `spec` has a `path`, one from a file of losses.

    >>> make_problem({"name": "smooth", "arms": 4})
    Smooth(arms=4, model=0)
    """
    if "path" in spec:
        return Losses(spec)
    settings = dict(spec)
    if "name" not in settings:
        raise InputError("name: is missing. See hsb.problems for the names.")
    name = str(settings.pop("name"))
    if ":" not in name:
        return by_name(name, **settings)
    problem: Problem = construct(import_class(name, Problem), settings)
    return problem


class Domain(Protocol):
    """The arms, by number or name, and the space of contexts that a policy is made for. A problem is a domain."""

    @property
    def arms(self) -> Any:
        """The number of arms, or the arms."""

    @property
    def space(self) -> Any:
        """The space of contexts."""


def structure(spec: Plain, problem: Domain) -> Structure:
    """Make a structure from {"kind": ..., its arguments}, over the contexts of the problem.

    >>> structure({"kind": "BinaryTree", "depth": 3}, make_problem({"name": "two-features"})).space
    Box([0.0, 0.0], [1.0, 1.0])
    """
    settings = dict(spec)
    kind = _kind("kind", settings.pop("kind", None), Structure, list(Structure.kinds))
    if kind is OneOf:
        known_keys(settings, {"structures"})
        return OneOf(*(structure(table(each), problem) for each in settings.get("structures", [])))
    result: Structure = construct(kind, settings, space=problem.space)
    return result


def policy_spec(spec: Plain, problem: Domain, rounds: int, *, bare: bool = False) -> Callable[[int], Policy]:
    """Return a function that makes the policy {"policy": ..., "structure": ..., its settings} from a seed.

    `horizon` may be true: the `rounds` to be played. With `bare`, policies for which a structure is optional need none: HSB, and LinUCB, which
    then takes the number of features of the problem's space.

    >>> tree = {"kind": "BinaryTree", "depth": 2}
    >>> make = policy_spec({"policy": "SExp3", "structure": tree, "horizon": True}, make_problem({"name": "stationary"}), 1000)
    >>> make(0).settings()["horizon"]
    1000.0
    """
    settings = dict(spec)
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
        policy: Policy = construct(kind, settings, *first, arms=problem.arms, seed=seed)
        return policy

    return make


def needs_structure(kind: Any) -> Literal["", "always", "perhaps", "features"]:
    """Return whether a policy's class takes a structure: "" (never), "always", "perhaps", or "features" (a number of features instead).

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
    """Return the class of a policy that can be made from settings, by its name or as "module:Class"."""
    return _kind("policy", name, Policy, [name for name, kind in Policy.kinds.items() if required_arguments(kind) <= NEEDED])


def parse_features(declared: Any) -> Features:
    """Return the features that a table declares: age = "number", hour = {kind = "cycle", period = 24}.

    >>> parse_features({"age": "number", "hour": {"kind": "cycle", "period": 24}})
    Features(age=Number(), hour=Cycle(24))
    """
    kinds = {kind.name: kind for kind in FeatureKind.kinds.values()}
    features = {}
    for name, declaration in table(declared).items():
        with within(f"features.{name}"):
            settings = dict(table(declaration, "kind"))
            kind = kinds.get(str(settings.pop("kind", "")).lower())
            if kind is None:
                raise InputError(f"kind: must be one of {', '.join(kinds)}; given {quoted(declaration)}.")
            known_keys(settings, {field.name for field in fields(kind)})  # type: ignore[arg-type]
            for field in fields(kind):  # type: ignore[arg-type]
                if field.default is MISSING and field.name not in settings:
                    raise InputError(f"{field.name}: is missing; a {kind.name} needs one.")
            features[name] = kind(**settings)
    return Features(features)


def table(value: Any, key: str | None = None) -> Plain:
    """Check that `value` is a table and return it; text stands for a table with that text under `key`."""
    if isinstance(value, str) and key is not None:
        return {key: value}
    if not isinstance(value, dict):
        raise InputError(f"must be a table; given {quoted(value)}.")
    return value


def import_class(name: str, base: type) -> Any:
    """Import the class "module:Class", a subclass of `base`, from Python's path or, failing that, from the current directory.

    Importing runs the module's code. The current directory stays on the path, so that the module can import its neighbours.

    >>> import_class("hsb.problems:Smooth", __import__("hsb").problems.Problem).__name__
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
        file = getattr(module, "__file__", None) or module_name
        lacking = f"no subclass of hsb's {base.__name__} of the name {quoted(class_name)}"
        raise InputError(f"{quoted(name)}: {file} has {lacking}; it has {', '.join(sorted(kinds)) or 'no subclass'}.")
    if inspect.isabstract(kind):
        raise InputError(
            f"{quoted(name)} is not complete: it must define {', '.join(sorted(vars(kind)['__abstractmethods__']))}."
        )
    return kind


def _kind(key: str, name: Any, base: Any, listed: list[str]) -> Any:
    if isinstance(name, str) and ":" in name:
        try:
            return import_class(name, base)
        except InputError as error:
            raise InputError(f"{key}: {error}") from None
    if name not in listed:
        raise InputError(f"{key}: must be one of {', '.join(sorted(listed))}, or 'module:Class'; given {quoted(name)}.")
    return base.kinds[name]


def construct(kind: Any, settings: Plain, *first: Any, **provided: Any) -> Any:
    """Make an object of the class `kind`. Raises `InputError` that names an unknown or missing key.

    `settings` come from the user, `first` and `provided` from the program; a class gets only the provided arguments that it takes.
    """
    signature = inspect.signature(kind)
    known = [name for name, each in signature.parameters.items() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    more = set(signature.parameters) - set(known)
    if more <= {"unknown"}:  # HSB's **unknown only serves its error message
        provided = {name: value for name, value in provided.items() if name in known}
        known_keys(settings, set(known[len(first) :]) - set(provided))
    try:
        signature.bind(*first, **settings, **provided)
    except TypeError as error:
        raise InputError(f"{kind.__name__}: {error}.") from None
    return kind(*first, **settings, **provided)


def required_arguments(kind: Any) -> set[str]:
    """Return the names of a class's arguments that have no default."""
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(kind).parameters.items()
    return {name for name, each in parameters if each.default is each.empty and each.kind not in variable}


def known_keys(settings: Plain, known: set[str]) -> None:
    """Raise `InputError` that names a key of `settings` which is not in `known`."""
    for name in settings:
        if name not in known:
            raise InputError(f"{name}: unknown key. The keys are {', '.join(sorted(known))}.")


@contextmanager
def within(where: str) -> Iterator[None]:
    """Prefix the message of an `InputError` raised in the block with `where`.

    >>> with within("policies[0]"):
    ...     raise InputError("policy: is missing.")
    Traceback (most recent call last):
    hsb.errors.InputError: policies[0]: policy: is missing.
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
