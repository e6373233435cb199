"""Binary and K-ary trees: a row a node (DENSE), or a row a chain of nodes (COMPRESSED); see `kernels/rows.py` and `kernels/chains.py`."""

import math

import numpy as np

from ... import reproducible_math
from ...errors import BudgetError, FileError
from ...structures.quantise import WORD, digit_bits, key_words
from ...types import Floats, Ints
from ..kernels import header as h
from ..kernels.words import tree as tree_words
from .member import Kind, Layout, Member, Walk, aligned_zeros, arm_block
from .sound import PART, take_rows

DEEPEST = 650.0
DENSE_WORDS = 1 << 22  # a tree whose rows take at most so many words is kept dense; memory is used as nodes are visited


def make_tree(k: int, depth: int, arms: int, stop: float) -> Member:
    """A tree in which every node but the leaves stops with prior `stop`."""
    if -depth * reproducible_math.log1p(-stop) > DEEPEST:
        passing = f"(1 - stop)^depth = e^{depth * reproducible_math.log1p(-stop):.0f}"
        raise BudgetError(
            f"depth={depth} with stop={stop}: passing every node has prior {passing}, too "
            f"small for a double; depth * ln(1 / (1 - stop)) may be {DEEPEST:.0f} at most. Use a smaller depth or stop."
        )
    go, stay = chain_prior(stop, depth)
    nodes = sum(k**level for level in range(depth + 1)) if depth < 64 else math.inf
    return _tree(k, depth, arms, go, stay, dense=2 * nodes * _row_words(arms, dense=True) <= DENSE_WORDS)


def chain_prior(stop: float, depth: int) -> tuple[Floats, Floats]:
    """Of 0, 1, ... depth links: the prior of passing all of them, (1 - stop)^links, and of stopping at one.

    >>> [numbers.tolist() for numbers in chain_prior(0.5, 2)]
    [[1.0, 0.5, 0.25], [0.0, 0.5, 0.75]]
    """
    each = reproducible_math.log1p(-stop) if stop < 1.0 else 0.0
    go = np.multiply.accumulate(np.append(1.0, np.full(depth, 1.0 - stop)))
    far = go <= 0.5  # there nothing is lost by taking it from 1
    return go, np.where(far, 1.0 - go, [-reproducible_math.expm1(links * each) for links in range(depth + 1)])


def make_cells(cells: int, arms: int) -> Member:
    """Trees of depth 0 side by side, one for each cell: the key is the cell's number."""
    ones = np.ones(1)
    member = _tree(2, 0, arms, ones, ones - 1.0, dense=True, roots=cells)
    member.I[tree_words.ROOTS], member.I[tree_words.PER_WORD] = cells, 0
    return member


