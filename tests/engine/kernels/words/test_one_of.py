"""The words of the header of a node over members: distinct, beyond the common ones, and where its row is."""

from support.kernel_cases import numbers_of

from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import one_of as words
from hsb.engine.state import make_head, make_one_of


def test_no_two_words_share_an_entry():
    numbers = sorted(numbers_of(words).values())
    assert len(set(numbers)) == len(numbers) and numbers[0] > h.LOGS and numbers[-1] < h.HEADER


def test_the_row_begins_with_a_flag_and_the_weights():
    for member, weights in ((make_head([0.25, 0.75], 3), [0.25, 0.75]), (make_one_of(4, 3), [0.25] * 4)):
        F, I = member
        assert I[words.OPTIONS] == len(weights)
        assert F[I[words.NODE] : I[words.NODE] + 1 + 2 * len(weights)].tolist() == [0.0, *weights, *[0.0] * len(weights)]
    F, I = make_head([0.25, 0.75], 3)
    assert F[I[words.PRIOR] : I[words.PRIOR] + 2].tolist() == [0.25, 0.75]
