"""A member of a state, a pair of arrays (F, I) with the layout of `engine/kernels/header.py`, and the operations of its kind."""

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
HUGE = 1 << 22  # bytes of an array for which NumPy uses pages of 2 MB
FEW_WORDS = 1 << 12  # of a member's F that is copied whole, with rows never visited

Walk = Callable[[], Iterable[Any]]  # a structure's `layers`


class Member(NamedTuple):
    """The part of a state that belongs to one structure or advisor."""

    F: Floats
    I: Ints

    @property
    def kind(self) -> Kind:
        """The kind, with its operations."""
        return Kind.of[int(self.I[h.KIND])]

    @property
    def number(self) -> int:
        """The number of the kind (`engine/kernels/header.py`)."""
        return int(self.I[h.KIND])

    @property
    def arms(self) -> int:
        """The number of arms."""
        return int(self.I[h.ARMS])

    @property
    def width(self) -> int:
        """Words of an arm block."""
        return int(self.I[h.WIDTH])

    @property
    def logs(self) -> int:
        """The offset of an arm block's logarithms; for trees, of a row's hidden part."""
        return int(self.I[h.LOGS])

    @property
    def visits(self) -> int:
        """The largest number of nodes that contain one context."""
        return int(self.I[h.VISITS])

    @property
    def parent(self) -> int:
        """The index of the parent member; -1 for the first."""
        return int(self.I[h.PARENT])

    @property
    def option(self) -> int:
        """The number of the parent's option that this member is."""
        return int(self.I[h.OPTION])

    @property
    def template(self) -> Floats:
        """An arm block at its prior."""
        start = int(self.I[h.TEMPLATE])
        return self.F[start : start + self.width]

    def copy(self) -> Member:
        """Return an independent copy."""
        return resized(self, len(self.F), len(self.I))

    def settled(self) -> Member:
        """Return a copy of what was learned: without unused room, scratch set to 0."""
        F, I = self.kind.trimmed(self)
        F, I = F.copy(), I.copy()
        for offset, length in self.kind.scratch(self):
            F[offset : offset + length] = 0.0
        for offset, length in self.kind.scratch_ints(self):
            I[offset : offset + length] = 0
        return Member(F, I)


