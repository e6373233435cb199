"""Fixed share: what it costs to follow a mapping that changes, against explicit sums over ways of splitting and sequences of arms."""

import math
import re
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import theory as slow
from support import structure_cases as cases
from support.cost_cases import on_cells

import hsb
from hsb import theory
from hsb.theory import prior_cost, tracking_cost

ln = math.log
quick = settings(deadline=None, derandomize=True, max_examples=150)
DRIFT = st.sampled_from([1e-6, 1e-3, 0.1, 0.5])
SMALL = {
    hsb.BinaryTree: st.builds(cases.binary, st.integers(0, 3), cases.STOP, cases.FEATURES, st.booleans()),
    hsb.KaryTree: st.builds(cases.kary, st.integers(2, 3), st.integers(0, 2), cases.STOP, cases.FEATURES, st.booleans()),
    hsb.Lexicographic: st.builds(cases.lexicographic, st.integers(1, 6)),
    hsb.GroupedLexicographic: st.builds(cases.grouped, st.integers(1, 5), st.integers(2, 5)),
    hsb.PositionSplits: st.builds(cases.position, st.sampled_from([[0], [3], [1, 1], [2, 1], [1, 0, 1]])),
    hsb.ArbitrarySplits: st.builds(cases.arbitrary, st.integers(1, 4)),
    hsb.Hierarchy: st.builds(cases.hierarchy, st.integers(2, 6), st.integers(0, 1000)),
    hsb.OneOf: st.builds(cases.one_of, st.sampled_from([0.2, 0.9]), st.booleans()),
}
CASES = st.one_of(*SMALL.values())


def test_every_structure_is_tried():
    assert {kind.__name__ for kind in SMALL} == set(hsb.Structure.kinds)


@st.composite
def sequences(draw, families=CASES):
    """A case, a number of arms, and mappings one after the other: in phases, each like the last but for some leaves."""
    case, arms = draw(families), draw(st.integers(1, 3))
    size = case.structure.leaves
    phase = draw(st.sampled_from([1, 2, 4, size]))
    mapping = draw(st.lists(st.integers(0, arms - 1), min_size=size, max_size=size))
    mappings = [[mapping[k - k % phase] for k in range(size)]]
    for _ in range(draw(st.integers(0, 3))):
        first, last, arm = draw(st.integers(0, size)), draw(st.integers(0, size)), draw(st.integers(0, arms - 1))
        mappings.append([arm if first <= k < last else m for k, m in enumerate(mappings[-1])])
    return case, arms, mappings


@pytest.mark.nojit
@quick
@given(sequences(), DRIFT, st.integers(0, 50))
def test_it_is_the_sum_over_all_ways(question, drift, rounds):
    case, arms, mappings = question
    result = tracking_cost(case.structure, mappings, arms=arms, drift=drift, rounds=rounds, stop=case.stop)
    oracle = slow.tracking_cost(case.shape, arms, [on_cells(case, g) for g in mappings], drift, rounds)
    assert math.isclose(result, oracle, rel_tol=1e-10, abs_tol=1e-10)


@pytest.mark.nojit
@pytest.mark.parametrize("case", [cases.grouped(3, 5), cases.grouped(4, 3), cases.lexicographic(3), cases.binary(2)])
def test_all_pairs_of_mappings(case):
    """Also those whose changes are in single leaves of intervals that are too short to be split into groups."""
    for pair in product(product(range(2), repeat=case.structure.leaves), repeat=2):
        result = tracking_cost(case.structure, pair, arms=2, drift=0.1, rounds=5)
        assert math.isclose(result, slow.tracking_cost(case.shape, 2, pair, 0.1, 5), rel_tol=1e-12)


@pytest.mark.nojit
@quick
@given(sequences())
def test_without_drift_it_is_the_prior_cost(question):
    case, arms, mappings = question
    same = {"arms": arms, "stop": case.stop}
    cost = prior_cost(case.structure, mappings[0], **same)
    for drift, close in ((0.0, 1e-12), (1e-12, 1e-9)):
        result = tracking_cost(case.structure, mappings[:1] * 3, drift=drift, rounds=100, **same)
        assert math.isclose(result, cost, rel_tol=close, abs_tol=close)
    changes = any(g != mappings[0] for g in mappings)
    assert (tracking_cost(case.structure, mappings, drift=0.0, rounds=100, **same) == math.inf) == changes or math.isinf(cost)


