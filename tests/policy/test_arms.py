"""A policy's arms: labels, masks, arms that go and come back."""

import numpy as np
import pytest

import hsb
from hsb.policy.arms import ArmSet


def test_arms_keep_their_indices():
    arms = ArmSet(["a", "b", "c"]).without("b").with_arm("d")
    assert arms.active == ["a", "c", "d"] and arms.number("d") == 3
    assert arms.restored("b").active == ["a", "b", "c", "d"]


def test_a_set_is_never_changed():
    arms = ArmSet(3)
    arms.with_arm(3), arms.without(0)
    assert arms.active == [0, 1, 2]


def test_masks_say_which_arms_are_available():
    arms = ArmSet(["a", "b", "c"])
    assert arms.mask(["c", "a"]).tolist() == [1, 0, 1] and arms.names(arms.mask(["c", "a"])) == ("a", "c")
    assert arms.mask(None) is None and arms.names(None) is None
    assert arms.without("b").mask(None).tolist() == [1, 0, 1]
    assert arms.first(2).tolist() == [1, 1, 0]


def test_a_table_of_masks_has_a_row_a_round():
    arms, available = ArmSet(2), np.array([[True, False], [True, True]])
    assert arms.table(available, 2).tolist() == [[1, 0], [1, 1]]
    assert arms.table(None, 2) is None
    with pytest.raises(hsb.InputError):
        arms.table(available, 3)
    with pytest.raises(hsb.InputError):
        arms.table(np.zeros((2, 2), dtype=bool), 2)  # a round without an arm


@pytest.mark.parametrize("arms", [0, [], ["a", "a"], [["a"]], 2.5])
def test_what_are_no_arms_is_refused(arms):
    with pytest.raises(hsb.InputError):
        ArmSet(arms)


def test_the_last_arm_stays():
    with pytest.raises(hsb.InputError):
        ArmSet(["a", "b"]).without("a").without("b")
    with pytest.raises(hsb.InputError):
        ArmSet(["a"]).mask(["b"])
