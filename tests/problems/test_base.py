"""Problems: their models, their best losses against big samples, their names, and the adversary."""

import math
import pickle

import numpy as np
import pytest

import hsb
from hsb import problems
from hsb.problems import Problem, by_name

OTHERS = [
    problems.Stationary(),
    problems.SuddenChange(),
    problems.SuddenChange(at=0.6),
    problems.LocalChange(),
    problems.Changes(count=10),
    problems.Changes(count=0),
    problems.SortedContexts(),
    problems.HiddenImprovement(),
    problems.Smooth(arms=2),
    problems.Smooth(arms=10, model=3),
    problems.RealLosses(),
    problems.RareClicks(),
    problems.Articles(),
    problems.Noise(),
    problems.Noise(arms=2, features=3),
    problems.SlowDrift(),
    problems.SlowDrift(arms=5, model=2),
    problems.Piecewise(arms=10),
    problems.Piecewise(pieces=1),
    problems.TwoFeatures(),
]
every = pytest.mark.parametrize("problem", OTHERS, ids=repr)
HARD = hsb.problems.Adversary()


def test_every_kind_is_tested():
    assert {type(p).name for p in (*OTHERS, HARD, problems.Banners())} == {
        name for name, kind in Problem.kinds.items() if kind.__module__.startswith("hsb.")
    }  # the last in tests/problems/test_banners.py


@every
def test_best_loss_is_that_of_a_big_sample(problem):
    """Five standard errors, in a sample of 200 001 rounds (an odd number, so that stretches are uneven)."""
    rounds = 200_001
    sample = problem.sample(rounds, seed=5)
    known = problem.best_loss(rounds)
    suffered = sample.losses[np.arange(rounds), sample.expected.argmin(axis=1)]
    for best in (suffered, sample.expected.min(axis=1)):
        assert best.mean() == pytest.approx(known, abs=5 * best.std() / math.sqrt(rounds) + 1e-9)


@every
def test_losses_are_what_is_expected(problem):
    """Arm by arm in four parts of the rounds, five standard errors; losses stay in [0, 1]."""
    sample = problem.sample(40_000, seed=1)
    assert sample.losses.min() >= 0.0 and sample.losses.max() <= 1.0
    for part in np.split(np.arange(40_000), 4):
        off = (sample.losses[part] - sample.expected[part]).mean(axis=0)
        assert (np.abs(off) < 5 * 0.5 / math.sqrt(len(part))).all()


@every
def test_a_sample_follows_from_its_seed(problem):
    first, again, other = problem.sample(50, seed=3), problem.sample(50, seed=3), problem.sample(50, seed=4)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert (first.contexts != other.contexts).any()
    assert first.contexts.shape == (50, problem.space.features)
    assert first.losses.shape == first.expected.shape == (50, problem.arms)
    assert problem.synthetic


@every
def test_a_tree_fits_and_a_policy_plays(problem):
    tree = problem.structure(6)
    assert tree.depth == 6 and tree.space == problem.space
    run = problem.play(hsb.Exp3(arms=problem.arms, seed=0), 40, seed=0)
    assert len(run) == 40


@every
def test_plain_data_and_back(problem):
    again = by_name(**problem.to_dict())
    assert again == problem and hash(again) == hash(problem) and repr(again) == repr(problem)
    assert (pickle.loads(pickle.dumps(problem)).sample(9, 1).losses == problem.sample(9, 1).losses).all()


def test_the_paper_s_optimal_strategy():
    """Section VI-A: arm 3 below 0.5, arm 1 below 0.9182, arm 2 above; and its loss by hand."""
    problem = problems.Stationary()
    s = np.array([[0.1], [0.4999], [0.5001], [0.9181], [0.9183], [0.99]])
    assert problem.expected(s, np.arange(6), 6).argmin(axis=1).tolist() == [2, 2, 0, 0, 1, 1]
    low, high = 0.9, 0.93
    for _ in range(60):
        cut = (low + high) / 2
        low, high = (cut, high) if math.sin(math.pi * cut) > 0.5 + 0.5 * math.sin(2 * math.pi * cut) else (low, cut)
    assert cut == pytest.approx(0.9182, abs=5e-5)
    middle = 0.5 * (cut - 0.5) + (math.cos(math.pi) - math.cos(2 * math.pi * cut)) / (4 * math.pi)
    right = (math.cos(math.pi * cut) + 1.0) / math.pi
    assert problem.best_loss(1) == pytest.approx(0.125 + middle + right, abs=1e-7)


def test_the_paper_s_change():
    problem = problems.SuddenChange()
    s = np.full((4, 1), 0.3)
    before, *after = problem.expected(s, np.arange(4), 4)
    assert all((row == before[[1, 2, 0]]).all() for row in after)
    assert problems.SuddenChange(at=0.29).change(100) == 29


def test_changes_never_keep_the_order():
    orders = problems.Changes(count=200, model=1)._orders
    assert len(orders) == 201 and (orders[1:] != orders[:-1]).any(axis=1).all()
    assert len({tuple(order) for order in orders}) == 6


def test_models_differ_and_stay():
    first, second = problems.Smooth(), problems.Smooth(model=1)
    assert first != second and first.best_loss(10) != second.best_loss(10)
    assert first.best_loss(10) == problems.Smooth().best_loss(10_000)


