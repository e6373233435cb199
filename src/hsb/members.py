"""The arrays of a policy's state: made, grown, widened by an arm.

A member is a pair (F, I) as laid out in `kernels/header.py`. Structures call the `make_*` functions; nothing here knows a structure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .errors import BudgetError
from .kernels import header as h
from .quantise import WORD, digit_bits, key_words
from .types import Floats, Ints

DEEPEST = 650.0
MOST_WORDS = 1 << 28  # of a graph's or of the intervals' state: 2 GB
DENSE_WORDS = 1 << 22  # a tree whose rows take at most so many words is kept dense; memory is used as nodes are visited
INTERVAL_RANGE = 700.0  # leaves * ln(arms) of the interval structures: beyond, w leaves the range of a double


class Member(NamedTuple):
    """One structure's share of a state."""

    F: Floats
    I: Ints


def arm_block(arms: int) -> tuple[int, int, int]:
    """Offset of the top level of an arm block, its size, and the words of the whole block (`kernels/arms.py`)."""
    top, size = 0, arms
    while size > h.BLOCK:
        padded = -(-size // h.BLOCK) * h.BLOCK
        top += padded
        size = padded // h.BLOCK
    return top, size, top + size


def _prior_block(arms: int) -> Floats:
    top, _, width = arm_block(arms)
    block = np.zeros(width)
    block[:arms] = 1.0
    at, size = 0, arms
    while at < top:
        padded = -(-size // h.BLOCK) * h.BLOCK
        block[at + padded : at + padded + padded // h.BLOCK] = block[at : at + padded].reshape(-1, h.BLOCK).sum(axis=1)
        at += padded
        size = padded // h.BLOCK
    return block


class _Layout:
    """Hands out consecutive pieces of F and I, then makes the arrays."""

    def __init__(self, kind: int, arms: int, visits: int, scratch: int = 2) -> None:
        self.f, self.i = 8, h.HEADER
        self.header = {h.KIND: kind, h.ARMS: arms, h.VISITS: visits, h.PARENT: -1}
        self.header[h.TOP], self.header[h.TOP_SIZE], self.header[h.WIDTH] = arm_block(arms)
        self.header[h.LOGS] = self.header[h.WIDTH]
        self.floats(h.TEMPLATE, self.header[h.WIDTH])
        self.floats(h.WEIGHT, scratch * visits)
        self.ints(h.BASES, visits)

    def floats(self, name: int, n: int) -> int:
        self.header[name] = self.f
        self.f += -(-n // 8) * 8
        return self.header[name]

    def ints(self, name: int, n: int) -> int:
        self.header[name] = self.i
        self.i += n
        return self.header[name]

    def make(self) -> Member:
        F = aligned_zeros(self.f)
        I = np.zeros(self.i, dtype=np.int64)
        for word, value in self.header.items():
            I[word] = value
        block = _prior_block(self.header[h.ARMS])
        F[I[h.TEMPLATE] : I[h.TEMPLATE] + len(block)] = block
        return Member(F, I)


def _afford(layout: _Layout, arms: int) -> None:
    if layout.f > MOST_WORDS:
        raise BudgetError(
            f"This structure with {arms} arms needs {layout.f * 8 / 2**30:.1f} GB; the limit is {MOST_WORDS * 8 / 2**30:.0f} GB. "
            "Use fewer arms or a smaller structure, or hsb.BinaryTree, which takes memory for what was visited only."
        )


def duplicate(member: Member) -> Member:
    """A copy; what was never visited stays untouched memory."""
    F, I = member
    if I[h.KIND] != h.DENSE:
        return Member(F.copy(), I.copy())
    twin = aligned_zeros(len(F))
    start, stride = int(I[h.ROW0]), int(I[h.STRIDE])
    twin[:start] = F[:start]
    used = np.flatnonzero(F[start : start + int(I[h.CAPACITY]) * stride].reshape(-1, stride)[:, :2].any(axis=1))
    for begin in (start, start + int(I[h.LOGS])):
        rows = begin + used[:, None] * stride + np.arange(stride)
        twin[rows] = F[rows]
    return Member(twin, I.copy())


def scratch(member: Member) -> list[slice]:
    """The parts of F that hold nothing between calls."""
    I = member.I
    parts = [(0, 8), (I[h.WEIGHT], I[h.VISITS] * (1 if I[h.KIND] in (h.DENSE, h.COMPRESSED) else 2))]
    if I[h.KIND] == h.GRAPH:
        parts += [(I[h.REACH], I[h.VISITS]), (I[h.RATIO], I[h.VISITS])]
    elif I[h.KIND] == h.ONE_OF:
        parts += [(I[h.CHILD_REACH], I[h.OPTIONS]), (I[h.CHILD_RATIO], I[h.OPTIONS])]
    elif I[h.KIND] == h.INTERVALS:
        parts += [(I[h.ADJOINT], (2 * I[h.GROUPS] - 1) * I[h.LEAVES] ** 2)]
    return [slice(int(begin), int(begin + n)) for begin, n in parts]


def aligned_zeros(n: int) -> Floats:
    """n zeros that begin on a cache line; memory is taken as they are written."""
    raw = np.zeros(n + 8)
    skip = -(raw.ctypes.data // 8) % 8
    return raw[skip : skip + n]


def make_tree(k: int, depth: int, arms: int, stop: float) -> Member:
    """A tree in which every node but the leaves stops with prior `stop`."""
    if -depth * math.log1p(-stop) > DEEPEST:
        raise BudgetError(
            f"depth={depth} with stop={stop}: passing every node has prior (1 - stop)^depth = e^{depth * math.log1p(-stop):.0f}, too "
            f"small for a double; depth * ln(1 / (1 - stop)) may be {DEEPEST:.0f} at most. Use a smaller depth or stop."
        )
    links = np.arange(depth + 1)
    go: Floats = np.power(1.0 - stop, links, dtype=np.float64)
    stay = -np.expm1(links * math.log1p(-stop))
    nodes = sum(k**level for level in range(depth + 1)) if depth < 64 else math.inf
    return _tree(k, depth, arms, go, stay, dense=2 * nodes * _row_words(arms, dense=True) <= DENSE_WORDS)


def make_cells(cells: int, arms: int) -> Member:
    """Trees of depth 0 side by side, one for each cell: the key is the cell's number."""
    ones = np.ones(1)
    member = _tree(2, 0, arms, ones, ones - 1.0, dense=True, roots=cells)
    member.I[h.ROOTS], member.I[h.PER_WORD] = cells, 0
    return member


def _row_words(arms: int, *, dense: bool) -> int:
    if dense:  # whole cache lines, the hidden part elsewhere
        return -(-(2 + max(arm_block(arms)[2], 4)) // 8) * 8
    return 4 + arm_block(arms)[2] + arms


def _tree(k: int, depth: int, arms: int, go: Floats, stay: Floats, *, dense: bool, roots: int = 0) -> Member:
    layout = _Layout(h.DENSE if dense else h.COMPRESSED, arms, max(depth + 1, 4), scratch=1)
    layout.floats(h.GO, depth + 1)
    layout.floats(h.STAY, depth + 1)
    layout.ints(h.PATH, depth + 1)
    bits = digit_bits(k)
    rows = roots or (sum(k**level for level in range(depth + 1)) if dense else 0)
    layout.header |= {
        h.DEPTH: depth,
        h.FANOUT: k,
        h.BITS: bits,
        h.PER_WORD: WORD // bits,
        h.WORDS: key_words(k, depth),
        h.STRIDE: _row_words(arms, dense=dense),
        h.LINK_STRIDE: 1 + k + key_words(k, depth),
        h.CAPACITY: rows,
        h.LOGS: rows * _row_words(arms, dense=True) if dense else 2 + arm_block(arms)[2],
    }
    layout.floats(h.ROW0, 2 * rows * _row_words(arms, dense=dense))
    layout.ints(h.LINKS, 0)
    F, I = member = layout.make()
    F[I[h.GO] : I[h.GO] + depth + 1] = go
    F[I[h.STAY] : I[h.STAY] + depth + 1] = stay
    return member


def grow(member: Member, rows: int) -> Member:
    """A compressed tree with room for that many rows."""
    F, I = member
    used = int(I[h.ROW0] + I[h.ROWS] * I[h.STRIDE])
    wider = aligned_zeros(int(I[h.ROW0] + rows * I[h.STRIDE]))
    wider[:used] = F[:used]
    links = np.zeros(int(I[h.LINKS] + rows * I[h.LINK_STRIDE]), dtype=np.int64)
    used = int(I[h.LINKS] + I[h.ROWS] * I[h.LINK_STRIDE])
    links[:used] = I[:used]
    links[h.CAPACITY] = rows
    return Member(wider, links)


def room(member: Member, rounds: int = 1 << 62) -> Member:
    """The member, with rows for at least one more round: twice what it has, or enough for `rounds` if that is less.

    Rows not yet used take no memory: they are pages of zeros that were never touched.
    """
    I = member.I
    used = int(I[h.ROWS])
    if I[h.KIND] != h.COMPRESSED or used + 2 <= I[h.CAPACITY]:
        return member
    return grow(member, used + max(2, min(2 * rounds, used + 64)))


def in_use(member: Member) -> int:
    """Bytes of a member that hold something."""
    F, I = member
    unused = int(I[h.CAPACITY] - I[h.ROWS]) if I[h.KIND] in (h.DENSE, h.COMPRESSED) else 0
    words = int(I[h.STRIDE] * 2 if I[h.KIND] == h.DENSE else I[h.STRIDE] + I[h.LINK_STRIDE])
    return F.nbytes + I.nbytes - 8 * unused * words


def make_intervals(leaves: int, groups: int, arms: int, counts: Sequence[float] | Floats, unit: float | None = None) -> Member:
    """All intervals of `leaves`; counts[L] = 1 / (child groups of an interval of length L, plus 1)."""
    if leaves * math.log(max(arms, 2)) > INTERVAL_RANGE:
        raise BudgetError(
            f"{leaves} leaves with {arms} arms: the interval structures need leaves * ln(arms) <= {INTERVAL_RANGE:.0f}, "
            f"here it is {leaves * math.log(max(arms, 2)):.0f}. Use fewer leaves, or hsb.BinaryTree, which has no such limit."
        )
    square = leaves * leaves
    layout = _Layout(h.INTERVALS, arms, (leaves + 1) // 2 * (leaves // 2 + 1), scratch=2)
    layout.header |= {h.LEAVES: leaves, h.GROUPS: groups}
    layout.floats(h.SIGMA, square)
    layout.floats(h.SIGMA_E, square)
    layout.floats(h.TABLE, 2 * square * (groups - 1))
    layout.floats(h.ADJOINT, 2 * square * (groups - 1) + square)
    layout.floats(h.ARM0, square * (arm_block(arms)[2] + arms))
    layout.floats(h.COUNTS, leaves + 1)
    layout.floats(h.UNIT, 1)
    _afford(layout, arms)
    F, I = member = layout.make()
    F[I[h.COUNTS] : I[h.COUNTS] + leaves + 1] = counts
    F[I[h.UNIT]] = unit = arms**-0.5 if unit is None else unit
    length = np.arange(leaves)[None, :] - np.arange(leaves)[:, None] + 1
    F[I[h.SIGMA] : I[h.SIGMA] + square] = (np.where(length > 0, float(unit) ** np.maximum(length, 1), 1.0) / arms).ravel()
    _fill_blocks(member)
    from .kernels import intervals

    intervals.fill(F, I)
    return member


def make_graph(shape: int, spec: Sequence[int] | Ints, option_counts: Ints, visits: int, edges: int, arms: int) -> Member:
    """Nodes 0, 1, ... with option_counts[i] options each (0: no such node); see `kernels/locate.py` for shape and spec."""
    layout = _Layout(h.GRAPH, arms, visits)
    layout.header[h.SHAPE] = shape
    layout.floats(h.REACH, visits)
    layout.floats(h.RATIO, visits)
    layout.ints(h.LIST, visits)
    layout.ints(h.START, visits + 1)
    layout.ints(h.EDGE, edges)
    layout.ints(h.SPEC, len(spec))
    layout.ints(h.NODE0, len(option_counts))
    sizes = np.where(option_counts > 0, 1 + 2 * option_counts + arm_block(arms)[2] + arms, 0)
    first = layout.f
    layout.f += int(sizes.sum())
    _afford(layout, arms)
    F, I = member = layout.make()
    I[I[h.SPEC] : I[h.SPEC] + len(spec)] = spec
    rows = first + np.concatenate(([0], np.cumsum(sizes)[:-1]))
    I[I[h.NODE0] : I[h.NODE0] + len(rows)] = rows
    for k in np.unique(option_counts[option_counts > 0]):
        at = rows[option_counts == k]
        F[at[:, None] + 1 + np.arange(k)] = 1.0 / k
    _fill_blocks(member)
    if shape == h.BOXES:
        from .kernels import locate

        locate.box_edges(I)
    return member


def make_one_of(options: int, arms: int) -> Member:
    """The head of `OneOf`: stop, or one of the other options, each with prior 1 / options."""
    layout = _Layout(h.ONE_OF, arms, 1)
    layout.header[h.OPTIONS] = options
    layout.floats(h.NODE, 1 + 2 * options + arm_block(arms)[2] + arms)
    layout.floats(h.CHILD_REACH, options)
    layout.floats(h.CHILD_RATIO, options)
    F, I = member = layout.make()
    F[I[h.NODE] + 1 : I[h.NODE] + 1 + options] = 1.0 / options
    _fill_blocks(member)
    return member


def blocks(member: Member) -> Ints:
    """Where in F each arm block in use begins."""
    F, I = member
    kind = I[h.KIND]
    if kind in (h.DENSE, h.COMPRESSED):
        rows = I[h.ROW0] + I[h.STRIDE] * np.arange(I[h.ROWS] if kind == h.COMPRESSED else I[h.CAPACITY])
        return np.asarray(rows[F[rows] + F[rows + 1] != 0.0] + 2)
    if kind == h.INTERVALS:
        first, last = np.triu_indices(I[h.LEAVES])
        return np.asarray(I[h.ARM0] + (I[h.WIDTH] + I[h.ARMS]) * (first * I[h.LEAVES] + last))
    if kind == h.ONE_OF:
        return np.array([I[h.NODE] + 1 + 2 * I[h.OPTIONS]])
    rows = _graph_rows(member)
    return np.asarray(np.append(rows[1:], len(F)) - I[h.WIDTH] - I[h.ARMS])


def _graph_rows(member: Member) -> Ints:
    rows = member.I[member.I[h.NODE0] :]
    return np.unique(rows[rows < len(member.F)])


def _fill_blocks(member: Member) -> None:
    F, I = member
    width = int(I[h.WIDTH])
    F[blocks(member)[:, None] + np.arange(width)] = F[I[h.TEMPLATE] : I[h.TEMPLATE] + width]


def add_arm(member: Member) -> Member:
    """The member with one more arm.

    In every node, visited or not, the new arm gets the share 1/(M+1) and the others keep their odds, scaled by M/(M+1).
    """
    from .kernels import arms as kernels

    F, I = member
    wider = _widened(member)
    old, new = blocks(member), _block_places(member, wider)
    kept = 2 if I[h.KIND] in (h.DENSE, h.COMPRESSED) else 0  # what a tree's row hides stands before its logarithms
    kernels.widen(F, I, wider.F, wider.I, old, new, _ahead(member, old), _rates(member, wider, new), kept)
    wider.I[h.PARENT], wider.I[h.OPTION] = I[h.PARENT], I[h.OPTION]
    return wider


def _rates(member: Member, wider: Member, new: Ints) -> Ints:
    """Where the rate that goes with each arm block will stand (trees: in the row or, hidden, behind it), -1 where there is none."""
    I = wider.I
    if I[h.KIND] == h.INTERVALS:
        return np.asarray(I[h.SIGMA] + (new - I[h.ARM0]) // (I[h.WIDTH] + I[h.ARMS]))
    if I[h.KIND] in (h.DENSE, h.COMPRESSED):
        shown = member.F[blocks(member) - 2] != 0.0
        return np.asarray(np.where(shown, new - 2, new - 2 + I[h.LOGS]))
    return np.full(len(new), -1)


def _widened(member: Member) -> Member:
    """A fresh member of the same shape for one more arm; all but the nodes' rows is already as in the old one."""
    F, I = member
    arms = int(I[h.ARMS]) + 1
    if I[h.KIND] in (h.DENSE, h.COMPRESSED):
        if I[h.ROOTS] > 0:
            wider = make_cells(int(I[h.ROOTS]), arms)
            wider.I[h.ROWS] = I[h.ROWS]
            return wider
        k, depth = int(I[h.FANOUT]), int(I[h.DEPTH])
        go, stay = (F[I[at] : I[at] + depth + 1] for at in (h.GO, h.STAY))
        tree = _tree(k, depth, arms, go, stay, dense=bool(I[h.KIND] == h.DENSE))
        if I[h.KIND] == h.COMPRESSED:
            tree = grow(tree, int(I[h.CAPACITY]))
            tree.I[tree.I[h.LINKS] :] = I[I[h.LINKS] :]
        tree.I[h.ROWS] = I[h.ROWS]
        return tree
    if I[h.KIND] == h.INTERVALS:
        leaves, groups = int(I[h.LEAVES]), int(I[h.GROUPS])
        counts = F[I[h.COUNTS] : I[h.COUNTS] + leaves + 1]
        graph = make_intervals(leaves, groups, arms, counts, unit=float(F[I[h.UNIT]]))
        for table, squares in ((h.SIGMA, 1), (h.SIGMA_E, 1), (h.TABLE, 2 * (groups - 1))):
            words = squares * leaves * leaves
            graph.F[graph.I[table] : graph.I[table] + words] = F[I[table] : I[table] + words]
        return graph
    if I[h.KIND] == h.ONE_OF:
        return make_one_of(int(I[h.OPTIONS]), arms)
    spec = I[I[h.SPEC] : I[h.NODE0]]
    rows = I[I[h.NODE0] :]
    sizes = np.diff(np.append(rows, len(F)))
    options = np.where(sizes > 0, (sizes - 1 - I[h.WIDTH] - I[h.ARMS]) // 2, 0)
    return make_graph(int(I[h.SHAPE]), spec, options, int(I[h.VISITS]), int(I[h.SPEC] - I[h.EDGE]), arms)


def _block_places(member: Member, wider: Member) -> Ints:
    """The places in `wider` of the arm blocks that the member has in use."""
    if member.I[h.KIND] in (h.DENSE, h.COMPRESSED):
        rows = (blocks(member) - 2 - member.I[h.ROW0]) // member.I[h.STRIDE]
        return np.asarray(wider.I[h.ROW0] + rows * wider.I[h.STRIDE] + 2)
    return blocks(wider)


def _ahead(member: Member, places: Ints) -> Ints:
    """How many words of options stand before each arm block."""
    I = member.I
    if I[h.KIND] in (h.DENSE, h.COMPRESSED):
        return np.full(len(places), 2)
    if I[h.KIND] == h.INTERVALS:
        return np.zeros(len(places), dtype=np.int64)
    if I[h.KIND] == h.ONE_OF:
        return np.array([1 + 2 * I[h.OPTIONS]])
    return places - _graph_rows(member)
