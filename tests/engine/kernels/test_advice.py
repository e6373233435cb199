"""The advice of an advisor: shared by arms that tie, recalled for a late round, and weighed by how it did."""

import math

import numpy as np
import pytest
from support.kernel_cases import EVERY, INTERPRETED

from hsb.engine.kernels import advice
from hsb.engine.kernels import header as h
from hsb.engine.kernels.words.advice import ADVICE
from hsb.engine.kernels.words.advisor import SCRATCH
from hsb.engine.state import make_advisor

pytestmark = INTERPRETED
ARMS = 10
INDEX = SCRATCH + 3 * ARMS


def advised(indices):
    """Return an advisor whose arms have these indices, of which the least is recommended."""
    F, I = make_advisor(2, len(indices))
    F[INDEX : INDEX + len(indices)] = indices
    I[ADVICE] = int(np.argmin(indices))
    return F, I, advice.put(F, I, INDEX, 0.625)


def block_of(F, I):
    b = int(I[I[h.BASES]])
    return F[b : b + ARMS]


def test_arms_that_tie_share_the_advice():
    F, I, count = advised([0.3, 0.1, 0.5, 0.1, *[0.2] * 6])
    assert count == 1 and F[I[h.WEIGHT]] == 0.625 and F[h.REST] == 0.0
    assert block_of(F, I).tolist() == [0.0, 0.5, 0.0, 0.5, *[0.0] * 6]
    b = int(I[I[h.BASES]])
    assert F[b + I[h.TOP] : b + I[h.TOP] + I[h.TOP_SIZE]].sum() == 1.0


def test_an_index_that_is_no_number_leaves_no_advice():
    F, I, _ = advised([0.3, math.nan, *[0.5] * 8])
    assert math.isnan(F[h.REST]) and not block_of(F, I).any()


@pytest.mark.parametrize(("available", "other"), [(EVERY, 0), (np.array([0, 0, 0, 1, *[1] * 6], dtype=np.uint8), 3)])
def test_the_advice_of_a_late_round_is_recalled(available, other):
    F, I, _ = advised([0.1] * ARMS)
    advice.recall(F, I, available, 4, 0.25)
    shares = np.zeros(ARMS)
    shares[[4, other]] = 0.25, 0.75
    assert block_of(F, I).tolist() == shares.tolist()


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_ratio_is_the_weight_that_is_left(share):
    F, I, _ = advised([0.1] * ARMS)
    advice.recall(F, I, EVERY, 4, share)
    expected = 1.0 - share + share * math.exp(-1.5)
    assert advice.ratio(F, I, 4, math.exp(-1.5)) == pytest.approx(expected, rel=1e-14)
    assert advice.log_ratio(F, I, 4, 1.5) == pytest.approx(math.log(expected), rel=1e-13)
    if share == 1.0:
        assert advice.log_ratio(F, I, 4, 5000.0) == -5000.0  # its exponential is 0 in a double
