"""Path compression: digits of keys, where a key leaves a chain, and the odds of a chain's parts."""

import math

import numpy as np
import pytest
from support.kernel_cases import INTERPRETED, step

from hsb.engine.kernels import arms, chains, rows
from hsb.engine.kernels.words import tree as words
from hsb.engine.state import make_tree
from hsb.engine.state.member import resized
from hsb.engine.state.views import TreeView

pytestmark = INTERPRETED


def tree_of(depth, fanout=2, stop=0.25):
    """Return a compressed tree with room for rows."""
    member = make_tree(fanout, depth, 3, stop, most_rows=1000)
    return resized(member, *member.kind.room(member, 50))


def key_of(digits, fanout=2):
    """Return a key of digits, as many words as they need."""
    bits = 1 if fanout == 2 else 2
    per = 62 // bits
    words_of = [digits[i : i + per] for i in range(0, len(digits), per)]
    return np.array([sum(digit << bits * (per - 1 - i) for i, digit in enumerate(word)) for word in words_of])


@pytest.mark.parametrize("fanout", [2, 3])
def test_digits_are_read_across_words(fanout):
    digits = np.random.default_rng(fanout).integers(fanout, size=70).tolist()
    _, I = tree_of(70, fanout)
    key = key_of(digits, fanout)
    assert len(key) == I[words.WORDS] > 1
    assert [chains.digit(I, key, level) for level in range(70)] == digits


@pytest.mark.parametrize("level", [0, 1, 40, 61, 62, 69])
def test_a_key_leaves_a_chain_at_the_first_digit_that_differs(level):
    digits = np.random.default_rng(1).integers(2, size=70).tolist()
    other = [*digits[:level], 1 - digits[level], *digits[level + 1 :]]
    _, I = tree_of(70)
    assert chains.new_link(I, key_of(digits), 0) == 0 and I[words.ROWS] == 1
    link = I[words.LINKS]
    assert chains.agree(I, link, key_of(digits), 70)
    assert chains.agree(I, link, key_of(other), level) and not chains.agree(I, link, key_of(other), level + 1)
    assert chains.leaves_at(I, link, key_of(other)) == level
    assert chains.length(I, I[words.ROW0]) == 71


@pytest.mark.parametrize("pair", [(0.4, 0.6, 0.0), (0.99, 0.01, 0.0), (0.2, 1.0, 1.0), (1.0, 1.0, math.inf)])
@pytest.mark.parametrize("above", [1, 2, 4])
def test_the_parts_of_a_chain_multiply_to_the_chain(pair, above):
    """Who passes both parts has passed the chain, and who stops in either has stopped in it."""
    F, I = tree_of(8, stop=0.0 if pair[2] == math.inf else 0.25)
    row = int(I[words.ROW0])
    arms.reset(F, I, row + rows.ARMS_AT)
    rows.store(F, I, row, *pair)
    parts = chains.split_odds(F, I, row, 5, above)
    (up_stop, up_go), (low_stop, low_go) = rows.logs(*parts[:3]), rows.logs(*parts[3:])
    stop, go = rows.logs(*pair)
    assert up_go + low_go == pytest.approx(go, rel=1e-12, abs=1e-12)
    assert np.logaddexp(up_stop, up_go + low_stop) == pytest.approx(stop, rel=1e-12)


def test_the_lower_part_of_an_ended_chain_is_a_leaf():
    F, I = tree_of(8)
    row = int(I[words.ROW0])
    arms.reset(F, I, row + rows.ARMS_AT)
    rows.store(F, I, row, 1.0, 0.0, 0.0)
    assert chains.split_odds(F, I, row, 9, 2) == pytest.approx((1 - 0.75**2, 0.75**2, 0.0, 1.0, 0.0, 0.0), rel=1e-14)


def test_a_second_key_cuts_the_chain_where_they_part():
    member = tree_of(6)
    step(member, key_of([0, 1, 0, 0, 0, 0]), 0, 0.5)
    step(member, key_of([0, 1, 1, 0, 0, 0]), 1, 0.5)
    tree = TreeView(member)
    spans = {(int(link[0]) >> 12, int(link[0]) & 4095) for link in tree.links}
    assert spans == {(0, 2), (3, 6)} and tree.used == 3  # the common links, and a leaf for each key
    assert sorted(tree.links[0, 1:3].tolist()) == [1, 2]
    assert (tree.rows[:, :2].sum(axis=1) > 0.0).all()  # each row has odds: all were visited
