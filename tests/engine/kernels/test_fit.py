"""An ensemble fitted to rows that are known whole: every kernel against its naive twin (`tests/naive/fit.py`)."""

import numpy as np
import pytest
from naive import fit as naive_fit
from naive.ensemble import Ensemble, Forest, scrambled

from hsb.engine.kernels import ensemble as ensemble_kernels
from hsb.engine.kernels import fit as kernels
from hsb.engine.kernels.jit import kernel
from hsb.engine.kernels.words import ensemble as p
from hsb.engine.state import FitRows, fit_ensemble, make_ensemble, rounds_known, set_columns
from hsb.engine.state import ensemble as parts
from hsb.engine.state import fit as fits
from hsb.engine.state.ensemble import cosine_models, forest_nodes, linear_models, piece

ARMS, COSINES = 3, 12
INPUTS = np.array([-1, 0, 1, 2, 2, 2])  # two numbers and a category of three
pytestmark = pytest.mark.nojit


@pytest.fixture(autouse=True)
def _few_cosines(monkeypatch):
    monkeypatch.setattr(parts, "MOST_COSINES", COSINES)


def made(arms: int = ARMS):
    member = make_ensemble(16, arms)
    set_columns(member, [0, 1, 2, 2, 2])
    member.I[p.NODES], member.I[p.BLOCKS] = 400, 60
    return member


def rows(n: int, seed: int = 0, noise: bool = False) -> FitRows:
    """Arms differ in what the first number says; the second says nothing; one category is good for arm 1."""
    rng = np.random.default_rng(seed)
    z = np.zeros((6, n))
    z[0], z[1], z[2] = 1.0, rng.normal(size=n), rng.normal(size=n)
    z[3 + rng.integers(3, size=n), np.arange(n)] = 1.0
    arm = rng.integers(ARMS, size=n)
    probability = np.clip(0.5 + 0.25 * z[1] * (arm - 1) - 0.2 * (z[4] * (arm == 1)), 0.05, 0.95)
    return FitRows(z, arm, (rng.random(n) < (0.5 if noise else probability)).astype(float))


@kernel
def cosines(F, I, z, out):
    ensemble_kernels.cosines(F, I, z)
    at = ensemble_kernels.phi_at(I)
    for i in range(len(out)):
        out[i] = F[at + i]


def curves(member, z):
    """The constant and the cosines of each row, from the twin."""
    twin = Ensemble(ARMS, 40, 40, COSINES)
    twin.set_columns([0, 1, 2, 2, 2])
    twin.frequencies = cosine_models(member)[0][: len(z)].copy()
    return np.array([twin.phi(each) for each in z.T])


@pytest.mark.parametrize("curved", [False, True])
def test_sums_are_those_of_the_rows(curved):
    member, result = made(), rows(40)
    n = COSINES + 1 if curved else 6
    A, b = np.zeros((ARMS, n, n)), np.zeros((ARMS, n))
    kernels.add_rows(*member, *result, np.empty(16), A, b, curved)
    X = curves(member, result.z) if curved else result.z.T
    for m in range(ARMS):
        own = X[result.arm == m]
        np.testing.assert_allclose(A[m], own.T @ own, atol=1e-9)
        np.testing.assert_allclose(b[m], own.T @ (result.loss[result.arm == m] - 0.5), atol=1e-9)


@pytest.fixture
def fitted():
    member, result = made(), rows(90)
    fit_ensemble(member, result, INPUTS)
    return member, result


@pytest.mark.parametrize("curved", [False, True])
def test_what_is_predicted_without_a_row_is_what_the_others_say(fitted, curved):
    """Every regression solved anew without the row. Control: with it, forecasts are others."""
    member, result = fitted
    out = np.empty(90)
    kernels.left_out(*member, *result, np.empty(16), out, curved)
    X = curves(member, result.z) if curved else result.z.T
    precision = piece(member, p.RIDGE, COSINES + 1, skip=16) if curved else piece(member, p.RIDGE, 6)
    expected = (result.loss.sum() + 1) / 92 - 0.5
    for m in range(ARMS):
        own = result.arm == m
        y = result.loss[own] - 0.5
        np.testing.assert_allclose(out[own], naive_fit.left_out(X[own], y, precision, expected), atol=1e-6)
        within = np.clip(X[own] @ naive_fit.solved(X[own], y, precision, expected), -0.5, 0.5)
        assert np.abs(out[own] - within).max() > 1e-3


def test_models_are_those_of_all_rows(fitted):
    """The ensemble then predicts, learns and is read from files as any other: its weights solve the equations, its covariances are theirs."""
    member, result = fitted
    weights, covariances = linear_models(member)
    precision = piece(member, p.RIDGE, 6)
    for m in range(ARMS):
        X, y = result.z.T[result.arm == m], result.loss[result.arm == m] - 0.5
        np.testing.assert_allclose(weights[m, :6], naive_fit.solved(X, y, precision, 0.0), atol=1e-8)
        np.testing.assert_allclose(covariances[m, :6, :6], np.linalg.inv(X.T @ X + np.diag(precision)), atol=1e-8)
    stack = piece(member, p.STACK, p.MEMORIES)
    assert stack[[p.ROUNDS, p.LOST, p.EVIDENCE, p.LOGGED]].tolist() == [90.0, result.loss.sum(), 1.0, 90.0]
    assert rounds_known(member) == 90


