"""Perceptrons in compiled code: Welford's moments, Rosenblatt's rule and a score of 0, by hand."""

import numpy as np
import pytest

from hsb.experiments.paper.kernels import perceptron


class Machine:
    """The arrays of perceptrons, as `Perceptrons` holds them."""

    def __init__(self, columns, features, *, averaged=False):
        self.W = np.zeros((columns, features + 1))
        self.total = np.zeros((columns if averaged else 0, features + 1))
        self.moments, self.seen = np.zeros((2, features)), np.zeros(1, dtype=np.int64)

    def play(self, X, targets, *, online):
        X, targets = np.array(X, dtype=float), np.array(targets, dtype=np.int8)
        if not online and not self.seen[0]:
            self.seen[0], self.moments[1] = 1, 1.0  # mean 0, deviation 1
        codes, z = np.empty_like(targets), np.empty(X.shape[1])
        perceptron.play(self.W, self.total, self.moments, self.seen, online, X, targets, z, codes)
        return codes.tolist()

    def encode(self, X):
        X = np.array(X, dtype=float)
        codes = np.empty((len(X), len(self.W)), dtype=np.int8)
        perceptron.encode(self.W, self.total, self.moments, self.seen, X, np.empty(X.shape[1]), codes)
        return codes.tolist()


def test_moments_are_those_of_all_rows():
    X = 1e6 + np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 1e-3, 0.0]
    machine = Machine(1, 3)
    machine.play(X, [[1]] * 50, online=True)
    assert machine.seen[0] == 50
    assert machine.moments[0] == pytest.approx(X.mean(axis=0), rel=1e-12)
    assert machine.moments[1] == pytest.approx(((X - X.mean(axis=0)) ** 2).sum(axis=0), rel=1e-6)


def test_rosenblatts_rule_by_hand():
    machine = Machine(1, 1)
    assert machine.play([[2.0], [-1.0], [1.0], [-2.0]], [[1], [-1], [1], [-1]], online=False) == [[-1], [-1], [1], [-1]]
    assert machine.W.tolist() == [[2.0, 1.0]]  # the first row was a mistake: a score of 0 counts as -1; later ones are right
    machine.play([[-0.1]], [[-1]], online=False)
    assert pytest.approx(np.array([[2.1, 0.0]])) == machine.W  # 2 * -0.1 + 1 = 0.8 is on the wrong side


def test_a_score_of_0_is_a_mistake_for_both_signs():
    machine = Machine(2, 1)
    assert machine.play([[3.0]], [[1, -1]], online=False) == [[-1, -1]]
    assert machine.W.tolist() == [[3.0, 1.0], [-3.0, -1.0]]


def test_the_average_predicts_and_the_latest_learns():
    plain, averaged = Machine(1, 1), Machine(1, 1, averaged=True)
    rows, targets = [[2.0], [-0.1], [-0.1]], [[1], [-1], [-1]]
    for machine in (plain, averaged):
        machine.play(rows, targets, online=False)
    assert np.array_equal(plain.W, averaged.W)
    assert averaged.total == pytest.approx(np.array([[2.0 + 2.1 + 2.1, 1.0 + 0.0 + 0.0]]))
    assert plain.encode([[-0.1]]) == [[-1]] and averaged.encode([[-0.1]]) == [[1]]  # 6.2 * -0.1 + 1 > 0


def test_encoding_changes_nothing():
    machine = Machine(2, 2, averaged=True)
    machine.play(np.random.default_rng(1).normal(size=(20, 2)), [[1, -1]] * 20, online=True)
    before = [array.copy() for array in (machine.W, machine.total, machine.moments, machine.seen)]
    machine.encode([[0.3, 7.0], [1e3, -1e3]])
    after = (machine.W, machine.total, machine.moments, machine.seen)
    assert all(np.array_equal(one, two) for one, two in zip(before, after, strict=True))


def test_a_feature_that_never_changed_counts_0():
    machine = Machine(1, 2)
    machine.play([[5.0, 0.0], [5.0, 1.0], [5.0, 3.0]], [[1], [-1], [1]], online=True)
    assert machine.W[0, 0] == 0.0 and machine.W[0, 1] != 0.0
    assert machine.encode([[5.0, 3.0]]) == machine.encode([[-900.0, 3.0]])
