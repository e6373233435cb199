"""All that a mixture has learned, as one value."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...errors import BrokenState
from ...types import Arrays, Floats, Ints, Masks
from ..kernels import header as h
from .member import Member, Walk, aligned_zeros, checked

if TYPE_CHECKING:
    from ..kernels.replay import Events, Offers
    from ..kernels.tables import Chosen, Out, Rounds

MANY = 1 << 62


class State:
    """Members one after the other in two arrays, F and I (`engine/kernels/header.py`), and the verbs of a round.

    `members` come parents first, `words` says how many words of a key each takes, `walks` how a graph hangs together. A key is one row of all
    their words. `offered` is None where every arm is offered, else one byte per arm. Kernels check nothing and stop where a tree is short of
    rows, or where a round needs logarithms that they were compiled without; `_mend` puts that right, and the verb goes on.

    >>> from hsb import BinaryTree
    >>> tree = BinaryTree(depth=3)
    >>> state = State(tree.members(2, None), tree.key_words())
    >>> state.set_pace(0.25)
    >>> state.update(np.array([0]), None, 0, 1.0, 0.5)
    >>> p = np.empty(2)
    >>> state.fill(np.array([0]), None, p)
    >>> p.round(4)
    array([0.3775, 0.6225])
    """

    def __init__(self, members: Sequence[Member], words: Sequence[int], walks: Sequence[Walk | None] = ()) -> None:
        self.words = list(words)
        self.walks = list(walks) or [None] * len(members)
        self._hard = False
        self.F = np.zeros(h.STATE_WORDS)
        self.set_pace(1.0)
        self._lay(members, [(len(F), len(I)) for F, I in members])

    def decide(self, key: Ints, offered: Masks | None, u: float) -> tuple[int, float]:
        """The arm that u selects, and its probability. Changes nothing."""
        arm, chance = self._rounds.decide(self.F, self.I, key, offered, u, self.kinds)
        if arm < 0:
            self._mend(h.HARD)
            return self.decide(key, offered, u)
        return arm, chance

    def fill(self, key: Ints, offered: Masks | None, p: Floats) -> None:
        """The distribution over arms, into p. Changes nothing."""
        if not self._rounds.fill(self.F, self.I, key, offered, p, self.kinds):
            self._mend(h.HARD)
            self.fill(key, offered, p)

    def set_pace(
        self,
        rate: float,
        *,
        gamma: float = 0.0,
        drift: float = 0.0,
        head_drift: float = 0.0,
        price: float = 0.0,
        floor: float = 0.0,
    ) -> None:
        """How rounds are learned from now on (`engine/kernels/header.py`). It does not change what was learned: `flatten` does."""
        pace = (rate, gamma, drift, head_drift, price, floor)
        if self.F[: h.LOST].tolist() != list(pace):  # a copy of a copy may share memory that cannot be written
            self.F[: h.LOST] = pace

    @property
    def rate(self) -> float:
        """The rate at which rounds are learned."""
        return float(self.F[h.RATE])

    @property
    def sums(self) -> Floats:
        """What a certificate needs of the rounds learned: the sum of their losses, by how much they exceed -ln(Z)/rate, sharing included,
        and in how many of those with a loss some arms were not offered."""
        return self.F[h.LOST : h.MASKED + 1].copy()

    def set_sums(self, sums: Floats) -> None:
        """Go on from these sums."""
        self.F[h.LOST : h.MASKED + 1] = sums

    @property
    def seen(self) -> int:
        """Rounds learned, as `update` counts them, from what `set_seen` said."""
        return int(self.F[h.SEEN])

    def set_seen(self, rounds: int) -> None:
        """As many rounds were learned."""
        if self.F[h.SEEN] != rounds:
            self.F[h.SEEN] = rounds

    def set_shift(self, shift: float) -> None:
        """What is taken off every loss that is learned from now on."""
        self.F[h.SHIFT] = shift

    def set_floor(self, floor: float) -> None:
        """The share of decisions that whole tables play uniformly."""
        self.F[h.FLOOR] = floor

    def flatten(self, r: float) -> None:
        """The rate falls by the factor r: every mapping's weight becomes prior^(1-r) weight^r, as if all had been learned so. O(rows)."""
        members = self.members
        below: list[dict[int, float]] = [{} for _ in members]
        for member, walk, options in reversed(list(zip(members, self.walks, below, strict=True))):
            log_h = member.kind.flatten(member, r, options, walk)
            if member.I[h.PARENT] >= 0:
                below[member.I[h.PARENT]][int(member.I[h.OPTION])] = log_h

    def update(
        self,
        key: Ints,
        offered: Masks | None,
        arm: int,
        loss: float,
        chance: float,
        visited: bool = False,
        advised: float = -1.0,
    ) -> None:
        """Learn the loss of an arm that was played with probability `chance`.

        `visited`: the last thing done was `decide`, for the same key and the same arms. `advised`: how much of the advice was on the arm
        when that was decided (`State.advised`); below 0, what the advisors would say now.
        """
        status = self._rounds.update(self.F, self.I, key, offered, arm, loss, chance, visited, advised, self.kinds)
        if status != h.DONE:
            self._mend(status)
            self.update(key, offered, arm, loss, chance, advised=advised)

    def play(self, table: Rounds, out: Out, part: slice, *, to_come: int = MANY, done: list[Any] | None = None) -> None:
        """Decide and learn in the rounds of a part of a table. `to_come` rounds may follow, which room is made for.

        `done`, here and below, ends with where a kernel has come to, from the moment that it has.
        """
        kernel = self.tables.play
        self._go_on(kernel, lambda at: (self.F, self.I, table, out, at, part.stop, self.kinds), part.start, to_come, done)

    def choose(self, table: Rounds, out: Chosen) -> None:
        """Decide every round of a table, without a floor. Changes nothing."""
        kernel, end = self.tables.decide, len(out.arms)
        self._go_on(kernel, lambda at: (self.F, self.I, table, out, self._advice, at, end, self.kinds), 0)

    def learn(self, table: Rounds, part: slice, *, done: list[Any] | None = None) -> None:
        """Learn the rounds of a part of a table, whose arms and propensities come from a log."""
        kernel = self.tables.learn
        self._go_on(kernel, lambda at: (self.F, self.I, table, at, part.stop, self.kinds), part.start, done=done)

    def distributions(self, table: Rounds, p: Floats) -> None:
        """`fill` for every row of a table, into the rows of p."""
        self._go_on(self.tables.fill, lambda at: (self.F, self.I, table, p, at, len(p), self.kinds), 0)

    def replay(
        self,
        offers: Offers,
        events: Events,
        memory: Any,
        most: int,
        learned: Any,
        at: tuple[int, int],
        done: list[Any] | None = None,
    ) -> tuple[int, int]:
        """Go through a log from `at` = (first row, rows learned from before), learning where the choice is the arm shown.

        It ends after the last row, or with `most` learned; where it is then.
        """
        from ..kernels import replay

        def given(at: tuple[int, int]) -> tuple[Any, ...]:
            return self.F, self.I, offers, events, memory, most, learned, at, self.kinds

        return self._go_on(replay.run, given, at, done=done)  # type: ignore[no-any-return]

    @property
    def members(self) -> list[Member]:
        """The members, as views."""
        return [Member(self.F[f:g], self.I[i:j]) for f, g, i, j in self._entries()[:, :4].tolist()]

    @property
    def visited(self) -> Ints:
        """How many nodes of each member the last round visited."""
        return self._entries()[:, h.COUNT].copy()

    @property
    def advice(self) -> list[int]:
        """What each advisor advised in the last round decided."""
        return [int(I[h.ADVICE]) for _, I in self.members if I[h.KIND] in (h.ADVISOR, h.PANEL)]

    def advised(self, arm: int) -> float:
        """How much of the advice in the last round decided was on an arm; -1 where there is not just one advisor."""
        return self.F.item(self._advice + arm) if self._advice else -1.0

    @property
    def head(self) -> Floats:
        """The present weights of the head's options: of the mixture, then of each advisor. Empty where there is no head."""
        F, I = self.members[0]
        return F[I[h.NODE] + 1 : I[h.NODE] + 1 + I[h.OPTIONS]].copy() if I[h.KIND] == h.HEAD else np.zeros(0)

    def grow(self, rounds: int = MANY) -> None:
        """Room for at least one more round in every tree; for as many as `rounds` if that is not much."""
        members = self.members
        self._become(self._with(members, [member.kind.room(member, rounds) for member in members]))

    def widen(self) -> None:
        """Make room for one more arm, with the share 1/(M+1) in every node."""
        members = [member.kind.add_arm(member) for member in self.members]
        self._become(self._with(members, [(len(F), len(I)) for F, I in members]))

    def relay(self, members: Sequence[Member], words: Sequence[int]) -> None:
        """Go on with these members, most of them its own."""
        twin = copy.copy(self)
        twin.words, twin.walks = list(words), [None] * len(members)
        twin._lay(members, [(len(F), len(I)) for F, I in members])
        self._become(twin)

    def copy(self) -> Self:
        """An independent state that is equal; what was never visited stays untouched memory."""
        return self._with(self.members, [(len(F), len(I)) for F, I in self.members])

    def to_arrays(self) -> Arrays:
        """What was learned, as plain arrays: two a member, scratch set to 0."""
        arrays: Arrays = {}
        for k, member in enumerate(self.members):
            arrays[f"{k}.floats"], arrays[f"{k}.ints"] = member.settled()
        return arrays

    def from_arrays(self, arrays: Arrays) -> Self:
        """A state of the same shape as this one, which is fresh, with what `to_arrays` gave; an error where it does not fit."""
        fresh = self.members
        if len(arrays) != 2 * len(fresh):
            raise ValueError(f"its arrays are not those of a structure with {len(fresh)} members")
        members = [checked(arrays[f"{k}.floats"], arrays[f"{k}.ints"], member) for k, member in enumerate(fresh)]
        return self._with(members, [(len(F), len(I)) for F, I in members])

    def digest(self) -> str:
        """A fingerprint: states that learned the same have the same, whatever they were only asked.

        >>> from hsb import BinaryTree
        >>> tree = BinaryTree(depth=3)
        >>> state = State(tree.members(2, None), tree.key_words())
        >>> state.digest() == state.copy().digest()
        True
        """
        digest = hashlib.sha256()
        for name, array in self.to_arrays().items():
            digest.update(f"{name} {array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    @property
    def nbytes(self) -> int:
        """Memory that it takes, rows not yet used apart."""
        return sum(member.kind.bytes_in_use(member) for member in self.members)

    def _go_on(
        self,
        kernel: Callable[..., Any],
        given: Callable[[Any], tuple[Any, ...]],
        at: Any,
        to_come: int = MANY,
        done: list[Any] | None = None,
    ) -> Any:
        """Call the kernel until it is done; `at` is where it is, and returned."""
        begin, done = at, [] if done is None else done
        while True:
            done += starmap(kernel, (given(at),))  # one step, which no interrupt can part
            at, status = done[-1]
            if status == h.DONE:
                return at
            self._mend(status, to_come if to_come == MANY else to_come - (at - begin))

    def _mend(self, status: int, to_come: int = MANY) -> None:
        """The one place that answers a kernel which stopped: more rows, or kernels with logarithms from now on."""
        if status == h.SHORT:
            self.grow(to_come)
        elif self._hard:  # kernels with logarithms can tell, unless there is no telling
            raise BrokenState(
                "What this policy has learned is no longer a distribution over its arms: its numbers were changed from outside, or by several "
                "threads at once. Load it from a file again."
            )
        else:
            self._hard = True
            self._set_kinds()

    def _entries(self) -> Ints:
        end = h.DIRECTORY + len(self.words) * h.ENTRY
        return self.I[h.DIRECTORY : end].reshape(-1, h.ENTRY)

    def _lay(self, members: Sequence[Member], sizes: Sequence[tuple[int, int]]) -> None:
        """Lay members out in new arrays, each in as many words of F and I as `sizes` says."""
        arms = int(members[0].I[h.ARMS])
        f, i, k = h.STATE_WORDS + 8 * -(-arms // 8), h.DIRECTORY + len(members) * h.ENTRY, 0
        entries = []
        for (floats, ints), words in zip(sizes, self.words, strict=True):
            entries.append((f, f + floats, i, i + ints, k, k + words))
            f, i, k = f + 8 * -(-floats // 8), i + ints, k + words
        before, self.F, self.I = self.F[: h.STATE_WORDS], aligned_zeros(f), np.zeros(i, dtype=np.int64)
        self.F[: h.STATE_WORDS] = before
        self.I[h.MEMBERS], self.I[h.ALL_ARMS], self.I[h.P] = len(members), arms, h.STATE_WORDS
        self._entries()[:, : h.COUNT] = entries
        for member, own in zip(members, self.members, strict=True):
            member.kind.pour(member, *own)
        self._set_kinds()

    def _become(self, twin: Self) -> None:
        """Go on as another, in one step."""
        vars(self).update(vars(twin))

    def _with(self, members: Sequence[Member], sizes: Sequence[tuple[int, int]]) -> Self:
        twin = copy.copy(self)
        twin._lay(members, sizes)
        return twin

    def _set_kinds(self) -> None:
        """What the kernels must be compiled for (`engine/kernels/kinds.py`)."""
        from ..kernels import rounds, tables  # loads Numba: on first use

        self._rounds, self.tables = rounds, tables
        there = {int(member.I[h.KIND]) for member in self.members}
        wanted = ({h.DENSE, h.COMPRESSED}, {h.COMPRESSED}, {h.INTERVALS}, {h.GRAPH, h.ONE_OF}, {h.HEAD, h.ADVISOR, h.PANEL})
        I, arms = self.members[0].I, self.I[h.ALL_ARMS]
        alone = there == {h.DENSE} and len(self.words) == 1 and I[h.FANOUT] == 2
        also = (
            self._hard,
            alone and arms <= h.SMALL,
            alone and h.SMALL < arms <= h.FEW,
            arms > h.FEW,
            h.DENSE in there,
            h.PANEL in there,
        )
        advisors = [k for k, member in enumerate(self.members) if member.I[h.KIND] in (h.ADVISOR, h.PANEL)]
        self._advice = 0
        if len(advisors) == 1:
            I = self.members[advisors[0]].I
            self._advice = int(self._entries()[advisors[0], h.F0] + I[I[h.BASES]])
        self.kinds = (*(0 if there & kinds else None for kinds in wanted), *(0 if it else None for it in also))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_rounds", "tables")}

    def __setstate__(self, given: dict[str, Any]) -> None:
        self.__dict__.update(given)
        self._set_kinds()
