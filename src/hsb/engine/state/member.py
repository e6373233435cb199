"""A member of a state: a pair of arrays (F, I), laid out as `engine/kernels/header.py` says; and what every kind of member can do."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ... import reproducible_math
from ...errors import BudgetError, FileError
from ...files.memory_limit import afford
from ...types import Floats, Ints
from ..kernels import header as h

MOST_WORDS = 1 << 28  # of a member's F: 2 GB
HUGE = 1 << 22  # bytes of an array for which NumPy asks for pages of 2 MB
FEW_WORDS = 1 << 12  # of a member's F that is copied whole, also where it was never visited

Walk = Callable[[], Iterable[Any]]  # a structure's `layers`


class Member(NamedTuple):
    """One structure's share of a state, or one advisor's."""

    F: Floats
    I: Ints

    @property
    def kind(self) -> Kind:
        """What can be done with it."""
        return Kind.of[int(self.I[h.KIND])]

    @property
    def number(self) -> int:
        """Which kind it is (`engine/kernels/header.py`)."""
        return int(self.I[h.KIND])

    @property
    def arms(self) -> int:
        """How many arms there are."""
        return int(self.I[h.ARMS])

    @property
    def width(self) -> int:
        """Words of an arm block."""
        return int(self.I[h.WIDTH])

    @property
    def logs(self) -> int:
        """How far behind an arm block its logarithms stand; for trees, how far behind a row its hidden part."""
        return int(self.I[h.LOGS])

    @property
    def visits(self) -> int:
        """The most nodes that contain one context."""
        return int(self.I[h.VISITS])

    @property
    def parent(self) -> int:
        """The place of the member that this one hangs from; -1 for the first."""
        return int(self.I[h.PARENT])

    @property
    def option(self) -> int:
        """Which option of its parent it is."""
        return int(self.I[h.OPTION])

    @property
    def template(self) -> Floats:
        """An arm block at its prior."""
        at = int(self.I[h.TEMPLATE])
        return self.F[at : at + self.width]

    def copy(self) -> Member:
        """An independent one."""
        return resized(self, len(self.F), len(self.I))

    def settled(self) -> Member:
        """A copy of what was learned: without room that is not in use, scratch set to 0."""
        F, I = self.kind.trimmed(self)
        F, I = F.copy(), I.copy()
        for place, length in self.kind.scratch(self):
            F[place : place + length] = 0.0
        for place, length in self.kind.scratch_ints(self):
            I[place : place + length] = 0
        return Member(F, I)


class Kind:
    """What differs between kinds of members. The defaults are right for members of one size whose arm blocks are all in use.

    An arm block is where a node keeps its weights over arms (`engine/kernels/arms.py`); blocks of one member are of one size.
    """

    of: ClassVar[dict[int, Kind]] = {}

    def __init__(self, *numbers: int) -> None:
        for number in numbers:
            Kind.of[number] = self

    def blocks(self, member: Member) -> Ints:
        """Where in F each arm block in use begins."""
        return np.zeros(0, dtype=np.int64)

    def scratch(self, member: Member) -> list[tuple[int, int]]:
        """The parts of F that hold nothing between calls: place and length."""
        return [(0, 8), (int(member.I[h.WEIGHT]), 2 * member.visits)]

    def scratch_ints(self, member: Member) -> list[tuple[int, int]]:
        """The parts of I that hold nothing between calls, or what a fresh member has there too."""
        at = int(member.I[h.BASES])
        return [(at, member.visits)] if at else []

    def pour(self, member: Member, F: Floats, I: Ints) -> None:
        """Copy the member into arrays of at least its size; what was never visited stays untouched memory."""
        F[: len(member.F)] = member.F
        I[: len(member.I)] = member.I

    def room(self, member: Member, rounds: int) -> tuple[int, int]:
        """The sizes of F and I for at least one more round, or as many as `rounds` if that is not much."""
        return len(member.F), len(member.I)

    def bytes_in_use(self, member: Member) -> int:
        """Bytes of the member that hold something."""
        return member.F.nbytes + member.I.nbytes

    def trimmed(self, member: Member) -> Member:
        """Without rows not in use: what a file holds."""
        return member

    def fits(self, F: Floats, I: Ints, fresh: Member) -> bool:
        """Are arrays from a file of the sizes, and with the header, that a member like the fresh one has?"""
        return len(I) == len(fresh.I) and len(F) == len(fresh.F) and np.array_equal(I[: h.HEADER], fresh.I[: h.HEADER])

    def like(self, I: Ints, fresh: Member) -> Member:
        """The fresh member, laid out as arrays from a file are, where there is more than one way."""
        return fresh

    def empty(self, F: Floats, I: Ints, fresh: Member) -> Member:
        """A member for what such arrays have learned: as the fresh one, but for its size and what of I is read."""
        return Member(fresh.F.copy(), fresh.I.copy())

    def take(self, own: Member, F: Floats) -> bool:
        """Take what was learned over from F, in an `empty` member; False where no rounds lead to it."""
        raise NotImplementedError

    def flatten(self, member: Member, r: float, below: dict[int, float], walk: Walk | None) -> float:
        """The rate falls by the factor r (`engine/kernels/flatten.py`): ln H of the member.

        `below` is ln H of the members that are its options, by option; `walk` is how the nodes of a graph hang together.
        """
        return 0.0

    def widened(self, member: Member) -> Member:
        """A fresh member of the same shape for one more arm; all but the nodes' rows is already as in the old one."""
        raise NotImplementedError

    def places(self, member: Member, wider: Member) -> Ints:
        """The places in `wider` of the arm blocks that the member has in use."""
        return self.blocks(wider)

    def ahead(self, member: Member, blocks: Ints) -> Ints:
        """How many words of options stand before each arm block."""
        return np.zeros(len(blocks), dtype=np.int64)

    def rates(self, member: Member, wider: Member, places: Ints) -> Ints:
        """Where the rate that goes with each arm block will stand, -1 where there is none."""
        return np.full(len(places), -1)

    kept = 0  # words before a block's logarithms that belong to its row

    def add_arm(self, member: Member) -> Member:
        """The member with one more arm: in every node, visited or not, it gets the share 1/(M+1) and the others keep their odds."""
        from ..kernels import arms

        wider = self.widened(member)
        old, new = self.blocks(member), self.places(member, wider)
        arms.widen(*member, *wider, old, new, self.ahead(member, old), self.rates(member, wider, new), self.kept)
        return hung_as(member, wider)


