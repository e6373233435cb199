"""The first reason not to use a row."""

import numpy as np

from hsb.logs.why import Why


def test_the_first_reason_stays():
    why = Why(4)
    why.note(np.array([False, True, True, False]), "it is late")
    why.note(np.array([True, True, False, False]), "it is odd")
    why.set(2, "it is last")
    assert why.good.tolist() == [False, False, False, True]
    answer = dict(why)
    assert answer[0] == "it is odd" and answer[1] == answer[2] == "it is late" and 3 not in answer


def test_rows_without_a_reason_are_good():
    assert Why(3).good.all() and not list(Why(3)) and not list(Why(0))
