"""The ensemble of models, against its naive twin and against what it must be: see `tests/naive/ensemble.py`."""

import math

import numpy as np
import pytest
from naive.ensemble import Ensemble

from hsb.engine.kernels import ensemble as kernels
from hsb.engine.kernels.jit import kernel
from hsb.engine.kernels.words import advice as advice_words
from hsb.engine.kernels.words import ensemble as p
from hsb.engine.kernels.words import one_of as one_of_words
from hsb.engine.state import add_options, make_ensemble, make_head, rescale, resized_ensemble, room_for, set_columns
from hsb.engine.state import ensemble as parts

COSINES = 12  # of the ensembles here: what is slow is their twins' normal equations
NOTHING = np.empty(0, dtype=np.uint8)


@kernel
def advise(F, I, z, available):
    kernels.advise(F, I, z, available)


@kernel
def learn(F, I, z, arm, loss, visited):
    kernels.prepare(F, I, z, arm, visited)
    kernels.learn(F, I, z, arm, loss)


@kernel
def start(F, I):
    kernels.start(F, I)


@kernel
def cosines(F, I, z):
    kernels.cosines(F, I, z)


@pytest.fixture(autouse=True)
def _few_cosines(monkeypatch):
    monkeypatch.setattr(parts, "MOST_COSINES", COSINES)


class Twins:
    """An ensemble and its naive twin, which are told the same."""

    def __init__(self, arms: int, *, nodes: int | None = None, blocks: int | None = None) -> None:
        self.member = make_ensemble(16, arms)
        if nodes is not None:
            self.member.I[p.NODES] = nodes
        if blocks is not None:
            self.member.I[p.BLOCKS] = blocks
        self.twin = Ensemble(arms, int(self.member.I[p.NODES]), int(self.member.I[p.BLOCKS]), int(self.member.I[p.COSINES]))
        self.worst = 0.0

    @property
    def columns(self) -> int:
        return int(self.member.I[p.COLUMNS])

    def set_columns(self, groups: list[int]) -> None:
        room = room_for(1 + len(groups), 256)
        if room > self.member.I[p.ROOM]:
            self.member = self._resized(room, self.twin.arms)
        set_columns(self.member, groups)
        self.twin.set_columns(groups)

    def add_arm(self) -> None:
        self.twin.add_arm()
        self.member = self._resized(int(self.member.I[p.ROOM]), self.twin.arms)

    def _resized(self, room: int, arms: int):
        nodes, blocks = self.member.I[[p.NODES, p.BLOCKS]]
        member = resized_ensemble(self.member, room, arms)
        member.I[p.NODES], member.I[p.BLOCKS] = min(nodes, member.I[p.NODES]), min(blocks, member.I[p.BLOCKS])
        self.twin.forest.nodes, self.twin.forest.blocks = int(member.I[p.NODES]), int(member.I[p.BLOCKS])
        return member

    def rescale(self, a: np.ndarray, c: np.ndarray) -> None:
        """Nothing is missing."""
        rescale(self.member, a, c, np.full(len(a), -1))
        self.twin.forest.move(a, c)
        S = np.diag(a)  # z becomes S z
        S[:, 0] += c
        for model in self.twin.linear:
            prior = np.diag(model.precision)
            b = S @ model.A @ model.w
            model.A = S @ (model.A - prior) @ S.T + prior
            model.w = np.linalg.solve(model.A, b)

    def indices(self, z: np.ndarray, available: np.ndarray) -> np.ndarray:
        mask = NOTHING if available.all() else available.astype(np.uint8)
        advise(*self.member, z, mask)
        at = int(self.member.I[p.INDEX])
        bounds = self.member.F[at : at + self.twin.arms].copy()
        assert self.member.I[advice_words.ADVICE] == int(np.argmin(bounds))
        return bounds

    def round(self, z: np.ndarray, arm: int, loss: float, available: np.ndarray | None = None, *, visited: bool = True) -> bool:
        """Equal before and after; did both see a change?"""
        available = np.ones(self.twin.arms, dtype=bool) if available is None else available
        ours, theirs = self.indices(z, available), self.twin.indices(z, available)
        assert np.array_equal(np.isinf(ours), ~available) and np.array_equal(np.isinf(theirs), ~available)
        self.worst = max(self.worst, float(np.abs(ours[available] - theirs[available]).max()))
        rounds = self.member.F[self.member.I[p.STACK] + p.ROUNDS]
        learn(*self.member, z, arm, loss, visited and bool(available.all()))
        changed = self.twin.learn(z, arm, loss)
        assert changed == (self.member.F[self.member.I[p.STACK] + p.ROUNDS] != rounds + 1 or (changed and rounds == 0))
        return changed


