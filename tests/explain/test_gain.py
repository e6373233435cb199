"""The largest gain of a tree's mappings is that of the best of all of them, written out; and certificates are true of every rule.

The naive twin lists every mapping of a small tree and what each was estimated to lose.
"""

import itertools
import math

import numpy as np
import pytest
from naive.trees import coarser, rows_at

import hsb
from hsb.engine.state import State, make_tree
from hsb.engine.state.views import TreeView
from hsb.explain import explain
from hsb.explain.gain import largest_gain, largest_gain_of_cuts
from hsb.explain.price import price
from hsb.learners.feature_state import MIXTURE
from hsb.structures.quantise import WORD

RATE = 0.3


def learned(tree, arms, seed, rounds):
    """A policy over a tree, and what each arm was estimated to lose on each leaf."""
    rng = np.random.default_rng(seed)
    policy, lost = hsb.HSB(tree, arms=arms, learning_rate=RATE, seed=seed), np.zeros((tree.leaves, arms))
    leaves = rng.permutation(tree.leaves)[: int(rng.integers(1, tree.leaves + 1))]
    for _ in range(rounds):
        leaf = int(rng.choice(leaves))
        decision = policy.decide((leaf + 0.5) / tree.leaves)
        loss = float(rng.random() < 0.7)
        policy.learn(decision, loss=loss)
        lost[leaf, decision.arm] += loss / decision.propensity
    return policy, lost


def no_finer_than_needed(mapping, seen, arms):
    """ln(1/prior) of a mapping of a binary tree, each part split no further than it must be; what was never seen may have any arm."""
    chosen = {arm for arm, was_seen in zip(mapping, seen, strict=True) if was_seen}
    one = math.log(arms) + (math.log(2.0) if len(mapping) > 1 else 0.0)
    if len(chosen) <= 1:
        return one
    half = len(mapping) // 2
    parts = (no_finer_than_needed(mapping[part], seen[part], arms) for part in (slice(half), slice(half, None)))
    return math.log(2.0) + sum(parts)


def best_of_all(tree, arms, lost, prices, levels=None, cuts=None):
    """The largest gain + `prices` * price over all mappings; or over those that split no further down than `levels`, with so many `cuts`."""
    even, seen = np.full(arms, -math.log(arms)), lost.any(axis=1)
    mappings = list(itertools.product(range(arms), repeat=tree.leaves))
    losses = np.array([lost[np.arange(tree.leaves), mapping].sum() for mapping in mappings])
    beta = np.array([tree.log_prior(np.array(mapping), even, None) for mapping in mappings])
    total = np.logaddexp.reduce(beta - RATE * losses)
    costs = np.array([no_finer_than_needed(mapping, seen, arms) for mapping in mappings])
    together = tree.leaves if levels is None else tree.leaves >> levels
    coarse = [
        levels is None
        or (
            all(len(set(mapping[i : i + together])) == 1 for i in range(0, tree.leaves, together))
            and sum(a != b for a, b in itertools.pairwise(mapping)) <= cuts
        )
        for mapping in mappings
    ]
    return float(np.max((-RATE * losses - total + prices * costs)[coarse]))


@pytest.mark.parametrize("prices", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(12))
def test_it_is_that_of_the_best_mapping(seed, prices):
    """Of trees of several depths, arms and rounds; what was never seen costs what is cheapest."""
    depth, arms = ((1, 3), (2, 3), (3, 2))[seed % 3]
    tree = hsb.BinaryTree(depth=depth)
    policy, lost = learned(tree, arms, seed, 5 * seed + 1)
    (member,) = policy.learner.mixture.state.members
    assert largest_gain(member, np.full(arms, math.log(arms)), prices=prices) == pytest.approx(
        best_of_all(tree, arms, lost, prices), abs=1e-9
    )


