"""Tables: how many rows they have, and what is wrong with them."""

import numpy as np
import pytest

import hsb
from hsb.policy.rows import check_shape, distribution_of, losses_or_rewards, rows_of


@pytest.mark.parametrize("table", [[None, 1], np.zeros((2, 3)), ("a", {"b": 1})])
def test_rows_are_counted(table):
    assert rows_of(table) == 2


@pytest.mark.parametrize("table", [None, 5, "text", b"bytes", {"a": [1]}, {1, 2}, np.array(3.0)])
def test_what_has_no_rows_is_refused(table):
    with pytest.raises(hsb.InputError):
        rows_of(table)


def test_one_of_losses_and_rewards():
    assert losses_or_rewards("simulate", [[1]], None) == ("losses", [[1]])
    assert losses_or_rewards("simulate", None, [[2]]) == ("rewards", [[2]])
    for both in ((None, None), ([1], [1])):
        with pytest.raises(hsb.InputError, match="exactly one"):
            losses_or_rewards("simulate", *both)


def test_a_table_needs_its_shape():
    check_shape("losses", np.zeros((2, 3)), (2, 3))
    with pytest.raises(hsb.InputError, match=r"\(2, 3\)"):
        check_shape("losses", np.zeros((3, 2)), (2, 3))


def test_a_distribution_is_made_to_add_up():
    assert distribution_of([2, 6], 2, "mine").tolist() == [0.25, 0.75]
    for wrong in ([1], [1, -1], [0, 0], [np.nan, 1], [np.inf, 1], ["a", "b"], None):
        with pytest.raises(hsb.InputError, match="mine"):
            distribution_of(wrong, 2, "mine")
