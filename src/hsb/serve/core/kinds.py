"""Policies from plain data, by the words of experiments: {"kind": "HSB", "structure": {"kind": "BinaryTree", "depth": 10}, ...}.

Only hsb's own kinds: no request names a module to be imported.
"""

from typing import Any

from ...checks import whole
from ...errors import BudgetError, InputError, quoted
from ...features import Features
from ...files.memory_limit import limited
from ...learners.encoded import encode_contexts, encoder_from
from ...policy import Policy
from ...specs import NEEDED, construct, known_keys, needs_structure, parse_features, required_arguments, within
from ...structures import OneOf, Structure
from ...structures.spaces import Box, Cells, Space

Plain = dict[str, Any]
UNSERVED = {"arms", "seed", "floor"}  # the service has these
INEXACT = {"CsbFtpl"}  # kinds whose propensity is an estimate
NAMED = "Where contexts have names, begin with HSB, and add this one as a candidate when there are updates."
RANGES = ("loss_range", "reward_range")
MOST_CELLS = 1 << 20
MOST_MEMORY = 256 << 20  # bytes of a policy's state at its beginning


def kinds() -> list[str]:
    """The kinds of policies that can be served."""
    return sorted(
        name
        for name, kind in Policy.kinds.items()
        if kind.__module__.startswith("hsb.policies.") and required_arguments(kind) <= NEEDED
    )


def make_policy(given: Plain, arms: list[str], arm_features: Plain | None = None) -> Policy:
    """The policy of that kind, with the other keys as its settings; contexts of a kind without a structure may be dicts.

    >>> make_policy({"kind": "Exp3", "learning_rate": 0.1}, ["a", "b"])
    Exp3(learning_rate=0.1, arms=['a', 'b'], rounds=0)
    >>> make_policy({"features": {"age": "number", "at": "time"}}, ["a", "b"]).learner.reader.features
    Features(age=Number(), at=Time())
    """
    settings = dict(_table("policy", given))
    name = settings.pop("kind", "HSB")
    if not isinstance(name, str) or name not in kinds():
        raise InputError(f"policy.kind must be one of {', '.join(kinds())}; given {quoted(name)}.")
    kind: Any = Policy.kinds[name]
    for key in settings:
        if key in UNSERVED:
            raise InputError(f"policy.{key}: the service sees to that; give {key!r} beside policy, or leave it out.")
    for key in RANGES:
        if isinstance(settings.get(key), list):
            settings[key] = tuple(settings[key])
    where, encoding = settings.pop("structure", None), settings.pop("encoding", None)
    takes = needs_structure(kind)
    if where is not None and not takes:
        raise InputError(f"policy.structure: {name} takes none.")
    if where is None and takes == "always":
        raise InputError(f"policy.structure is missing: {name} needs one, e.g. {{'kind': 'BinaryTree', 'depth': 10}}. {NAMED}")
    if where is None and takes == "features" and encoding is None and "features" not in settings:
        raise InputError(f"policy.features is missing: {name} needs to know how many numbers a context has, e.g. 3. {NAMED}")
    if encoding is not None:
        return _encoded(kind, settings, where, arms, encoding)
    first = [] if where is None else [make_structure(where)]
    if takes == "features" and not first:
        first = [settings.pop("features")]
    if "features" in settings:
        said = _table("policy.features", settings["features"])
        with within("policy"):
            settings["features"] = Features.from_dict(said) if isinstance(said.get("kinds"), list) else parse_features(said)
    if arm_features and takes == "perhaps" and not first:
        settings["arm_features"] = arm_features
    return _limited(kind, settings, first, arms)


def _limited(kind: Any, settings: Plain, first: list[Any], arms: list[str]) -> Policy:
    try:
        with limited(MOST_MEMORY / 8):
            found: Policy = construct(kind, settings, *first, arms=list(arms), seed=0)  # every u comes from outside
    except BudgetError:
        raise InputError(
            f"policy: it would take more than the {MOST_MEMORY >> 20} MB that a policy may have here. Make its structure smaller."
        ) from None
    return found


def _encoded(kind: Any, settings: Plain, where: Any, arms: list[str], encoding: Any) -> Policy:
    """A policy of numbers for contexts with names: `fitted` of `encoding.py` has made the encoder."""
    if not takes_numbers(kind, where):
        raise InputError(f"policy.encoding: {kind.__name__} takes contexts as they are. Leave it out.")
    encoder = encoder_from(encoding)
    nothing: Any = [{}]
    width = encoder.transform(nothing).shape[1]
    first = [width] if where is None else [make_structure(where, Box.unit(width))]
    return encode_contexts(_limited(kind, settings, first, arms), encoder)


def takes_numbers(kind: Any, structure: Any) -> bool:
    """Does a policy of that kind, over that structure or none, take numbers, and not contexts as they are?"""
    takes = needs_structure(kind)
    return takes in ("always", "features") or (takes == "perhaps" and structure is not None)


def make_structure(given: Any, space: Space | None = None) -> Structure:
    """A structure from {"kind": ..., its arguments}; "space" is {"low": [...], "high": [...], "outside": "clip"} or {"cells": n}.

    >>> make_structure({"kind": "BinaryTree", "depth": 3, "space": {"low": 18, "high": 90}}).space
    Box([18.0], [90.0])
    """
    settings = dict(_table("policy.structure", given))
    name, where = settings.pop("kind", None), settings.pop("space", None)
    space = make_space(where) if where is not None else space
    if not isinstance(name, str) or name not in Structure.kinds:
        raise InputError(f"policy.structure.kind must be one of {', '.join(sorted(Structure.kinds))}; given {quoted(name)}.")
    kind: Any = Structure.kinds[name]
    if kind is OneOf:
        known_keys(settings, {"structures"})
        parts = settings.get("structures", [])
        if not isinstance(parts, list):
            raise InputError(f"policy.structure.structures must be a list; given {quoted(parts)}.")
        return OneOf(*(make_structure(each, space) for each in parts))
    found: Structure = construct(kind, settings) if space is None else construct(kind, settings, space=space)
    return found


def make_space(given: Any) -> Space:
    """Where contexts lie."""
    settings = _table("policy.structure.space", given)
    if "cells" in settings:
        known_keys(settings, {"cells"})
        return Cells(whole("cells", settings["cells"], 1, MOST_CELLS))
    found: Box = construct(Box, settings)
    return found


def _table(name: str, given: Any) -> Plain:
    if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
        raise InputError(f"{name} must be an object with names; given {quoted(given)}.")
    return given