class Kind:
    """The operations of a kind of members. The defaults are for members of fixed size whose arm blocks are all in use.

    An arm block has a node's weights over arms (`engine/kernels/arms.py`); all blocks of a member have one size.
    """

    of: ClassVar[dict[int, Kind]] = {}

    def __init__(self, *numbers: int) -> None:
        for number in numbers:
            Kind.of[number] = self

    def blocks(self, member: Member) -> Ints:
        """Return the offset in F of each used arm block."""
        return np.zeros(0, dtype=np.int64)

    def scratch(self, member: Member) -> list[tuple[int, int]]:
        """Return the parts of F that are scratch between calls: offset and length."""
        return [(0, 8), (int(member.I[h.WEIGHT]), 2 * member.visits)]

    def scratch_ints(self, member: Member) -> list[tuple[int, int]]:
        """Return the parts of I that are scratch between calls, or as in a new member."""
        offset = int(member.I[h.BASES])
        return [(offset, member.visits)] if offset else []

    def pour(self, member: Member, F: Floats, I: Ints) -> None:
        """Copy the member into arrays of at least its size; memory of nodes never visited stays untouched."""
        F[: len(member.F)] = member.F
        I[: len(member.I)] = member.I

    def room(self, member: Member, rounds: int) -> tuple[int, int]:
        """Return sizes of F and I for at least one more round, and for `rounds` if that is little."""
        return len(member.F), len(member.I)

    def bytes_in_use(self, member: Member) -> int:
        """Return the used bytes of the member."""
        return member.F.nbytes + member.I.nbytes

    def trimmed(self, member: Member) -> Member:
        """Return the member without unused rows, as in files."""
        return member

    def fits(self, F: Floats, I: Ints, fresh: Member) -> bool:
        """Return whether arrays from a file have the sizes and the header of a member like the fresh one."""
        return len(I) == len(fresh.I) and len(F) == len(fresh.F) and np.array_equal(I[: h.HEADER], fresh.I[: h.HEADER])

    def like(self, I: Ints, fresh: Member) -> Member:
        """Return a fresh member in the layout of the file's arrays, if there are several layouts."""
        return fresh

    def empty(self, F: Floats, I: Ints, fresh: Member) -> Member:
        """Return a member to take such arrays: the fresh one with the file's size and links."""
        return Member(fresh.F.copy(), fresh.I.copy())

    def take(self, own: Member, F: Floats) -> bool:
        """Copy what was learned from F into an `empty` member. Return False if no rounds can lead to it."""
        raise NotImplementedError

    def flatten(self, member: Member, r: float, below: dict[int, float], walk: Walk | None) -> float:
        """Lower the rate by the factor r (`engine/kernels/flatten.py`), and return ln H of the member.

        `below`: ln H of the members that are its options, by option. `walk`: the layers of a graph.
        """
        return 0.0

    def widened(self, member: Member) -> Member:
        """Return a new member of the same shape for one more arm, with everything copied but the nodes' rows."""
        raise NotImplementedError

    def offsets(self, member: Member, wider: Member) -> Ints:
        """Return the offsets in `wider` of the member's used arm blocks."""
        return self.blocks(wider)

    def ahead(self, member: Member, blocks: Ints) -> Ints:
        """Return the number of option words before each arm block."""
        return np.zeros(len(blocks), dtype=np.int64)

    def rates(self, member: Member, wider: Member, offsets: Ints) -> Ints:
        """Return the offset of the rate of each arm block, -1 without one."""
        return np.full(len(offsets), -1)

    kept = 0  # words before a block's logarithms that belong to its row

    def add_arm(self, member: Member) -> Member:
        """Return the member with one more arm. In every node, visited or not, it gets the share 1/(M+1); the others keep their odds."""
        from ..kernels import arms

        wider = self.widened(member)
        old, new = self.blocks(member), self.offsets(member, wider)
        arms.widen(*member, *wider, old, new, self.ahead(member, old), self.rates(member, wider, new), self.kept)
        return hung_as(member, wider)


def hung_as(member: Member, other: Member) -> Member:
    """Give the other member the parent and option of this one, and return it."""
    other.I[h.PARENT], other.I[h.OPTION] = member.I[h.PARENT], member.I[h.OPTION]
    return other


