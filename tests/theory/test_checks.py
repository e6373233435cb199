"""What the functions of the theory take."""

import math

import pytest

import hsb
from hsb.theory import checks


def test_what_is_right_passes():
    checks.check_structure(hsb.BinaryTree(depth=2))
    checks.check_horizon(1)
    checks.check_rate(0.1)
    checks.check_at_least_zero("floor", math.inf)
    assert checks.check_counts(3, None) == (3, 3) and checks.check_counts(3, 2) == (3, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: checks.check_structure("tree"),
        lambda: checks.check_horizon(0),
        lambda: checks.check_horizon(math.nan),
        lambda: checks.check_rate(0.0),
        lambda: checks.check_rate(-1.0),
        lambda: checks.check_at_least_zero("floor", -0.1),
        lambda: checks.check_at_least_zero("floor", math.nan),
        lambda: checks.check_counts(0, None),
        lambda: checks.check_counts(2, 0),
        lambda: checks.check_counts(2.5, None),
    ],
)
def test_what_is_wrong_is_refused(call):
    with pytest.raises(hsb.InputError):
        call()