def test_precisions_make_what_was_seen_more_probable():
    """Than the ones before, and than the same for every column; a column that says nothing is believed least."""
    result = rows(600, seed=3)
    member = made()
    before = piece(member, p.RIDGE, 6).copy()
    fit_ensemble(member, result, INPUTS)
    after = piece(member, p.RIDGE, 6).copy()
    expected = (result.loss.sum() + 1) / 602 - 0.5

    def total(precision):
        return sum(
            naive_fit.evidence(result.z.T[result.arm == m], result.loss[result.arm == m] - 0.5, precision, expected, 0.22)
            for m in range(ARMS)
        )

    assert total(after) > total(before) + 1.0
    even = after.copy()
    even[1:] = np.exp(np.log(after[1:]).mean())
    assert total(after) > total(even)
    assert after[2] > 5 * after[1] and after[2] > after[3]
    assert after[3] == after[4] == after[5]
    assert after[0] == before[0]


def naive_forest(member) -> Forest:
    forest = Forest(ARMS, int(member.I[p.NODES]), int(member.I[p.BLOCKS]))
    forest.probabilities = np.array([1 / 3, 1 / 3, 1 / 9, 1 / 9, 1 / 9])
    forest.used = int(member.I[p.SEED])
    return forest


def test_the_forest_is_the_twins():
    """Grown from some of the rows, counted on them, predicting the others; then it watches, and learns more rounds, as its twin does."""
    member, result = made(), rows(240, seed=5)
    twin = naive_forest(member)
    some, others = np.arange(0, 240, 2), np.arange(1, 240, 2)
    spans, sides, z = np.empty((400, 3), dtype=np.int64), np.empty(p.WATCH + 4 * ARMS), np.empty(16)
    order, other = np.empty(120, dtype=np.int64), np.empty(120, dtype=np.int64)
    kernels.grow(*member, *result, some, order, other, spans, sides)
    kernels.count(*member, *result, some, z)
    Z = result.z.T
    naive_fit.grown(twin, Z, result.arm, result.loss, some.tolist())
    for t in some:
        twin.learn(Z[t], result.arm[t], result.loss[t])
    compare(member, twin)
    assert member.I[p.NODES_USED] > 40
    out = np.zeros(240)
    kernels.predict(*member, result.z, result.arm, others, z, out)
    np.testing.assert_allclose(out[others], [twin.predict(Z[t], result.arm[t])[0] - 0.5 for t in others], atol=1e-12)
    kernels.watch(*member)
    naive_fit.watch(twin)
    for t in others:
        kernels.count(*member, *result, np.array([t]), z)
        twin.learn(Z[t], result.arm[t], result.loss[t])
    assert member.I[p.NODES_USED] == twin.nodes_used and member.I[p.BLOCKS_USED] == twin.blocks_used
    kernels.predict(*member, result.z, result.arm, some, z, out)
    np.testing.assert_allclose(out[some], [twin.predict(Z[t], result.arm[t])[0] - 0.5 for t in some], atol=1e-12)


def compare(member, twin: Forest) -> None:
    nodes = forest_nodes(member)
    naive = naive_fit.numbered(twin)
    assert len(nodes) == len(naive) == twin.nodes_used
    numbers = {id(node): k for k, node in enumerate(naive)}
    for row, node in zip(nodes, naive, strict=True):
        assert row[p.VISITED] == node.visited
        np.testing.assert_allclose(row[p.COUNTS :], node.counts.ravel(), atol=1e-12)
        if node.children:
            assert (row[p.AT], row[p.THRESHOLD]) == (node.column, node.threshold)
            assert row[p.LEFT] == numbers[id(node.children[0])]
            assert row[p.STOP] == pytest.approx(node.stop, abs=1e-12)
        else:
            assert row[p.LEFT] == 0.0 and row[p.CUT] == 0.0


def test_models_are_weighed_by_what_they_predicted():
    rng = np.random.default_rng(2)
    member, forecasts = made(), rng.uniform(-0.5, 0.5, (3, 50))
    loss = np.clip(0.5 + 0.7 * forecasts[1] + 0.1 * rng.normal(size=50), 0, 1)
    kernels.weigh(*member, forecasts, loss, np.empty(4), np.empty(4))
    X, before = np.column_stack([forecasts.T, np.ones(50)]), np.array([0.8, 0.1, 0.1, 0.0])
    right = np.linalg.solve(X.T @ X + 5 * np.eye(4), X.T @ (loss - 0.5) + 5 * before)
    np.testing.assert_allclose(piece(member, p.STACK, 4), right, atol=1e-9)


def test_rows_are_dealt_into_folds():
    fold = np.empty(3000, dtype=np.int64)
    kernels.deal(fold, fits.FOLDS)
    assert fold.tolist() == [(scrambled(t) >> 40) % 3 for t in range(3000)]
    assert np.bincount(fold).min() > 900


def test_labels_at_random_teach_it_little():
    """Forecasts of the arms hardly differ, where with labels that mean something they do."""
    spread = []
    for noise in (False, True):
        member, result = made(), rows(600, seed=8, noise=noise)
        fit_ensemble(member, result, INPUTS)
        weights = linear_models(member)[0][:, 1]
        spread.append(float(np.ptp(weights)))
    assert spread[0] > 0.3 > 0.1 > spread[1]
