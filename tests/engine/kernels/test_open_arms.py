"""The models of arms with features, against their naive twin (`tests/naive/arm_models.py`)."""

import numpy as np
import pytest
from naive.arm_models import NaiveArmModels, naive_product_columns

from hsb.engine.kernels import open_arms as kernels
from hsb.learners.arm_models import MOST_COLUMNS, fresh_models, product_columns, wider_models

NOTHING = np.zeros((0, 0), dtype=np.int64)


class Twins:
    """Models and their naive twin, which learn the same rounds."""

    def __init__(self, columns: int, of_arms: int, slots: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        where = product_columns(NOTHING, columns, of_arms)
        self.models = fresh_models(where, slots, columns - 1, of_arms - 1)
        stack = self.models.stack
        self.naive = NaiveArmModels(where, stack[kernels.PRECISION], stack[kernels.OWN_PRECISION])
        self.totals = np.zeros((slots, 2))

    def columns(self, n: int, arms: int | None = None) -> np.ndarray:
        z = self.rng.normal(size=n if arms is None else (arms, n))
        z[..., 0] = 1.0
        z[..., 1:][self.rng.random(z[..., 1:].shape) < 0.3] = 0.0  # as of other categories
        return z

    def learn(self, x, g, slot: int, loss: float) -> bool:
        kernels.learn(self.models, x, g[None], np.array([slot]), np.array([loss]), self.totals)
        return self.naive.learn(x, g, slot, loss)

    def indices(self, x, arms, slots) -> np.ndarray:
        index = np.empty(len(arms))
        rows = np.arange(len(arms))
        kernels.rank(self.models, x, kernels.Ranked(arms, rows, np.asarray(slots), index))
        return index

    def compare(self, x, arms, slots) -> None:
        expected = [self.naive.index(x, g, slot) for g, slot in zip(arms, slots, strict=True)]
        np.testing.assert_allclose(self.indices(x, arms, slots), expected, atol=1e-8)


@pytest.mark.parametrize(("columns", "of_arms"), [(1, 1), (3, 1), (1, 4), (5, 4), (18, 3), (20, 16)])
def test_indices_equal_those_of_the_naive_twin(columns, of_arms):
    twins = Twins(columns, of_arms, slots=6, seed=columns)
    rounds = 60 if columns * of_arms < 100 else 8  # the twin solves its normal equations every time
    for t in range(rounds):
        x, arms = twins.columns(columns), twins.columns(of_arms, 5)
        twins.compare(x, arms, [-1, 0, 1, 2, 5])
        twins.learn(x, arms[t % 5], t % 3, float(twins.rng.random() < 0.2 + 0.5 * (arms[t % 5, -1] > 0)))
    assert twins.totals[:3].sum() == pytest.approx(rounds + twins.totals[:, 1].sum())
    assert twins.models.stack[kernels.ROUNDS] == rounds


def test_a_change_of_the_world_restarts_the_models():
    twins = Twins(2, 2, slots=2, seed=0)
    again = []
    for t in range(1500):  # arms that were good are bad
        x, arms = twins.columns(2), twins.columns(2, 2)
        again.append(twins.learn(x, arms[t % 2], t % 2, float(t >= 1000)))
    assert any(again[1000:]), "the test needs a world that changes enough"
    assert not any(again[:1000])
    twins.compare(twins.columns(2), twins.columns(2, 2), [0, 1])


def test_learning_rows_equals_learning_one_by_one():
    one, other = (Twins(4, 3, slots=3, seed=5) for _ in range(2))
    x, g = one.columns(4, 40), one.columns(3, 40)
    slots, losses = one.rng.integers(-1, 3, size=40), one.rng.random(40)
    kernels.learn_rows(one.models, x, g, slots, losses)
    for t in range(40):
        if slots[t] >= 0:
            kernels.learn(other.models, x[t], g[t : t + 1], slots[t : t + 1], losses[t : t + 1], other.totals)
        else:
            kernels.learn_rows(other.models, x[t : t + 1], g[t : t + 1], slots[t : t + 1], losses[t : t + 1])
    for mine, theirs in zip(one.models[:4], other.models[:4], strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_more_columns_leave_the_predictions_as_they_are():
    twins = Twins(3, 2, slots=2, seed=1)
    for t in range(30):
        twins.learn(twins.columns(3), twins.columns(2), t % 2, float(t % 3 == 0))
    x, arms = twins.columns(3), twins.columns(2, 4)
    before = twins.indices(x, arms, [-1, 0, 1, 0])

    class Wider:
        def __init__(self, columns):
            self.columns = self.inputs = columns

    twins.models = wider_models(twins.models, Wider(5), Wider(4))
    padded = np.zeros(5)
    padded[:3] = x
    more = np.zeros((4, 4))
    more[:, :2] = arms
    np.testing.assert_allclose(twins.indices(padded, more, [-1, 0, 1, 0]), before, atol=1e-12)


def test_products_have_columns_of_their_own_until_there_are_too_many():
    where = product_columns(NOTHING, 6, 7)
    assert sorted(where.ravel()) == list(range(42))
    grown = product_columns(where, 30, 20)
    np.testing.assert_array_equal(grown[:6, :7], where)
    assert grown.max() == MOST_COLUMNS - 1
    assert (grown.ravel()[1:] > 0).all(), "no product shares the column of the constant"
    single = np.concatenate([grown[:, 0], grown[0, 1:]])
    assert len(set(single.tolist())) == len(single), "each feature by itself has a column of its own"


@pytest.mark.parametrize("available", [None, [1, 0, 1, 1, 0], [0, 0, 1, 0, 0]])
def test_each_group_is_represented_by_its_available_arm_of_least_index(available):
    index, groups = np.array([0.3, 0.1, 0.5, 0.3, 0.2]), np.array([0, 2, 2, 0, 3])
    best = np.empty(4, dtype=np.int64)
    mask = np.zeros(0, dtype=np.uint8) if available is None else np.array(available, dtype=np.uint8)
    advised = kernels.represent(index, groups, mask, best)
    there = range(5) if available is None else np.flatnonzero(mask).tolist()
    for group in range(4):
        arms = [k for k in there if groups[k] == group]
        assert best[group] == (min(arms, key=lambda k: index[k]) if arms else 5)
    assert advised == groups[min(there, key=lambda k: index[k])]


def test_products_get_their_columns_one_by_one():
    rng = np.random.default_rng(0)
    for _ in range(20):
        where = expected = NOTHING
        columns, of_arms = 1, 1
        for _ in range(5):
            where = product_columns(where, columns, of_arms)
            expected = naive_product_columns(expected, columns, of_arms)
            np.testing.assert_array_equal(where, expected)
            columns, of_arms = columns + int(rng.integers(0, 15)), of_arms + int(rng.integers(0, 10))