@pytest.mark.parametrize("levels", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_of_rules_with_one_cut_it_is_that_of_the_best(seed, levels):
    """Cuts between nodes of a level. Rules with more cuts gain more, now and then."""
    tree = hsb.BinaryTree(depth=3)
    policy, lost = learned(tree, 3, seed, 8 * seed + 1)
    (member,) = policy.learner.mixture.state.members
    costs = np.full(3, math.log(3.0))
    result = largest_gain_of_cuts(member, costs, levels=levels)
    assert result == pytest.approx(best_of_all(tree, 3, lost, 0.0, levels, cuts=1), abs=1e-9)
    assert result <= largest_gain(member, costs) + 1e-9


LEVELS = 4  # that are left of 12


def grown(seed, *, after=0):
    """A state of a compressed tree alone: 150 rounds, then `after` more once it has become coarser. And what was lost more than by each rule
    with one cut: [the cell behind the cut, the arm before it, the arm behind it].
    """
    rng, state, left = np.random.default_rng(seed), State([make_tree(2, 12, 3, 0.5, 1 << 20)], [1]), np.zeros((17, 3, 3))
    state.set_pace(RATE)
    for t in range(150 + after):
        if t == 150:
            state = state.laid_out([coarser(state.members[0], LEVELS)], [1])
            state.set_pace(RATE)
        leaf = int(rng.integers(1 << 12))
        cell = leaf >> (12 - LEVELS)
        key, p = np.array([(cell << (WORD - LEVELS)) if t >= 150 else leaf << (WORD - 12)]), np.empty(3)
        state.fill(key, None, p)
        assert p.sum() == pytest.approx(1.0, abs=1e-12)
        arm, probability, _ = state.decide(key, None, float(rng.random()))
        loss = float(rng.random() < (0.9 if arm == cell // 6 else 0.6))
        state.update(key, None, arm, loss, probability)
        left += loss
        left[: cell + 1, :, arm] -= loss / probability  # the cell lies behind the cut
        left[cell + 1 :, arm, :] -= loss / probability
    return state, left


@pytest.mark.parametrize("levels", [0, 1, 4])
@pytest.mark.parametrize("seed", range(4))
def test_a_tree_that_becomes_coarser_keeps_what_rules_gained(seed, levels):
    """Of all rules that split no further. What is finer loses its gain: with it, the tree believed more."""
    (member,), costs = grown(seed)[0].members, np.full(3, math.log(3.0))
    after = coarser(member, levels)
    assert TreeView(after).used == rows_at(member, levels) <= TreeView(member).used
    before = largest_gain_of_cuts(member, costs, levels=levels)
    assert largest_gain_of_cuts(after, costs, levels=levels) == pytest.approx(before, abs=1e-9)
    assert largest_gain(after, costs) < largest_gain(member, costs)


@pytest.mark.parametrize("seed", range(4))
def test_what_was_lost_more_than_by_the_best_cut_is_its_gain_before_and_after(seed):
    """Exactly: what was lost more than by a rule is its gain over the rate, and the excess. Probabilities add up to 1 all the way."""
    state, left = grown(seed, after=250)
    gain = largest_gain_of_cuts(state.members[0], np.full(3, math.log(3.0)), levels=LEVELS)
    assert left.max() == pytest.approx(gain / RATE + float(state.sums[1]), abs=1e-6)


def test_a_deep_tree_has_the_gain_of_a_shallow_one():
    """Contexts that part at the first three splits only: chains of links count as what they are."""
    gains = []
    for depth in (4, 40):
        policy = hsb.HSB(hsb.BinaryTree(depth=depth), arms=2, learning_rate=RATE, seed=3)
        rng = np.random.default_rng(3)
        for _ in range(60):
            leaf = int(rng.integers(8))
            decision = policy.decide(leaf / 8)
            policy.learn(decision, loss=float(decision.arm == leaf % 2))
        (member,) = policy.learner.mixture.state.members
        gains.append(largest_gain(member, np.full(2, math.log(2.0))))
    assert gains[0] == pytest.approx(gains[1], abs=1e-9) and gains[0] > 1.0


# -- the certificate of the default ----------------------------------------------------------------------------------------


def parity_world(seed, rounds, **settings):
    """31 values, each with a cell of its own; the better arm is the parity. What was lost more than by parity, and the policy."""
    rng = np.random.default_rng(seed)
    x = rng.integers(31, size=rounds)
    losses = (rng.random((rounds, 2)) < np.where(np.arange(2) == (x % 2)[:, None], 0.05, 0.95)).astype(float)
    policy = hsb.HSB(arms=2, seed=seed, **settings)
    played = hsb.simulate(policy, {"x": x.astype(float)}, losses)
    return float(played.losses.sum() - losses[np.arange(rounds), x % 2].sum()), policy


def price_of_the_likeliest(policy):
    """What a certificate was once about: ln(1/prior) of the most probable rule beside the ensemble, whatever other rules there are."""
    state = policy.learner.mixture.state
    _, _, _, tree, _ = state.members  # the last one has the number's leading bits
    head = state.head[1:]
    if head[0] >= head[1]:
        return 2.0 * math.log(2.0)
    cells = hsb.BinaryTree(depth=5, space=hsb.Cells(32))
    return math.log(2.0) + price(explain(cells, [tree], [0, 1], None), stop=None)


def test_a_certificate_is_true_of_a_dear_and_good_rule():
    """At delta 0.05, over 200 runs: 10 may fail, and 19 would show that more do, with probability 0.995. Of the likeliest rule it is untrue."""
    failed = untrue = 0
    for seed in range(200):
        regret, policy = parity_world(seed, 1500, implicit=True)
        result = policy.certificate(0.05)
        failed += regret > result.total
        once = price_of_the_likeliest(policy)
        untrue += regret > result.excess + (2.0 * once - math.log(MIXTURE) + math.log(2.0 / 0.05)) / result.rate
    assert failed < 19 and untrue > 19
    print(f"{failed} of 200 failed; {untrue} of the likeliest rule")


def test_it_holds_of_every_rule_by_its_own_estimates():
    """In every run, the rule that looks best afterwards included; the gain of the likeliest rule alone does not."""
    above = 0
    for seed in range(5):
        rng, policy = np.random.default_rng(seed), hsb.HSB(arms=2, seed=seed)
        lost, estimates = 0.0, {}
        for _ in range(1000):
            x = int(rng.integers(31))
            decision = policy.decide({"x": float(x)})
            loss = float(rng.random() < (0.05 if decision.arm == x % 2 else 0.95))
            b = policy.learner.baseline.shift
            cell = estimates.setdefault(int(decision.memo.cells[0]) if len(decision.memo.cells) else 0, [0.0, 0.0])
            cell[decision.arm] += (loss - b) / decision.propensity
            lost += loss - b
            policy.learn(decision, loss=loss)
        result, left = policy.certificate(), lost - sum(map(min, estimates.values()))
        assert left <= result.excess + result.cost / result.rate + 1e-6
        above += left > result.excess + (price_of_the_likeliest(policy) - math.log(MIXTURE)) / result.rate
    assert above > 0


def test_it_says_whose_loss_it_is_and_what_the_models_advice_is_worth():
    """In a friendly world nearly nothing is lost more than by the models' advice: its prior weight is all but 1."""
    _, policy = parity_world(0, 1500)
    result = policy.certificate()
    assert result.advice_total is not None and result.advice_total < result.total / 3
    assert "the decisions lost at most" in str(result) and "a round more than the advice of its models" in str(result)
