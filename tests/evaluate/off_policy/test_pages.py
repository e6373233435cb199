"""What a policy's pages would earn, by the pages of another policy."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import hsb
from hsb.evaluate import off_policy_pages
from hsb.evaluate.off_policy.pages import page_weights

ARMS = ["a", "b", "c", "d"]
K = 3


def trained(slots: int, seed: int, liked: str = "ab", floor: float = 0.1) -> hsb.HSB:
    policy = hsb.HSB(hsb.BinaryTree(depth=2), arms=ARMS, slots=slots, floor=floor, seed=seed, learning_rate=0.5)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        page = policy.decide(float(rng.random()), k=K)
        policy.learn(
            page, rewards=[float(rng.random() < {liked[0]: 0.8, liked[1]: 0.5}.get(str(arm), 0.1)) for arm in page.arms]
        )
    return policy


def clicks(arms: tuple[Any, ...]) -> list[float]:
    """A reader from the top: the chance of each slot depends on the slots before it, not on those after."""
    attention, rates = 1.0, []
    for arm in arms:
        rate = attention * {"a": 0.6, "b": 0.5, "c": 0.1, "d": 0.2}[arm]
        rates.append(rate)
        attention *= 0.9 - rate / 2
    return rates


def probability(policy: hsb.Policy, arms: tuple[Any, ...], context: float) -> float:
    p = [
        policy.probabilities(context, available=[arm for arm in ARMS if arm not in arms[:slot]], slot=slot) for slot in range(K)
    ]
    return math.prod(float(p[slot][ARMS.index(arm)]) for slot, arm in enumerate(arms))


@pytest.mark.parametrize(("shown_by", "asked"), [(1, 3), (3, 1), (3, 3)])
def test_its_expectation_is_the_value_of_the_policy(shown_by: int, asked: int) -> None:
    """Exactly, over all ordered selections: the sum of probability times weight times reward, slot by slot."""
    logger, policy, context = trained(shown_by, 1), trained(asked, 2), 0.3
    expected, true, by_row = np.zeros(K), np.zeros(K), np.zeros(K)
    for arms in itertools.permutations(ARMS, K):
        rates = np.array(clicks(arms))
        decisions = []
        for slot, arm in enumerate(arms):
            left = [other for other in ARMS if other not in arms[:slot]]
            p = float(logger.probabilities(context, available=left, slot=slot)[ARMS.index(arm)])
            decisions.append(hsb.Decision(context=context, arm=arm, propensity=p, available=left, slot=slot))
        page = hsb.Slate(decisions)
        weights = page_weights(policy, page)
        expected += page.propensity * weights * rates
        true += probability(policy, arms, context) * rates
        single = [weights[0], *(weights[1:] / weights[:-1])]  # of the slot alone, as if the slots before were drawn alike
        by_row += page.propensity * np.array(single) * rates
    assert expected == pytest.approx(true, rel=1e-9)
    assert by_row[0] == pytest.approx(true[0], rel=1e-9)
    assert np.abs(by_row[1:] - true[1:]).min() > 0.003  # rows by themselves are about other pages


def test_the_interval_has_the_value() -> None:
    logger, policy = trained(1, 1, "cd", floor=0.6), trained(3, 2)
    rng = np.random.default_rng(0)
    true = sum(probability(policy, arms, 0.3) * sum(clicks(arms)) for arms in itertools.permutations(ARMS, K))
    pages, rewards = [], []
    for _ in range(3000):
        pages.append(logger.decide(0.3, k=K))
        rewards.append([float(rng.random() < rate) for rate in clicks(pages[-1].arms)])
    value = off_policy_pages(policy, pages, rewards)
    assert value.page.low < true < value.page.high and value.page.mean == pytest.approx(true, abs=0.1)
    assert value.page.mean == pytest.approx(sum(slot.mean for slot in value.slots))
    assert all(slot.low < slot.mean < slot.high for slot in value.slots)
    assert len(value.effective) == K and 0 < value.effective[2] <= value.effective[0] <= 3000
    of_logger = off_policy_pages(logger, pages, rewards)
    assert of_logger.page.mean == pytest.approx(np.sum(rewards) / 3000) and of_logger.effective == (3000.0,) * 3
    assert of_logger.page.high < true  # the two policies differ, so weights are needed
    scaled = off_policy_pages(policy, pages, [[10 * r - 5 for r in row] for row in rewards], reward_range=(-5, 5))
    width = scaled.slots[0].high - scaled.slots[0].low
    assert width == pytest.approx(10 * (value.slots[0].high - value.slots[0].low))


def test_an_arm_that_the_policy_does_not_know_has_no_weight() -> None:
    page = hsb.Uniform(arms=ARMS, seed=0).decide(k=3, u=0.3)
    others = [arm for arm in ARMS if arm != page.arms[1]]
    assert page_weights(hsb.Uniform(arms=others), page).tolist()[1:] == [0.0, 0.0]
    with pytest.raises(hsb.InputError, match="has 2 of the arms of a page with 3 slots"):
        page_weights(hsb.Uniform(arms=others[:2]), page)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policy": 3}, "needs a policy"),
        ({"pages": []}, "pages must be one or more slates"),
        ({"pages": [1, 2]}, "pages must be one or more slates"),
        ({"rewards": [[1, 0, 0]]}, "rewards needs a row for each of the 2 pages; given 1"),
        ({"rewards": [[1, 0, 0], [1, 0]]}, r"rewards\[1\] must have a number for each of the 3 slots"),
        ({"rewards": [[1, 0, 0], [1, 0, None]]}, "A slot that was not looked at earned 0 clicks"),
        ({"rewards": [[1, 0, 0], [1, 0, 2]]}, "rewards must be in reward_range"),
        ({"reward_range": (1, 0)}, "reward_range must be"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1"),
    ],
)
def test_wrong_arguments_are_refused(change: dict[str, Any], message: str) -> None:
    logger = hsb.Uniform(arms=ARMS, seed=0)
    given: dict[str, Any] = {"policy": logger, "pages": [logger.decide(k=3), logger.decide(k=3)], "rewards": [[1, 0, 0]] * 2}
    with pytest.raises(hsb.InputError, match=message):
        off_policy_pages(**given | change)
