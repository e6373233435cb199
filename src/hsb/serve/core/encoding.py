"""Candidates that take numbers, on contexts with names: the encoding that `hsb train` makes, fitted on the updates that there are."""

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

HEAD = 10_000  # updates that an encoding is fitted on
TRIALS = 50  # of the newest decisions, on whose contexts a candidate is tried
LEAST = 2  # updates
LISTED = "MixtureOfMappings"  # a weight for each of arms ** leaves mappings: too many with the structure that others have
USUAL = {"kind": "BinaryTree", "depth": 10}


def fitted(spec: Any, head: Sequence[Any], features: Features | None = None) -> Any:
    """What a candidate is to be, with what it lacks: a structure and an encoder, if it takes numbers and contexts have names.

    `head` are the contexts of the first updates, `features` what was declared of them. `components` says how many principal components a
    structure is over, by default 1; 0 takes every column. The result is plain data, and all that `make_policy` needs.

    >>> made = fitted({"kind": "LinUCB", "alpha": 0.5}, [{"age": 30}, {"age": 40}])
    >>> made["kind"], made["alpha"], made["encoding"]["encoder"]
    ('LinUCB', 0.5, 'Columns')
    """
    if not isinstance(spec, dict):
        return spec
    if "encoding" in spec:
        raise InputError("policy.encoding: the service makes it of the updates that there are. Leave it out.")
    if not needs_encoding(spec):
        return spec
    name = spec.get("kind", "HSB")
    kind = Policy.kinds[name]
    named = [context for context in head if isinstance(context, dict)]
    if not named:
        return spec if head else _without_updates(name, spec)
    found = dict(spec)
    components = found.pop("components", 1)
    if needs_structure(kind) == "features":
        if isinstance(found.pop("features", None), int):
            raise InputError(f"policy.features: contexts have names here, so {name} is told what the encoding makes of them.")
        return found | {"encoding": _fit(Columns(_declared(features)), named).to_dict()}
    found.setdefault("structure", dict(USUAL))
    if isinstance(found["structure"], dict) and "space" in found["structure"]:
        raise InputError("policy.structure.space: contexts have names here, and the encoding sees to the space. Leave it out.")
    if not isinstance(components, int) or isinstance(components, bool) or components < 0:
        raise InputError(f"policy.components must be a whole number, 0 for every column; given {quoted(components)}.")
    steps = [Columns(_declared(features)), *([PCA(components)] if components else []), MinMax()]
    return found | {"encoding": _fit(Chain(*steps), named).to_dict()}


def needs_encoding(spec: Any) -> bool:
    """Does a candidate take numbers? Not, if it is of no kind: `make_policy` says which there are.

    >>> needs_encoding({"kind": "LinUCB"}), needs_encoding({"kind": "Exp3"}), needs_encoding({"arm": "a"})
    (True, False, False)
    """
    name = spec.get("kind", "HSB") if isinstance(spec, dict) else ""
    return name in kinds() and takes_numbers(Policy.kinds[name], spec.get("structure"))


def _declared(features: Features | None) -> Features | None:
    return None if features is None or features.open else features


def _without_updates(name: str, spec: Plain) -> Plain:
    """Nothing is known of contexts: a policy of numbers can be made if it says itself what they are."""
    structure = spec.get("structure")
    if isinstance(spec.get("features"), int) or (isinstance(structure, dict) and "space" in structure):
        return spec
    raise InputError(
        f"policy: {name} takes numbers, and how contexts become numbers is found in updates: there is none yet. Add it when there are some."
    )


def _fit(encoder: Encoder, contexts: list[Any]) -> Encoder:
    if len(contexts) < LEAST:
        raise InputError(f"policy: an encoding of contexts needs at least {LEAST} updates; there is {len(contexts)}.")
    times = times_of(encoder)
    try:
        return encoder.fit([hash_texts(each, times) for each in contexts])
    except InputError as error:
        raise InputError(f"policy: no encoding of contexts can be made of the updates that there are: {error}") from None


def check_fits(policy: Policy, contexts: Iterable[Any], who: str, *, learn: bool = True) -> None:
    """InputError if a policy cannot decide on one of these contexts or, unless told otherwise, cannot learn it."""
    trial = policy.copy() if learn else policy
    for context in contexts:
        try:
            trial.probabilities(context)
            if learn:
                trial.learn(Decision(context=context, arm=trial.active_arms[0], propensity=1.0), loss=_some_loss(trial))
        except InputError as error:
            raise InputError(f"{who} cannot take what this policy is asked: {error}") from None


def available_kinds(exact: bool) -> list[str]:
    """The kinds that forms offer: those that can be made for any arms and, where only `exact` ones may play, know their probabilities.

    >>> available_kinds(True)
    ['EpochGreedy', 'Exp3', 'HSB', 'LinUCB', 'SExp3', 'TreeThompson', 'Uniform']
    """
    return [name for name in kinds() if name != LISTED and not (exact and name in INEXACT)]


def _some_loss(policy: Policy) -> float:
    low, high = policy.loss_range
    return 0.5 * (low + high) if low == low else 0.0
