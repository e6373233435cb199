"""The advisor against its naive twin, round by round on the same draws."""

import numpy as np
import pytest
from naive.advisor import Advisor
from support.kernel_cases import EVERY

from hsb.engine.kernels import advisor
from hsb.engine.kernels.jit import kernel
from hsb.engine.kernels.words.advisor import CLOCK, SCRATCH
from hsb.engine.state import make_advisor
from hsb.engine.state.views import AdvisorView


@kernel
def learn(F, I, cell, arm, loss):
    advisor.learn(F, I, cell, arm, loss)


def advice_of(member, cell, available=EVERY):
    """Return the shares of the arms with the least index, as the twin does."""
    F, I = member
    best = advisor.advise(F, I, cell, available)
    index = F[SCRATCH + 3 * member.arms : SCRATCH + 4 * member.arms]
    least = index <= index.min() + 1e-12
    assert least[best]
    return least / least.sum()


@pytest.mark.parametrize(("depth", "arms"), [(0, 1), (3, 3), (2, 20)])
def test_it_equals_its_twin(depth, arms):
    """With more than sixteen arms the means of nodes are remembered, and only those of arms played are computed again."""
    member, twin, rng = make_advisor(depth, arms), Advisor(depth, arms), np.random.default_rng(arms)
    for t in range(90):
        cell, arm = int(rng.integers(1 << depth)), int(rng.integers(arms))
        if t % 5 == 0:
            available = rng.random(arms) < 0.6
            available[arm] = True
            mask = available.astype(np.uint8)
            assert advice_of(member, cell, mask) == pytest.approx(twin.advise(cell, available))
        assert advice_of(member, cell) == pytest.approx(twin.advise(cell, np.ones(arms, dtype=bool)))
        loss = float(rng.random() < 0.2 + 0.6 * ((cell + arm) % 2)) if t % 3 else float(rng.random())
        learn(*member, cell, arm, loss)
        twin.learn(cell, arm, loss)
    view = AdvisorView(member)
    assert view.clock == 90.0 and view.rows[1, 2] == twin.nodes[""].visits == 90


def test_before_the_first_loss_all_arms_tie():
    assert advice_of(make_advisor(4, 5), 9).tolist() == [0.2] * 5


def test_advice_changes_nothing_that_is_learned():
    member = make_advisor(3, 3)
    for t in range(20):
        learn(*member, t % 8, t % 3, 0.3)
    before, clock = AdvisorView(member).rows.copy(), member.F[CLOCK]
    for cell in range(8):
        advisor.advise(*member, cell, EVERY)
    assert np.array_equal(before, AdvisorView(member).rows) and member.F[CLOCK] == clock


def test_a_node_starts_anew_when_its_world_changes():
    """An arm that never lost for 300 rounds, and then always: soon the tree has forgotten, and the other arm is advised."""
    member = make_advisor(0, 2)
    for _ in range(300):
        learn(*member, 0, 0, 0.0)
    assert advice_of(member, 0).tolist() == [1.0, 0.0]
    rounds = 0
    while AdvisorView(member).rows[1, 5] == 0.0:  # when it changed
        learn(*member, 0, 0, 1.0)
        rounds += 1
    assert 5 < rounds < 150 and advice_of(member, 0).tolist() == [0.5, 0.5]
