"""Binary and K-ary trees: a row for each node (DENSE) or chain of nodes (COMPRESSED); see `kernels/rows.py` and `kernels/chains.py`."""

import math
from functools import lru_cache

import numpy as np

from ... import reproducible_math
from ...errors import BudgetError, FileError
from ...structures.quantise import WORD, digit_bits, key_words
from ...types import Floats, Ints
from ..kernels import header as h
from ..kernels.words import tree as tree_words
from .member import FEW_WORDS, Kind, Layout, Member, Walk, aligned_zeros, arm_block, hung_as
from .sound import PART, take_rows
from .views import TreeView

DEEPEST = 650.0
DENSE_WORDS = 1 << 22  # a tree whose rows take at most this number of words is dense; visited nodes allocate memory


def make_tree(k: int, depth: int, arms: int, stop: float, most_rows: int = 0) -> Member:
    """Make a tree in which every inner node stops with prior `stop`. With `most_rows` it reports when it has that many rows (`coarser`)."""
    check_prior(stop, depth)
    go, stay = chain_prior(stop, depth)
    nodes = _nodes(k, depth) if depth < 64 else math.inf
    small = 2 * nodes * _row_words(arms, dense=True) <= DENSE_WORDS
    return _tree(k, depth, arms, go, stay, dense=small and not most_rows, most_rows=most_rows)


@lru_cache(32)
def check_prior(stop: float, depth: int) -> None:
    """Raise `BudgetError` for a tree so deep that the prior of a path to a leaf underflows a double."""
    if -depth * reproducible_math.log1p(-stop) > DEEPEST:
        passing = f"(1 - stop)^depth = e^{depth * reproducible_math.log1p(-stop):.0f}"
        raise BudgetError(
            f"depth={depth} with stop={stop}: passing every node has prior {passing}, too "
            f"small for a double; depth * ln(1 / (1 - stop)) may be {DEEPEST:.0f} at most. Use a smaller depth or stop."
        )


@lru_cache(32)
def chain_prior(stop: float, depth: int) -> tuple[Floats, Floats]:
    """Return for 0, 1, ... depth links the prior of passing all of them, (1 - stop)^links, and of stopping at one.

    >>> [numbers.tolist() for numbers in chain_prior(0.5, 2)]
    [[1.0, 0.5, 0.25], [0.0, 0.5, 0.75]]
    """
    each = reproducible_math.log1p(-stop) if stop < 1.0 else 0.0
    go = np.multiply.accumulate(np.append(1.0, np.full(depth, 1.0 - stop)))
    far = go <= 0.5  # there the subtraction from 1 is accurate
    stay = np.where(far, 1.0 - go, [-reproducible_math.expm1(links * each) for links in range(depth + 1)])
    go.flags.writeable = stay.flags.writeable = False  # shared by many trees
    return go, stay


def make_cells(cells: int, arms: int) -> Member:
    """Make trees of depth 0, one for each cell; the key is the cell's number."""
    ones = np.ones(1)
    member = _tree(2, 0, arms, ones, ones - 1.0, dense=True, roots=cells)
    member.I[tree_words.ROOTS], member.I[tree_words.PER_WORD] = cells, 0
    return member


def _nodes(k: int, depth: int) -> int:
    return int(sum([k**level for level in range(depth + 1)]))


