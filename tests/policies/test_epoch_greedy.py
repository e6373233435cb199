"""Epoch-Greedy: the slow twin's decisions, its schedule, and what counts as explored."""

import math
from typing import Any

import numpy as np
import pytest
from naive import leaders as naive
from support.leader_cases import (
    PLANE,
    TREE,
    bad_rounds,
    bad_shapes,
    goes_on,
    pure_decisions,
    refused,
    same_one_by_one,
    stationary,
    table,
)

import hsb
from hsb.policies.epoch_greedy import EpochGreedy

TWO = hsb.BinaryTree(depth=1)
each_class = pytest.mark.parametrize("most", [None, 1, 2])


def trained(structure: Any = TREE, arms: Any = ("a", "b", "c"), most: int | None = 2, rounds: int = 400) -> EpochGreedy:
    policy = EpochGreedy(structure, arms=arms, regions=most, seed=0)
    contexts, losses, _ = table(rounds, len(policy.arms), seed=3)
    hsb.simulate(policy, contexts, losses)
    return policy


@pytest.mark.nojit
@each_class
@pytest.mark.parametrize("delay", [1, 7])
def test_the_slow_twin_decides_alike(most: int | None, delay: int) -> None:
    """Feedback comes at once, or for seven decisions together."""
    policy, twin = EpochGreedy(hsb.Lexicographic(leaves=3), arms=2, regions=most), naive.EpochGreedy(3, 2, most)
    contexts, losses, masks = table(200, 2)
    waiting = []
    for t, u in enumerate(np.random.default_rng(1).random(200)):
        available = None if t % 3 else np.flatnonzero(masks[t]).tolist()
        decision = policy.decide(contexts[t], available=available, u=u)
        leaf = int(contexts[t] * 3)
        assert (decision.arm, decision.propensity) == twin.decide(leaf, available, u)
        waiting.append((decision, leaf, float(losses[t, decision.arm])))
        if len(waiting) == delay:
            for done, where, loss in waiting:
                policy.learn(done, loss=loss)
                twin.learn(where, done.arm, loss, done.propensity)
            waiting = []
    assert (policy.totals == twin.totals).all() and policy.explored == twin.explored < 150
    assert tuple(policy.mapping) == naive.best_mapping(twin.totals, most)[1]


def test_the_schedule() -> None:
    """One explored round, then floor(sqrt(n / (2 M ln|Pi|))) exploited ones."""
    policy = EpochGreedy(TWO, arms=2, seed=0)
    x = np.random.default_rng(0).random(3000)
    run = hsb.simulate(policy, x, np.column_stack([x < 0.5, x >= 0.5]))
    explored = np.flatnonzero(run.propensities < 1)
    assert (run.propensities[explored] == 0.5).all() and len(explored) == policy.explored
    price = 2 * 2 * math.log(4)
    needed = [math.floor(math.sqrt(n / price)) for n in range(1, len(explored))]
    assert (np.diff(explored) - 1).tolist() == needed and max(needed) >= 5
    assert (run.losses[run.propensities == 1] == 0).all()  # no noise: whoever explored enough knows


def test_only_explored_rounds_teach_however_late() -> None:
    policy = EpochGreedy(TWO, arms=2, seed=0)
    early = [policy.decide(0.2) for _ in range(30)]  # all explore: nothing was learned yet
    assert {d.propensity for d in early} == {0.5}
    for decision in early[1:]:
        policy.learn(decision, loss=0.5)
    exploiting = policy.decide(0.2)
    before = policy.totals.copy()
    assert exploiting.propensity == 1.0
    policy.learn(exploiting, loss=1.0)
    assert (policy.totals == before).all() and policy.explored == 29
    policy.learn(early[0], loss=1.0)  # while exploiting
    assert policy.totals[0, early[0].arm] == before[0, early[0].arm] + 2.0 and policy.explored == 30
    policy.learn(hsb.Decision(context=0.9, arm=1, propensity=0.25), loss=0.5)  # from a log
    assert policy.totals[1, 1] == 2.0 and policy.explored == 31


@pytest.mark.parametrize("most", [None, 3])
def test_it_learns(most: int | None) -> None:
    """The best mapping loses 0.2, uniform play 0.53; and what is proved holds (it is loose: uniform play is within it, too)."""
    contexts, losses = stationary(40_000)
    policy = EpochGreedy(TREE, arms=3, regions=most, seed=0)
    run = hsb.simulate(policy, contexts, losses)
    assert run.losses[-10_000:].mean() < 0.3
    assert policy.mapping.tolist() == [0, 0, 1, 1, 1, 2, 2, 2]
    assert (run.losses - 0.2).sum() < policy.regret_bound(40_000) < 40_000