def context(rng: np.random.Generator, columns: int) -> np.ndarray:
    """The constant, numbers, and columns that are often 0."""
    z = rng.normal(size=columns) * (rng.random(columns) < 0.7)
    z[0] = 1.0
    return z


def loss_of(z: np.ndarray, arm: int, rng: np.random.Generator) -> float:
    """Depends on a threshold and on a slope; some losses are no whole numbers."""
    mean = 0.2 + 0.5 * ((z[1] > 0.1) == (arm % 2 == 0)) + 0.05 * np.tanh(z[2:].sum())
    return float(rng.random() < mean) if rng.random() < 0.8 else min(max(mean, 0.0), 1.0)


def play(twins: Twins, rounds: int, rng: np.random.Generator, *, masks: bool = False) -> int:
    changes = 0
    for _ in range(rounds):
        z, arms = context(rng, twins.columns), twins.twin.arms
        available = rng.random(arms) < 0.6 if masks and rng.random() < 0.5 else np.ones(arms, dtype=bool)
        available[rng.integers(arms)] = True
        arm = int(rng.choice(np.flatnonzero(available)))
        changes += twins.round(z, arm, loss_of(z, arm, rng), available, visited=rng.random() < 0.8)
    return changes


# -- the whole ensemble -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("arms", "seed"), [(2, 0), (5, 1)])
def test_it_is_its_twin(arms, seed):
    """Every arm's index in every round, to 1e-8; masks; columns and arms added on the way, beyond the room that there was."""
    rng, twins = np.random.default_rng(seed), Twins(arms)
    twins.set_columns([0, 1, 1, 1, 2])
    play(twins, 200, rng, masks=True)
    assert twins.twin.forest.nodes_used > 16  # trees have grown
    twins.set_columns([0, 1, 1, 1, 2, 2, 3])
    play(twins, 60, rng, masks=True)
    twins.add_arm()
    play(twins, 60, rng)
    twins.set_columns([0, 1, 1, 1, 2, 2, 3, *range(4, 18)])  # more than 16: another room
    assert twins.member.I[p.ROOM] == 32
    play(twins, 60, rng, masks=True)
    assert twins.worst < 1e-8
    assert twins.twin.forest.used == twins.member.I[p.SEED]


def test_columns_that_come_before_any_tree_has_grown():
    """Cuts are drawn anew, at the new columns too."""
    rng, twins = np.random.default_rng(2), Twins(3)
    twins.set_columns([0])
    play(twins, 10, rng)
    twins.set_columns([0, 1, 1])
    assert set(parts.forest_cuts(twins.member)[:, :, 0].ravel()) == {1.0, 2.0, 3.0}
    play(twins, 60, rng)
    assert twins.worst < 1e-8


def test_a_forest_without_room_stops_growing():
    """Blocks run out first, then nodes."""
    rng, twins = np.random.default_rng(3), Twins(2, nodes=40, blocks=20)
    twins.set_columns([0, 1])
    play(twins, 500, rng)
    assert twins.twin.forest.blocks_used == 20 and twins.twin.forest.nodes_used == 40 == twins.member.I[p.NODES_USED]
    assert twins.worst < 1e-8


@pytest.mark.long
def test_an_arm_that_always_lost_and_then_wins():
    """Its nested means are 1 by then, but for rounding; cut where evidence is weighed, its first win leaves numbers, the twin's."""
    rng, twins = np.random.default_rng(17), Twins(2)
    twins.set_columns([0])
    for t in range(6000):
        z = np.array([1.0, rng.random()])
        lost = t % 2 == 1 or int(z[1] * 16) % 2 == 0
        learn(*twins.member, z, t % 2, float(lost), False)
        twins.twin.learn(z, t % 2, float(lost))
    forest, z = twins.twin.forest, np.array([1.0, 0.4])
    assert any(1.0 in forest.means(forest.path(tree, z), 1) for tree in forest.trees)
    for t in range(50):
        twins.round(np.array([1.0, 0.4 + t / 1000]), 1, 0.0)
    assert twins.worst < 1e-8
    assert np.isfinite(twins.member.F[8 : twins.member.I[p.END]]).all()