def test_a_new_model_is_drawn_from_the_seed_between_contexts_and_losses():
    """By hand, for the waves: one generator for all three. Where nothing of the model is random, it is the plain sample."""
    sample = problems.Smooth(arms=4).sample(500, seed=3, new_model=True)
    rng = np.random.default_rng([3, 0xDA7A])
    contexts, frequencies, phases = rng.random((500, 1)), rng.choice([0.5, 1.0, 1.5, 2.0], 4), rng.random(4)
    expected = 0.5 + 0.4 * np.sin(2 * np.pi * (contexts * frequencies + phases))
    assert (sample.expected == expected).all() and (sample.losses == (rng.random((500, 4)) < expected)).all()
    for problem in OTHERS:
        plain, new, again = (problem.sample(50, seed=3, new_model=new) for new in (False, True, False))
        assert (plain.contexts == new.contexts).all() and (plain.expected == again.expected).all()
        assert (plain.expected == new.expected).all() == (not hasattr(problem, "model"))


def test_scattered_points_are_enough_for_three_features():
    """Three arms that each follow one feature: the least of three uniform numbers is 1/4 on average."""

    class Features(Problem, listed=False):
        def expected(self, contexts, when, rounds):
            return contexts

    assert Features(arms=3, features=3).best_loss(10) == pytest.approx(0.25, abs=1e-3)


def test_a_class_of_the_same_name_elsewhere_takes_no_name_away():
    class Stationary(Problem):
        def expected(self, contexts, when, rounds):
            return np.zeros((len(contexts), self.arms))

    assert Stationary.name == "stationary" and type(by_name("stationary")) is problems.Stationary


def test_best_loss_of_a_drift_counts_every_round():
    """Few rounds are summed one by one; 7 of them here, each by quadrature of its own."""
    problem = problems.SlowDrift(model=4)
    s = (np.arange(4096)[:, None] + 0.5) / 4096
    by_hand = np.mean([problem.expected(s, np.full(4096, t), 7).min(axis=1).mean() for t in range(7)])
    assert problem.best_loss(7) == pytest.approx(by_hand, abs=1e-6)


# -- the adversary -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["spite", "contrary", "contradict", "contradict-but-one", "lure", "probabilities"])
def test_the_adversary_s_losses_are_against_the_likely_arm(kind):
    """A policy that is sure of arm 1 suffers; the probabilities are those that the docstring gives (five standard errors)."""
    sure = hsb.Exp3(arms=3, learning_rate=1e-12, seed=0)
    for _ in range(3):
        for arm in (0, 2):
            sure.learn(hsb.Decision(context=None, arm=arm, propensity=1e-12), loss=1.0)
    run = problems.Adversary(kind=kind).play(sure, 2000, seed=0)
    p = sure.probabilities(None)
    probability = {"spite": 1.0, "probabilities": p[1]}.get(kind, 0.9)
    assert run.table[:, 1].mean() == pytest.approx(probability, abs=5 * math.sqrt(0.09 / 2000) + 1e-12)
    zero = {"spite": 0.0, "probabilities": p[0], "contrary": 0.1, "lure": 0.45}.get(kind, 0.5)
    assert run.table[:, 0].mean() == pytest.approx(zero, abs=5 * math.sqrt(0.25 / 2000) * (zero > 0.0))
    assert (run.losses == run.table[np.arange(2000), run.arms]).all()
    assert (run.propensities > 0).all()


def test_hsb_keeps_its_bound_against_spite():
    """HSB stays within its bound of the best mapping in hindsight."""
    rounds = 3000
    tree = HARD.structure(3)
    policy = hsb.HSB(tree, arms=3, horizon=rounds, seed=0)
    run = HARD.play(policy, rounds, seed=0)
    best = hsb.BestFixed.of(tree, run.contexts, run.table)
    hindsight = hsb.simulate(best, run.contexts, run.table).losses.sum()
    assert run.losses.sum() - hindsight <= policy.regret_bound(regions=8)
    assert run.average_loss < 0.5


def test_an_adversary_s_run_follows_from_the_seeds():
    first, again = (HARD.play(hsb.HSB(HARD.structure(4), arms=["a", "b", "c"], seed=1), 60, seed=2) for _ in range(2))
    assert (first.table == again.table).all() and (first.arms == again.arms).all()


# -- bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: by_name("stationery"), "sudden-change"),
        (lambda: by_name("smooth", arm=3), "arms, model"),
        (lambda: by_name("stationary", arms=3), "no settings"),
        (lambda: problems.Smooth(arms=1), "at least 2"),
        (lambda: problems.Smooth(model=-1), "at least 0"),
        (lambda: problems.SuddenChange(at=1.0), "between 0 and 1"),
        (lambda: problems.LocalChange(below=0), "below"),
        (lambda: problems.Changes(count=-1), "count"),
        (lambda: problems.Adversary(kind="kind"), "spite"),
        (lambda: problems.Adversary(kind="contradict", arms=4), "three arms"),
        (lambda: problems.Stationary().sample(0, 0), "rounds"),
        (lambda: problems.Stationary().sample(10, -1), "seed"),
        (lambda: HARD.sample(10, 0), "play"),
        (lambda: HARD.best_loss(10), "play"),
        (lambda: HARD.play(hsb.Uniform(arms=2), 10, 0), "arms=3"),
        (lambda: problems.Stationary().play(3, 10, 0), "policy"),
    ],
)
def test_bad_input(call, fragment):
    with pytest.raises(hsb.InputError, match=fragment):
        call()