def played(case: cases.Case, arms: int, drift: float, count: int, seed: int) -> tuple[list[slow.Round], float]:
    """Random rounds that a policy learns, some without a loss, and the sum of -ln Z: what its weight has fallen by."""
    policy = case.policy(arms, learning_rate=1.0, drift=drift)
    rng = np.random.default_rng(seed)
    rounds, fallen = [], 0.0
    for _ in range(count):
        leaf, arm, x = int(rng.integers(case.shape.leaves)), int(rng.integers(arms)), float(rng.exponential())
        x = 0.0 if rng.random() < 0.2 else x
        context = case.context(leaf, rng)
        p = policy.probabilities(context)[arm]
        fallen -= math.log1p(-p * -math.expm1(-x))
        policy.learn(hsb.Decision(context=context, arm=arm, propensity=min(1.0, 1.0 / x if x else 1.0)), loss=min(1.0, x))
        rounds.append((leaf, arm, x))
    return rounds, fallen


FEW_WAYS = {name: case for name, case in cases.EXAMPLES.items() if name != "one of, nested"}
each_case = pytest.mark.parametrize("case", FEW_WAYS.values(), ids=FEW_WAYS)


@each_case
@pytest.mark.parametrize("drift", [1e-3, 0.3])
def test_the_policy_is_the_mixture_over_sequences(case, drift):
    """Exactly: the product of its Z is the explicit sum over ways of splitting and sequences of arms."""
    for arms, count in ((2, 7), (3, 5)):
        rounds, fallen = played(case, arms, drift, count, seed=arms)
        assert math.isclose(fallen, -ln(slow.total_weight(case.shape, arms, rounds, drift)), rel_tol=1e-9)


def held(rounds: list[slow.Round], plan: list[list[int]]) -> float:
    """What the sequence of mappings, plan[t] in round t on the oracle's leaves, suffers: the sum of x where it plays the arm played."""
    return sum(x for (leaf, arm, x), g in zip(rounds, plan, strict=True) if g[leaf] == arm)


@each_case
@pytest.mark.parametrize("drift", [1e-4, 0.02, 0.5])
def test_no_sequence_of_mappings_beats_its_cost(case, drift):
    """Theorem 1's inequality for sequences, round for round: -sum ln Z <= tracking cost + what the sequence suffers."""
    arms, count, size = 3, 60, case.structure.leaves
    rounds, fallen = played(case, arms, drift, count, seed=1)
    rng = np.random.default_rng(2)
    lossy = sum(x > 0 for *_, x in rounds)
    totals = np.zeros((case.shape.leaves, arms))
    for leaf, arm, x in rounds:
        totals[leaf, arm] += x
    homes = [case.structure.leaf_of(context) for context in case.middles]
    best = [int(totals[[home == k for home in homes]].sum(axis=0).argmin()) for k in range(size)]
    for changes in (0, 1, 2, 5):
        for _ in range(10):
            mappings = [best]
            for _ in range(changes):
                first, last = sorted(rng.integers(size + 1, size=2).tolist())
                mappings.append([int(rng.integers(arms)) if first <= k < last else m for k, m in enumerate(mappings[-1])])
            times = np.sort(rng.integers(count + 1, size=changes))
            over = [[g[home] for home in homes] for g in mappings]
            plan = [over[int(k)] for k in np.searchsorted(times, np.arange(count), side="right")]
            cost = tracking_cost(case.structure, mappings, arms=arms, drift=drift, rounds=lossy, stop=case.stop)
            assert fallen <= cost + held(rounds, plan) + 1e-9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("drift", [0.01, 0.3])
def test_every_sequence_there_is(seed, drift):
    """Two leaves, two arms, five rounds: all 4^5 sequences of mappings."""
    case, arms, count = cases.binary(1), 2, 5
    rounds, fallen = played(case, arms, drift, count, seed)
    lossy = sum(x > 0 for *_, x in rounds)
    for plan in product(product(range(arms), repeat=2), repeat=count):
        mappings = [plan[0], *(b for a, b in pairwise(plan) if a != b)]
        cost = tracking_cost(case.structure, mappings, arms=arms, drift=drift, rounds=lossy)
        counted = [t for t, (*_, x) in enumerate(rounds) if x > 0]  # nothing happens in the others
        weight = slow.sequence_weight(case.shape, arms, [rounds[t] for t in counted], drift, [plan[t] for t in counted])
        assert -ln(weight) <= cost + 1e-9  # the sequence's own cost, which depends on where the rounds fall
        assert fallen <= cost + held(rounds, [list(g) for g in plan]) + 1e-9