def changing(twins: Twins, rng: np.random.Generator, rounds: int, *, flip: bool) -> int:
    """One arm, one feature: losses .1 or .9 by its sign; did anything change?"""
    changes = 0
    for _ in range(rounds):
        z = np.array([1.0, rng.choice([-1.0, 1.0])])
        changes += twins.round(z, 0, float(rng.random() < (0.9 if (z[1] > 0) != flip else 0.1)))
    return changes


def test_it_starts_anew_where_the_world_changes_and_only_there():
    """A change in all losses (all become 1) is seen within 100 rounds, and not before; then both go on as one."""
    rng, twins = np.random.default_rng(4), Twins(2)
    twins.set_columns([0])
    assert changing(twins, rng, 300, flip=False) == 0
    seen = [twins.round(np.array([1.0, 1.0 - 2.0 * (t % 2)]), 0, 1.0) for t in range(100)]
    assert sum(seen) == 1
    F, I = twins.member
    assert F[I[p.STACK] + p.ROUNDS] == twins.twin.rounds == 100 - seen.index(True)
    play(twins, 100, rng)
    assert twins.worst < 1e-8


def test_columns_that_come_right_after_a_change_take_nothing_away():
    """The models have learned one round by then, and how they are weighed is kept."""
    rng, twins = np.random.default_rng(4), Twins(2)
    twins.set_columns([0])
    changing(twins, rng, 300, flip=False)
    assert any(twins.round(np.array([1.0, 1.0 - 2.0 * (t % 2)]), 0, 1.0) for t in range(200))
    stack = int(twins.member.I[p.STACK])
    weights, line = twins.member.F[stack : stack + 4].copy(), parts.linear_models(twins.member)[0][0, :2].copy()
    assert line.any()
    twins.set_columns([0, 1])
    assert np.array_equal(twins.member.F[stack : stack + 4], weights)
    assert np.array_equal(parts.linear_models(twins.member)[0][0, :2], line)
    play(twins, 50, rng)
    assert twins.worst < 1e-8


def test_advice_changes_nothing_that_is_learned():
    rng, twins = np.random.default_rng(5), Twins(3)
    twins.set_columns([0, 1])
    play(twins, 50, rng)
    before = [array.copy() for array in twins.member]
    for _ in range(20):
        twins.indices(context(rng, 3), np.array([True, False, True]))
    end = int(before[1][p.END])
    assert np.array_equal(before[0][8:end], twins.member.F[8:end])
    before[1][advice_words.ADVICE] = twins.member.I[advice_words.ADVICE]
    assert np.array_equal(before[1], twins.member.I)


def test_the_cosine_is_right_to_a_millionth(monkeypatch):
    monkeypatch.setattr(parts, "MOST_COSINES", 128)
    member = make_ensemble(16, 1)
    set_columns(member, [0, 1, 2])
    frequencies, phases, *_ = parts.cosine_models(member)
    rng = np.random.default_rng(6)
    for _ in range(50):
        z = np.array([1.0, *rng.normal(size=3) * 4])
        cosines(*member, z)
        at = int(member.I[p.SCRATCH]) + 8 + int(member.I[p.ROOM])
        right = math.sqrt(2 / 128) * np.cos(2 * math.pi * (phases + z[1:] @ frequencies[1:4]))
        assert member.F[at] == 1.0
        assert np.abs(member.F[at + 1 : at + 129] - right).max() < 1e-6


# -- changes of scale --------------------------------------------------------------------------------------------------------


def test_a_change_of_scale_in_the_midst():
    """Indices before and after equal those of the twin, whose normal equations and thresholds are moved."""
    rng, twins = np.random.default_rng(10), Twins(3)
    twins.set_columns([0, 1, 2])
    play(twins, 150, rng)
    assert twins.twin.forest.nodes_used > 16
    twins.rescale(np.array([1.0, 0.5, 1.3, 1.0]), np.array([0.0, 0.2, -1.0, 0.0]))
    play(twins, 100, rng)
    assert twins.worst < 1e-8


