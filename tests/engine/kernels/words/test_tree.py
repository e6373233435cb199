"""The words of a tree's header: distinct, beyond the common ones, and where its tables are."""

import numpy as np
from support.kernel_cases import numbers_of

from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import tree as words
from hsb.engine.state import make_tree


def test_no_two_words_share_an_entry():
    numbers = sorted(numbers_of(words).values())
    assert len(set(numbers)) == len(numbers) and numbers[0] > h.LOGS and numbers[-1] < h.HEADER


def test_a_tree_has_its_shape_and_prior_at_these_words():
    F, I = make_tree(3, 2, 4, 0.25)
    assert [I[words.DEPTH], I[words.FANOUT], I[words.BITS], I[words.PER_WORD], I[words.WORDS]] == [2, 3, 2, 31, 1]
    assert I[words.CAPACITY] == 1 + 3 + 9 and I[words.ROWS] == 0
    go, stay = (F[I[word] : I[word] + 3] for word in (words.GO, words.STAY))
    np.testing.assert_allclose(go, [1.0, 0.75, 0.5625], rtol=1e-15)
    np.testing.assert_allclose(go + stay, 1.0, rtol=1e-15)
