"""All that a mixture has learned, as one value."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ...errors import BrokenState
from ...types import Arrays, Floats, Ints, Masks
from ..kernels import header as h
from ..kernels.words import state as state_words
from ..kernels.words.advice import ADVICE
from .member import FEW_WORDS, Member, Walk, aligned_zeros, checked
from .views import OptionsView

if TYPE_CHECKING:
    from ..kernels.replay import ArmPools, Events
    from ..kernels.tables import Chosen, Logged, Out, Rounds

MANY = 1 << 62
MOST_INTS = 1 << 16  # of a state's I that is copied whole
SPARE = 1 << 17  # words of F behind the last member, where there is an ensemble: for trees that come later
ADVISORS = (h.ADVISOR, h.ENSEMBLE)
EVERY_ARM: Masks = np.zeros(0, dtype=np.uint8)  # what kernels take for a mask where there is none
BROKEN = (
    "What this policy has learned is no longer a distribution over its arms: its numbers were changed from outside, or by several "
    "threads at once. Load it from a file again."
)


class Laid(NamedTuple):
    """A state in memory. Replaced as a whole, by one assignment, when it grows: an interrupt leaves the one or the other."""

    F: Floats
    I: Ints
    advice: int
    """F: where the advice of the one advisor stands; 0 if there is not just one."""


class State:
    """Members one after the other in two arrays, F and I (`engine/kernels/header.py`), and the verbs of a round.

    `members` come parents first, `words` says how many words of a key each takes, `walks` how a graph hangs together. A key is one row of all
    their words. `header` are the state's own words of F. `available` is None if every arm is available, else one
    byte per arm. Kernels check nothing and stop where a tree is short of rows: `_mend` makes room, and the verb goes on.

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

    def __init__(
        self,
        members: Sequence[Member],
        words: Sequence[int],
        walks: Sequence[Walk | None] = (),
        *,
        header: Floats | None = None,
    ) -> None:
        from ..kernels import rounds, tables  # loads Numba: on first use

        self._rounds, self.tables = rounds, tables
        self.words = list(words)
        self.walks = list(walks) or [None] * len(members)
        self._visited: Ints | None = None  # the key of the last call, if that visited its nodes and offered every arm
        if header is None:
            header = np.zeros(state_words.STATE_WORDS)
            header[state_words.RATE] = 1.0
        self.laid = self._lay(members, [(len(F), len(I)) for F, I in members], header)

    @property
    def F(self) -> Floats:
        """The floats of the state."""
        return self.laid.F

    @property
    def I(self) -> Ints:
        """The integers of the state."""
        return self.laid.I

    @property
    def arms(self) -> int:
        """How many arms there are."""
        return int(self.laid.I.item(state_words.ALL_ARMS))

    def decide(self, key: Ints, available: Masks | None, u: float) -> tuple[int, float, float]:
        """The arm that u selects, its probability, and the share of the advice on it (`advised`). Changes nothing."""
        self._visited = None
        F, I, advice = self.laid
        arm, probability = self._rounds.decide(F, I, key, EVERY_ARM if available is None else available, u)
        if arm < 0:
            raise BrokenState(BROKEN)
        if available is None:
            self._visited = key
        return arm, probability, F.item(advice + arm) if advice else -1.0

    def fill(self, key: Ints, available: Masks | None, p: Floats) -> None:
        """The distribution over arms, into p. Changes nothing."""
        self._visited = None
        F, I, _ = self.laid
        if not self._rounds.fill(F, I, key, EVERY_ARM if available is None else available, p):
            raise BrokenState(BROKEN)
        if available is None:
            self._visited = key

    def set_pace(
        self,
        rate: float,
        *,
        gamma: float = 0.0,
        drift: float = 0.0,
        head_drift: float = 0.0,
        price: float = 0.0,
        until: float = 0.0,
        excess_limit: float = 0.0,
    ) -> None:
        """How rounds are learned from now on (`engine/kernels/words/state.py`), and when something is due: after `until` rounds, or above an
        excess. It does not change what was learned: `flatten` does.
        """
        pace, due, F = [rate, gamma, drift, head_drift, price], [until, excess_limit, 0.0], self.laid.F
        if F[: state_words.FLOOR].tolist() != pace:  # a copy of a copy may share memory that cannot be written
            F[: state_words.FLOOR] = pace
        if F[state_words.UNTIL : state_words.SHARED].tolist() != due:
            F[state_words.UNTIL : state_words.SHARED] = due

    @property
    def is_due(self) -> bool:
        """Is a phase over, or has a tree as many rows as it may have? The call that learned the round has found out."""
        return self.laid.F.item(state_words.DUE) != 0.0

    @property
    def shared(self) -> float:
        """The part of the excess that is the price of sharing."""
        return self.laid.F.item(state_words.SHARED)

    @property
    def rate(self) -> float:
        """The rate at which rounds are learned."""
        return float(self.F[state_words.RATE])

    @property
    def sums(self) -> Floats:
        """What a certificate needs of the rounds learned: the sum of their losses, by how much they exceed -ln(Z)/rate, sharing included,
        and in how many of those with a loss some arms were not available."""
        return self.F[state_words.LOST : state_words.MASKED + 1].copy()

    @property
    def seen(self) -> int:
        """Rounds learned, each counted by the call that learned it."""
        return int(self.laid.F.item(state_words.SEEN))

    @property
    def late(self) -> float:
        """Rounds that a schedule counts on top of those, for feedback that came late."""
        return self.laid.F.item(state_words.LATE)

    def set_counts(self, seen: int, late: float, sums: Floats, shared: float = 0.0) -> None:
        """Go on from these counts, those of a file."""
        F = self.laid.F
        F[state_words.SHARED] = shared
        F[state_words.SEEN], F[state_words.LATE], F[state_words.LOST : state_words.MASKED + 1] = seen, late, sums

    def set_shift(self, shift: float) -> None:
        """What is taken off every loss that is learned from now on."""
        if self.laid.F[state_words.SHIFT] != shift:
            self.laid.F[state_words.SHIFT] = shift

    def set_floor(self, floor: float) -> None:
        """The share of decisions that whole tables play uniformly."""
        self.laid.F[state_words.FLOOR] = floor

    def flatten(self, r: float) -> None:
        """The rate falls by the factor r: every mapping's weight becomes prior^(1-r) weight^r, as if all had been learned so. O(rows)."""
        members = self.members
        below: list[dict[int, float]] = [{} for _ in members]
        for member, walk, options in reversed(list(zip(members, self.walks, below, strict=True))):
            log_h = member.kind.flatten(member, r, options, walk)
            if member.parent >= 0:
                below[member.parent][member.option] = log_h

    def update(
        self,
        key: Ints,
        available: Masks | None,
        arm: int,
        loss: float,
        probability: float,
        made: int = -1,
        advised: float = -1.0,
        recalled: bool = False,
        plain: bool = False,
    ) -> None:
        """Learn the loss of an arm that was played with probability `probability`.

        `made`: after how many rounds that was decided; -1: now. If rounds were learned since, more rounds count in a schedule, and what was
        advised then counts: `advised` is how much of the advice was on the arm (`State.advised`). `recalled`: it counts in any case; if it is
        below 0, what the advisors would say now. `plain`: nothing is taken off the loss (`set_shift`). If the last call was for the very
        same `key` array and every arm is available, its nodes are not visited again.
        """
        visited = key is self._visited and available is None and not recalled
        self._visited = None
        F, I, _ = self.laid
        mask = EVERY_ARM if available is None else available
        status = self._rounds.update(F, I, key, mask, arm, loss, probability, visited, made, advised, recalled, plain)
        if status > h.DUE:
            self._mend(status)
            self.update(key, available, arm, loss, probability, made, advised, recalled, plain)

    def play(self, table: Rounds, out: Out, part: slice, *, to_come: int = MANY) -> None:
        """Decide and learn in the rounds of a part of a table. `to_come` rounds may follow, which room is made for."""
        kernel = self.tables.play
        self._go_on(lambda laid, at: kernel(laid.F, laid.I, table, out, at, part.stop), part.start, to_come)

    def choose(self, table: Rounds, out: Chosen) -> None:
        """Decide every round of a table, without a floor. Changes nothing."""
        kernel, end = self.tables.decide, len(out.arms)
        self._go_on(lambda laid, at: kernel(laid.F, laid.I, table, out, laid.advice, at, end), 0)

    def learn(self, table: Logged, part: slice) -> None:
        """Learn the rounds of a part of a table, whose arms and propensities come from a log."""
        kernel = self.tables.learn
        self._go_on(lambda laid, at: kernel(laid.F, laid.I, table, at, part.stop), part.start)

    def distributions(self, table: Rounds, p: Floats) -> None:
        """`fill` for every row of a table, into the rows of p."""
        kernel = self.tables.fill
        self._go_on(lambda laid, at: kernel(laid.F, laid.I, table, p, at, len(p)), 0)

    def replay(
        self, pools: ArmPools, events: Events, memory: Any, most: int, learned: Any, at: tuple[int, int]
    ) -> tuple[int, int]:
        """Go through a log from `at` = (first row, rows learned from before), learning where the choice is the arm shown.

        It ends after the last row, or with `most` learned; where it is then.
        """
        from ..kernels import replay

        def run(laid: Laid, at: tuple[int, int]) -> Any:
            return replay.run(laid.F, laid.I, pools, events, memory, most, learned, at)

        return self._go_on(run, at)  # type: ignore[no-any-return]

    @property
    def members(self) -> list[Member]:
        """The members, as views."""
        return _views(self.laid.F, self.laid.I, len(self.words))

    def member(self, k: int) -> Member:
        """One member, as a view."""
        f, g, i, j = _entries(self.laid.I, len(self.words))[k, :4].tolist()
        return Member(self.laid.F[f:g], self.laid.I[i:j])

    @property
    def visited(self) -> Ints:
        """How many nodes of each member the last round visited."""
        return _entries(self.I, len(self.words))[:, state_words.COUNT].copy()

    @property
    def advice(self) -> list[int]:
        """What each advisor advised in the last round decided."""
        return [int(member.I[ADVICE]) for member in self.members if member.number in ADVISORS]

    def advised(self, arm: int) -> float:
        """How much of the advice in the last round decided was on an arm; -1 where there is not just one advisor."""
        laid = self.laid
        return laid.F.item(laid.advice + arm) if laid.advice else -1.0

    @property
    def all_advised(self) -> Floats | float:
        """The same of every arm; a view."""
        laid = self.laid
        return laid.F[laid.advice : laid.advice + self.arms] if laid.advice else -1.0

    @property
    def head(self) -> Floats:
        """The present weights of the head's options: of the mixture, then of each advisor. Empty where there is no head."""
        first = self.members[0]
        return OptionsView(first).weights.copy() if first.number == h.HEAD else np.zeros(0)

    def grow(self, rounds: int = MANY) -> None:
        """Room for at least one more round in every tree; for as many as `rounds` if that is not much."""
        members = self.members
        self.laid = self._lay(members, [member.kind.room(member, rounds) for member in members])

    def widen(self) -> None:
        """Make room for one more arm, with the share 1/(M+1) in every node."""
        members = [member.kind.add_arm(member) for member in self.members]
        self._visited = None
        self.laid = self._lay(members, [(len(F), len(I)) for F, I in members])

    def laid_out(self, members: Sequence[Member], words: Sequence[int]) -> Self:
        """A state of these members, most of them this one's, that learns as this one does."""
        return type(self)(members, words, header=self.laid.F[: state_words.STATE_WORDS])

    def beside(self, first: Member, added: Sequence[Member], words: int) -> Self | None:
        """The state with another first member, and more members, which take `words` words of a key each; None where that needs new memory.

        It shares this one's floats, a round that it learns is learned for both, and what either has read stays right until then: the new
        members stand behind all that is in use.
        """
        F, I, advice = self.laid
        n, new = len(self.words), [first, *added]
        before = _entries(I, n)
        f = 8 * -(-int(before[:, state_words.F1].max()) // 8)
        if f + sum([len(floats) + 8 for floats, _ in new]) > len(F):
            return None
        shift = len(added) * state_words.ENTRY
        entries = np.zeros((n + len(added), state_words.ENTRY), dtype=np.int64)
        entries[:n] = before
        entries[:n, [state_words.I0, state_words.I1]] += shift
        i, key = len(I) + shift, sum(self.words)
        for place, (floats, ints) in zip([0, *range(n, len(entries))], new, strict=True):
            F[f : f + len(floats)] = floats
            entries[place, : state_words.K0] = f, f + len(floats), i, i + len(ints)
            if place:
                entries[place, state_words.K0 : state_words.COUNT] = key, key + words
                key += words
            f, i = f + 8 * -(-len(floats) // 8), i + len(ints)
        head, body = I[: state_words.DIRECTORY], I[state_words.DIRECTORY + before.size :]
        ints = np.concatenate([head, entries.ravel(), body, *[ints for _, ints in new]])
        ints[state_words.MEMBERS] = len(entries)
        other = self._on(Laid(F, ints, advice))
        other.words, other.walks = self.words + [words] * len(added), self.walks + [None] * len(added)
        return other

    def copy(self) -> Self:
        """An independent state that is equal; of large members, what was never visited stays untouched memory."""
        F, I = self.laid.F, self.laid.I
        if len(I) > MOST_INTS:
            return self._with(self.members)
        sparse = any(member.number == h.ENSEMBLE for member in self.members)
        floats, ints = aligned_zeros(len(F), sparse=sparse), I.copy()
        start = end = 0  # of the words behind the last large member: they are copied in one piece
        for f, g, i, j in sorted(_entries(I, len(self.words))[:, :4].tolist()):
            end = g
            if g - f > FEW_WORDS:
                floats[start:f] = F[start:f]
                start = g
                member = Member(F[f:g], I[i:j])
                member.kind.pour(member, floats[f:g], ints[i:j])
        floats[start:end] = F[start:end]
        return self._on(self.laid._replace(F=floats, I=ints))

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
        return self._with([checked(arrays[f"{k}.floats"], arrays[f"{k}.ints"], member) for k, member in enumerate(fresh)])

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

    def _go_on(self, kernel: Callable[[Laid, Any], tuple[Any, int]], at: Any, to_come: int = MANY) -> Any:
        """Call the kernel until it is done; `at` is where it is, and returned."""
        begin, self._visited = at, None
        while True:
            at, status = kernel(self.laid, at)
            if status <= h.DUE:
                return at
            self._mend(status, to_come if to_come == MANY else to_come - (at - begin))

    def _mend(self, status: int, to_come: int = MANY) -> None:
        """The one place that answers a kernel which stopped: more rows, or an error."""
        if status != h.SHORT:
            raise BrokenState(BROKEN)
        self.grow(to_come)

    def _lay(self, members: Sequence[Member], sizes: Sequence[tuple[int, int]], header: Floats | None = None) -> Laid:
        """Members in new arrays, each in as many words of F and I as `sizes` says; `header` are the state's own words, by default these."""
        arms = members[0].arms
        f, i, key = state_words.STATE_WORDS + 8 * -(-arms // 8), state_words.DIRECTORY + len(members) * state_words.ENTRY, 0
        entries = []
        for (floats, ints), words in zip(sizes, self.words, strict=True):
            entries.append((f, f + floats, i, i + ints, key, key + words))
            f, i, key = f + 8 * -(-floats // 8), i + ints, key + words
        sparse = any(member.number == h.ENSEMBLE for member in members)
        F, I = aligned_zeros(f + SPARE if sparse else f, sparse=sparse), np.zeros(i, dtype=np.int64)
        F[: state_words.STATE_WORDS] = self.laid.F[: state_words.STATE_WORDS] if header is None else header
        I[state_words.MEMBERS], I[state_words.ALL_ARMS], I[state_words.P] = len(members), arms, state_words.STATE_WORDS
        _entries(I, len(members))[:, : state_words.COUNT] = entries
        own = _views(F, I, len(members))
        for member, room in zip(members, own, strict=True):
            member.kind.pour(member, *room)
        numbers = I[[first + h.KIND for _, _, first, *_ in entries]].tolist()
        advisors = [k for k, number in enumerate(numbers) if number in ADVISORS]
        advice = 0
        if len(advisors) == 1:
            advisor = own[advisors[0]].I
            advice = int(_entries(I, len(members))[advisors[0], state_words.F0] + advisor[advisor[h.BASES]])
        return Laid(F, I, advice)

    def _with(self, members: Sequence[Member]) -> Self:
        """A state of the same shape with other members."""
        return self._on(self._lay(members, [(len(F), len(I)) for F, I in members]))

    def _on(self, laid: Laid) -> Self:
        """A state of the same shape in other memory."""
        other = object.__new__(type(self))
        other.words, other.walks, other.laid = self.words, self.walks, laid
        other._rounds, other.tables, other._visited = self._rounds, self.tables, None
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_rounds", "tables", "_visited")}

    def __setstate__(self, given: dict[str, Any]) -> None:
        from ..kernels import rounds, tables

        for name, value in given.items():
            setattr(self, name, value)
        self._rounds, self.tables, self._visited = rounds, tables, None


def _entries(I: Ints, members: int) -> Ints:
    """The directory: an entry for each member."""
    end = state_words.DIRECTORY + members * state_words.ENTRY
    return I[state_words.DIRECTORY : end].reshape(-1, state_words.ENTRY)


def _views(F: Floats, I: Ints, members: int) -> list[Member]:
    """The members, as views."""
    return [Member(F[f:g], I[i:j]) for f, g, i, j in _entries(I, members)[:, :4].tolist()]