def test_the_bound_is_of_order_two_thirds() -> None:
    """Regret on one leaf, where uniform play breaks it, averaged over 20 runs; the bound grows 8-fold with 8^(3/2) as many rounds."""
    policy = EpochGreedy(1, arms=2)
    bound = policy.regret_bound(10_000)
    assert bound == pytest.approx(2 * (4.5 * 2 * 10_000**2 * math.log(2)) ** (1 / 3) + 2)
    assert (policy.regret_bound(10_000 * 8**1.5) - 2) / (bound - 2) == pytest.approx(8)
    losses = np.column_stack([np.zeros(10_000), np.ones(10_000)])
    regrets = [hsb.simulate(EpochGreedy(1, arms=2, seed=s), np.zeros(10_000), losses).losses.sum() for s in range(20)]
    uniform = hsb.simulate(hsb.Uniform(arms=2, seed=0), np.zeros(10_000), losses).losses.sum()
    assert np.mean(regrets) < bound < uniform


# -- like every policy -----------------------------------------------------------------------------------------------------


@each_class
@pytest.mark.parametrize("masked", [False, True])
def test_a_table_is_its_rounds(most: int | None, masked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = EpochGreedy(PLANE, arms=["a", "b", "c"], regions=most, seed=0)
    same_one_by_one(policy, masked=masked, monkeypatch=monkeypatch, rounds=200)
    assert policy.explored < 200 or most != 1


@each_class
def test_decisions_are_pure_and_files_go_on(most: int | None, tmp_path: Any) -> None:
    for policy in (trained(most=most), trained(most=most, rounds=397)):
        pure_decisions(policy, 0.3)
    goes_on(trained(most=most), tmp_path)
    goes_on(trained(hsb.Lexicographic(leaves=5), 4, most), tmp_path)
    goes_on(trained(6, 1, most), tmp_path)


def test_probabilities_say_which_kind_of_round_it_is() -> None:
    policy = EpochGreedy(TWO, arms=3, regions=1, seed=0)
    kinds = set()
    for _ in range(300):
        p = policy.probabilities(0.3, available=[0, 2])
        decision = policy.decide(0.3, available=[0, 2])
        assert p[1] == 0 and p[decision.arm] == decision.propensity
        kinds.add(decision.propensity)
        policy.learn(decision, loss=float(decision.arm == 0))
    assert kinds == {0.5, 1.0} and policy.decide(0.3, available=[1]).propensity == 1.0


def test_arms_that_come_and_go() -> None:
    for most in (None, 2):
        policy = trained(most=most)
        before, best = policy.totals.copy(), policy.mapping
        policy.add_arm("d")
        assert (policy.totals[:, 3] == before[np.arange(8), best]).all()  # alone it stands where the best mapping stands
        assert tuple(policy.mapping) == naive.best_mapping(policy.totals, most)[1] if most else (policy.mapping == best).all()
    policy = trained(most=None)
    best = policy.mapping
    policy.add_arm("d")
    policy.learn(hsb.Decision(context=0.3, arm=policy.arms[best[2]], propensity=0.25), loss=1.0)
    assert policy.mapping[2] == 3  # now the new one is ahead of what was best there
    policy.remove_arm("d")
    assert "d" not in {policy.decide(0.3).arm for _ in range(50)}


def test_one_arm_needs_no_exploring() -> None:
    policy = EpochGreedy(TREE, arms=["only"])
    for _ in range(5):
        decision = policy.decide(0.3)
        assert decision.propensity == 1.0
        policy.learn(decision, loss=1.0)
    assert policy.explored == 0
    policy.add_arm("other")
    assert policy.decide(0.3).propensity == 0.5


def test_bad_input() -> None:
    bad_rounds(trained())
    bad_shapes(lambda structure, arms=2: EpochGreedy(structure, arms=arms))
    refused(lambda: EpochGreedy(TREE, arms=2, regions=True), "regions", "True")
    refused(lambda: EpochGreedy(hsb.BinaryTree(depth=20), arms=2, regions=1000), "1000 regions", "fewer regions")
    refused(lambda: trained().regret_bound(), "Use regret_bound(horizon)")
    refused(lambda: trained().regret_bound(0), "at least 1")
