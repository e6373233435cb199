"""The words of the header of intervals: distinct, beyond the common ones, and where the tables are."""

from support.kernel_cases import numbers_of

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import intervals as words


def test_no_two_words_share_an_entry():
    numbers = sorted(numbers_of(words).values())
    assert len(set(numbers)) == len(numbers) and numbers[0] > h.LOGS and numbers[-1] < h.HEADER


def test_a_structure_of_intervals_has_its_size_and_tables_at_these_words():
    (member,) = hsb.GroupedLexicographic(leaves=5, groups=3).members(4, None)
    F, I = member
    assert I[words.LEAVES] == 5 and I[words.GROUPS] == 3
    unit = F[I[words.UNIT]]
    assert unit == 0.5  # 1 / sqrt(arms)
    assert F[I[words.TABLE] : I[words.TABLE] + 25 : 6].tolist() == [unit] * 5  # w of each single leaf
    assert F[I[words.COUNTS] + 1] == 1.0 and F[I[words.COUNTS] + 3] == 0.5  # no way and one way to split
