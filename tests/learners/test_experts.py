"""The learner of EXP4: weights, tables, falling rates, and files."""

import numpy as np
import pytest

from hsb.learners.expert_priors import ExpertsPrior
from hsb.learners.experts import Experts
from hsb.policy.learner import Played

ARMS = ["a", "b", "c"]
FUNCTIONS = [lambda x: "a", lambda x: "b" if x > 0.5 else "c", lambda x: [0.2, 0.3, 0.5]]


def learner_of(prior=None, learning_rate=0.4):
    own = ExpertsPrior.of(FUNCTIONS, 3, prior)
    return Experts.fresh(own, list(ARMS), horizon=None, learning_rate=learning_rate, who="Exp4")


def test_probabilities_are_the_weighted_advice():
    learner, p = learner_of([1.0, 2.0, 5.0]), np.empty(3)
    assert learner.weights == pytest.approx([0.125, 0.25, 0.625])
    learner.fill(learner.read(0.9)[0], None, p)
    assert p == pytest.approx([0.125 + 0.125, 0.25 + 0.1875, 0.3125])
    learner.learn(learner.read(0.9)[0], None, 1, 1.0, 0.5, None)
    weights = np.array([0.125, 0.25, 0.625]) * np.exp(-0.8 * np.array([0.0, 1.0, 0.3]))
    assert learner.weights == pytest.approx(weights / weights.sum()) and learner.rounds == 1


def test_a_table_is_its_rounds_and_a_file_resumes_them():
    rng, whole, single = np.random.default_rng(0), learner_of(), learner_of()
    contexts = rng.random(50)
    table = Played(
        whole.check(contexts)[0], None, rng.random((50, 3)), rng.random(50), np.zeros(50, dtype=np.int64), np.zeros(50)
    )
    whole.play(whole.read_rows(table.points, 0), table, 0, 0.0, 0)
    for t in range(50):
        view = single.read(float(contexts[t]))[0]
        arm, probability, _ = single.choose(view, None, table.us[t])
        assert (arm, probability) == (table.arms[t], table.probabilities[t])
        single.learn(view, None, arm, table.losses[t, arm], probability, None)
    again = learner_of().from_arrays({name: array.copy() for name, array in single.to_arrays().items()}, 50)
    for learner in (whole, again, single.copy()):
        assert np.array_equal(learner.logs, single.logs) and learner.rounds == 50


def test_when_the_rate_falls_weights_become_powers_towards_the_prior():
    learner = learner_of([1.0, 2.0, 5.0], learning_rate=None)
    end = int(np.ceil(learner.rates.phase.until))
    learner.learn(learner.read(0.9)[0], None, 1, 1.0, 0.2, None)
    before, prior = learner.weights, learner.prior.shares
    assert learner.settle(None, end - 1) is None
    after = learner.settle(None, end)
    r = after.rates.rate / learner.rates.rate
    expected = prior ** (1 - r) * before**r
    assert 0.0 < r < 1.0 and after.weights == pytest.approx(expected / expected.sum(), rel=1e-12)
    assert learner.weights.tolist() == before.tolist()


@pytest.mark.parametrize(
    ("logs", "weights", "message"),
    [
        ([1.0, 0.0, 0.0], [1.0, 1.0, 1.0], "above 1"),
        ([0.0, 0.0, 0.0], [1.0, -1.0, 1.0], "at least 0"),
        ([0.0, -1.0, 0.0], [1.0, 0.9, 1.0], "not those of its logarithms"),
        ([0.0, -1.0, 0.0], [1.0, 0.0, 1.0], "not those of its logarithms"),
    ],
)
def test_weights_that_no_rounds_lead_to_are_refused(logs, weights, message):
    arrays = learner_of().to_arrays() | {"logs": np.array(logs), "weights": np.array(weights)}
    with pytest.raises(ValueError, match=message):
        learner_of().from_arrays(arrays, 3)
