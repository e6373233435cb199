"""Policies from plain data, with the keys of experiments: {"kind": "HSB", "structure": {"kind": "BinaryTree", "depth": 10}, ...}.

Only hsb's own kinds: no request can name a module to import.
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
from .requests import Arms, make_open

Plain = dict[str, Any]
UNSERVED = {"arms", "seed", "floor"}  # the service sets these
OPEN = ("HSB",)  # kinds whose arms may come with each request
INEXACT = {"CsbFtpl"}  # kinds whose propensity is an estimate
NAMED = "Where contexts have names, begin with HSB, and add this one as a candidate when there are updates."
RANGES = ("loss_range", "reward_range")
MOST_CELLS = 1 << 20
MOST_MEMORY = 256 << 20  # bytes of a policy's state at its beginning


def kinds() -> list[str]:
    """List the kinds of policies that can be served."""
    return sorted(
        name
        for name, kind in Policy.kinds.items()
        if kind.__module__.startswith("hsb.policies.") and required_arguments(kind) <= NEEDED
    )


def make_policy(spec: Plain, arms: Arms, arm_features: Plain | None = None) -> Policy:
    """Make a policy of the kind `spec["kind"]`, with the other keys as its settings. A kind without a structure accepts dicts as contexts.

    >>> make_policy({"kind": "Exp3", "learning_rate": 0.1}, ["a", "b"])
    Exp3(learning_rate=0.1, arms=['a', 'b'], rounds=0)
    >>> make_policy({"features": {"age": "number", "at": "time"}}, ["a", "b"]).learner.reader.features
    Features(age=Number(), at=Time())
    """
    settings = dict(_table("policy", spec))
    name = settings.pop("kind", "HSB")
    if not isinstance(name, str) or name not in kinds():
        raise InputError(f"policy.kind must be one of {', '.join(kinds())}; given {quoted(name)}.")
    kind: Any = Policy.kinds[name]
    for key in settings:
        if key in UNSERVED:
            raise InputError(f"policy.{key}: the service sets it. Give {key!r} beside policy, or leave it out.")
    if "slots" in settings:
        raise InputError("policy.slots: the service decides one arm at a time. Leave it out.")
    for key in RANGES:
        if isinstance(settings.get(key), list):
            settings[key] = tuple(settings[key])
    structure, encoding = settings.pop("structure", None), settings.pop("encoding", None)
    if isinstance(arms, dict) and (name not in OPEN or structure is not None or encoding is not None):
        raise InputError(
            f"policy: the arms come with each request, which only {' and '.join(OPEN)} without a structure can play; given {quoted(spec):.200}."
        )
    takes = needs_structure(kind)
    if structure is not None and not takes:
        raise InputError(f"policy.structure: {name} has no structure. Leave it out.")
    if structure is None and takes == "always":
        raise InputError(f"policy.structure is missing: {name} needs one, e.g. {{'kind': 'BinaryTree', 'depth': 10}}. {NAMED}")
    if structure is None and takes == "features" and encoding is None and "features" not in settings:
        raise InputError(f"policy.features is missing: {name} needs the number of features of a context, e.g. 3. {NAMED}")
    if encoding is not None:
        return _encoded(kind, settings, structure, arms, encoding)
    first = [] if structure is None else [make_structure(structure)]
    if takes == "features" and not first:
        first = [settings.pop("features")]
    if "features" in settings:
        table = _table("policy.features", settings["features"])
        with within("policy"):
            settings["features"] = Features.from_dict(table) if isinstance(table.get("kinds"), list) else parse_features(table)
    if arm_features and takes == "perhaps" and not first:
        settings["arm_features"] = arm_features
    return _limited(kind, settings, first, arms)


def _limited(kind: Any, settings: Plain, first: list[Any], arms: Arms) -> Policy:
    own = make_open(arms) if isinstance(arms, dict) else list(arms)
    try:
        with limited(MOST_MEMORY / 8):
            policy: Policy = construct(kind, settings, *first, arms=own, seed=0)  # the service supplies every u
    except BudgetError:
        raise InputError(
            f"policy: it would take more than the {MOST_MEMORY >> 20} MB that a policy may use here. Make its structure smaller."
        ) from None
    return policy


def _encoded(kind: Any, settings: Plain, structure: Any, arms: Arms, encoding: Any) -> Policy:
    """Make a policy of numbers for contexts with names, with the encoder that `encoding.fitted` made."""
    if not takes_numbers(kind, structure):
        raise InputError(f"policy.encoding: {kind.__name__} reads contexts without an encoding. Leave it out.")
    encoder = encoder_from(encoding)
    no_context: Any = [{}]
    width = encoder.transform(no_context).shape[1]
    first = [width] if structure is None else [make_structure(structure, Box.unit(width))]
    return encode_contexts(_limited(kind, settings, first, arms), encoder)


def takes_numbers(kind: Any, structure: Any) -> bool:
    """Whether a policy of this kind, with this structure or None, takes numbers instead of contexts with names."""
    takes = needs_structure(kind)
    return takes in ("always", "features") or (takes == "perhaps" and structure is not None)


def make_structure(spec: Any, space: Space | None = None) -> Structure:
    """Make a structure from {"kind": ..., its arguments}; "space" is {"low": [...], "high": [...], "outside": "clip"} or {"cells": n}.

    >>> make_structure({"kind": "BinaryTree", "depth": 3, "space": {"low": 18, "high": 90}}).space
    Box([18.0], [90.0])
    """
    settings = dict(_table("policy.structure", spec))
    name, domain = settings.pop("kind", None), settings.pop("space", None)
    space = make_space(domain) if domain is not None else space
    if not isinstance(name, str) or name not in Structure.kinds:
        raise InputError(f"policy.structure.kind must be one of {', '.join(sorted(Structure.kinds))}; given {quoted(name)}.")
    kind: Any = Structure.kinds[name]
    if kind is OneOf:
        known_keys(settings, {"structures"})
        parts = settings.get("structures", [])
        if not isinstance(parts, list):
            raise InputError(f"policy.structure.structures must be a list; given {quoted(parts)}.")
        return OneOf(*(make_structure(each, space) for each in parts))
    structure: Structure = construct(kind, settings) if space is None else construct(kind, settings, space=space)
    return structure


def make_space(spec: Any) -> Space:
    """Make the space of contexts."""
    settings = _table("policy.structure.space", spec)
    if "cells" in settings:
        known_keys(settings, {"cells"})
        return Cells(whole("cells", settings["cells"], 1, MOST_CELLS))
    box: Box = construct(Box, settings)
    return box


def _table(name: str, value: Any) -> Plain:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise InputError(f"{name} must be an object with names; given {quoted(value)}.")
    return value
