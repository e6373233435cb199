"""`Decisions`: a sequence of decisions with columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..checks import listed
from ..errors import InputError, quoted
from .decision import Decision


class Decisions(Sequence[Decision]):
    """Several decisions in order, e.g. from `policy.decide_many`: a sequence that also has columns.

    >>> import hsb
    >>> decisions = hsb.Uniform(arms=["a", "b"], seed=0).decide_many([0.1, 0.5, 0.9])
    >>> decisions.propensities, len(set(decisions.ids)), len(decisions[1:]), decisions[0].context
    (array([0.5, 0.5, 0.5]), 3, 2, 0.1)
    """

    def __init__(self, decisions: Iterable[Decision]) -> None:
        self._each: list[Decision] = (
            decisions._each[:] if isinstance(decisions, Decisions) else listed("decisions", decisions, 10**9)
        )
        for decision in self._each:
            if not isinstance(decision, Decision):
                raise InputError(f"Decisions needs hsb.Decision objects; given {quoted(decision)}.")

    @property
    def arms(self) -> NDArray[Any]:
        """The arms played, an array: of whole numbers if all are, else of objects."""
        return _column([decision.arm for decision in self._each])

    @property
    def propensities(self) -> NDArray[np.float64]:
        """The probabilities with which the arms were played, an array."""
        return np.array([decision.propensity for decision in self._each], dtype=np.float64)

    @property
    def ids(self) -> NDArray[Any]:
        """The ids, an array of text; None for a decision from elsewhere."""
        return _column([decision.id for decision in self._each])

    @property
    def contexts(self) -> list[Any]:
        """The contexts, a list."""
        return [decision.context for decision in self._each]

    def table(self) -> dict[str, Any]:
        """Return the columns by name, e.g. for `pandas.DataFrame(decisions.table())`.

        >>> import hsb
        >>> list(hsb.Uniform(arms=2).decide_many([0.1, 0.5]).table())
        ['id', 'context', 'arm', 'propensity', 'available']
        """
        available = [None if decision.available is None else list(decision.available) for decision in self._each]
        columns = {"id": self.ids, "context": self.contexts, "arm": self.arms, "propensity": self.propensities}
        return columns | {"available": available}

    @overload
    def __getitem__(self, which: int) -> Decision: ...
    @overload
    def __getitem__(self, which: slice) -> Decisions: ...
    def __getitem__(self, which: int | slice) -> Decision | Decisions:
        return Decisions(self._each[which]) if isinstance(which, slice) else self._each[which]

    def __len__(self) -> int:
        return len(self._each)

    def __repr__(self) -> str:
        return f"Decisions({len(self)}: {', '.join(map(repr, self._each[:2]))}{', ...' if len(self) > 2 else ''})"


def _column(values: list[Any]) -> NDArray[Any]:
    """Objects one by one: NumPy would take tuples apart."""
    if values and all(type(value) is int for value in values):
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
