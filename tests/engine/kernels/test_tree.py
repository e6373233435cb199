"""One round on a tree: a dense tree and a compressed one are the same mixture, in plain numbers and in logarithms."""

import math

import numpy as np
import pytest
from support.kernel_cases import EVERY, INTERPRETED, distribution, step

from hsb.engine.kernels import header as h
from hsb.engine.kernels import kinds, tree
from hsb.engine.kernels.words import tree as words
from hsb.engine.state import make_tree
from hsb.engine.state.member import resized
from hsb.engine.state.views import TreeView

pytestmark = INTERPRETED
DEPTH = 5


def trees(stop=0.5, fanout=2):
    """Return a dense tree and a compressed one with room for many rows."""
    dense, small = make_tree(fanout, DEPTH, 3, stop), make_tree(fanout, DEPTH, 3, stop, most_rows=1000)
    assert [dense.number, small.number] == [h.DENSE, h.COMPRESSED]
    view = TreeView(small)
    return dense, resized(small, view.row0 + 90 * view.stride, view.links0 + 90 * view.link_stride)


def key_of(leaf, fanout=2):
    bits = 1 if fanout == 2 else 2
    digits = [leaf // fanout ** (DEPTH - 1 - level) % fanout for level in range(DEPTH)]
    word = 0
    for digit in digits:
        word = word << bits | digit
    return np.array([word << bits * (62 // bits - DEPTH)])


@pytest.mark.parametrize(("stop", "fanout"), [(0.5, 2), (0.1, 3), (0.0, 2)])
def test_a_compressed_tree_is_the_dense_one(stop, fanout):
    one, other = trees(stop, fanout)
    rng = np.random.default_rng(fanout)
    for leaf in rng.integers(fanout**DEPTH, size=40).tolist():
        arm, x = int(rng.integers(3)), float(rng.exponential())
        key = key_of(leaf, fanout)
        assert step(one, key, arm, x) == pytest.approx(step(other, key, arm, x), rel=1e-12)
    for leaf in range(0, fanout**DEPTH, 3):
        key = key_of(leaf, fanout)
        assert distribution(one, key) == pytest.approx(distribution(other, key), rel=1e-11)
    assert TreeView(other).used < len(one.kind.blocks(one))  # a chain of nodes has one row


def test_a_fresh_tree_leaves_all_mass_to_the_prior():
    for member in trees():
        F, I = member
        assert kinds.visit(F, I, key_of(7), EVERY, 0.5) == 0 and F[h.REST] == 0.5


def test_a_leaf_visited_once_has_a_row_for_every_node_of_its_path():
    dense, small = trees()
    for member, rows in ((dense, DEPTH + 1), (small, 1)):
        step(member, key_of(9), 0, 0.5)
        F, I = member
        assert kinds.visit(F, I, key_of(9), EVERY, 1.0) == rows
        assert I[words.WHOLE] == 1 and F[h.REST] == 0.0 and I[words.ROWS] == rows
        assert kinds.extend(F, I, key_of(9), rows) == rows  # nothing to add


def test_weights_in_logarithms_are_those_of_the_visit():
    for member in trees(0.3):
        for leaf in (3, 17, 20):
            step(member, key_of(leaf), leaf % 3, 1.5)
        F, I = member
        count = kinds.visit(F, I, key_of(21), EVERY, 0.5)
        weights = F[I[h.WEIGHT] : I[h.WEIGHT] + count].copy()
        blocks = [int(I[I[h.BASES] + i]) for i in range(count)]
        masses, rest = weights * [F[b : b + 3].sum() for b in blocks], F[h.REST]
        assert tree.log_visit(F, I, key_of(21), count, math.log(0.5)) == pytest.approx(math.log(rest), rel=1e-12)
        assert F[I[h.WEIGHT] : I[h.WEIGHT] + count] == pytest.approx(np.log(masses), rel=1e-12)


def test_the_ratio_pass_in_logarithms_is_the_plain_one():
    for one, other in zip(trees(0.3), trees(0.3), strict=True):
        for leaf in (3, 17, 20, 3):
            plain = step(one, key_of(leaf), leaf % 3, 1.5)
            F, I = other
            count = kinds.extend(F, I, key_of(leaf), kinds.visit(F, I, key_of(leaf), EVERY, 1.0))
            assert tree.ratio_log(F, I, count, leaf % 3, 1.5, EVERY, 0.0) == pytest.approx(math.log(plain), rel=1e-12)
        for leaf in range(32):
            assert distribution(one, key_of(leaf)) == pytest.approx(distribution(other, key_of(leaf)), rel=1e-11)
