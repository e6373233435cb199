"""The learner over a structure: rounds, tables, copies and files agree; and it settles when a phase is over."""

import numpy as np
import pytest

import hsb
from hsb.learners.priors import CellsPrior, StructurePrior
from hsb.learners.structured import Structured
from hsb.policy.learner import Played
from hsb.structures.leaves import Leaves

TREE = hsb.BinaryTree(depth=3)
PRIORS = {
    "cells": CellsPrior(Leaves(4)),
    "tree": StructurePrior.of(TREE, 3, regions=None, drift=None, stop=None),
    "advised tree": StructurePrior.of(TREE, 3, regions=None, drift="auto", stop=None),
}
each_prior = pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)


def fresh(prior, learning_rate=None):
    return Structured.fresh(prior, 3, horizon=None, learning_rate=learning_rate, implicit=False)


def taught(prior, count=40):
    learner, rng = fresh(prior), np.random.default_rng(0)
    for x in rng.random(count).tolist():
        key = learner.read(x)[0]
        arm, probability, _ = learner.choose(key, None, rng.random())
        learner.learn(key, None, arm, float(rng.random()), probability, None)
        learner = learner.settle(None, learner.rounds) or learner
    return learner


@each_prior
def test_a_table_is_its_rounds(prior):
    rng, whole, single = np.random.default_rng(1), fresh(prior), fresh(prior)
    points = rng.random((40, 1))
    table = Played(points, None, rng.random((40, 3)), rng.random(40), np.zeros(40, dtype=np.int64), np.zeros(40))
    start = 0
    while start < 40:
        view = whole.read_rows(points, start)
        whole.play(view, table, start, 0.0, 40)
        start = whole.rounds
        whole = whole.settle(None, start) or whole
    for t in range(40):
        key = single.read(float(points[t, 0]))[0]
        arm, probability, _ = single.choose(key, None, table.us[t])
        assert (arm, probability) == (table.arms[t], table.probabilities[t])
        single.learn(key, None, arm, table.losses[t, arm], probability, None)
        single = single.settle(None, t + 1) or single
    assert whole.mixture.state.digest() == single.mixture.state.digest() and whole.rounds == single.rounds == 40


@each_prior
def test_copies_and_files_go_on_the_same_and_leave_the_original(prior):
    learner, p, q = taught(prior), np.empty(3), np.empty(3)
    digest, key = learner.mixture.state.digest(), learner.read(0.7)[0]
    again = fresh(prior).from_arrays({name: array.copy() for name, array in learner.to_arrays().items()}, learner.rounds)
    copy = learner.copy()
    for other in (again, copy):
        assert other.mixture.state.digest() == digest and other.rounds == 40
        other.learn(key, None, 1, 1.0, 0.3, None)
    again.fill(key, None, p)
    copy.fill(key, None, q)
    assert p.tolist() == q.tolist() and learner.mixture.state.digest() == digest


@each_prior
def test_a_new_arm_begins_with_its_share(prior):
    learner, p, q = taught(prior), np.empty(3), np.empty(4)
    learner.mixture.state.fill(learner.read(0.2)[0], None, p)
    wider = learner.with_arm("d")
    wider.fill(wider.read(0.2)[0], None, q)
    assert q.sum() == pytest.approx(1.0) and learner.mixture.arms == 3
    assert q[3] > 0.5 if prior is PRIORS["advised tree"] else 0.0 < q[3] < 0.5  # an advisor tries it at once


def test_nothing_is_settled_before_a_phase_is_over():
    learner = fresh(PRIORS["tree"])
    assert learner.settle(None, 0) is None
    until = int(np.ceil(learner.mixture.rates.phase.until))
    for _ in range(until):
        assert learner.settle(None, learner.rounds) is None
        learner.learn(learner.read(0.3)[0], None, 0, 0.1, 1.0, None)
    after = learner.settle(None, learner.rounds)
    assert after.mixture.rates.rate < learner.mixture.rates.rate and after.rounds == until
