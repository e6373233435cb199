"""The state of a mixture as one value."""

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
from .member import FEW_WORDS, Member, Walk, aligned_zeros, member_from_arrays
from .views import OptionsView

if TYPE_CHECKING:
    from ..kernels.replay import ArmPools, Events
    from ..kernels.tables import Chosen, Logged, Out, Rounds

MANY = 1 << 62
MOST_INTS = 1 << 16  # of a state's I that is copied whole
SPARE = 1 << 17  # words of F after the last member, beside an ensemble: for later trees
ADVISORS = (h.ADVISOR, h.ENSEMBLE, h.GIVEN)
EVERY_ARM: Masks = np.zeros(0, dtype=np.uint8)  # the mask of a round with every arm
BROKEN = (
    "What this policy has learned is no longer a distribution over its arms: its numbers were changed from outside, or by several "
    "threads at once. Load it from a file again."
)


class Laid(NamedTuple):
    """A state in memory. Growth replaces it by one assignment, so that an interrupt leaves either the old or the new one."""

    F: Floats
    I: Ints
    advice: int
    """The offset in F of the only advisor's advice; 0 unless there is exactly one."""


class State:
    """Members one after the other in two arrays, F and I (`engine/kernels/header.py`), and the operations of a round.

    `members`: parents first. `words`: the number of key words of each; a key is one row of all these words. `walks`: the layers of graphs.
    `header`: the state's words of F. `available`: None if every arm is available, else one byte for each arm. Kernels check nothing. They stop
    if a tree needs rows; `_resolve` adds them, and the operation continues.

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
        self._visited: Ints | None = None  # the key of the last call, if that visited its nodes with every arm available
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
        """The number of arms."""
        return int(self.laid.I.item(state_words.ALL_ARMS))

    def decide(self, key: Ints, available: Masks | None, u: float) -> tuple[int, float, float]:
        """Return the arm that u selects, its probability, and the share of the advice on it (`advised`). Changes nothing."""
        self._visited = None
        F, I, advice = self.laid
        arm, probability = self._rounds.decide(F, I, key, EVERY_ARM if available is None else available, u)
        if arm < 0:
            raise BrokenState(BROKEN)
        if available is None:
            self._visited = key
        return arm, probability, F.item(advice + arm) if advice else -1.0

    def fill(self, key: Ints, available: Masks | None, p: Floats) -> None:
        """Fill p with the distribution over arms. Changes nothing."""
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
        """Set the parameters of updates (`engine/kernels/words/state.py`), and when something is due: after `until` rounds, or above an excess.

        Earlier updates do not change: `flatten` changes them.
        """
        pace, due, F = [rate, gamma, drift, head_drift, price], [until, excess_limit, 0.0], self.laid.F
        if F[: state_words.FLOOR].tolist() != pace:  # a copy of a copy may share memory that cannot be written
            F[: state_words.FLOOR] = pace
        if F[state_words.UNTIL : state_words.SHARED].tolist() != due:
            F[state_words.UNTIL : state_words.SHARED] = due

    @property
    def is_due(self) -> bool:
        """Whether a phase is over, or a tree has its largest number of rows. Set by the call that learned the round."""
        return self.laid.F.item(state_words.DUE) != 0.0

    @property
    def shared(self) -> float:
        """The part of the excess due to sharing."""
        return self.laid.F.item(state_words.SHARED)

    @property
    def rate(self) -> float:
        """The learning rate."""
        return float(self.F[state_words.RATE])

    @property
    def sums(self) -> Floats:
        """The sums for a certificate: the losses, their excess over -ln(Z)/rate with sharing, and the number of rounds with a loss in which
        some arms were not available."""
        return self.F[state_words.LOST : state_words.MASKED + 1].copy()

    @property
    def learned_rounds(self) -> int:
        """The number of learned rounds, each counted by the call that learned it."""
        return int(self.laid.F.item(state_words.SEEN))

    @property
    def late(self) -> float:
        """The rounds that a schedule counts in addition, for late feedback."""
        return self.laid.F.item(state_words.LATE)

    def set_counts(self, learned_rounds: int, late: float, sums: Floats, shared: float = 0.0) -> None:
        """Set the counts to those of a file."""
        F = self.laid.F
        F[state_words.SHARED] = shared
        F[state_words.SEEN], F[state_words.LATE], F[state_words.LOST : state_words.MASKED + 1] = learned_rounds, late, sums

    def set_shift(self, shift: float) -> None:
        """Set the baseline shift, which is subtracted from every later loss."""
        if self.laid.F[state_words.SHIFT] != shift:
            self.laid.F[state_words.SHIFT] = shift

    def set_floor(self, floor: float) -> None:
        """Set the floor of whole tables: the share of uniform decisions."""
        self.laid.F[state_words.FLOOR] = floor

    def flatten(self, r: float) -> None:
        """Lower the rate by the factor r: every weight becomes prior^(1-r) weight^r, as if all rounds had that rate. O(rows)."""
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
        decision_round: int = -1,
        advised: float = -1.0,
        recalled: bool = False,
        plain: bool = False,
        also: Any = None,
    ) -> None:
        """Learn the loss of an arm that was played with probability `probability`.

        `decision_round`: the number of learned rounds at the time of the decision; -1: now. After further rounds, a schedule counts more,
        and the advice of that time applies: `advised` is its share on the arm (`State.advised`). `recalled`: that advice applies in any case;
        below 0, the present advice. `plain`: no baseline shift (`set_shift`). If the last call had the same `key` array and every arm is
        available, its nodes are not visited again. `also`: other arms and their losses, two arrays, which only advisors learn.
        """
        visited = key is self._visited and available is None and not recalled
        self._visited = None
        F, I, _ = self.laid
        mask = EVERY_ARM if available is None else available
        kernels = self._rounds
        if also is None:
            status = kernels.update(F, I, key, mask, arm, loss, probability, visited, decision_round, advised, recalled, plain)
        else:
            own = kernels.Update(arm, loss, probability, visited, decision_round, advised, recalled, plain)
            status = kernels.update_also(F, I, key, mask, own, *also)
        if status > h.DUE:
            self._resolve(status)
            self.update(key, available, arm, loss, probability, decision_round, advised, recalled, plain, also)

    def play(self, table: Rounds, out: Out, part: slice, *, to_come: int = MANY) -> None:
        """Decide and learn in the rounds of a part of a table. Makes room for `to_come` later rounds."""
        kernel = self.tables.play
        self._run(lambda laid, position: kernel(laid.F, laid.I, table, out, position, part.stop), part.start, to_come)

    def choose(self, table: Rounds, out: Chosen) -> None:
        """Decide every round of a table, without a floor. Changes nothing in the state."""
        kernel, end = self.tables.decide, len(out.arms)
        self._run(lambda laid, position: kernel(laid.F, laid.I, table, out, laid.advice, position, end), 0)

    def learn(self, table: Logged, part: slice) -> None:
        """Learn the rounds of a part of a table, whose arms and propensities come from a log."""
        kernel = self.tables.learn
        self._run(lambda laid, position: kernel(laid.F, laid.I, table, position, part.stop), part.start)

    def distributions(self, table: Rounds, p: Floats) -> None:
        """Fill the rows of p with the distributions of the rows of a table."""
        kernel = self.tables.fill
        self._run(lambda laid, position: kernel(laid.F, laid.I, table, p, position, len(p)), 0)

    def replay(
        self, pools: ArmPools, events: Events, memory: Any, most: int, learned: Any, position: tuple[int, int]
    ) -> tuple[int, int]:
        """Replay a log from `position` = (first row, rows learned before), and learn the rows whose chosen arm is the logged one.

        Ends after the last row or `most` learned rows. Returns its position.
        """
        from ..kernels import replay

        def run(laid: Laid, position: tuple[int, int]) -> Any:
            return replay.run(laid.F, laid.I, pools, events, memory, most, learned, position)

        return self._run(run, position)  # type: ignore[no-any-return]

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
        """The number of nodes of each member that the last round visited."""
        return _entries(self.I, len(self.words))[:, state_words.COUNT].copy()

    @property
    def advice(self) -> list[int]:
        """The advice of each advisor in the last decided round."""
        return [int(member.I[ADVICE]) for member in self.members if member.number in ADVISORS]

    def advised(self, arm: int) -> float:
        """Return the share of the last decision's advice on an arm; -1 unless there is exactly one advisor."""
        laid = self.laid
        return laid.F.item(laid.advice + arm) if laid.advice else -1.0

    @property
    def all_advised(self) -> Floats | float:
        """The share of the last decision's advice on every arm, a view; -1 unless there is exactly one advisor."""
        laid = self.laid
        return laid.F[laid.advice : laid.advice + self.arms] if laid.advice else -1.0

    @property
    def head(self) -> Floats:
        """The weights of the head's options: of the mixture, then of each advisor. Empty without a head."""
        first = self.members[0]
        return OptionsView(first).weights.copy() if first.number == h.HEAD else np.zeros(0)

    def grow(self, rounds: int = MANY) -> None:
        """Make room for at least one more round in every tree, and for `rounds` if that is little."""
        members = self.members
        self.laid = self._lay(members, [member.kind.room(member, rounds) for member in members])

    def coarsen_full(self, inputs: list[int], encoder: Ints) -> None:
        """Make full trees coarser, in one compiled call (`engine/kernels/coarsen.py`). The last members are the trees of these inputs."""
        from ..kernels import coarsen

        self._visited = None
        F, I, _ = self.laid
        numbers = np.empty(len(I), dtype=np.int64)  # more than enough; what is not used takes no memory
        coarsen.coarsen_full(F, I, np.array(inputs, dtype=np.int64), len(self.words) - len(inputs), encoder, numbers)

    def widen(self) -> None:
        """Make room for one more arm, with the share 1/(M+1) in every node."""
        members = [member.kind.add_arm(member) for member in self.members]
        self._visited = None
        self.laid = self._lay(members, [(len(F), len(I)) for F, I in members])

    def laid_out(self, members: Sequence[Member], words: Sequence[int]) -> Self:
        """Return a state of these members, most of them this state's, with the same parameters."""
        return type(self)(members, words, header=self.laid.F[: state_words.STATE_WORDS])

    def beside(self, first: Member, added: Sequence[Member], words: int) -> Self | None:
        """Return the state with another first member, and added members with `words` key words each; None if that needs new memory.

        The two share their floats: an update of one updates both. Until then what either has read stays valid, since the new members lie
        after all used memory.
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
        for index, (floats, ints) in zip([0, *range(n, len(entries))], new, strict=True):
            F[f : f + len(floats)] = floats
            entries[index, : state_words.K0] = f, f + len(floats), i, i + len(ints)
            if index:
                entries[index, state_words.K0 : state_words.COUNT] = key, key + words
                key += words
            f, i = f + 8 * -(-len(floats) // 8), i + len(ints)
        head, body = I[: state_words.DIRECTORY], I[state_words.DIRECTORY + before.size :]
        ints = np.concatenate([head, entries.ravel(), body, *[ints for _, ints in new]])
        ints[state_words.MEMBERS] = len(entries)
        other = self._on(Laid(F, ints, advice))
        other.words, other.walks = self.words + [words] * len(added), self.walks + [None] * len(added)
        return other

    def copy(self) -> Self:
        """Return an independent equal state; in large members, memory of nodes never visited stays untouched."""
        F, I = self.laid.F, self.laid.I
        if len(I) > MOST_INTS:
            return self._with(self.members)
        sparse = any(member.number == h.ENSEMBLE for member in self.members)
        floats, ints = aligned_zeros(len(F), sparse=sparse), I.copy()
        start = end = 0  # of the words after the last large member: they are copied in one piece
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
        """Return what was learned as plain arrays, two for each member, with scratch set to 0."""
        arrays: Arrays = {}
        for k, member in enumerate(self.members):
            arrays[f"{k}.floats"], arrays[f"{k}.ints"] = member.settled()
        return arrays

    def from_arrays(self, arrays: Arrays) -> Self:
        """Return a state like this new one, with the arrays of `to_arrays`. Raises `FileError` or `ValueError` unless they fit."""
        fresh = self.members
        if len(arrays) != 2 * len(fresh):
            raise ValueError(f"its arrays are not those of a structure with {len(fresh)} members")
        return self._with(
            [member_from_arrays(arrays[f"{k}.floats"], arrays[f"{k}.ints"], member) for k, member in enumerate(fresh)]
        )

    def digest(self) -> str:
        """Return a fingerprint of what was learned. Calls that change nothing do not change it.

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
        """The used memory in bytes, without unused rows."""
        return sum(member.kind.bytes_in_use(member) for member in self.members)

    def _run(self, kernel: Callable[[Laid, Any], tuple[Any, int]], position: Any, to_come: int = MANY) -> Any:
        """Call the kernel until it is done, from `position`; return where it ended."""
        begin, self._visited = position, None
        while True:
            position, status = kernel(self.laid, position)
            if status <= h.DUE:
                return position
            self._resolve(status, to_come if to_come == MANY else to_come - (position - begin))

    def _resolve(self, status: int, to_come: int = MANY) -> None:
        """Handle a kernel that stopped: add rows, or raise BrokenState."""
        if status != h.SHORT:
            raise BrokenState(BROKEN)
        self.grow(to_come)

    def _lay(self, members: Sequence[Member], sizes: Sequence[tuple[int, int]], header: Floats | None = None) -> Laid:
        """Lay members out in new arrays, with `sizes` words of F and I. `header`: the state's words, by default the present ones."""
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
        """Return a state of the same shape with other members."""
        return self._on(self._lay(members, [(len(F), len(I)) for F, I in members]))

    def _on(self, laid: Laid) -> Self:
        """Return a state of the same shape in other memory."""
        other = object.__new__(type(self))
        other.words, other.walks, other.laid = self.words, self.walks, laid
        other._rounds, other.tables, other._visited = self._rounds, self.tables, None
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_rounds", "tables", "_visited")}

    def __setstate__(self, fields: dict[str, Any]) -> None:
        from ..kernels import rounds, tables

        for name, value in fields.items():
            setattr(self, name, value)
        self._rounds, self.tables, self._visited = rounds, tables, None


def _entries(I: Ints, members: int) -> Ints:
    """Return the directory: an entry for each member."""
    end = state_words.DIRECTORY + members * state_words.ENTRY
    return I[state_words.DIRECTORY : end].reshape(-1, state_words.ENTRY)


def _views(F: Floats, I: Ints, members: int) -> list[Member]:
    """Return the members, as views."""
    return [Member(F[f:g], I[i:j]) for f, g, i, j in _entries(I, members)[:, :4].tolist()]
