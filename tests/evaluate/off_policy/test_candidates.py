"""What can be judged on a log."""

import numpy as np
import pytest

import hsb
from hsb.evaluate.off_policy.candidates import Learning, player
from hsb.logs import Batch

BATCH = Batch.of(
    contexts=[[0.1], [0.7]],
    arm=[0, 1],
    reward=[1, 0],
    propensity=[0.5, 0.5],
    arms=["a", "b", "c"],
    available=np.array([[1, 1, 0], [0, 1, 1]], dtype=bool),
)


def played(given):
    candidate = player("name", given, (0.0, 1.0))
    return candidate.play(BATCH, candidate.sees(BATCH, None))


def test_uniform_play_is_even_among_what_is_available():
    table, used = played(None)
    assert used.all() and table.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]


def test_one_arm_leaves_out_events_that_do_not_offer_it():
    table, used = played("a")
    assert used.tolist() == [True, False] and table[0].tolist() == [1.0, 0.0, 0.0]


def test_a_policy_plays_as_it_is():
    policy = hsb.Exp3(arms=["a", "b", "c"], learning_rate=0.1, seed=0)
    table, used = played(policy)
    assert used.all() and table.sum(axis=1) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("given", [3.7, object()])
def test_what_is_no_candidate_is_refused(given):
    with pytest.raises(hsb.InputError):
        hsb.evaluate.compare_off_policy({"x": given}, [BATCH])
    assert Learning(hsb.Exp3(arms=["a", "b"])).policy.rounds == 0