@pytest.mark.parametrize("missing", [False, True])
def test_a_rescaled_model_is_one_that_learned_in_the_new_units(missing):
    """Linear weights, covariances and widths, to 1e-8. Column 3 is 1 where column 1 is missing, and 0 then."""
    rng = np.random.default_rng(11)
    a, c = np.array([1.0, 0.4, 1.5, 1.0]), np.array([0.0, -0.7, 0.3, 0.0])
    where = np.array([-1, 3 if missing else -1, -1, -1])
    old, new = make_ensemble(16, 2), make_ensemble(16, 2)
    for member in (old, new):
        set_columns(member, [0, 1, 0])
    for t in range(12):  # so few that x is never well known, and every round counts
        z = np.array([1.0, *rng.normal(size=2), float(missing and t % 3 == 0)])
        z[1] *= 1.0 - z[3]
        moved = a * z + c
        moved[1] *= 1.0 - z[3]
        arm, loss = int(rng.integers(2)), float(rng.random())
        learn(*old, z, arm, loss, False)
        learn(*new, moved, arm, loss, False)
    rescale(old, a, c, where)
    for ours, theirs in zip(parts.linear_models(old), parts.linear_models(new), strict=True):
        assert np.abs(ours[..., :4] - theirs[..., :4]).max() < 1e-8


def test_nothing_moves_where_nothing_changes():
    rng, twins = np.random.default_rng(12), Twins(2)
    twins.set_columns([0, 1])
    play(twins, 80, rng)
    before = twins.member.F.copy()
    rescale(twins.member, np.ones(3), np.zeros(3), np.full(3, -1))
    assert np.array_equal(before[8:], twins.member.F[8:])


@pytest.mark.parametrize("exact", [True, False])
def test_a_scale_that_explodes_leaves_numbers(exact, monkeypatch):
    """From one row to the next a number may grow by 1e140: what was learned of it is then worth nothing, and harmless."""
    if not exact:
        monkeypatch.setattr(parts, "EXACT", 0)
    rng, twins = np.random.default_rng(13), Twins(2)
    twins.set_columns([0, 1])
    play(twins, 80, rng)
    a, c = np.array([1.0, 1e-140, 0.9]), np.array([0.0, -1.2, 0.1])
    for _ in range(3):
        rescale(twins.member, a, c, np.full(3, -1))
        for _ in range(20):
            z = context(rng, 3)
            assert np.isfinite(twins.indices(z, np.ones(2, dtype=bool))).all()
            learn(*twins.member, z, 0, float(rng.random()), False)
    assert np.isfinite(twins.member.F[8 : twins.member.I[p.END]]).all()


def test_without_the_exact_way_predictions_stay(monkeypatch):
    """The prior moves too then: what each linear model predicts, and how sure it is, is as before at the same point."""
    rng, twins = np.random.default_rng(14), Twins(2)
    twins.set_columns([0, 1, 0])
    for t in range(40):
        z = np.array([1.0, *rng.normal(size=2), float(t % 4 == 0)])
        z[1] *= 1.0 - z[3]
        twins.round(z, t % 2, float(rng.random()))
    a, c = np.array([1.0, 0.4, 1.5, 1.0]), np.array([0.0, -0.7, 0.3, 0.0])
    weights, covariances = (part[0].copy() for part in parts.linear_models(twins.member))
    monkeypatch.setattr(parts, "EXACT", 0)
    rescale(twins.member, a, c, np.array([-1, 3, -1, -1]))
    moved_weights, moved = (part[0] for part in parts.linear_models(twins.member))
    for gone in (0.0, 1.0):
        z = np.array([1.0, 0.8 * (1.0 - gone), -0.3, gone])
        new = a * z + c
        new[1] *= 1.0 - gone
        assert moved_weights[:4] @ new == pytest.approx(weights[:4] @ z, abs=1e-10)
        assert new @ moved[:4, :4] @ new == pytest.approx(z @ covariances[:4, :4] @ z, abs=1e-10)


# -- more arms and options ------------------------------------------------------------------------------------------------------


def test_a_forest_too_large_for_one_more_arm_grows_anew():
    """Negative control of what was wrong once: its cuts are at columns that there are, so it does grow."""
    rng, twins = np.random.default_rng(15), Twins(2)
    twins.set_columns([0, 1])
    play(twins, 30, rng)
    twins.member.I[p.NODES_USED] = make_ensemble(16, 3).I[p.NODES] + 1
    wider = resized_ensemble(twins.member, 16, 3)
    assert wider.I[p.NODES_USED] == p.TREES and set(parts.forest_cuts(wider)[:, :, 0].ravel()) == {1.0, 2.0}
    for _ in range(200):
        z = context(rng, 3)
        learn(*wider, z, 0, float(z[1] > 0), False)
    assert wider.I[p.NODES_USED] > p.TREES