def test_it_is_exact_on_one_leaf():
    """Every mapping used, every round with a loss: the cost is the weight of the one sequence."""
    case, arms, drift = cases.binary(0), 3, 0.05
    plan = [[0], [0], [1], [2], [2], [2], [0]]
    rounds = [(0, 0, 1.0)] * len(plan)
    exact = -ln(slow.sequence_weight(case.shape, arms, rounds, drift, plan))
    cost = tracking_cost(case.structure, [[0], [1], [2], [0]], arms=arms, drift=drift, rounds=len(plan))
    assert math.isclose(cost, exact, rel_tol=1e-12)
    stay = 1 - drift + drift / arms
    assert math.isclose(cost, ln(arms) + 3 * ln(arms / drift) - 3 * ln(stay), rel_tol=1e-12)


def test_half_of_it_is_too_little():
    """Negative control: the inequality fails for some sequence if the cost of changes is halved, or the changes are not paid at all."""
    case, arms, drift = cases.binary(0), 2, 1e-4
    policy = case.policy(arms, learning_rate=1.0, drift=drift)
    fallen = 0.0
    for t in range(40):
        arm = t // 20  # first arm 0 loses, then arm 1: the sequence 1, 0 suffers nothing
        p = policy.probabilities(0.5)[arm]
        fallen -= math.log1p(-p * -math.expm1(-1.0))
        policy.learn(hsb.Decision(context=0.5, arm=arm, propensity=1.0), loss=1.0)
    cost = tracking_cost(case.structure, [[1], [0]], arms=arms, drift=drift, rounds=40)
    unpaid = tracking_cost(case.structure, [[1]], arms=arms, drift=drift, rounds=40)
    assert unpaid < unpaid + (cost - unpaid) / 2 < fallen <= cost


def test_a_change_costs_about_ln_of_arms_over_drift():
    """In each part where the arm changes; and nothing where it does not."""
    tree, drift, rest = hsb.BinaryTree(depth=10), 1e-5, {"arms": 3, "drift": 1e-5, "rounds": 100_000}
    half = [2] * 512 + [0] * 512
    one = tracking_cost(tree, [half], **rest)
    costs = [tracking_cost(tree, [half, *([1] * 512 + [0] * 512, half) * 3][: k + 1], **rest) for k in range(6)]
    assert np.allclose(np.diff(costs), ln(3 / drift), atol=0.1)  # less exactly at first: finer ways of splitting drop out
    everywhere = tracking_cost(tree, [half, [0] * 512 + [1] * 512], **rest)
    assert math.isclose(everywhere - one, 2 * ln(3 / drift), abs_tol=0.2)
    assert math.isclose(one - prior_cost(tree, half, arms=3), 100_000 * drift * 2 / 3, rel_tol=1e-3)


@pytest.mark.nojit
@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("options_too", [False, True])
def test_sharing_is_bayes_only_where_the_splitting_stays(depth, options_too):
    """Fixed share on arms is exact Bayes for mappings whose splitting stays. Shared with the options too it is not, beyond one node.

    A child learns in every round that visits it, also in those in which its parent plays by itself: Bayes would not count these.
    """
    same = {"depth": depth, "arms": 2, "drift": 0.2, "options_too": options_too}
    odds, bayes = slow.SharedOdds(**same), slow.HiddenMappings(**same)
    rng = np.random.default_rng(0)
    gap = 0.0
    for _ in range(30):
        leaf, arm, x = int(rng.integers(1 + depth)), int(rng.integers(2)), float(rng.exponential(2.0))
        gap = max(gap, np.abs(odds.probabilities(leaf) - bayes.probabilities(leaf)).max())
        odds.learn(leaf, arm, x)
        bayes.learn(leaf, arm, x)
    if depth == 1 and options_too:
        assert gap > 0.01
    else:
        assert gap < 1e-12


def test_the_slow_odds_are_the_policy():
    odds = slow.SharedOdds(depth=1, arms=2, drift=0.2, options_too=False)
    policy = hsb.HSB(hsb.BinaryTree(depth=1), arms=2, learning_rate=1.0, drift=0.2)
    rng = np.random.default_rng(0)
    for _ in range(30):
        leaf, arm, x = int(rng.integers(2)), int(rng.integers(2)), float(rng.random())
        odds.learn(leaf, arm, x)
        policy.learn(hsb.Decision(context=leaf / 2, arm=arm, propensity=1.0), loss=x)
        assert np.allclose(policy.probabilities(leaf / 2), odds.probabilities(leaf), rtol=1e-12)


