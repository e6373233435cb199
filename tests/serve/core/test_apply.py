"""What a batch does: rewards are put together as the policy says."""

import pytest

from hsb.serve.core.apply import aggregate_rewards, clip_reward, reward_of_loss
from hsb.serve.core.orders import Rules
from hsb.serve.core.rows import RewardRow

RULES = Rules(0, None, "first", True, 2.0, 10.0, False)
ROWS = [
    RewardRow("d", "2", 3.0, False, 20),
    RewardRow("d", "1", 1.0, False, 10),
    RewardRow("d", "3", 8.0, False, 30),
    RewardRow("d", "4", 99.0, True, 40),  # too late to count
]


@pytest.mark.parametrize(("how", "value"), [("first", 1), ("last", 8), ("sum", 12), ("mean", 4), ("min", 1), ("max", 8)])
def test_rewards_are_put_together(how, value):
    assert aggregate_rewards(ROWS, how) == value == aggregate_rewards(reversed(ROWS), how)


@pytest.mark.parametrize("how", ["first", "sum", "mean"])
def test_nothing_in_time_is_no_reward(how):
    assert aggregate_rewards(ROWS[-1:], how) is None


def test_a_reward_is_learned_within_its_range():
    assert [clip_reward(value, RULES) for value in (-5.0, 2.0, 7.0, 99.0)] == [2.0, 2.0, 7.0, 10.0]


def test_a_loss_is_the_mirror_image_of_a_reward():
    assert [reward_of_loss(value, RULES) for value in (2.0, 9.0)] == [10.0, 3.0]
    assert reward_of_loss(reward_of_loss(4.5, RULES), RULES) == 4.5
