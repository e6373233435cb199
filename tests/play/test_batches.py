"""Playing a policy on a log, batch by batch: as one event at a time, with arms that arrive, and nothing learned from what is refused."""

import numpy as np
import pytest
from naive import logs as naive_logs
from support.replay_cases import TREE, made_log

import hsb
from hsb.logs import Batch
from hsb.play.batches import Play, check_contexts

BATCHES, _ = made_log(np.random.default_rng(4), 800, rows=200)


def policy(**settings):
    return hsb.HSB(TREE, arms=["a"], learning_rate=0.5, seed=2, **settings)


def play(player, batches):
    played = Play(player)
    for batch in batches:
        played.batch(batch, batch.contexts)
    return played


def test_it_plays_as_one_event_at_a_time():
    fast, slow = policy(), policy()
    played = play(fast, BATCHES)
    _, matched, total = naive_logs.replay(slow, BATCHES, context=lambda row: float(row[0]))
    assert (played.matched, played.total) == (matched, pytest.approx(total)) and matched > 50
    assert played.squares == pytest.approx(total)  # rewards are 0 and 1
    assert fast.digest() == slow.digest() and fast.arms == slow.arms


def test_arms_are_added_when_a_row_has_them():
    available = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 1, 1]], dtype=bool)
    batch = Batch.of(
        contexts=np.full((4, 1), 0.5),
        arm=[0, 1, 0, 2],
        reward=[1] * 4,
        propensity=[0.5] * 4,
        arms=["a", "x", "y"],
        available=available,
    )
    first, whole = policy(), policy()
    play(first, [batch.take(slice(0, 3))])
    assert first.arms == ["a", "x"]  # "y" is in the batch's list of arms, but no row had it
    play(whole, [batch])
    assert whole.arms == ["a", "x", "y"]


def test_a_batch_without_rows_does_nothing():
    player = policy()
    before = player.digest()
    play(player, [BATCHES[0].take(slice(0, 0))])
    assert player.digest() == before and player.arms == ["a"]


def test_rows_in_which_no_arm_may_be_played_are_left_out():
    player = hsb.HSB(TREE, arms=["a", "b"], learning_rate=0.5, seed=2)
    player.remove_arm("b")
    available = np.array([[True, True], [False, True]] * 50)
    batch = Batch.of(
        contexts=np.full((100, 1), 0.5), arm=[0, 1] * 50, reward=[1.0, 0.5] * 50, propensity=[0.5, 1.0] * 50, arms=["a", "b"],
        available=available,
    )  # fmt: skip
    played = play(player, [batch])
    assert (played.matched, played.total, player.rounds) == (50, 50.0, 50)


def test_what_is_refused_is_not_learned():
    player = policy()
    before = player.digest()
    wide = Batch.of(contexts=np.full((3, 1), 0.5), arm=[0] * 3, reward=[0.0, 1.0, 7.0], propensity=[1.0] * 3, arms=["a"])
    with pytest.raises(hsb.InputError, match="The reward of event 2"):
        play(player, [wide])
    with pytest.raises(hsb.InputError, match="context must return one row for each of the 3 events; it returned 2 rows"):
        Play(player).batch(wide, wide.contexts[:2])
    assert player.digest() == before


def test_rewards_and_contexts_beyond_the_range_may_be_clipped():
    player = policy(outside="clip")
    wide = Batch.of(contexts=np.full((3, 1), 0.5), arm=[0] * 3, reward=[0.0, 1.0, 7.0], propensity=[1.0] * 3, arms=["a"])
    played = play(player, [wide])
    assert (played.matched, played.total, played.squares) == (3, 2.0, 2.0)
    points, clipped = check_contexts(player, wide, wide.contexts)
    assert len(points) == 3 and clipped == 0