def _row_words(arms: int, *, dense: bool) -> int:
    if dense:  # whole cache lines; the hidden part is separate
        return -(-(2 + max(arm_block(arms)[2], 4)) // 8) * 8
    return 4 + arm_block(arms)[2] + arms


def _tree(
    k: int, depth: int, arms: int, go: Floats, stay: Floats, *, dense: bool, roots: int = 0, most_rows: int = 0
) -> Member:
    layout = Layout(h.DENSE if dense else h.COMPRESSED, arms, max(depth + 1, 4), scratch=1)
    layout.floats(tree_words.GO, depth + 1)
    layout.floats(tree_words.STAY, depth + 1)
    layout.ints(tree_words.PATH, depth + 1)
    bits = digit_bits(k)
    rows = roots or (_nodes(k, depth) if dense else 0)
    layout.header |= {
        tree_words.DEPTH: depth,
        tree_words.FANOUT: k,
        tree_words.BITS: bits,
        tree_words.PER_WORD: WORD // bits,
        tree_words.WORDS: key_words(k, depth),
        tree_words.STRIDE: _row_words(arms, dense=dense),
        tree_words.LINK_STRIDE: 1 + k + key_words(k, depth),
        tree_words.CAPACITY: rows,
        tree_words.MOST_ROWS: most_rows,
        h.LOGS: rows * _row_words(arms, dense=True) if dense else 2 + arm_block(arms)[2],
    }
    layout.floats(tree_words.ROW0, 2 * rows * _row_words(arms, dense=dense))
    layout.ints(tree_words.LINKS, 0)
    layout.afford(arms)
    member = layout.make()
    tree = TreeView(member)
    tree.go[:], tree.stay[:] = go, stay
    return member


class Tree(Kind):
    """Trees, dense and compressed."""

    kept = 2  # a row's hidden part comes before its logarithms

    def blocks(self, member: Member) -> Ints:
        tree, F = TreeView(member), member.F
        rows = tree.row0 + tree.stride * np.arange(tree.capacity if tree.dense else tree.used)
        return np.asarray(rows[F[rows] + F[rows + 1] != 0.0] + 2)

    def scratch(self, member: Member) -> list[tuple[int, int]]:
        """Return one number for each node of a path."""
        return [(0, 8), (int(member.I[h.WEIGHT]), member.visits)]

    def scratch_ints(self, member: Member) -> list[tuple[int, int]]:
        """Return also the path, and whether it was whole."""
        tree = TreeView(member)
        return [*super().scratch_ints(member), (tree.path_at, tree.depth + 1), (tree_words.WHOLE, 1)]

    def pour(self, member: Member, F: Floats, I: Ints) -> None:
        """Copy visited rows, or all of a small tree. A compressed tree gets the capacity of the new arrays."""
        f, i = member
        if len(f) <= FEW_WORDS and (len(f), len(i)) == (len(F), len(I)):
            F[:], I[:] = f, i
            return
        tree = TreeView(member)
        start, stride = tree.row0, tree.stride
        if tree.dense:
            F[:start] = f[:start]
            used = np.flatnonzero(f[start : start + tree.capacity * stride].reshape(-1, stride)[:, :2].any(axis=1))
            for begin in (start, start + tree.logs):
                rows = begin + used[:, None] * stride + np.arange(stride)
                F[rows] = f[rows]
            I[:] = i
            return
        end = start + tree.used * stride
        F[:end] = f[:end]
        end = tree.links0 + tree.used * tree.link_stride
        I[:end] = i[:end]
        I[tree_words.CAPACITY] = (len(I) - tree.links0) // tree.link_stride

    def room(self, member: Member, rounds: int) -> tuple[int, int]:
        """Return sizes for twice the rows, or for `rounds` if that is less. Unused rows take no memory.

        A tree that is nearly full grows too: all trees of a state grow in few calls, each of which copies the state.
        """
        tree = TreeView(member)
        if tree.dense or (tree.used + 2 <= tree.capacity and 4 * tree.used < 3 * tree.capacity):
            return super().room(member, rounds)
        rows = tree.used + max(2, min(2 * rounds, tree.used + 64))
        if tree.most_rows:
            rows = max(tree.used + 2, min(rows, tree.most_rows))
        rows = max(rows, tree.capacity)
        return tree.row0 + rows * tree.stride, tree.links0 + rows * tree.link_stride

    def bytes_in_use(self, member: Member) -> int:
        tree = TreeView(member)
        words = tree.stride * 2 if tree.dense else tree.stride + tree.link_stride
        return super().bytes_in_use(member) - 8 * (tree.capacity - tree.used) * words

    def trimmed(self, member: Member) -> Member:
        """Return a compressed tree without unused rows."""
        tree = TreeView(member)
        if tree.dense:
            return member
        I = member.I[: tree.links0 + tree.used * tree.link_stride].copy()
        I[tree_words.CAPACITY] = tree.used
        return Member(member.F[: tree.row0 + tree.used * tree.stride], I)

    def fits(self, F: Floats, I: Ints, fresh: Member) -> bool:
        """Return whether the header is that of the settings and the links are a tree. Raises `FileError` for another stop prior."""
        ours, theirs = fresh.I[: h.HEADER].copy(), I[: h.HEADER].copy()
        if len(theirs) != h.HEADER:
            return False
        free = [tree_words.ROWS, tree_words.CAPACITY, tree_words.WHOLE]
        ours[free], theirs[free] = 0, 0
        if not np.array_equal(ours, theirs):
            return False
        own, tree = TreeView(fresh), TreeView(Member(F, I))
        if tree.dense:
            same = len(I) == len(fresh.I) and len(F) == len(fresh.F) and tree.capacity == own.capacity
        else:
            same = 0 <= tree.used <= len(I) and len(I) == tree.links0 + tree.used * tree.link_stride
            same = same and len(F) == tree.row0 + tree.used * tree.stride and tree.capacity == tree.used and is_tree(tree)
        prior = slice(own.go_at, own.stay_at + own.depth + 1)
        if same and not np.allclose(F[prior], fresh.F[prior], rtol=1e-12, atol=0.0):
            raise FileError("its state does not fit its stop prior.")
        return same

    def like(self, I: Ints, fresh: Member) -> Member:
        """Return a fresh tree of the stored layout: a tree stays dense as its arms become more."""
        own, kind = TreeView(fresh), I[h.KIND]
        if kind == fresh.number or kind not in (h.DENSE, h.COMPRESSED) or not fresh.I[h.TEMPLATE] or own.roots:
            return fresh
        return hung_as(fresh, _tree(own.fanout, own.depth, fresh.arms, own.go, own.stay, dense=bool(kind == h.DENSE)))

    def empty(self, F: Floats, I: Ints, fresh: Member) -> Member:
        """Return a member with the file's links, if the tree is compressed."""
        tree = TreeView(Member(F, I))
        if tree.dense:
            return super().empty(F, I, fresh)
        own = Member(aligned_zeros(len(F)), I.copy())
        own.F[: tree.row0] = fresh.F[: tree.row0]
        own.I[: tree.links0] = fresh.I[: tree.links0]
        own.I[[tree_words.ROWS, tree_words.CAPACITY]] = tree.used
        return own

    def take(self, own: Member, F: Floats) -> bool:
        """Take the rows (`engine/kernels/rows.py`). In a dense tree each visited row needs a visited parent, each inner one a visited child."""
        tree = TreeView(own)
        forbidden = tree.depth > 0 and own.F[tree.stay_at + 1] == 0.0
        if not tree.dense:
            rows = tree.row0 + tree.stride * np.arange(tree.used)
            return take_rows(own, F, rows, (tree.links[:, 0] & 4095) == tree.depth, forbidden)
        nodes, k = tree.capacity, tree.fanout
        seen = (TreeView(Member(F, own.I)).rows[:, :2] != 0.0).any(axis=1)
        visited = np.flatnonzero(seen)
        own.I[tree_words.ROWS] = len(visited)
        first = nodes if tree.depth == 0 else nodes - k**tree.depth  # of the leaves
        leaf = np.ones(len(visited), dtype=bool) if tree.depth == 0 else visited >= first
        if tree.depth > 0:
            above = (visited[visited > 0] - 1) // k
            inner = visited[visited < first]
            if not seen[above].all() or not np.isin(inner, above).all():
                return False
        return take_rows(own, F, tree.row0 + tree.stride * visited, leaf, forbidden)

    def flatten(self, member: Member, r: float, below: dict[int, float], walk: Walk | None) -> float:
        from ..kernels import flatten

        tree = TreeView(member)
        if tree.dense:
            return float(flatten.dense(*member, r, np.zeros(tree.capacity)))
        tops = tree.links[:, 0] >> 12
        return float(flatten.compressed(*member, r, np.argsort(-tops, kind="stable"), np.zeros(tree.used)))

    def widened(self, member: Member) -> Member:
        """Return a new tree with the same links, and rows for one more arm."""
        tree, arms = TreeView(member), member.arms + 1
        wider = (
            make_cells(tree.roots, arms)
            if tree.roots > 0
            else _tree(tree.fanout, tree.depth, arms, tree.go, tree.stay, dense=tree.dense, most_rows=tree.most_rows)
        )
        if not tree.dense:
            after = TreeView(wider)
            wide_F = np.zeros(after.row0 + tree.capacity * after.stride)
            wide_F[: len(wider.F)] = wider.F
            wide_I = np.concatenate((wider.I[: after.links0], member.I[tree.links0 :]))
            wide_I[tree_words.CAPACITY] = tree.capacity
            wider = Member(wide_F, wide_I)
        wider.I[tree_words.ROWS] = tree.used
        return wider

    def offsets(self, member: Member, wider: Member) -> Ints:
        before, after = TreeView(member), TreeView(wider)
        rows = (self.blocks(member) - 2 - before.row0) // before.stride
        return np.asarray(after.row0 + rows * after.stride + 2)

    def ahead(self, member: Member, blocks: Ints) -> Ints:
        return np.full(len(blocks), 2)

    def rates(self, member: Member, wider: Member, offsets: Ints) -> Ints:
        seen = member.F[self.blocks(member) - 2] != 0.0
        return np.asarray(np.where(seen, offsets - 2, offsets - 2 + wider.logs))


def is_tree(tree: TreeView) -> bool:
    """Return whether every link leads to a row below, each row has one parent, and keys are within bounds and follow their paths."""
    links, rows, k = tree.links, tree.used, tree.fanout
    bottom, top = links[:, 0] & 4095, links[:, 0] >> 12
    children = links[:, 1 : 1 + k]
    above, option = np.nonzero(children >= 0)
    below = children[above, option]
    return bool(
        (rows == 0 or top[0] == 0)
        and np.all((top >= 0) & (top <= bottom) & (bottom <= tree.depth))
        and np.all((children >= -1) & (children < rows))
        and np.array_equal(np.sort(below), np.arange(1, rows))
        and np.all(top[below] == bottom[above] + 1)
        and _keys_agree(tree, above, option, below)
    )


def _keys_agree(tree: TreeView, above: Ints, option: Ints, below: Ints) -> bool:
    """Return whether keys have valid digits, and each starts with its parent's digits, followed by that of the link."""
    bits, per_word = tree.bits, tree.per_word
    keys, bottom = tree.links[:, 1 + tree.fanout :], tree.links[:, 0] & 4095
    if np.any(keys >> (bits * per_word) != 0):
        return False
    levels = keys.shape[1] * per_word
    step = max(1, PART // max(levels, 1))
    for start in range(0, max(len(keys), 1), step):
        if np.any(_digits(keys[start : start + step], bits, per_word) >= tree.fanout):
            return False
    for start in range(0, len(below), step):
        some = slice(start, start + step)
        theirs, ours = _digits(keys[below[some]], bits, per_word), _digits(keys[above[some]], bits, per_word)
        level, split_level = np.arange(levels), bottom[above[some], None]
        if np.any((theirs != ours) & (level < split_level)) or np.any(
            np.take_along_axis(theirs, split_level, axis=1)[:, 0] != option[some]
        ):
            return False
    return True


def _digits(keys: Ints, bits: int, per_word: int) -> Ints:
    """Return the digits of keys, a row each, the first split first."""
    digits = keys[:, :, None] >> (bits * np.arange(per_word - 1, -1, -1)) & ((1 << bits) - 1)
    return np.asarray(digits.reshape(len(keys), keys.shape[1] * per_word))


Tree(h.DENSE, h.COMPRESSED)
