"""A learner for each slot of a page: rank i decides and learns slot i, and knows nothing of the others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..errors import InputError
from ..policy.learner import Choice, Learner, Memo
from ..types import Arrays, Floats, Ints, Masks


class RankView(NamedTuple):
    """The view of a context in one slot."""

    slot: int
    view: Any
    """The view of the slot's learner."""

    @property
    def names(self) -> list[Hashable]:
        """The arms of a request."""
        names: list[Hashable] = self.view.names
        return names

    @property
    def groups(self) -> Ints:
        """The groups of the arms of a request."""
        groups: Ints = self.view.groups
        return groups

    @property
    def request(self) -> Any:
        """The request."""
        return self.view.request


class Ranked(Learner):
    """Ranked bandits (Radlinski, Kleinberg, Joachims 2008; Streeter, Golovin 2008). A decision without a slot is one of the first slot.

    The cells of a memo are the rounds that the slot's learner had learned, and then the cells of that learner.
    """

    keeps_cells = True

    def __init__(self, ranks: Sequence[Learner]) -> None:
        self.ranks = tuple(ranks)
        self.slots = len(self.ranks)
        first = self.ranks[0]
        self.takes_arm_features, self.changing_settings = first.takes_arm_features, first.changing_settings  # type: ignore[misc]
        self.takes_requests, self.counts_feedback = first.takes_requests, first.counts_feedback  # type: ignore[misc]
        self.uniform_share = first.uniform_share
        self._last = 0  # the slot of the last `choose` or `fill`

    def rank(self, slot: int) -> Learner:
        if slot >= self.slots:
            raise InputError(
                f"slot must be less than {self.slots}, the slots of this policy; given {slot}. Make it with slots={slot + 1}."
            )
        return self.ranks[slot]

    def _with(self, slot: int, successor: Learner | None) -> Ranked | None:
        """Return the learner in which the learner of one slot is replaced; None without a successor."""
        if successor is None:
            return None
        return Ranked([*self.ranks[:slot], successor, *self.ranks[slot + 1 :]])

    def _memo(self, memo: Memo | None, slot: int) -> Memo | None:
        """Return the memo for the learner of a slot; None for a logged decision."""
        if memo is None or memo.cells is None or not len(memo.cells):
            return None
        rank = self.ranks[slot]
        rounds = min(int(memo.cells[0]), rank.rounds)  # of a forged decision it may be any number
        return memo._replace(rounds=rounds, cells=memo.cells[1:] if rank.keeps_cells else None)

    # -- a round -------------------------------------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        return sum(rank.rounds for rank in self.ranks)

    def read(self, context: Any) -> tuple[RankView, int]:
        return self.read_slot(context, 0)

    def read_slot(self, context: Any, slot: int) -> tuple[RankView, int]:
        view, clipped = self.rank(slot).read(context)
        return RankView(slot, view), clipped

    def share_of(self, view: RankView) -> float:
        return self.ranks[view.slot].uniform_share

    def count(self, view: RankView) -> int | None:
        return self.ranks[view.slot].count(view.view)

    def cells(self, view: RankView) -> Ints:
        rank = self.ranks[view.slot]
        cells = rank.cells(view.view) if rank.keeps_cells else None
        return np.array([rank.rounds, *(() if cells is None else cells)], dtype=np.int64)

    def logged_memo(self, memo: Memo) -> Memo:
        return Memo(slot=memo.slot)

    def recall(self, context: Any, memo: Memo | None) -> tuple[RankView, int]:
        slot = 0 if memo is None else memo.slot
        view, clipped = self.rank(slot).recall(context, self._memo(memo, slot))
        return RankView(slot, view), clipped

    def prepare(self, view: RankView, memo: Memo | None) -> RankView:
        return view._replace(view=self.ranks[view.slot].prepare(view.view, self._memo(memo, view.slot)))

    def undo(self, view: Any) -> None:
        self.ranks[view.slot].undo(view.view)

    def choose(self, view: RankView, mask: Masks | None, u: float) -> Choice:
        self._last = view.slot
        return self.ranks[view.slot].choose(view.view, mask, u)

    def fill(self, view: RankView, mask: Masks | None, p: Floats) -> None:
        self._last = view.slot
        self.ranks[view.slot].fill(view.view, mask, p)

    def advice(self, arm: int) -> float:
        return self.ranks[self._last].advice(arm)

    def learn(
        self, view: RankView, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None
    ) -> Ranked | None:
        slot = view.slot
        rank_memo = self._memo(memo, slot)
        return self._with(slot, self.ranks[slot].learn(view.view, mask, arm, loss, probability, rank_memo))

    def settle(self, view: Any, rounds: int) -> Ranked | None:
        rank = self.ranks[view.slot]
        return self._with(view.slot, rank.settle(view.view, rank.rounds))

    def validator(self) -> Callable[[Any], object]:
        validators = [rank.validator() for rank in self.ranks]
        return lambda context: [validate(context) for validate in validators]

    def check(self, contexts: Any) -> NoReturn:
        raise InputError(
            "A policy with slots decides and learns page by page, not tables: page = policy.decide(context, k=3), then "
            "policy.learn(page, rewards=[...]). hsb.simulate takes slots=3."
        )

    # -- arms, copies, files -------------------------------------------------------------------------------------------

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        return self.ranks[0].named_columns

    @property
    def microseconds(self) -> float:
        return self.ranks[0].microseconds

    @property
    def nbytes(self) -> int:
        return sum(rank.nbytes for rank in self.ranks)

    def with_arm(self, arm: Hashable, features: Any = None) -> Ranked:
        return Ranked([rank.with_arm(arm, features) for rank in self.ranks])

    def describe_arm(self, index: int, arm: Hashable, features: Any) -> Ranked:
        return Ranked([rank.describe_arm(index, arm, features) for rank in self.ranks])

    def rename_texts(self, rename: Callable[[str, int], str | None]) -> Ranked | None:
        successors = [rank.rename_texts(rename) for rank in self.ranks]
        if all(successor is None for successor in successors):
            return None
        return Ranked([successor or rank for successor, rank in zip(successors, self.ranks, strict=True)])

    def copy(self) -> Ranked:
        return Ranked([rank.copy() for rank in self.ranks])

    def to_arrays(self) -> Arrays:
        arrays: Arrays = {"ranks": np.array([rank.rounds for rank in self.ranks], dtype=np.int64)}
        for slot, rank in enumerate(self.ranks):
            arrays |= {f"{slot}.{name}": array for name, array in rank.to_arrays().items()}
        return arrays

    def from_arrays(self, arrays: Arrays, rounds: int) -> Ranked:
        counts = arrays["ranks"].tolist()
        if len(counts) != self.slots or sum(counts) != rounds or min(counts) < 0:
            raise ValueError("the rounds of its slots do not add to its rounds")
        ranks = []
        for slot, (rank, count) in enumerate(zip(self.ranks, counts, strict=True)):
            start = f"{slot}."
            own = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
            ranks.append(rank.from_arrays(own, count))
        return Ranked(ranks)

    def settings(self) -> dict[str, Any]:
        return {"ranks": [rank.settings() for rank in self.ranks]}

    def repr_settings(self) -> dict[str, Any]:
        return {"slots": self.slots, **self.ranks[0].repr_settings()}
