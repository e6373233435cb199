"""Contexts that come as features by name, put in order."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import InputError, quoted


def names(features: Iterable[Any] | None) -> list[Any] | None:
    """The order of features that an adapter was given.

    >>> names(("age", "income"))
    ['age', 'income']
    """
    if features is None:
        return None
    order = [] if isinstance(features, str | bytes) or not isinstance(features, Iterable) else list(features)
    if not order or len(set(order)) != len(order):
        raise InputError(f"features must be different names, at least one, in the policy's order; given {quoted(features)}.")
    return order


def row(context: Mapping[Any, Any], order: list[Any], *, absent: float | None) -> Any:
    """The values in order, a single one by itself; `absent` stands for those left out, None refuses them. Others are not looked at.

    >>> row({"b": 2.0, "a": 1.0, "c": 3.0}, ["a", "b"], absent=None)
    [1.0, 2.0]
    """
    if absent is None and (missing := [name for name in order if name not in context]):
        raise InputError(
            f"The context needs the features {quoted(order)}; given {quoted(dict(context))}, without {quoted(missing[0])}."
        )
    values = [context.get(name, absent) for name in order]
    return values[0] if len(values) == 1 else values
