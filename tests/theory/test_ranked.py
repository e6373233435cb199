"""What ranked learners earn, against its bound, and settings in which a condition of the bound is missing."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import hsb
from hsb.theory import ranked_bound

PAGES = 6000
Arms = Sequence[Any]
Value = Callable[[Arms], float]
"""The reward of a page: a function of its set of arms."""


def any_click(rng: np.random.Generator) -> Value:
    """A visitor likes 0, 1 and 2, or 3, or 4, and clicks if the page has something to like."""
    likes = [{0, 1, 2}, {3}, {4}][int(rng.choice(3, p=[0.4, 0.3, 0.3]))]
    return lambda arms: float(bool(likes & set(arms)))


def a_pair(rng: np.random.Generator) -> Value:
    """Only 0 and 1 together are worth anything: not submodular."""
    return lambda arms: float({0, 1} <= set(arms))


def marginal(value: Value, arms: Arms) -> list[float]:
    """What each slot added to the slots before it: of clicks, the first."""
    return [value(arms[: slot + 1]) - value(arms[:slot]) for slot in range(len(arms))]


def own(value: Value, arms: Arms) -> list[float]:
    """What each arm would have earned alone."""
    return [value([arm]) for arm in arms]


def play(
    world: Callable[[np.random.Generator], Value],
    feedback: Callable[[Value, Arms], list[float]],
    *,
    learners: int = 3,
    arms: int = 5,
    slots: int = 3,
    seed: int = 0,
) -> tuple[float, float, hsb.HSB, np.ndarray]:
    """Play pages; return what they earned, its bound if the best set earns 1 a page, the policy, and the regret of each slot by arm."""
    rounds = PAGES if learners > 1 else PAGES * slots
    policy = hsb.HSB(hsb.BinaryTree(depth=1), arms=arms, slots=learners, horizon=rounds, regions=1, seed=seed)
    rng, earned = np.random.default_rng(seed), 0.0
    regret = np.zeros((slots, arms))
    for _ in range(PAGES):
        page, value = policy.decide(0.5, k=slots), world(rng)
        shown = page.arms
        earned += value(shown)
        gains = marginal(value, shown)
        for slot in range(slots):
            prefix = value(shown[:slot])
            regret[slot] += [value([*shown[:slot], arm]) - prefix - gains[slot] for arm in range(arms)]
        policy.learn(page, rewards=feedback(value, shown))
    bounds = [policy.regret_bound(PAGES, slot=min(slot, learners - 1)) for slot in range(slots)]
    return earned, ranked_bound(PAGES, bounds), policy, regret


@pytest.mark.parametrize("seed", [0, 1])
def test_ranked_learners_earn_at_least_their_bound(seed: int) -> None:
    earned, bound, policy, regret = play(any_click, marginal, seed=seed)
    assert 0.5 * PAGES < bound < earned
    for slot in range(3):  # an arm that is on the page already adds nothing, so its page counts against nobody
        assert regret[slot].max() < policy.regret_bound(slot=slot)


def test_without_marginal_feedback_it_is_untrue() -> None:
    """One learner for all slots, or one each, that learn the clicks of every arm show the same visitors the same three times."""
    for learners in (1, 3):
        earned, bound, _, _ = play(any_click, own, learners=learners)
        assert earned < 0.95 * bound


@pytest.mark.long
def test_without_diminishing_gains_it_is_untrue() -> None:
    """The first slot learns nothing from a pair that is worth something only together."""
    earned, bound, policy, regret = play(a_pair, marginal, arms=6, slots=2, learners=2)
    assert earned < 0.5 * bound
    assert all(regret[slot].max() < policy.regret_bound(slot=slot) for slot in range(2))  # and none of them regrets it


def test_the_recursion_is_its_closed_form() -> None:
    for regrets in ([0.0], [3.0], [1.0, 2.0], [4.0, 0.0, 1.0, 2.5]):
        k = len(regrets)
        closed = (1 - (1 - 1 / k) ** k) * 50 - sum((1 - 1 / k) ** (k - 1 - i) * part for i, part in enumerate(regrets))
        assert ranked_bound(50, regrets) == pytest.approx(closed)
    assert ranked_bound(50, [0.0] * 1000) == pytest.approx((1 - np.exp(-1)) * 50, rel=1e-3)
    assert ranked_bound(5, [3.0, 9.0]) == 0.0


def test_greedy_pages_without_regret_reach_the_factor_and_no_more() -> None:
    """The classical worst case: greedy takes the arm that overlaps with all of the best, in every slot."""
    k, cells = 3, 3**4
    best = [set(range(i * cells // k, (i + 1) * cells // k)) for i in range(k)]
    greedy: list[set[int]] = []
    left = [set(part) for part in best]
    for _ in range(k):  # each takes a third of what is left of every part
        taken = [set(sorted(part)[: len(part) // k]) for part in left]
        greedy.append(set().union(*taken))
        left = [part - some for part, some in zip(left, taken, strict=True)]
    covered = len(set().union(*greedy)) / cells
    assert covered == pytest.approx(ranked_bound(1.0, [0.0] * k), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, [0.0]), "best must be a number of at least 0"),
        (("x", [0.0]), "best must be a number"),
        ((1, []), "regrets must have a bound for each slot"),
        ((1, [-0.5]), "a regret must be a number of at least 0"),
        ((1, 3), "regrets must be"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[Any, Any], message: str) -> None:
    with pytest.raises(hsb.InputError, match=message):
        ranked_bound(*arguments)


def test_one_learner_keeps_its_bound_over_the_slots_in_which_an_arm_was_left() -> None:
    pages, slots, arms = 2000, 3, 5
    policy = hsb.HSB(hsb.BinaryTree(depth=1), arms=arms, horizon=pages * slots, regions=2, seed=0)
    rng = np.random.default_rng(0)
    chances = np.array([[0.1, 0.3, 0.5, 0.7, 0.9], [0.9, 0.7, 0.5, 0.3, 0.1]])  # of a loss, by half of the space
    left, every = np.zeros((2, arms)), np.zeros((2, arms))
    for _ in range(pages):
        context = float(rng.random())
        half = int(context >= 0.5)
        losses = (rng.random(arms) < chances[half]).astype(float)
        page = policy.decide(context, k=slots)
        shown = list(page.arms)
        for slot in range(slots):
            regret = losses[shown[slot]] - losses
            every[half] += regret
            left[half] += np.where(np.isin(np.arange(arms), shown[:slot]), 0.0, regret)
        policy.learn(page, losses=[float(losses[arm]) for arm in shown])
    bound = policy.regret_bound()
    assert bound < 0.15 * pages * slots
    best = left.max(axis=1).sum()  # of the mapping with an arm for each half that did best
    assert -pages < best < bound
    assert every.max(axis=1).sum() > 1.5 * bound  # an arm cannot be in every slot of a page
