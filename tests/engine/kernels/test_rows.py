"""The row of a tree's node: odds of stopping, also if one of them is too small to be visible beside the other."""

import math

import numpy as np
import pytest
from support.kernel_cases import INTERPRETED

from hsb.engine.kernels import arms, rows
from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import tree as tree_words
from hsb.engine.state import make_cells

pytestmark = INTERPRETED
SMALL = h.OPTION_TINY / 16


def row_of(arm_count=3):
    F, I = make_cells(1, arm_count)
    row = int(I[tree_words.ROW0])
    arms.reset(F, I, row + rows.ARMS_AT)
    return F, I, row


def test_odds_add_to_one():
    assert rows.balanced(3.0, 1.0, 0.0) == (0.75, 0.25, 0.0)


@pytest.mark.parametrize("stop_is_small", [True, False])
def test_odds_that_cannot_be_seen_are_hidden_and_shown_again(stop_is_small):
    pair = (SMALL, 1.0) if stop_is_small else (1.0, SMALL)
    stop, go, e = rows.balanced(*pair, 0.0)
    hidden, sign = (stop, 1.0) if stop_is_small else (go, -1.0)
    assert e == sign and hidden == pytest.approx(SMALL * h.BASE, rel=1e-13)
    again = rows.balanced(stop * h.BASE if stop_is_small else stop, go if stop_is_small else go * h.BASE, e)
    assert again[2] == 0.0 and again[0 if stop_is_small else 1] == pytest.approx(SMALL * h.BASE, rel=1e-13)


@pytest.mark.parametrize("pair", [(0.75, 0.25, 0.0), (0.3, 1.0, 2.0), (1.0, 0.4, -3.0), (1.0, 1.0, math.inf), (1.0, 0.0, 0.0)])
def test_odds_are_read_as_they_were_stored(pair):
    F, I, row = row_of()
    rows.store(F, I, row, *pair)
    assert rows.odds(F, I, row) == pytest.approx(pair, rel=1e-15)
    assert F[row] + F[row + 1] > 0.0  # or it would look like a row never visited
    assert F[row] == 0.0 or pair[2] <= 0.0


def test_logarithms_of_hidden_odds():
    assert rows.logs(0.5, 1.0, 2.0) == pytest.approx((math.log(0.5) - 2 * h.LOG_BASE, 0.0))
    assert rows.logs(1.0, 0.5, -1.0) == pytest.approx((0.0, math.log(0.5) - h.LOG_BASE))
    assert rows.logs(1.0, 1.0, math.inf) == (-math.inf, 0.0) and rows.logs(1.0, 0.0, 0.0) == (0.0, -math.inf)


@pytest.mark.parametrize("logs", [(-1.0, -2.0), (-2000.0, 0.5), (3.0, -3000.0), (-math.inf, -4.0), (5.0, -math.inf)])
def test_logarithms_are_stored_as_odds_of_sum_one(logs):
    F, I, row = row_of()
    total = np.logaddexp(*logs)
    assert rows.store_logs(F, I, row, *logs) == pytest.approx(total, rel=1e-13)
    back = rows.logs(*rows.odds(F, I, row))
    assert back == pytest.approx((logs[0] - total, logs[1] - total), rel=1e-12, abs=1e-12)


def test_a_node_turns_by_the_ratios_of_its_arms_and_its_child():
    F, I, row = row_of()
    rows.store(F, I, row, 0.4, 0.6, 0.0)
    now = arms.shrink(F, I, row + rows.ARMS_AT, 1, 0.5, math.exp(-0.5))
    own, below = (2.0 + math.exp(-0.5)) / 3.0, 0.3
    assert rows.turn(F, I, row, now, below) == pytest.approx(0.4 * own + 0.6 * below, rel=1e-14)
    stop, go, e = rows.odds(F, I, row)
    assert (stop, go, e) == pytest.approx((0.4 * own / (0.4 * own + 0.6 * below), 0.6 * below / (0.4 * own + 0.6 * below), 0.0))


def test_hidden_odds_turn_like_those_in_sight():
    """The child's ratio is 2^-700: the node then surely stops, and ln(go) is still known."""
    F, I, row = row_of()
    rows.store(F, I, row, 0.5, 0.5, 0.0)
    now = arms.total(F, row + rows.ARMS_AT, I[h.TOP], I[h.TOP_SIZE])
    assert rows.turn(F, I, row, now, 2.0**-700) == 0.5
    log_stop, log_go = rows.logs(*rows.odds(F, I, row))
    assert log_stop == 0.0 and log_go == pytest.approx(-700 * math.log(2.0), rel=1e-13)
    rows.turn(F, I, row, now, 2.0**-10)
    assert rows.logs(*rows.odds(F, I, row))[1] == pytest.approx(-710 * math.log(2.0), rel=1e-13)
