"""The words of an advisor: distinct, beyond the common ones, and where its rows and scratch are."""

from support.kernel_cases import numbers_of

from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import advice
from hsb.engine.kernels.words import advisor as words
from hsb.engine.state import make_advisor

HEADER = ["DEPTH", "ADVICE", "ROWS_END", "STRIDE", "ROW0"]
ROW = ["STOP", "GO", "VISITS", "EVIDENCE", "BORN", "CHANGED", "COUNTS"]


def test_no_two_words_share_an_entry():
    numbers = numbers_of(words)
    header = sorted(numbers[name] for name in HEADER)
    assert len(set(header)) == len(header) and header[0] > h.LOGS and header[-1] < h.HEADER
    assert [numbers[name] for name in ROW] == list(range(len(ROW)))
    assert words.ADVICE == advice.ADVICE
    assert h.REST < words.CLOCK < words.SCRATCH


def test_rows_stand_between_the_scratch_words_and_the_advice():
    depth, arms = 3, 5
    F, I = make_advisor(depth, arms)
    assert I[words.STRIDE] == words.COUNTS + 4 * arms
    assert I[words.ROW0] >= words.SCRATCH + 5 * arms + 4 * (depth + 1)  # three words an arm, mean and width, four a level
    assert I[words.ROWS_END] == I[words.ROW0] + 2 ** (depth + 1) * I[words.STRIDE] <= I[h.WEIGHT] < I[I[h.BASES]] < len(F)
