"""When the rate falls, every mapping's weight becomes prior^(1-r) weight^r: in every kind of state, equal to the slow twins."""

import numpy as np
import pytest
from naive import mixture as naive
from support.structure_cases import EXAMPLES, Array, Case, binary, each_example

import hsb

EXACT = 1e-10
RATIOS = (0.5, 0.97, 0.1)


def gap(
    case: Case, arms: int, rounds: int = 60, *, masking: float = 0.0, arrival: int = -1, seed: int = 0, told: float = 1.0
) -> float:
    """Largest difference in p while policy and oracles learn the same rounds and fall by the same ratios, the policy by `told` times that."""
    rng = np.random.default_rng(seed)
    policy = case.policy(arms, learning_rate=0.3)
    oracles: list[naive.Recursion | naive.Mixture] = [naive.Recursion(case.shape, arms)]
    if arms**case.shape.leaves <= 800 and arrival < 0:
        oracles.append(naive.Mixture(case.shape, arms))
    worst = 0.0
    for t in range(rounds):
        if t == arrival:
            policy.add_arm("late")
            oracles[0].add_arm()  # type: ignore[union-attr]
        M = len(policy.arms)
        if t % 7 == 5:
            r = RATIOS[t // 7 % 3]
            policy.learner.mixture.state.flatten(r * told)
            for oracle in oracles:
                oracle.flatten(r)
        leaf = int(rng.integers(case.shape.leaves))
        context = case.context(leaf, rng)
        available = sorted(rng.permutation(M)[: rng.integers(1, M + 1)].tolist()) if rng.random() < masking else None
        labels = None if available is None else [policy.arms[m] for m in available]
        p = policy.probabilities(context, available=labels)
        for oracle in oracles:
            q = oracle.probabilities(leaf, available)
            worst = max(worst, float(np.abs(p[q > 1e-140] / q[q > 1e-140] - 1).max()))
        arm = int(rng.choice(M if available is None else available))
        x = float(rng.exponential())
        policy.learn(
            hsb.Decision(context=context, arm=policy.arms[arm], propensity=min(1.0, 0.3 / x), available=labels),
            loss=min(1.0, x / 0.3),
        )
        for oracle in oracles:
            oracle.learn(leaf, arm, x, available)
    return worst


@pytest.mark.nojit
@each_example
def test_every_structure_equals_the_twins(case: Case) -> None:
    for masking in (0.0, 0.5):
        assert gap(case, 2, masking=masking) < EXACT


@each_example
@pytest.mark.parametrize("arms", [3, 9, 17])
def test_many_arms_masks_and_arms_that_come_later(case: Case, arms: int) -> None:
    assert gap(case, arms, masking=0.3, arrival=30, seed=arms) < EXACT


@each_example
def test_a_wrong_ratio_is_noticed(case: Case) -> None:
    """Negative control."""
    assert gap(case, 3, told=0.98) > 1e-6


def after(case: Case, arms: int, steps: list[float], scale: float) -> tuple[hsb.HSB, Array]:
    """A policy that was told large losses, and fell by these ratios; and the probabilities at all leaves."""
    rng = np.random.default_rng(3)
    policy = case.policy(arms, learning_rate=0.5)
    for _ in range(80):
        leaf = int(rng.integers(case.shape.leaves))
        decision = hsb.Decision(context=case.context(leaf, rng), arm=int(rng.integers(arms - 1)), propensity=0.5 / scale)
        policy.learn(decision, loss=float(rng.random()))
    for r in steps:
        policy.learner.mixture.state.flatten(r)
    return policy, np.array([policy.probabilities(context) for context in case.middles])


@each_example
@pytest.mark.parametrize("scale", [10.0, 300.0])
def test_powers_compose_however_small_the_weights(case: Case, scale: float) -> None:
    """Twice by r1 and r2 is once by r1 r2; weights here go down to exp(-20000), and come back."""
    once, p = after(case, 4, [0.03], scale)
    twice, q = after(case, 4, [0.3, 0.1], scale)
    np.testing.assert_allclose(p, q, rtol=1e-9, atol=1e-280)
    for policy in (once, twice):  # and they go on alike
        for leaf, context in enumerate(case.middles):
            policy.learn(hsb.Decision(context=context, arm=leaf % 4, propensity=0.2), loss=1.0)
    for context in case.middles:
        np.testing.assert_allclose(once.probabilities(context), twice.probabilities(context), rtol=1e-9, atol=1e-280)


@each_example
def test_it_is_as_if_all_had_been_learned_at_the_lower_rate(case: Case) -> None:
    flattened, p = after(case, 3, [0.25], 10.0)
    slow = case.policy(3, learning_rate=0.125)
    rng = np.random.default_rng(3)
    for _ in range(80):
        leaf = int(rng.integers(case.shape.leaves))
        slow.learn(
            hsb.Decision(context=case.context(leaf, rng), arm=int(rng.integers(2)), propensity=0.05), loss=float(rng.random())
        )
    np.testing.assert_allclose(p, [slow.probabilities(context) for context in case.middles], rtol=1e-9)
    assert flattened.rounds == slow.rounds


def test_compressed_and_dense_trees_fall_alike() -> None:
    results = []
    for compressed in (False, True):
        policy = binary(6, compressed=compressed).policy(3, drift=1e-3, seed=1)
        rng = np.random.default_rng(0)
        for t in range(1500):  # through ten falls, told the same rounds
            decision = hsb.Decision(context=float(rng.random()), arm=t % 3, propensity=0.4)
            policy.learn(decision, loss=float(rng.random()))
        results.append([policy.probabilities(x) for x in np.linspace(0.0, 1.0, 200)])
    np.testing.assert_allclose(*results, rtol=1e-9)


@pytest.mark.parametrize(
    "make", [hsb.Exp3, lambda **rest: hsb.SExp3(8, **rest), lambda **rest: hsb.HSB(hsb.BinaryTree(depth=3), drift=None, **rest)]
)
def test_a_falling_rate_is_exponential_weights_at_the_present_rate(make) -> None:
    """Without horizon and rate: at any time the weights are those of the present rate for all rounds so far."""
    rng = np.random.default_rng(5)
    policy: hsb.Policy = make(arms=3, seed=0)
    told = []
    for t in range(300):
        decision = policy.decide(float(rng.random()))
        loss = float(rng.random())
        policy.learn(decision, loss=loss)
        told.append((decision.context, decision.arm, decision.propensity, loss))
        if t in (0, 1, 62, 63, 64, 200, 299):
            where = [] if isinstance(policy, hsb.Exp3) else [policy.structure]
            twin = type(policy)(*where, arms=3, learning_rate=policy.learner.mixture.rates.rate)
            for context, arm, propensity, loss in told:
                twin.learn(hsb.Decision(context=context, arm=arm, propensity=propensity), loss=loss)
            for context in (0.1, 0.5, 0.9):
                np.testing.assert_allclose(policy.probabilities(context), twin.probabilities(context), rtol=1e-9)


@pytest.mark.parametrize("prior", ["uniform", "complexity"])
def test_listed_mappings_fall_as_the_structure_does(prior: str) -> None:
    tree = hsb.BinaryTree(depth=2)
    slow = hsb.MixtureOfMappings(tree, arms=2, prior=prior, seed=1)
    fast = hsb.HSB(tree, arms=2, drift=None, seed=1) if prior == "complexity" else hsb.SExp3(tree, arms=2, seed=1)
    rng = np.random.default_rng(2)
    contexts, losses = rng.random(500), rng.random((500, 2))
    a, b = (hsb.simulate(policy, contexts, losses) for policy in (slow, fast))
    np.testing.assert_allclose(a.propensities, b.propensities, rtol=1e-9)


def test_what_was_never_visited_stays_untouched() -> None:
    policy = EXAMPLES["binary"].policy(3, learning_rate=0.1)
    before = policy.learner.mixture.state.digest()
    policy.learner.mixture.state.flatten(0.5)
    assert policy.learner.mixture.state.digest() == before
