"""The arms that a policy with open arms knows, the arms that it encoded lately, and the rounds that it keeps to learn them again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from ..errors import InputError, quoted
from ..features import FeatureReader
from ..types import Floats, Ints

RECENT = 2048  # rounds that are kept, to learn them again in new units
FEWEST = 64  # slots at first
UNUSED: Any = object()  # features that equal no others


class Entry(NamedTuple):
    """An arm as it was last encoded."""

    features: Mapping[str, Any] | None
    row: int
    raw: Floats
    unseen: bool
    """Whether its features have something that the reader does not know yet."""


class EncodedArms:
    """Arms that were encoded lately. A cache: it holds nothing that the models have learned."""

    def __init__(self, columns: int) -> None:
        self.entries: dict[Hashable, Entry] = {}
        self.columns = columns
        self.table: tuple[Floats, Ints] = np.zeros((0, columns)), np.zeros(0, dtype=np.int64)

    @property
    def g(self) -> Floats:
        """The encoded features, a row for each arm."""
        return self.table[0]

    @property
    def slots(self) -> Ints:
        """The slot of each arm's own model; -1 without one."""
        return self.table[1]

    def add(self, arm: Hashable, features: Mapping[str, Any] | None, reader: FeatureReader, slot: int) -> Entry:
        """Encode an arm."""
        kept = None if features is None else dict(features)
        raw, unseen = read_arm(reader, arm, kept)
        before = self.entries.get(arm)
        row = len(self.entries) if before is None else before.row
        if row >= len(self.slots):
            self._grow()
        if before is not None:  # an interrupt must not leave these features with another encoding
            self.entries[arm] = before._replace(features=UNUSED)
        cells = np.empty(reader.trees, dtype=np.int64)
        reader.encode(raw, self.g[row], cells)
        self.slots[row] = slot
        entry = self.entries[arm] = Entry(kept, row, raw, unseen)
        return entry

    def _grow(self) -> None:
        size = max(FEWEST, 2 * len(self.g))
        g, slots = np.zeros((size, self.columns)), np.full(size, -1, dtype=np.int64)
        g[: len(self.g)], slots[: len(self.slots)] = self.table
        self.table = g, slots  # one assignment, so that an interrupt leaves them of one length


class KnownArms:
    """The arms that have a slot, by name; when there is no slot left, the arm that was least recently available gives up its own."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.slot: dict[Hashable, int] = {}
        self.names: list[Hashable] = []
        self.available: Ints = np.zeros(FEWEST, dtype=np.int64)  # the round in which each was last available
        self.totals: Floats = np.zeros((FEWEST, 2))  # plays and losses of each
        self.gone: Floats = np.zeros(2)  # of all that gave up their slot
        self.left: tuple[Hashable, Floats] | None = None  # the arm that got a slot last, and `gone` since then

    def find_slot(self, arm: Hashable) -> tuple[int, bool]:
        """Return the slot of an arm, and whether it has to be registered."""
        slot = self.slot.get(arm)
        if slot is not None:
            return slot, False
        if self.names and self.names[-1] == arm:
            return len(self.names) - 1, True  # `register` was interrupted
        if len(self.names) < self.limit:
            return len(self.names), True
        return int(np.argmin(self.available[: len(self.names)])), True

    def register(self, arm: Hashable, slot: int) -> None:
        """Give a slot to an arm. After an interrupt a second call with the same arguments finishes it."""
        if slot >= len(self.available):
            self.available = np.concatenate([self.available, np.zeros_like(self.available)])
        if slot >= len(self.totals):
            self.totals = np.concatenate([self.totals, np.zeros_like(self.totals)])
        if slot < len(self.names):
            self._release(arm, slot)
            self.names[slot] = arm
        else:
            self.names.append(arm)
        self.slot[arm] = slot  # the last step: from here on `find_slot` finds it

    def _release(self, arm: Hashable, slot: int) -> None:
        """Take a slot from the arm that has it, and keep the totals of that arm for `arm`, which gets the slot."""
        left = self.left
        if left is None or left[0] != arm or left[0] in self.slot:  # not a second call
            self.left = left = arm, self.gone + self.totals[slot]
        self.gone = left[1]
        self.totals[slot] = 0.0
        self.slot.pop(self.names[slot], None)

    def copy(self) -> KnownArms:
        """Return an independent copy."""
        other = KnownArms(self.limit)
        other.slot, other.names = dict(self.slot), list(self.names)
        other.available, other.totals, other.gone = self.available.copy(), self.totals.copy(), self.gone.copy()
        other.left = self.left
        return other


class Recent(NamedTuple):
    """The last outcomes, a row each: outcome n is in row n % RECENT. There are as many rows as were needed, RECENT at most."""

    context: Floats
    arm: Floats
    slots: Ints
    losses: Floats

    @classmethod
    def empty(cls, inputs: int, of_arms: int, rows: int = FEWEST) -> Self:
        """Return room for outcomes."""
        slots = np.full(rows, -1, dtype=np.int64)
        return cls(np.full((rows, inputs), np.nan), np.full((rows, of_arms), np.nan), slots, np.zeros(rows))

    @property
    def widths(self) -> tuple[int, int]:
        """The inputs of a context and of an arm."""
        return self.context.shape[1], self.arm.shape[1]

    def write(self, row: int, context: Floats, arm: Floats, slot: int, loss: float) -> None:
        """Write an outcome. The raw rows of context and arm may be shorter than those of today."""
        for table, raw in ((self.context, context), (self.arm, arm)):
            if len(raw) < table.shape[1]:
                table[row] = np.nan
            table[row, : len(raw)] = raw
        self.slots[row], self.losses[row] = slot, loss

    def resized(self, inputs: int, of_arms: int, rows: int) -> Self:
        """Return a copy with more inputs, unknown in past outcomes, or more rows."""
        other = type(self).empty(inputs, of_arms, rows)
        (own_inputs, own_of_arms), n = self.widths, len(self.losses)
        other.context[:n, :own_inputs], other.arm[:n, :own_of_arms] = self.context, self.arm
        other.slots[:n], other.losses[:n] = self.slots, self.losses
        return other

    def copy(self) -> Self:
        """Return an independent copy."""
        return self.resized(*self.widths, len(self.losses))

    def order(self, outcomes: int) -> Ints:
        """Return the rows in use after this many outcomes, the oldest first."""
        return np.arange(max(0, outcomes - RECENT), outcomes, dtype=np.int64) % RECENT


def read_arm(reader: FeatureReader, arm: Hashable, features: Mapping[str, Any] | None) -> tuple[Floats, bool]:
    """Return the raw row of an arm's features, and whether they have something new."""
    if not features:
        return np.full(reader.inputs, np.nan), False
    try:
        return reader.look(features)
    except InputError as error:
        raise InputError(f"Features of arm {quoted(arm):.100}: {error}") from None