def test_with_fewer_cosines_the_rest_still_count_as_much(monkeypatch):
    """With more than 256 arms there are fewer cosines, each larger: weights and covariances are in the new units."""
    monkeypatch.setattr(parts, "MOST_COSINES", 128)
    member = make_ensemble(16, 256)
    set_columns(member, [0, 1])
    rng = np.random.default_rng(16)
    for _ in range(30):
        learn(*member, context(rng, 3), int(rng.integers(3)), float(rng.random()), False)
    old = parts.cosine_models(member)
    wider = resized_ensemble(member, 16, 300)
    new, k = parts.cosine_models(wider), int(wider.I[p.COSINES])
    assert k < 128
    ratio = np.array([1.0, *np.full(k, math.sqrt(k / 128))])
    assert np.allclose(new[2][:256], old[2][:, : k + 1] * ratio)
    assert np.allclose(new[3][:256, :, : k + 1], old[3][:, : k + 1, : k + 1] * np.outer(ratio, ratio))


def weights_of(head) -> np.ndarray:
    F, I = head
    return F[I[one_of_words.NODE] + 1 : I[one_of_words.NODE] + 1 + I[one_of_words.OPTIONS]]


def prior_of(head) -> np.ndarray:
    F, I = head
    return F[I[one_of_words.PRIOR] : I[one_of_words.PRIOR] + I[one_of_words.OPTIONS]]


def test_added_options_had_been_there_and_done_as_their_source_did():
    """Option 1 gives each of 3 new ones, as they come, such a share of what it has; ratios taught before are the source's."""
    prior, ratios = [0.9, 0.05, 0.05], np.array([0.3, 0.8, 0.5])
    late = make_head(prior, 2)
    weights_of(late)[:] *= ratios
    weights_of(late)[:] /= weights_of(late).sum()
    late = add_options(late, 1, [1 / 3, 1 / 4, 1 / 5])
    early = add_options(make_head(prior, 2), 1, [1 / 3, 1 / 4, 1 / 5])
    shares = np.array([0.05 * 2 / 3 * 3 / 4 * 4 / 5, 0.05 / 3, 0.05 * 2 / 3 / 4, 0.05 * 2 / 3 * 3 / 4 / 5])
    assert np.allclose(prior_of(early), [0.9, shares[0], 0.05, *shares[1:]], rtol=1e-12)
    assert np.array_equal(prior_of(early), weights_of(early)) and np.array_equal(prior_of(early), prior_of(late))
    weights = prior_of(early) * np.array([0.3, 0.8, 0.5, 0.8, 0.8, 0.8])
    assert np.allclose(weights_of(late), weights / weights.sum(), rtol=1e-12)
    assert prior_of(late).sum() == pytest.approx(1, abs=1e-15) and weights_of(late).sum() == pytest.approx(1, abs=1e-15)


def test_options_added_one_by_one_or_at_once_are_the_same():
    """Bit for bit, so that a file's head is that of the journal; tiny weights keep their counts."""
    head = make_head([0.5, 0.25, 0.25], 2)
    F, I = head
    F[I[one_of_words.NODE]] = 1.0
    weights_of(head)[:] = [0.7, 0.3, 0.3]
    F[I[one_of_words.NODE] + 1 + 3 + 1] = 1.0  # the source weighs 0.3 BASE^-1
    shares = [1 / 3, 1 / 4, 1 / 5, 1 / 6]
    at_once, by_one = add_options(head, 1, shares), head
    for share in shares:
        by_one = add_options(by_one, 1, [share])
    assert np.array_equal(at_once.F, by_one.F) and np.array_equal(at_once.I, by_one.I)
    row = int(at_once.I[one_of_words.NODE])
    assert at_once.F[row] == 1.0 and at_once.F[row + 1 + 7 : row + 1 + 14].tolist() == [0, 1, 0, 1, 1, 1, 1]


def test_after_a_fit_optimism_grows_with_the_rounds_that_follow():
    """None at first, then in the share of its own rounds; a change of the world forgets what was fitted."""
    rng, twins = np.random.default_rng(4), Twins(3)
    twins.set_columns([0, 1, 1, 1, 2])
    play(twins, 150, rng)
    twins.member.F[twins.member.I[p.STACK] + p.LOGGED] = twins.twin.logged = 150
    z = context(rng, 6)
    np.testing.assert_allclose(
        twins.indices(z, np.ones(3, dtype=bool)), [0.5 + twins.twin.stack.w @ twins.twin.inputs(z, m)[0] for m in range(3)]
    )
    play(twins, 60, rng)
    assert twins.worst < 1e-8
    start(*twins.member)
    assert twins.member.F[twins.member.I[p.STACK] + p.LOGGED] == 0.0