def hung_as(member: Member, other: Member) -> Member:
    """The other member, to hang where this one does."""
    other.I[h.PARENT], other.I[h.OPTION] = member.I[h.PARENT], member.I[h.OPTION]
    return other


class Layout:
    """Hands out consecutive pieces of F and I, then makes the arrays."""

    def __init__(self, kind: int, arms: int, visits: int, scratch: int = 2) -> None:
        self.f, self.i = 8, h.HEADER
        self.header = {h.KIND: kind, h.ARMS: arms, h.VISITS: visits, h.PARENT: -1}
        self.header[h.TOP], self.header[h.TOP_SIZE], self.header[h.WIDTH] = arm_block(arms)
        self.header[h.LOGS] = self.header[h.WIDTH]
        self.floats(h.TEMPLATE, self.header[h.WIDTH])
        self.floats(h.WEIGHT, scratch * visits)
        self.ints(h.BASES, visits)

    def floats(self, name: int, n: int) -> None:
        """A piece of F, beginning on a cache line; its place goes into the header."""
        self.header[name] = self.f
        self.f += -(-n // 8) * 8

    def ints(self, name: int, n: int) -> None:
        """A piece of I."""
        self.header[name] = self.i
        self.i += n

    def afford(self, arms: int) -> None:
        """Refuse what would take more than 2 GB, or than a file may ask for."""
        afford(self.f)
        if self.f > MOST_WORDS:
            raise BudgetError(
                f"This structure with {arms} arms needs {self.f * 8 / 2**30:.1f} GB; the limit is {MOST_WORDS * 8 / 2**30:.0f} GB. "
                "Use fewer arms or a smaller structure, or hsb.BinaryTree, which takes memory for what was visited only."
            )

    def make(self) -> Member:
        """The arrays, the header and the prior arm block filled in."""
        F, I = aligned_zeros(self.f), np.zeros(self.i, dtype=np.int64)
        I[list(self.header)] = list(self.header.values())
        block = _prior_block(self.header[h.ARMS])
        F[I[h.TEMPLATE] : I[h.TEMPLATE] + len(block)] = block
        return Member(F, I)


@lru_cache(256)
def arm_block(arms: int) -> tuple[int, int, int]:
    """Offset of the top level of an arm block, its size, and the words of the whole block (`engine/kernels/arms.py`)."""
    top, size = 0, arms
    while size > h.BLOCK:
        above = -(-size // h.BLOCK)
        top, size = top + above * h.BLOCK, above
    return top, size, top + size


def _prior_block(arms: int) -> Floats:
    """Ones, and level by level the sums of each eight."""
    levels = [np.ones(arms)]
    while len(levels[-1]) > h.BLOCK:
        levels[-1] = np.append(levels[-1], np.zeros(-len(levels[-1]) % h.BLOCK))
        levels.append(levels[-1].reshape(-1, h.BLOCK).sum(axis=1))
    return np.concatenate(levels)


def fill_blocks(member: Member) -> None:
    """Put every arm block at its prior."""
    member.F[member.kind.blocks(member)[:, None] + np.arange(member.width)] = member.template


def flatten_blocks(member: Member, places: Ints, r: float) -> Floats:
    """Flatten the arm blocks at these places; ln A of each."""
    from ..kernels import flatten

    logs = np.empty(len(places))
    flatten.blocks(*member, places, r, logs)
    return logs


def flatten_options(member: Member, rows: Ints, prior: Floats, r: float, below: Floats) -> Floats:
    """Flatten the options of nodes with rows at `rows` (`engine/kernels/options.py`), where `below` is ln H of each option: ln H of each node.

    `prior` and `below` have a column an option.
    """
    F, n = member.F, below.shape[1]
    at = rows[:, None] + 1 + np.arange(n)
    logs = (1.0 - r) * reproducible_math.logs(prior) + r * (reproducible_math.logs(F[at]) - F[at + n] * h.LOG_BASE) + below
    high = logs.max(axis=1, keepdims=True)
    total = high + reproducible_math.logs(reproducible_math.exps(logs - high).sum(axis=1, keepdims=True))
    logs -= total
    hidden = np.where(logs < reproducible_math.log(h.OPTION_TINY), np.ceil(-logs / h.LOG_BASE), 0.0)
    hidden[logs == -np.inf] = 0.0
    F[rows] = (hidden > 0.0).any(axis=1)
    F[at] = reproducible_math.exps(logs + hidden * h.LOG_BASE)
    F[at + n] = hidden
    return np.asarray(total[:, 0])


def checked(F: Floats, I: Ints, fresh: Member, take: Callable[[Member, Floats], bool] | None = None) -> Member:
    """Arrays from a file as a member like the fresh one, with which kernels that check nothing can be trusted; FileError where they cannot.

    Only what was learned is read, and only where rounds can have led to it (`take`, by default the kind's own); all else is the fresh
    member's, or follows.
    """
    kind = fresh.kind
    fits = F.ndim == 1 and I.ndim == 1 and F.dtype == np.float64 and I.dtype == np.int64 and len(I) > h.KIND
    if fits:
        fresh = kind.like(I, fresh)
    if not fits or not kind.fits(F, I, fresh):
        raise FileError("its state does not fit its structure.")
    with np.errstate(all="ignore"):
        own = kind.empty(F, I, fresh)
        if not (kind.take if take is None else take)(own, F):
            raise FileError("its state holds numbers that no rounds lead to.")
    return own


def resized(member: Member, floats: int, ints: int) -> Member:
    """The member in arrays of other sizes, at least its own."""
    twin = Member(aligned_zeros(floats), np.zeros(ints, dtype=np.int64))
    member.kind.pour(member, *twin)
    return twin


def aligned_zeros(n: int, *, sparse: bool = False) -> Floats:
    """n zeros that begin on a cache line; memory is taken as they are written.

    `sparse`: little of it may ever be written. NumPy asks for pages of 2 MB where arrays are large, of which a single number takes a whole one.
    """
    if sparse and 8 * n >= HUGE and hasattr(mmap, "MAP_ANONYMOUS"):
        return np.frombuffer(mmap.mmap(-1, 8 * n, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), dtype=np.float64)
    raw = np.zeros(n + 8)
    skip = -(raw.ctypes.data // 8) % 8
    return raw[skip : skip + n]
