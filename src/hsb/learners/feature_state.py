"""The state of the learner without a structure: a head over the ensemble, a single arm, and trees over each input."""

from __future__ import annotations

import numpy as np

from ..engine.kernels import header as h
from ..engine.state import (
    Member,
    State,
    add_options,
    hang,
    make_cells,
    make_ensemble,
    make_given,
    make_head,
    make_tree,
    set_columns,
)
from ..engine.state.member import FEW_WORDS
from ..features import FeatureReader
from ..files.memory_limit import afford
from .feature_keys import FeatureKeys

MIXTURE = 0.000001  # prior weight of all that the guarantee is about, beside the ensemble
FIXED_CUTS = 0.125  # of the weight of a number, for rules that cut it at fixed values; the rest is for rules on its rank
MOST_ROWS = 256  # of the tree of such rules; then it looks at fewer bits
MOST_SMALL = 32  # trees kept to be copied
ENSEMBLE, CONSTANT = 0, 1  # options of the head, and members 1 and 2; then one for each input

_small: dict[tuple[int, int, int, int], Member] = {}


def fresh_state(keys: FeatureKeys, arms: int, first: int, takes_advice: bool = False) -> State:
    """A head over the ensemble, a single arm, and a tree for each input that the reader knows.

    `takes_advice`: in place of the ensemble, advice that the first word of the key names.
    """
    head = add_options(first_head(keys.reader, first, arms), CONSTANT, late_shares(keys.reader, first))
    advisor = make_given(arms) if takes_advice else make_ensemble(keys.room, arms)
    if not takes_advice:
        set_columns(advisor, keys.groups())
    members = [head, *hang([advisor], ENSEMBLE, 0), *hang([make_cells(1, arms)], CONSTANT, 0)]
    return State([*members, *input_trees(keys, range(keys.trees), arms)], key_words(keys))


def first_head(reader: FeatureReader, first: int, arms: int) -> Member:
    """Over the ensemble, the single arm and the inputs that there are at first, which share MIXTURE."""
    parts = [part for each in _parts(reader)[:first] for part in each]
    return make_head([1.0 - MIXTURE, *(MIXTURE / (1 + first) * part for part in [1.0, *parts])], arms)


def _parts(reader: FeatureReader) -> list[list[float]]:
    """Return, for each input, the shares of its trees in its weight."""
    trees = np.bincount(np.array(reader.tree_inputs, dtype=np.int64), minlength=reader.inputs).tolist()
    return [[1.0 - FIXED_CUTS, FIXED_CUTS] if count == 2 else [1.0] for count in trees]


def late_shares(reader: FeatureReader, before: int) -> list[float]:
    """Return the shares of the single arm's weight that the trees of later inputs take: 1/(n + 1) together for the n-th input."""
    shares = []
    for raw_input, parts in enumerate(_parts(reader)[before:], start=before):
        left = 1.0
        for part in parts:
            shares.append(part / (raw_input + 2) / left)
            left -= part / (raw_input + 2)
    return shares


def input_trees(keys: FeatureKeys, which: range, arms: int) -> list[Member]:
    """Make the trees with these numbers."""
    shapes = keys.reader.shapes
    trees = []
    for k in which:
        kind, size = shapes[k]
        fanout, depth = (size, 1) if kind == "kary" else (2, size)
        tree = _fresh_tree(fanout, depth, arms, MOST_ROWS if kind == "bits" else 0)
        tree.I[h.PARENT], tree.I[h.OPTION] = 0, 2 + k
        trees.append(tree)
    return trees


def _fresh_tree(fanout: int, depth: int, arms: int, most_rows: int) -> Member:
    """Make a tree that has learned nothing. Small trees, which many inputs have, share floats that are read-only."""
    key = (fanout, depth, arms, most_rows)
    tree = _small.get(key)
    if tree is not None:
        afford(len(tree.F))
    else:
        tree = make_tree(fanout, depth, arms, 0.5, most_rows)
        if len(tree.F) > FEW_WORDS:
            return tree
        if len(_small) >= MOST_SMALL:
            _small.clear()
        tree.F.flags.writeable = False
        _small[key] = tree
    return Member(tree.F, tree.I.copy())


def key_words(keys: FeatureKeys) -> list[int]:
    """Return the number of words that each member takes in a key."""
    return [0, keys.room, *[1] * (1 + keys.trees)]