def _row_words(arms: int, *, dense: bool) -> int:
    if dense:  # whole cache lines, the hidden part elsewhere
        return -(-(2 + max(arm_block(arms)[2], 4)) // 8) * 8
    return 4 + arm_block(arms)[2] + arms


def _tree(k: int, depth: int, arms: int, go: Floats, stay: Floats, *, dense: bool, roots: int = 0) -> Member:
    layout = Layout(h.DENSE if dense else h.COMPRESSED, arms, max(depth + 1, 4), scratch=1)
    layout.floats(tree_words.GO, depth + 1)
    layout.floats(tree_words.STAY, depth + 1)
    layout.ints(tree_words.PATH, depth + 1)
    bits = digit_bits(k)
    rows = roots or (sum(k**level for level in range(depth + 1)) if dense else 0)
    layout.header |= {
        tree_words.DEPTH: depth,
        tree_words.FANOUT: k,
        tree_words.BITS: bits,
        tree_words.PER_WORD: WORD // bits,
        tree_words.WORDS: key_words(k, depth),
        tree_words.STRIDE: _row_words(arms, dense=dense),
        tree_words.LINK_STRIDE: 1 + k + key_words(k, depth),
        tree_words.CAPACITY: rows,
        h.LOGS: rows * _row_words(arms, dense=True) if dense else 2 + arm_block(arms)[2],
    }
    layout.floats(tree_words.ROW0, 2 * rows * _row_words(arms, dense=dense))
    layout.ints(tree_words.LINKS, 0)
    layout.afford(arms)
    F, I = member = layout.make()
    F[I[tree_words.GO] : I[tree_words.GO] + depth + 1] = go
    F[I[tree_words.STAY] : I[tree_words.STAY] + depth + 1] = stay
    return member


class Tree(Kind):
    """Both kinds of trees."""

    kept = 2  # what a row hides stands before its logarithms

    def blocks(self, member: Member) -> Ints:
        F, I = member
        rows = I[tree_words.ROW0] + I[tree_words.STRIDE] * np.arange(
            I[tree_words.ROWS] if I[h.KIND] == h.COMPRESSED else I[tree_words.CAPACITY]
        )
        return np.asarray(rows[F[rows] + F[rows + 1] != 0.0] + 2)

    def scratch(self, member: Member) -> list[tuple[int, int]]:
        """One number for each node of a path."""
        return [(0, 8), (int(member.I[h.WEIGHT]), int(member.I[h.VISITS]))]

    def scratch_ints(self, member: Member) -> list[tuple[int, int]]:
        """The path too, and whether it was whole."""
        I = member.I
        return [*super().scratch_ints(member), (int(I[tree_words.PATH]), int(I[tree_words.DEPTH]) + 1), (tree_words.WHOLE, 1)]

    def pour(self, member: Member, F: Floats, I: Ints) -> None:
        """Row by row what was visited. A compressed tree gets the capacity that there is room for."""
        f, i = member
        start, stride = int(i[tree_words.ROW0]), int(i[tree_words.STRIDE])
        if i[h.KIND] == h.DENSE:
            F[:start] = f[:start]
            used = np.flatnonzero(
                f[start : start + int(i[tree_words.CAPACITY]) * stride].reshape(-1, stride)[:, :2].any(axis=1)
            )
            for begin in (start, start + int(i[h.LOGS])):
                rows = begin + used[:, None] * stride + np.arange(stride)
                F[rows] = f[rows]
            I[:] = i
            return
        end = start + int(i[tree_words.ROWS]) * stride
        F[:end] = f[:end]
        end = int(i[tree_words.LINKS] + i[tree_words.ROWS] * i[tree_words.LINK_STRIDE])
        I[:end] = i[:end]
        I[tree_words.CAPACITY] = (len(I) - i[tree_words.LINKS]) // i[tree_words.LINK_STRIDE]

    def room(self, member: Member, rounds: int) -> tuple[int, int]:
        """Twice the rows that it has, or enough for `rounds` if that is less. Rows not yet used take no memory."""
        I = member.I
        used = int(I[tree_words.ROWS])
        if I[h.KIND] != h.COMPRESSED or used + 2 <= I[tree_words.CAPACITY]:
            return super().room(member, rounds)
        rows = used + max(2, min(2 * rounds, used + 64))
        return int(I[tree_words.ROW0] + rows * I[tree_words.STRIDE]), int(
            I[tree_words.LINKS] + rows * I[tree_words.LINK_STRIDE]
        )

    def bytes_in_use(self, member: Member) -> int:
        I = member.I
        words = int(I[tree_words.STRIDE] * 2 if I[h.KIND] == h.DENSE else I[tree_words.STRIDE] + I[tree_words.LINK_STRIDE])
        return super().bytes_in_use(member) - 8 * int(I[tree_words.CAPACITY] - I[tree_words.ROWS]) * words

    def trimmed(self, member: Member) -> Member:
        """A compressed tree without the rows not in use."""
        F, I = member
        if I[h.KIND] != h.COMPRESSED:
            return member
        I = I[: I[tree_words.LINKS] + I[tree_words.ROWS] * I[tree_words.LINK_STRIDE]].copy()
        I[tree_words.CAPACITY] = I[tree_words.ROWS]
        return Member(F[: I[tree_words.ROW0] + I[tree_words.ROWS] * I[tree_words.STRIDE]], I)

    def fits(self, F: Floats, I: Ints, fresh: Member) -> bool:
        """The header must be that of the settings, the links a tree, and the prior the settings' own."""
        ours, theirs = fresh.I[: h.HEADER].copy(), I[: h.HEADER].copy()
        if len(theirs) != h.HEADER:
            return False
        free = [tree_words.ROWS, tree_words.CAPACITY, tree_words.WHOLE]
        ours[free], theirs[free] = 0, 0
        if not np.array_equal(ours, theirs):
            return False
        rows = int(I[tree_words.ROWS])
        if I[h.KIND] == h.DENSE:
            same = len(I) == len(fresh.I) and len(F) == len(fresh.F) and I[tree_words.CAPACITY] == fresh.I[tree_words.CAPACITY]
        else:
            links = I[I[tree_words.LINKS] :]
            same = (
                0 <= rows <= len(I)
                and len(links) == rows * I[tree_words.LINK_STRIDE]
                and len(F) == I[tree_words.ROW0] + rows * I[tree_words.STRIDE]
            )
            same = same and I[tree_words.CAPACITY] == rows and is_tree(links.reshape(rows, int(I[tree_words.LINK_STRIDE])), I)
        prior = slice(int(fresh.I[tree_words.GO]), int(fresh.I[tree_words.STAY] + fresh.I[tree_words.DEPTH] + 1))
        if same and not np.allclose(F[prior], fresh.F[prior], rtol=1e-12, atol=0.0):
            raise FileError("its state does not fit its stop prior.")
        return bool(same)

    def like(self, I: Ints, fresh: Member) -> Member:
        """A tree that was kept dense while its arms were few stays so as they become more."""
        own = fresh.I
        if I[h.KIND] == own[h.KIND] or I[h.KIND] not in (h.DENSE, h.COMPRESSED) or not own[h.TEMPLATE] or own[tree_words.ROOTS]:
            return fresh
        depth = int(own[tree_words.DEPTH])
        go, stay = (fresh.F[own[at] : own[at] + depth + 1] for at in (tree_words.GO, tree_words.STAY))
        other = _tree(int(own[tree_words.FANOUT]), depth, int(own[h.ARMS]), go, stay, dense=bool(I[h.KIND] == h.DENSE))
        other.I[[h.PARENT, h.OPTION]] = own[[h.PARENT, h.OPTION]]
        return other

    def empty(self, F: Floats, I: Ints, fresh: Member) -> Member:
        """A compressed tree's links are those of the file."""
        if I[h.KIND] == h.DENSE:
            return super().empty(F, I, fresh)
        own = Member(aligned_zeros(len(F)), I.copy())
        start = int(I[tree_words.ROW0])
        own.F[:start] = fresh.F[:start]
        own.I[: I[tree_words.LINKS]] = fresh.I[: I[tree_words.LINKS]]
        own.I[[tree_words.ROWS, tree_words.CAPACITY]] = I[tree_words.ROWS]
        return own

    def take(self, own: Member, F: Floats) -> bool:
        """Rows as `engine/kernels/rows.py` has them; of a dense tree, those that were visited, each below another and none a dead end."""
        I = own.I
        depth = int(I[tree_words.DEPTH])
        forbidden = depth > 0 and own.F[I[tree_words.STAY] + 1] == 0.0
        if I[h.KIND] == h.COMPRESSED:
            rows = I[tree_words.ROW0] + I[tree_words.STRIDE] * np.arange(I[tree_words.ROWS])
            leaf = (I[I[tree_words.LINKS] :: I[tree_words.LINK_STRIDE]][: len(rows)] & 4095) == depth
            return take_rows(own, F, rows, leaf, forbidden)
        start, stride, nodes, k = (
            int(I[tree_words.ROW0]),
            int(I[tree_words.STRIDE]),
            int(I[tree_words.CAPACITY]),
            int(I[tree_words.FANOUT]),
        )
        seen = (F[start : start + nodes * stride].reshape(nodes, stride)[:, :2] != 0.0).any(axis=1)
        visited = np.flatnonzero(seen)
        own.I[tree_words.ROWS] = len(visited)
        first = nodes if depth == 0 else nodes - k**depth  # of the leaves
        leaf = np.ones(len(visited), dtype=bool) if depth == 0 else visited >= first
        if depth > 0:
            above = (visited[visited > 0] - 1) // k
            inner = visited[visited < first]
            if not seen[above].all() or not np.isin(inner, above).all():
                return False
        return take_rows(own, F, start + stride * visited, leaf, forbidden)

    def flatten(self, member: Member, r: float, below: dict[int, float], walk: Walk | None) -> float:
        from ..kernels import flatten

        I = member.I
        if I[h.KIND] == h.DENSE:
            return float(flatten.dense(*member, r, np.zeros(int(I[tree_words.CAPACITY]))))
        tops = (
            I[
                I[tree_words.LINKS] : I[tree_words.LINKS] + I[tree_words.ROWS] * I[tree_words.LINK_STRIDE] : I[
                    tree_words.LINK_STRIDE
                ]
            ]
            >> 12
        )
        return float(flatten.compressed(*member, r, np.argsort(-tops, kind="stable"), np.zeros(int(I[tree_words.ROWS]))))

    def widened(self, member: Member) -> Member:
        """The same links; rows for one more arm."""
        F, I = member
        arms = int(I[h.ARMS]) + 1
        if I[tree_words.ROOTS] > 0:
            wider = make_cells(int(I[tree_words.ROOTS]), arms)
        else:
            depth = int(I[tree_words.DEPTH])
            go, stay = (F[I[at] : I[at] + depth + 1] for at in (tree_words.GO, tree_words.STAY))
            wider = _tree(int(I[tree_words.FANOUT]), depth, arms, go, stay, dense=bool(I[h.KIND] == h.DENSE))
        if I[h.KIND] == h.COMPRESSED:
            wide_F = np.zeros(int(wider.I[tree_words.ROW0] + I[tree_words.CAPACITY] * wider.I[tree_words.STRIDE]))
            wide_F[: len(wider.F)] = wider.F
            wide_I = np.concatenate((wider.I[: wider.I[tree_words.LINKS]], I[I[tree_words.LINKS] :]))
            wide_I[tree_words.CAPACITY] = I[tree_words.CAPACITY]
            wider = Member(wide_F, wide_I)
        wider.I[tree_words.ROWS] = I[tree_words.ROWS]
        return wider

    def places(self, member: Member, wider: Member) -> Ints:
        rows = (self.blocks(member) - 2 - member.I[tree_words.ROW0]) // member.I[tree_words.STRIDE]
        return np.asarray(wider.I[tree_words.ROW0] + rows * wider.I[tree_words.STRIDE] + 2)

    def ahead(self, member: Member, blocks: Ints) -> Ints:
        return np.full(len(blocks), 2)

    def rates(self, member: Member, wider: Member, places: Ints) -> Ints:
        seen = member.F[self.blocks(member) - 2] != 0.0
        return np.asarray(np.where(seen, places - 2, places - 2 + wider.I[h.LOGS]))


def is_tree(links: Ints, I: Ints) -> bool:
    """Does every link lead to rows below it, each row hanging from one other, with keys within bounds that follow the path to them?"""
    rows, k = len(links), int(I[tree_words.FANOUT])
    bottom, top = links[:, 0] & 4095, links[:, 0] >> 12
    children = links[:, 1 : 1 + k]
    above, option = np.nonzero(children >= 0)
    below = children[above, option]
    return bool(
        (rows == 0 or top[0] == 0)
        and np.all((top >= 0) & (top <= bottom) & (bottom <= I[tree_words.DEPTH]))
        and np.all((children >= -1) & (children < rows))
        and np.array_equal(np.sort(below), np.arange(1, rows))
        and np.all(top[below] == bottom[above] + 1)
        and _keys_agree(links[:, 1 + k :], I, above, option, below, bottom)
    )


def _keys_agree(keys: Ints, I: Ints, above: Ints, option: Ints, below: Ints, bottom: Ints) -> bool:
    """Has every key digits that there are, and does each row's begin as that of the row above, going on with the digit of its link?"""
    bits, per_word = int(I[tree_words.BITS]), int(I[tree_words.PER_WORD])
    if np.any(keys >> (bits * per_word) != 0):
        return False
    levels = keys.shape[1] * per_word
    step = max(1, PART // max(levels, 1))
    for start in range(0, max(len(keys), 1), step):
        if np.any(_digits(keys[start : start + step], bits, per_word) >= I[tree_words.FANOUT]):
            return False
    for start in range(0, len(below), step):
        some = slice(start, start + step)
        theirs, ours = _digits(keys[below[some]], bits, per_word), _digits(keys[above[some]], bits, per_word)
        level, at = np.arange(levels), bottom[above[some], None]
        if np.any((theirs != ours) & (level < at)) or np.any(np.take_along_axis(theirs, at, axis=1)[:, 0] != option[some]):
            return False
    return True


def _digits(keys: Ints, bits: int, per_word: int) -> Ints:
    """The digits of keys, a row each, the first split first."""
    found = keys[:, :, None] >> (bits * np.arange(per_word - 1, -1, -1)) & ((1 << bits) - 1)
    return np.asarray(found.reshape(len(keys), keys.shape[1] * per_word))


Tree(h.DENSE, h.COMPRESSED)
