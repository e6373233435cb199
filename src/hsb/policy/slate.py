"""`Slate`: the decisions of one page, different arms in order, and their plain data."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, final, overload

from ..checks import MOST_ARMS, listed
from ..errors import InputError, quoted
from .decision import Decision


@final
class Slate(Sequence[Decision]):
    """The decisions of one page: different arms for one context, in order. `policy.decide(context, k=3)` makes it; it cannot be changed.

    Each slot is a `Decision`. Its `available` lists the arms that were left, and its `propensity` is the probability of its arm given the slots
    before. So each slot can be learned, stored and evaluated by itself.

    >>> import hsb
    >>> page = hsb.Uniform(arms=["a", "b", "c"], seed=0).decide("visitor", k=3)
    >>> sorted(page.arms), page.propensities, page.context, page[2].slot
    (['a', 'b', 'c'], (0.3333333333333333, 0.5, 1.0), 'visitor', 2)
    """

    __slots__ = ("_decisions",)

    def __init__(self, decisions: Iterable[Decision]) -> None:
        self._decisions: tuple[Decision, ...] = tuple(listed("decisions", decisions, MOST_ARMS))
        if not self._decisions or not all(isinstance(decision, Decision) for decision in self._decisions):
            raise InputError(
                f"A slate needs one or more hsb.Decision objects, from policy.decide(k=); given {quoted(decisions)}."
            )
        if len({decision.arm for decision in self._decisions}) < len(self._decisions):
            raise InputError(f"The arms of a slate must differ; given {quoted(list(self.arms))}.")

    @property
    def arms(self) -> tuple[Hashable, ...]:
        """The arms in order."""
        return tuple(decision.arm for decision in self._decisions)

    @property
    def propensities(self) -> tuple[float, ...]:
        """The probability of each arm, given the slots before it."""
        return tuple(decision.propensity for decision in self._decisions)

    @property
    def propensity(self) -> float:
        """The probability of these arms in this order: the product of `propensities`."""
        return math.prod(self.propensities)

    @property
    def context(self) -> Any:
        """The context."""
        return self._decisions[0].context

    @property
    def id(self) -> str | None:
        """The id of the first decision: a text that no other page has; None if no policy made it."""
        return self._decisions[0].id

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: the context, and the fields of each decision without it.

        >>> import hsb
        >>> page = hsb.Uniform(arms=2, seed=0).decide(0.5, k=2)
        >>> Slate.from_dict(page.to_dict()).arms == page.arms
        True
        """
        rows = [decision.to_dict() for decision in self._decisions]
        contexts = [row.pop("context") for row in rows]
        return {"context": contexts[0], "slots": rows}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Slate:
        """Make the slate that `to_dict` wrote. Raises `InputError` if `data` is not a slate."""
        if not isinstance(data, Mapping) or set(data) != {"context", "slots"} or not isinstance(data["slots"], list):
            raise InputError(f"from_dict needs a dict with 'context' and 'slots', from Slate.to_dict; given {quoted(data)}.")
        rows = [dict(row) if isinstance(row, Mapping) else row for row in data["slots"]]
        for slot, row in enumerate(rows):
            if not isinstance(row, dict) or "context" in row:
                raise InputError(
                    f"Slot {slot} of a slate must be a dict without 'context', from Slate.to_dict; given {quoted(row)}."
                )
        return cls([Decision.from_dict({"context": data["context"], **row}) for row in rows])

    @overload
    def __getitem__(self, which: int) -> Decision: ...
    @overload
    def __getitem__(self, which: slice) -> tuple[Decision, ...]: ...
    def __getitem__(self, which: int | slice) -> Decision | tuple[Decision, ...]:
        return self._decisions[which]

    def __len__(self) -> int:
        return len(self._decisions)

    def __repr__(self) -> str:
        return f"Slate(context={self.context!r}, arms={list(self.arms)!r}, propensities={list(self.propensities)!r})"
