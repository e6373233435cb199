"""Encodings for candidates that take numbers, if contexts have names: as `hsb train` makes them, fitted on the updates so far."""

from collections.abc import Iterable, Sequence
from typing import Any

from ...errors import InputError, quoted
from ...features import Features
from ...features.encoders import PCA, Chain, Columns, Encoder, MinMax
from ...learners.encoded import hash_texts, times_of
from ...policy import Policy
from ...policy.decision import Decision
from ...specs import needs_structure
from .kinds import INEXACT, Plain, kinds, takes_numbers
from .requests import some_arm

HEAD = 10_000  # updates that an encoding is fitted on
TRIALS = 50  # newest decisions, on whose contexts a candidate is tried
LEAST = 2  # updates that an encoding needs
LISTED = "MixtureOfMappings"  # it has a weight for each of arms ** leaves mappings: too many with the default structure
USUAL = {"kind": "BinaryTree", "depth": 10}


def fitted(spec: Any, head: Sequence[Any], features: Features | None = None) -> Any:
    """Complete the description of a candidate: add a structure and an encoder if it takes numbers and contexts have names.

    `head` are the contexts of the first updates, `features` their declared features. The key `components` of `spec` is the number of
    principal components for a structure, by default 1; 0 takes every column. Returns plain data, all that `make_policy` needs.

    >>> policy = fitted({"kind": "LinUCB", "alpha": 0.5}, [{"age": 30}, {"age": 40}])
    >>> policy["kind"], policy["alpha"], policy["encoding"]["encoder"]
    ('LinUCB', 0.5, 'Columns')
    """
    if not isinstance(spec, dict):
        return spec
    if "encoding" in spec:
        raise InputError("policy.encoding: the service fits it to the updates. Leave it out.")
    if not needs_encoding(spec):
        return spec
    name = spec.get("kind", "HSB")
    kind = Policy.kinds[name]
    named = [context for context in head if isinstance(context, dict)]
    if not named:
        return spec if head else _without_updates(name, spec)
    completed = dict(spec)
    components = completed.pop("components", 1)
    if needs_structure(kind) == "features":
        if isinstance(completed.pop("features", None), int):
            raise InputError(
                f"policy.features: contexts have names here, so the service counts the columns for {name}. Leave it out."
            )
        return completed | {"encoding": _fit(Columns(_declared(features)), named).to_dict()}
    completed.setdefault("structure", dict(USUAL))
    if isinstance(completed["structure"], dict) and "space" in completed["structure"]:
        raise InputError("policy.structure.space: contexts have names here, so the encoding sets the space. Leave it out.")
    if not isinstance(components, int) or isinstance(components, bool) or components < 0:
        raise InputError(f"policy.components must be a whole number, 0 for every column; given {quoted(components)}.")
    steps = [Columns(_declared(features)), *([PCA(components)] if components else []), MinMax()]
    return completed | {"encoding": _fit(Chain(*steps), named).to_dict()}


def needs_encoding(spec: Any) -> bool:
    """Whether a candidate takes numbers. False for an unknown kind: `make_policy` rejects it and lists the kinds.

    >>> needs_encoding({"kind": "LinUCB"}), needs_encoding({"kind": "Exp3"}), needs_encoding({"arm": "a"})
    (True, False, False)
    """
    name = spec.get("kind", "HSB") if isinstance(spec, dict) else ""
    return name in kinds() and takes_numbers(Policy.kinds[name], spec.get("structure"))


def _declared(features: Features | None) -> Features | None:
    return None if features is None or features.open else features


def _without_updates(name: str, spec: Plain) -> Plain:
    """Accept a policy of numbers without known contexts only if its own settings describe them."""
    structure = spec.get("structure")
    if isinstance(spec.get("features"), int) or (isinstance(structure, dict) and "space" in structure):
        return spec
    raise InputError(
        f"policy: {name} takes numbers, and the service fits their encoding to updates, but has no updates yet. Add it after some updates."
    )


def _fit(encoder: Encoder, contexts: list[Any]) -> Encoder:
    if len(contexts) < LEAST:
        raise InputError(
            f"policy: an encoding of contexts needs at least {LEAST} updates; there is {len(contexts)}. Add the candidate later."
        )
    times = times_of(encoder)
    try:
        return encoder.fit([hash_texts(each, times) for each in contexts])
    except InputError as error:
        raise InputError(f"policy: contexts of the updates so far cannot be encoded: {error}") from None


def check_fits(policy: Policy, contexts: Iterable[Any], who: str, *, learn: bool = True) -> None:
    """Raise InputError if a policy cannot decide on one of these contexts or, unless `learn` is False, cannot learn it."""
    trial = policy.copy() if learn else policy
    for context in contexts:
        try:
            trial.probabilities(context)
            if learn:
                trial.learn(Decision(context=context, arm=some_arm(trial, context), propensity=1.0), loss=_some_loss(trial))
        except InputError as error:
            raise InputError(f"{who} does not accept contexts of this policy: {error}") from None


def available_kinds(exact: bool) -> list[str]:
    """List the kinds for forms: those that work with any arms and, if `exact`, know their probabilities.

    >>> available_kinds(True)
    ['EpochGreedy', 'Exp3', 'HSB', 'LinUCB', 'SExp3', 'TreeThompson', 'Uniform']
    """
    return [name for name in kinds() if name != LISTED and not (exact and name in INEXACT)]


def _some_loss(policy: Policy) -> float:
    low, high = policy.loss_range
    return 0.5 * (low + high) if low == low else 0.0
