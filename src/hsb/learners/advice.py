"""Advice of experts: arm indices (rounds, experts), or distributions (rounds, experts, arms) if an expert returns one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import format_arms, is_hashable, is_number
from ..errors import InputError, quoted
from ..policy.rows import rows_of
from ..structures.mappings import Mappings
from ..types import Floats, Ints
from .keys import Keys

Expert = Callable[[Any], Any]
Advice = NDArray[Any]  # int32 with two dimensions, float64 with three

CLOSE = 1e-6  # how far from 1 a distribution may add up: single precision does not get closer
_NONE_YET = object()  # no context is this object


class Advised(NamedTuple):
    """The advice of all experts for a context: a row of a table of advice."""

    advice: Advice
    row: int


class AdvisedRows(NamedTuple):
    """The advice of all experts for several contexts: a row of a table of advice for each."""

    advice: Advice
    rows: Ints


class ExpertAdvice:
    """The advice of functions of the context; or, if `experts` is a number, contexts that are themselves the advice."""

    def __init__(self, experts: list[Expert] | int, arms: list[Hashable]) -> None:
        self.experts, self.reader = experts, AdviceReader(arms)
        self._last: tuple[Any, Advised | None] = (_NONE_YET, None)  # a number, which cannot have changed since, and its advice

    def read(self, context: Any) -> tuple[Advised, int]:
        """Return the advice for a context, and 0: nothing is clipped."""
        last, advised = self._last
        if advised is None or context is not last:
            advised = Advised(self._advice([context]), 0)
            if is_number(context):
                self._last = context, advised
        return advised, 0

    def check(self, contexts: Any) -> tuple[Advice, int]:
        """Return the advice for a whole table, so that bad advice in any row raises before the first round is played."""
        rows_of(contexts)
        return self._advice(contexts), 0

    def read_row(self, row: Any) -> Advised:
        """Return the advice of a row of a table that `check` returned; such a row is advice, not a context."""
        return Advised(row[None], 0)

    def read_rows(self, points: Advice) -> AdvisedRows:
        """`read_row` for several rows."""
        return AdvisedRows(points, np.arange(len(points)))

    def _advice(self, contexts: Any) -> Advice:
        if isinstance(self.experts, int):
            return self.reader.table(contexts, experts=self.experts)
        return self.reader.functions(self.experts, contexts)

    def with_arm(self, arm: Hashable) -> ExpertAdvice:
        """Return the same experts with one more arm."""
        return ExpertAdvice(self.experts, [*self.reader.arms, arm])

    def copy(self) -> ExpertAdvice:
        """Return an independent copy."""
        return ExpertAdvice(self.experts, self.reader.arms)


class MappingAdvice:
    """The advice of mappings: each advises its arm for the cell of the context. `who` names the policy in messages."""

    def __init__(self, mappings: Mappings, who: str) -> None:
        self.mappings, self.who, self.keys = mappings, who, Keys(mappings.structure)

    def read(self, context: Any) -> tuple[Advised, int]:
        """Return the advice for a context, and 1 if the context was clipped to the space, else 0."""
        key, clipped = self.keys.read(context)
        return Advised(self.mappings.rows, key.item(0)), clipped

    def check(self, contexts: Any) -> tuple[Floats, int]:
        """Clip a whole table to the space, and return it with the number of rows clipped."""
        return self.keys.check(contexts)

    def read_row(self, row: Any) -> Advised:
        """`read` for a row of a table that `check` returned."""
        return self.read(row)[0]

    def read_rows(self, points: Floats) -> AdvisedRows:
        """`read_row` for several rows."""
        return AdvisedRows(self.mappings.rows, np.ascontiguousarray(self.keys.keys(points)[:, 0]))

    def with_arm(self, arm: Hashable) -> MappingAdvice:
        """Raise InputError: the list of mappings is fixed."""
        raise InputError(f"{self.who} cannot add an arm after construction. Make a new policy with all arms.")

    def copy(self) -> MappingAdvice:
        """Return an independent copy."""
        return MappingAdvice(self.mappings, self.who)


class AdviceReader:
    """Reads advice for a list of arms. The kernels divide a distribution by its sum, so it need not add to 1 exactly.

    >>> AdviceReader(["a", "b"]).table([["a", "b", "b"]], experts=3)
    array([[0, 1, 1]], dtype=int32)
    """

    def __init__(self, arms: list[Hashable]) -> None:
        self.arms = arms
        self.index = {arm: i for i, arm in enumerate(arms)}
        self.plain = all(type(arm) is int and arm == i for i, arm in enumerate(arms))  # labels are their own indices
        self.numbered = not any(is_number(arm) for arm in arms)  # a whole number can only be an index
        self.needed = (
            f"one of the arms {format_arms(arms)}, or {len(arms)} numbers of at least 0 that add to 1, one for each arm"
        )

    def functions(self, experts: list[Expert], contexts: Iterable[Any]) -> Advice:
        """Return what functions advise for each context."""
        rows = []
        for context in contexts:
            row = []
            for k, expert in enumerate(experts):
                advice = expert(context)
                choice = self._parse(advice)
                if choice is None:
                    raise InputError(
                        f"Expert {k} advised {quoted(advice)}; it must return {self.needed}. The context was {quoted(context)}."
                    )
                row.append(choice)
            rows.append(row)
        if all(type(choice) is int for row in rows for choice in row):
            return np.array(rows, dtype=np.int32).reshape(len(rows), len(experts))
        one_hot = np.eye(len(self.arms))
        return np.array([[one_hot[choice] if type(choice) is int else choice for choice in row] for row in rows])

    def table(self, rounds: Any, *, experts: int) -> Advice:
        """Return a table of advice, checked: an entry, or a row of M numbers, for each round and expert."""
        arms = len(self.arms)
        try:
            array = np.asarray(rounds)
        except ValueError:  # rows of different lengths
            array = np.empty(0, dtype=object)
        if array.size == 0 and array.shape[:1] == (0,) and len(rounds) == 0:
            return np.zeros((0, experts), dtype=np.int32)
        if not any(isinstance(arm, tuple) for arm in self.arms):  # NumPy takes tuples apart
            if array.dtype.kind in "iuf" and array.shape[1:] == (experts, arms):
                return self._distributions(array.astype(np.float64))
            if array.ndim == 2 and array.shape[1] == experts and array.dtype.kind in "iufUSb":
                return self._numbers(array)
        rows = []
        for row in rounds:
            if not isinstance(row, list | tuple | np.ndarray) or len(row) != experts:
                argument = f"{len(row)} entries" if isinstance(row, list | tuple | np.ndarray) else repr(row)
                raise InputError(
                    f"Each context must be the advice of all {experts} experts, one of the arms {format_arms(self.arms)} from each, or shape "
                    f"({experts}, {arms}), a distribution from each; given {argument}."
                )
            rows.append([self._number(k, label) for k, label in enumerate(row)])
        return np.array(rows, dtype=np.int32)

    def _numbers(self, labels: NDArray[Any]) -> Advice:
        if self.plain and labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < len(self.arms):
            return labels.astype(np.int32)
        different, indices = np.unique(labels, return_inverse=True)
        numbers = [self._find(label) for label in different.tolist()]
        if None in numbers:
            wrong = numbers.index(None)
            t, k = np.argwhere(labels == different[wrong])[0]
            self._number(int(k), labels[t, k].item())
        return np.array(numbers, dtype=np.int32)[indices].reshape(labels.shape)

    def _number(self, expert: int, label: Any) -> int:
        index = self._find(label)
        if index is None:
            raise InputError(f"Expert {expert} advised {quoted(label)}; the advice must be {self.needed}.")
        return index

    def _distributions(self, shares: Floats) -> Floats:
        sums = shares.sum(axis=2)
        wrong = np.argwhere(~((shares >= 0.0).all(axis=2) & (np.abs(sums - 1.0) <= CLOSE)))
        if len(wrong):
            t, k = wrong[0]
            raise InputError(
                f"Expert {k} advised {shares[t, k].tolist()}, which add to {sums[t, k]:g}; the advice must be {self.needed}. "
                "Divide by the sum."
            )
        return np.ascontiguousarray(shares)

    def _parse(self, advice: Any) -> int | Floats | None:
        """Return the index of an arm or a distribution; None if the advice is neither."""
        number = self._find(advice)
        if number is not None or not isinstance(advice, list | tuple | np.ndarray):
            return number
        try:
            array = np.asarray(advice)
        except ValueError:
            return None
        if array.dtype.kind not in "iuf" or array.shape != (len(self.arms),):
            return None
        shares = array.astype(np.float64)
        return shares if bool((shares >= 0.0).all()) and abs(float(shares.sum()) - 1.0) <= CLOSE else None

    def _find(self, label: Any) -> int | None:
        if not is_hashable(label):
            return None
        index = self.index.get(label)
        boolean = isinstance(label, bool | np.bool_)
        if index is not None:
            return None if boolean and not isinstance(self.arms[index], bool | np.bool_) else index  # True is not arm 1
        if self.numbered and not boolean and isinstance(label, int | np.integer) and 0 <= label < len(self.arms):
            return int(label)
        return None