class Layout:
    """An allocator of consecutive pieces of F and I, which then makes the arrays."""

    def __init__(self, kind: int, arms: int, visits: int, scratch: int = 2) -> None:
        self.f, self.i = 8, h.HEADER
        self.header = {h.KIND: kind, h.ARMS: arms, h.VISITS: visits, h.PARENT: -1}
        self.header[h.TOP], self.header[h.TOP_SIZE], self.header[h.WIDTH] = arm_block(arms)
        self.header[h.LOGS] = self.header[h.WIDTH]
        self.floats(h.TEMPLATE, self.header[h.WIDTH])
        self.floats(h.WEIGHT, scratch * visits)
        self.ints(h.BASES, visits)

    def floats(self, name: int, n: int) -> None:
        """Allocate a piece of F on a cache line; its offset goes into the header."""
        self.header[name] = self.f
        self.f += -(-n // 8) * 8

    def ints(self, name: int, n: int) -> None:
        """Allocate a piece of I."""
        self.header[name] = self.i
        self.i += n

    def afford(self, arms: int) -> None:
        """Raise `BudgetError` for a member of more than 2 GB, or more than a file may ask for."""
        afford(self.f)
        if self.f > MOST_WORDS:
            raise BudgetError(
                f"This structure with {arms} arms needs {self.f * 8 / 2**30:.1f} GB; the limit is {MOST_WORDS * 8 / 2**30:.0f} GB. "
                "Use fewer arms or a smaller structure, or hsb.BinaryTree, which takes memory for visited nodes only."
            )

    def make(self) -> Member:
        """Make the arrays, with the header and the prior arm block."""
        F, I = aligned_zeros(self.f), np.zeros(self.i, dtype=np.int64)
        I[list(self.header)] = list(self.header.values())
        block = _prior_block(self.header[h.ARMS])
        F[I[h.TEMPLATE] : I[h.TEMPLATE] + len(block)] = block
        return Member(F, I)


@lru_cache(256)
def arm_block(arms: int) -> tuple[int, int, int]:
    """Return the offset of an arm block's top level, its size, and the words of the block (`engine/kernels/arms.py`)."""
    top, size = 0, arms
    while size > h.BLOCK:
        above = -(-size // h.BLOCK)
        top, size = top + above * h.BLOCK, above
    return top, size, top + size


def _prior_block(arms: int) -> Floats:
    """Return ones, and level by level the sums of each eight."""
    levels = [np.ones(arms)]
    while len(levels[-1]) > h.BLOCK:
        levels[-1] = np.append(levels[-1], np.zeros(-len(levels[-1]) % h.BLOCK))
        levels.append(levels[-1].reshape(-1, h.BLOCK).sum(axis=1))
    return np.concatenate(levels)


def fill_blocks(member: Member) -> None:
    """Set every arm block to its prior."""
    member.F[member.kind.blocks(member)[:, None] + np.arange(member.width)] = member.template


def flatten_blocks(member: Member, offsets: Ints, r: float) -> Floats:
    """Flatten the arm blocks at these offsets, and return ln A of each."""
    from ..kernels import flatten

    logs = np.empty(len(offsets))
    flatten.blocks(*member, offsets, r, logs)
    return logs


def flatten_options(member: Member, rows: Ints, prior: Floats, r: float, below: Floats) -> Floats:
    """Flatten the options of nodes with rows at `rows` (`engine/kernels/options.py`), and return ln H of each node.

    `below`: ln H of each option. `prior` and `below` have a column for each option.
    """
    F, n = member.F, below.shape[1]
    options = rows[:, None] + 1 + np.arange(n)
    logs = (
        (1.0 - r) * reproducible_math.logs(prior)
        + r * (reproducible_math.logs(F[options]) - F[options + n] * h.LOG_BASE)
        + below
    )
    high = logs.max(axis=1, keepdims=True)
    total = high + reproducible_math.logs(reproducible_math.exps(logs - high).sum(axis=1, keepdims=True))
    logs -= total
    hidden = np.where(logs < reproducible_math.log(h.OPTION_TINY), np.ceil(-logs / h.LOG_BASE), 0.0)
    hidden[logs == -np.inf] = 0.0
    F[rows] = (hidden > 0.0).any(axis=1)
    F[options] = reproducible_math.exps(logs + hidden * h.LOG_BASE)
    F[options + n] = hidden
    return np.asarray(total[:, 0])


def member_from_arrays(F: Floats, I: Ints, fresh: Member, take: Callable[[Member, Floats], bool] | None = None) -> Member:
    """Turn arrays from a file into a member like the fresh one, safe for kernels, which check nothing. Raises `FileError`.

    Reads only what was learned, and only numbers that rounds can lead to (`take`, by default the kind's). The rest is the fresh member's, or
    derived.
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
    """Return the member in arrays of other sizes, at least its own."""
    copy = Member(aligned_zeros(floats), np.zeros(ints, dtype=np.int64))
    member.kind.pour(member, *copy)
    return copy


def aligned_zeros(n: int, *, sparse: bool = False) -> Floats:
    """Return n zeros that begin on a cache line; memory is allocated as they are written.

    `sparse`: few of them may ever be written. For large arrays NumPy uses pages of 2 MB, of which a single number allocates a whole one.
    """
    if sparse and 8 * n >= HUGE and hasattr(mmap, "MAP_ANONYMOUS"):
        return np.frombuffer(mmap.mmap(-1, 8 * n, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), dtype=np.float64)
    raw = np.zeros(n + 8)
    skip = -(raw.ctypes.data // 8) % 8
    return raw[skip : skip + n]
