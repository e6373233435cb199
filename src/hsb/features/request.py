"""`Request`: a context and the arms that are available for it, each with its features."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from ..checks import is_hashable, is_label, is_scalar
from ..errors import FileError, InputError, quoted
from ..files.json_values import CODECS, DEEPEST, Codec, decode_arm, decode_context, encode_arm, encode_context
from ..types import Masks

MOST = 100_000  # arms of a request
RequestArms = Mapping[Hashable, Any] | Iterable[Hashable]  # the arms of a request with their features, or without


class Request:
    """A context and its available arms, for policies with `arms=hsb.Open()`. `policy.decide(context, arms=...)` makes one.

    Tables, logs and journals keep requests in place of contexts.

    - `context`: what is known of the visitor, as for any policy.
    - `arms`: a dict from each arm to its features, themselves a dict or None; or a list of arms without features.

    >>> Request({"age": 31}, {"a17": {"price": 9}, "b3": {"price": 12}})
    Request({'age': 31}, arms=['a17', 'b3'])
    """

    __slots__ = ("arms", "context")

    def __init__(self, context: Any, arms: Mapping[Hashable, Mapping[str, Any] | None] | Iterable[Hashable]) -> None:
        self.context = context
        self.arms: dict[Hashable, Mapping[str, Any] | None] = _checked_arms(arms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Request) and self.context == other.context and self.arms == other.arms

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Request({self.context!r}, arms={list(self.arms)!r:.200})"

    def copy(self) -> Request:
        """Return a copy that later changes of the caller's dicts do not reach."""
        return Request.from_checked(
            self.context, {arm: None if features is None else dict(features) for arm, features in self.arms.items()}
        )

    @classmethod
    def from_checked(cls, context: Any, arms: dict[Hashable, Mapping[str, Any] | None]) -> Request:
        """Return a request of checked arms, which nobody else changes, with a copy of the context."""
        other = object.__new__(cls)
        other.context = context.copy() if isinstance(context, dict | list) or hasattr(context, "dtype") else context
        other.arms = arms
        return other

    def mask(self, available: Iterable[Hashable] | None) -> Masks | None:
        """Return the mask of the arms listed, one byte for each arm of the request; None if all are."""
        if available is None:
            return None
        if isinstance(available, str | bytes) or not isinstance(available, Iterable) or is_scalar(available):
            raise InputError(f"available must be a list of arms of this request; given {quoted(available):.200}.")
        wanted = list(available)
        for arm in wanted:
            if not is_hashable(arm) or arm not in self.arms:
                raise InputError(
                    f"Unknown arm {quoted(arm):.100} in available. This request has the arms {quoted(list(self.arms)):.200}."
                )
        if not wanted:
            raise InputError(
                "available is empty: a round needs at least one arm. Leave it out to make every arm of the request available."
            )
        among = set(wanted)
        mask = np.array([arm in among for arm in self.arms], dtype=np.uint8)
        return None if mask.all() else mask


def _checked_arms(arms: Any) -> dict[Hashable, Any]:
    """Return the arms with their features, in order; InputError if they are not arms."""
    if isinstance(arms, Mapping):
        checked = dict(arms)
    elif isinstance(arms, str | bytes) or not isinstance(arms, Iterable) or is_scalar(arms):
        raise InputError(
            f"arms must be a dict from each available arm to its features, e.g. {{'a17': {{'price': 9}}}}; given {quoted(arms):.200}."
        )
    else:
        names = list(arms)
        for arm in names:
            _check_label(arm)
        checked = dict.fromkeys(names)
        if len(checked) < len(names):
            raise InputError(f"arms has an arm twice; given {quoted(names):.200}. Arms must differ.")
    if not checked:
        raise InputError("arms is empty: a request needs at least one arm.")
    if len(checked) > MOST:
        raise InputError(f"A request may have at most {MOST:,} arms; given {len(checked):,}.")
    for arm, features in checked.items():
        if type(arm) is not str:
            _check_label(arm)
        if features is not None and type(features) is not dict and not isinstance(features, Mapping):
            raise InputError(
                f"Features of an arm are a dict, e.g. {{'category': 'shoes', 'price': 30}}; given {quoted(features):.200} for "
                f"arm {quoted(arm):.100}."
            )
    return checked


def _check_label(arm: Any) -> None:
    if not is_label(arm):
        raise InputError(f"An arm must be hashable and equal to itself, e.g. a name or a number; given {quoted(arm)}.")


def encode_arms(request: Request, levels: int = DEEPEST) -> list[Any]:
    """Return the arms of a request as plain data, [[arm, features], ...]."""
    return [[encode_arm(arm), encode_context(features, levels - 1)] for arm, features in request.arms.items()]


def _encode(request: Request, levels: int) -> Any:
    """Return a request as plain data."""
    return [encode_context(request.context, levels), encode_arms(request, levels)]


def _decode(value: Any) -> Request:
    """Return the request that `_encode` wrote."""
    try:
        context, arms = value
        return Request(decode_context(context), {decode_arm(arm): decode_context(features) for arm, features in arms})
    except (TypeError, ValueError, KeyError, InputError):
        raise FileError(
            f"it holds {quoted(value):.200} where a request, [context, [[arm, features], ...]], is needed."
        ) from None


CODECS[Request] = Codec("$request", _encode, _decode)
