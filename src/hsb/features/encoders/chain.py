"""Encoders one after the other."""

import copy
from collections.abc import Iterable, Iterator
from typing import Any, Self

from ...errors import InputError, quoted
from ...types import Floats
from .base import Encoder, Head, from_dict
from .columns import Columns


class Chain(Encoder):
    """A chain of encoders: each is fitted on, and applied to, the output of the one before. The head is read once for each.

    >>> import numpy as np
    >>> from hsb.features.encoders import MinMax, PCA
    >>> rows = np.random.default_rng(0).normal(size=(100, 5))
    >>> contexts = Chain(PCA(1), MinMax()).fit(rows).transform(rows)
    >>> contexts.shape, float(contexts.min()), float(contexts.max())
    ((100, 1), 0.0, 1.0)
    """

    def __init__(self, *steps: Encoder) -> None:
        self.steps = steps
        super().__init__()
        if not steps or not all(isinstance(step, Encoder) for step in steps):
            raise InputError(f"A Chain needs encoders, e.g. Chain(PCA(1), MinMax()); given {quoted(steps)}.")

    @property
    def clipped(self) -> int:
        """The number of clipped rows, summed over the encoders."""
        return sum(step.clipped for step in self.steps)

    @clipped.setter
    def clipped(self, value: int) -> None:
        for step in self.steps:
            step.clipped = value

    def fit(self, head: Head) -> Self:
        """Fit copies of the encoders one after the other; `steps` holds them afterwards.

        The head must be one that can be read again: a table, a log's head, a list of batches.
        """
        if hasattr(head, "__next__"):
            raise InputError("A Chain reads its head several times, an iterator is read once. Give a list or a log.")
        seen: Any = head
        fitted = []
        for step in self.steps:
            fitted.append(copy.copy(step).fit(seen))
            seen = _Through(seen, fitted[-1])
        self.steps = tuple(fitted)
        self.features = self.steps[0].features
        self.clipped = 0
        return self

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        return self.steps[0].named_columns

    def parts(self, head: Any) -> Iterable[Any]:
        return self.steps[0].parts(head)

    def transform(self, rows: Any) -> Floats:
        if not isinstance(self.steps[0], Columns):
            return super().transform(rows)
        for step in self.steps:
            rows = step.transform(rows)
        return rows  # type: ignore[no-any-return]

    __call__ = transform

    def _transform(self, table: Floats) -> Floats:
        table = self.steps[0]._transform(table)  # which has been checked
        for step in self.steps[1:]:
            table = step.transform(table)
        return table

    def _plain(self) -> dict[str, Any]:
        return {"steps": [step.to_dict() for step in self.steps]}

    @classmethod
    def _from_plain(cls, data: dict[str, Any]) -> Self:
        chain = cls(*(from_dict(step) for step in data["steps"]))
        chain.features = chain.steps[0].features
        return chain


class _Through:
    """The output of an encoder for a head, table by table, on each iteration."""

    def __init__(self, head: Head, step: Encoder) -> None:
        self.head, self.step = head, step

    def __iter__(self) -> Iterator[Floats]:
        return map(self.step.transform, self.step.parts(self.head))