@pytest.mark.nojit
@pytest.mark.parametrize("stop", [0.0, 0.2, 0.5, 0.9])
def test_theorem_2_with_a_stop_prior(stop):
    """`prior_bound(stop=)` is above the exact cost of every mapping, where Theorem 2's own, for the uniform prior, is not."""
    rng = np.random.default_rng(0)
    for structure in (
        hsb.BinaryTree(depth=4),
        hsb.KaryTree(k=3, depth=2),
        hsb.OneOf(hsb.BinaryTree(depth=3), hsb.BinaryTree(depth=2)),
    ):
        for _ in range(100):
            phase = int(rng.integers(1, structure.leaves + 1))
            mapping = np.repeat(rng.integers(2, size=structure.leaves), phase)[: structure.leaves]
            regions = 1 + int(np.count_nonzero(np.diff(mapping)))
            exact = prior_cost(structure, mapping, arms=2, stop=stop)
            assert exact <= theory.prior_bound(structure, arms=2, regions=regions, stop=stop) + 1e-9
    tree = hsb.BinaryTree(depth=10)
    exact = prior_cost(tree, [0] * 1023 + [1], arms=2, stop=stop)
    assert exact <= theory.prior_bound(tree, arms=2, regions=2, stop=stop) + 1e-9
    assert (exact > theory.prior_bound(tree, arms=2, regions=2)) == (stop in (0.0, 0.9))


@pytest.mark.nojit
def test_other_arguments_are_refused():
    tree, good = hsb.BinaryTree(depth=1), {"arms": 2, "drift": 0.1, "rounds": 10}
    for drift in (-0.1, 0.6, math.nan, True, None, "0.1"):
        with pytest.raises(hsb.InputError, match="drift must be a share"):
            tracking_cost(tree, [[0, 1]], **(good | {"drift": drift}))
    for rounds in (-1, math.nan, math.inf, "10"):
        with pytest.raises(hsb.InputError, match="rounds must be a number"):
            tracking_cost(tree, [[0, 1]], **(good | {"rounds": rounds}))
    for mappings in ([], 3, "01", None):
        with pytest.raises(hsb.InputError, match="mappings must be a list"):
            tracking_cost(tree, mappings, **good)
    for mappings in ([0, 1], [[0, 1], [0, 2]], [[0, 1], [0]]):
        with pytest.raises(hsb.InputError, match="mapping must be the arm"):
            tracking_cost(tree, mappings, **good)
    with pytest.raises(hsb.InputError, match="stop= sets"):
        theory.prior_bound(hsb.Lexicographic(leaves=3), arms=2, regions=2, stop=0.5)


# -- what `docs/proofs.md` says in numbers ---------------------------------------------------------------------------

PAGE = " ".join((Path(__file__).parents[2] / "docs" / "proofs.md").read_text().split())


@pytest.mark.nojit
def test_the_page_names_tests_that_there_are():
    files = {
        "R": "theory/test_regret.py",
        "K": "theory/test_tracking.py",
        "F": "engine/kernels/test_flatten.py",
        "C": "policy/test_certificate.py",
        "L": "theory/test_late.py",
        "G": "policy/test_loss_range.py",
        "D": "theory/test_context_guarantee.py",
        "W": "structures/test_dearest.py",
        "N": "learners/test_baseline.py",
        "I": "theory/test_confident.py",
        "X": "theory/test_fixed_cuts.py",
        "Q": "explain/test_gain.py",
        "V": "learners/test_advice.py",
        "B": "serve/core/test_candidate_bets.py",
        "P": "serve/page/test_numbers.py",
        "A": "serve/page/test_feedback.py",
        "E": "test_e_values.py",
        "Y": "play/test_fit.py",
        "S": "policy/test_slots.py",
        "Z": "theory/test_ranked.py",
        "O": "theory/test_groups.py",
    }
    named = re.findall(r"`(test_[a-z0-9_]+)` \(([A-Z])[):]", PAGE)
    for name, file in named:
        assert f"def {name}(" in (Path(__file__).parents[1] / files[file]).read_text(), name
    assert len(re.findall(r"`test_", PAGE)) == len(named) >= 20


@pytest.mark.nojit
def test_the_numbers_of_the_page():
    """Depth 10, 3 arms: the default's bound beside that at the best rate, for the dearest mapping of three regions and for the exact cost of
    Section VI-A's best one; and beside Corollary 1's, for Theorem 2's cost."""
    tree, same = hsb.BinaryTree(depth=10), {"arms": 3, "horizon": 100_000}
    exact = prior_cost(tree, [2] * 512 + [0] * 428 + [1] * 84, arms=3)
    closed, dearest = (price(tree, arms=3, regions=3) for price in (theory.prior_bound, theory.worst_cost))
    results = [theory.anytime_mixture_bound(cost, **same) for cost in (closed, dearest, exact)]
    best = [math.sqrt(2 * cost * 3 * 100_000) for cost in (closed, dearest, exact)]
    assert results[1] == theory.anytime_bound(tree, **same)
    assert best[0] == pytest.approx(theory.regret_bound(tree, **same))
    for number in (*results, *best):
        assert f"{number:,.0f}" in PAGE
    assert f"{results[1] / best[1]:.1f} times" in PAGE
    assert results[1] <= 13_200


