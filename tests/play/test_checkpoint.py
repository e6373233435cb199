"""A stopped replay goes on with identical results; learning from a log equals learning its decisions one by one."""

import numpy as np
import pytest
from support.replay_cases import ARMS, BATCHES, POLICIES, TREE, beliefs, made_log

import hsb
from hsb.play import learn_from, replay, replay_all

SKEWED, _ = made_log(np.random.default_rng(7), 4000, skewed=True)


class Stopped(Exception):
    pass


def stop_at(rounds):
    def progress(done, total):
        if done >= rounds:
            raise Stopped

    return progress


def same(one, other):
    assert np.array_equal(beliefs(one), beliefs(other))
    assert one.arms == other.arms and one.rounds == other.rounds and one.clipped == other.clipped
    assert one.rng.bit_generator.state == other.rng.bit_generator.state
    assert not hasattr(one, "certificate") or np.array_equal(one.learner.mixture.state.sums, other.learner.mixture.state.sums)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("batches", [BATCHES, SKEWED], ids=["uniform", "skewed"])
def test_a_stopped_replay_goes_on_with_the_same_result(name, batches, tmp_path):
    """Stopped twice, each time by a process that then forgets everything but the file."""
    path = tmp_path / "replay.ckpt"
    whole = POLICIES[name]()
    right = replay(whole, batches, seed=3)
    for rounds in (1300, 2900):
        with pytest.raises(Stopped):
            replay(POLICIES[name](), batches, seed=3, checkpoint=path, every=500, progress=stop_at(rounds))
        assert path.exists()
    policy, told = POLICIES[name](), []
    result = replay(policy, batches, seed=3, checkpoint=path, every=500, progress=lambda done, total: told.append(done))
    assert result == right
    same(policy, whole)
    assert told[0] > 2000 and not list(tmp_path.iterdir())  # it did go on, and cleared up


def test_other_batches_do_not_matter_and_several_go_together(tmp_path):
    path = tmp_path / "replay.ckpt"
    names = ("Exp3", "HSB")
    right = replay_all({name: POLICIES[name]() for name in names}, BATCHES)
    with pytest.raises(Stopped):
        replay_all({name: POLICIES[name]() for name in names}, BATCHES, checkpoint=path, every=1, progress=stop_at(1000))
    cut = [batch.take(slice(t, t + 370)) for batch in BATCHES for t in range(0, len(batch), 370)]
    assert replay_all({name: POLICIES[name]() for name in names}, cut, checkpoint=path) == right


def test_a_replay_that_was_never_stopped_is_the_same(tmp_path):
    one, other = POLICIES["HSB"](), POLICIES["HSB"]()
    assert replay(one, BATCHES) == replay(other, BATCHES, checkpoint=tmp_path / "c", every=700)
    same(one, other)


def test_another_policy_log_or_file_is_refused(tmp_path):
    path = tmp_path / "replay.ckpt"
    with pytest.raises(Stopped):
        replay(POLICIES["HSB"](), BATCHES, checkpoint=path, every=1, progress=stop_at(1000))
    before = path.read_bytes()
    other, _ = made_log(np.random.default_rng(8), 4000)
    for bad, what in (
        (lambda: replay(POLICIES["Exp3"](), BATCHES, checkpoint=path), "another policy, encoding, seed"),
        (lambda: replay(hsb.HSB(TREE, arms=ARMS[:2], seed=2), BATCHES, checkpoint=path), "another policy, encoding, seed"),
        (lambda: replay(POLICIES["HSB"](), BATCHES, checkpoint=path, seed=1), "another policy, encoding, seed"),
        (lambda: replay(POLICIES["HSB"](), other, checkpoint=path), "another log"),
        (lambda: replay(POLICIES["HSB"](), BATCHES[:1], checkpoint=path), "another log"),
    ):
        with pytest.raises(hsb.FileError, match=what):
            bad()
        assert path.read_bytes() == before
    for damaged in (b"", before[: len(before) // 2], before[:-1], b"PK" + before[2:-300]):
        path.write_bytes(damaged)
        with pytest.raises(hsb.FileError, match="damaged or not a checkpoint"):
            replay(POLICIES["HSB"](), BATCHES, checkpoint=path)
    with pytest.raises(hsb.InputError, match="every"):
        replay(POLICIES["HSB"](), BATCHES, checkpoint=path, every=0)
    with pytest.raises(hsb.InputError, match="no folder"):
        replay(POLICIES["HSB"](), BATCHES, checkpoint=tmp_path / "none" / "c")


def learned_slowly(policy, batches):
    """`policy.learn`, one by one; arms are added as they appear."""
    for batch in batches:
        for i in range(len(batch)):
            available = [batch.arms[a] for a in np.flatnonzero(batch.available[i])]
            for arm in available:
                if arm not in policy.arms:
                    policy.add_arm(arm)
            told = {"arm": batch.arms[batch.arm[i]], "propensity": float(batch.propensity[i]), "available": available}
            policy.learn(hsb.Decision(context=float(batch.contexts[i, 0]), **told), reward=float(batch.reward[i]))
    return policy


@pytest.mark.parametrize("name", POLICIES)
def test_learning_from_a_log_is_learning_its_decisions(name):
    """Bit for bit."""
    fast, slow = POLICIES[name](), learned_slowly(POLICIES[name](), SKEWED)
    assert learn_from(fast, SKEWED) == 4000
    assert np.array_equal(beliefs(fast), beliefs(slow))
    assert not hasattr(fast, "certificate") or np.array_equal(fast.learner.mixture.state.sums, slow.learner.mixture.state.sums)
    assert fast.rounds == slow.rounds == 4000 and fast.arms == slow.arms


@pytest.mark.nojit
@pytest.mark.parametrize("name", ["HSB", "HSB, rate"])
def test_a_few_logged_decisions(name):
    few = [BATCHES[0].take(slice(40)), BATCHES[-1].take(slice(20))]
    fast, slow = POLICIES[name](), learned_slowly(POLICIES[name](), few)
    assert learn_from(fast, few) == 60
    assert fast.arms == slow.arms and np.array_equal(beliefs(fast), beliefs(slow))


def test_what_is_learned_pays_and_what_is_refused():
    policy = hsb.HSB(TREE, arms=ARMS[:7], seed=0)  # those that the log shows
    policy.remove_arm("b")
    shown = sum(int((batch.labels() == "b").sum()) for batch in SKEWED)
    assert learn_from(policy, SKEWED) == 4000 - shown
    wins = [policy.probabilities(x)[[a for a in range(7) if (a % 2 == 0) == (x < 0.5)]].sum() for x in (0.1, 0.4, 0.6, 0.9)]
    assert min(wins) > 0.8
    for bad, what in (
        (lambda: learn_from("HSB", SKEWED), "policy"),
        (lambda: learn_from(policy, 3), "log"),
        (lambda: learn_from(policy, SKEWED, context=lambda rows: rows + 5), "outside"),
    ):
        with pytest.raises(hsb.InputError, match=what):
            bad()
