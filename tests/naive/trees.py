"""A tree whose keys become coarser, with arrays of indices: the naive twin of `engine/kernels/coarsen.py`."""

import numpy as np

from hsb.engine.kernels.words import tree as tree_words
from hsb.engine.state import Member
from hsb.engine.state.views import TreeView


def coarser(member, levels):
    """Return a compressed binary tree, with keys of one word, in which keys with the same first `levels` digits are equal."""
    tree = TreeView(member)
    links = tree.links.copy()
    bottom, top = links[:, 0] & 4095, links[:, 0] >> 12
    kept = np.flatnonzero(top <= levels)
    number = np.full(tree.used + 1, -1)  # the last: no child
    number[kept] = np.arange(len(kept))
    children = links[:, 1 : 1 + tree.fanout]
    links[:, 1 : 1 + tree.fanout] = np.where((bottom >= levels)[:, None], -1, number[children])
    behind = tree.per_word - levels
    links[:, -1] = links[:, -1] >> behind << behind
    F = np.concatenate([member.F[: tree.row0], tree.rows[kept].ravel()])
    I = np.concatenate([member.I[: tree.links0], links[kept].ravel()])
    I[[tree_words.ROWS, tree_words.CAPACITY]] = len(kept)
    return Member(F, I)


def rows_at(member, levels):
    """Return the number of rows that `coarser` would leave."""
    return int(np.count_nonzero(TreeView(member).links[:, 0] >> 12 <= levels))