@pytest.mark.nojit
def test_the_same_policy_has_one_bound_however_stop_is_written():
    """And one that stops more often pays more where the mapping splits."""
    tree = hsb.BinaryTree(depth=10)
    bounds = [hsb.HSB(tree, arms=3, stop=stop).regret_bound(100_000, regions=3) for stop in (None, 0.5, 0.9, 0.0)]
    assert bounds[0] == bounds[1] < bounds[2] < bounds[3]
    known = [hsb.HSB(tree, arms=3, horizon=100_000, stop=stop) for stop in (None, 0.5)]
    assert known[0].regret_bound() == known[1].regret_bound() < theory.regret_bound(tree, arms=3, horizon=100_000)
    assert [policy.learner.mixture.rates.rate for policy in known] == [theory.learning_rate(tree, arms=3, horizon=100_000)] * 2


@pytest.mark.nojit
def test_the_default_is_of_order_root_t():
    """(5), against its parts summed by hand, and over sqrt(M T) it is level: within a factor of two of its least, at every T."""
    for arms, cost in product((1, 2, 3, 10), (1.0, 20.0, 500.0)):
        levels = []
        for T in (10**6, 2**20 + 1, 10**7, 2**30, 10**12):
            total, done, rate = 0.0, 0, 1.0
            while done < T:
                end = max(2048, 2 * done)
                n, rate = min(end, T) - done, math.sqrt(9 * math.sqrt(2) / (arms * end))
                shared = -math.log1p(-(1 - 1 / arms) / (end - done)) - math.log1p(-3 / (end - done))
                total += arms * n * rate / 2 + n * shared / rate
                done = end
            bound = theory.anytime_mixture_bound(cost, arms=arms, horizon=T)
            assert bound == pytest.approx(min(T, total + (cost + math.log(100)) / rate))
            levels.append(bound / math.sqrt(arms * T) / (cost + 10))
        assert max(levels) < 2 * min(levels) or max(levels) == 1.0


def test_the_numbers_of_the_table_of_guarantees():
    page = Path(__file__).parents[2] / "docs" / "explanation" / "guarantee.md"
    tree, text = hsb.BinaryTree(depth=10), page.read_text()
    for arms in (3, 10, 50):
        policy, cells = hsb.HSB(tree, arms=arms), []
        for horizon in (10**5, 10**6, 10**7):
            known = hsb.HSB(tree, arms=arms, horizon=horizon, regions=3).regret_bound()
            cells.append(f"{policy.regret_bound(horizon, regions=3):,.0f} ({known:,.0f})")
        assert f"| {arms} | {' | '.join(cells)} |" in text


def test_a_delay_and_implicit_exploration_cost_more():
    tree = hsb.BinaryTree(depth=2)
    plain, implicit = hsb.HSB(tree, arms=2), hsb.HSB(tree, arms=2, implicit=True)
    assert plain.regret_bound(1e6) < implicit.regret_bound(1e6) < plain.regret_bound(1e6, delay=100)
    known = hsb.HSB(tree, arms=2, learning_rate=0.01)
    assert known.regret_bound(1e5, delay=30) == pytest.approx(known.regret_bound(1e5) + 30 * 1e5 * 0.01)
    assert known.regret_bound(1e19) == pytest.approx(1e17) and known.regret_bound(1e19, delay=1e18) == 1e19  # and it ends
    assert plain.regret_bound(1e308) <= 1e308
    for delay in (-1, math.inf, math.nan):
        with pytest.raises(hsb.InputError, match="delay"):
            plain.regret_bound(1000, delay=delay)


def test_the_bound_is_never_more_than_the_rounds():
    policy = hsb.HSB(hsb.BinaryTree(depth=10), arms=50)
    assert policy.regret_bound(100_000) == 100_000
    assert hsb.HSB(hsb.BinaryTree(depth=10), arms=3).regret_bound(100) == 100


def test_a_stop_prior_is_part_of_the_bound():
    """HSB that never stops above the leaves is S-EXP3, and may promise no more."""
    tree = hsb.BinaryTree(depth=6)
    ours = hsb.HSB(tree, arms=2, learning_rate=0.1, stop=0.0).regret_bound(1000)
    assert ours == pytest.approx(hsb.SExp3(tree, arms=2, learning_rate=0.1).regret_bound(1000))
