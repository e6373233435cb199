"""hsb behind the methods of MABWiser's MAB, and inside its Simulator."""

import inspect
import logging

import numpy as np
import pytest
from support.adapter_cases import ARMS, CONTEXTS, NO_SIGNAL, POLICIES, REWARDS, by_hand, copies_go_on_alike, hsb_policy, state
from support.refusals import refused

import hsb
from hsb.interop import MABWiserBandit

mabwiser = pytest.importorskip("mabwiser")
import pandas as pd  # noqa: E402
from mabwiser.mab import MAB, LearningPolicy  # noqa: E402
from mabwiser.simulator import Simulator  # noqa: E402

FEW, ROUNDS = 120, len(CONTEXTS)
TABLE = np.array(CONTEXTS).reshape(-1, 1)


def named(**settings) -> hsb.HSB:
    return hsb_policy(ARMS, **settings)


def rewards_of(arms, rewards, start=0):
    return [rewards[start + t][ARMS.index(arm)] for t, arm in enumerate(arms)]


def loop(bandit, rewards, rounds, batch, names=ARMS):
    """The same code for a bandit of theirs and of ours: predict a batch, then tell its rewards."""
    earned = []
    for start in range(0, rounds, batch):
        contexts = TABLE[start : min(start + batch, rounds)]
        arms = bandit.predict(contexts)
        arms = arms if isinstance(arms, list) else [arms]
        earned += [rewards[start + t][names.index(arm)] for t, arm in enumerate(arms)]
        bandit.partial_fit(arms, earned[start:], contexts)
    return earned


def log(rewards, rounds=ROUNDS):
    indices = np.random.default_rng(3).integers(3, size=rounds)
    return [ARMS[k] for k in indices], [rewards[t][k] for t, k in enumerate(indices)], TABLE[:rounds]


def learned(policy, decisions, rewards, contexts, propensities):
    for arm, reward, x, p in zip(decisions, rewards, contexts[:, 0].tolist(), propensities, strict=True):
        policy.learn(hsb.Decision(context=x, arm=arm, propensity=p), reward=reward)
    return policy


# -- the methods of MAB ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["fit", "partial_fit", "predict", "predict_expectations", "add_arm", "remove_arm"])
def test_the_same_arguments_as_mab(method):
    theirs, ours = (inspect.signature(getattr(kind, method)).parameters for kind in (MAB, MABWiserBandit))
    more = [name for name, what in ours.items() if what.kind is what.KEYWORD_ONLY]
    assert list(theirs) == [name for name in ours if name not in more]
    assert more == (["propensities"] if "fit" in method else [])
    for name, what in theirs.items():
        assert (what.default, what.kind) == (ours[name].default, ours[name].kind)


@pytest.mark.parametrize("name", POLICIES)
def test_the_same_as_by_hand(name):
    bandit, twin = MABWiserBandit(POLICIES[name]()), POLICIES[name]()
    earned = loop(bandit, REWARDS, FEW, 1, names=[0, 1, 2])
    assert earned == [reward for _, _, reward in by_hand(twin, CONTEXTS[:FEW], REWARDS[:FEW])]
    assert state(bandit.policy) == state(twin)


def test_the_same_code_runs_theirs_and_ours_and_beats_random_play():
    def average(bandit, rewards):
        bandit.fit(*log(rewards, 30), **({} if isinstance(bandit, MAB) else {"propensities": [1 / 3] * 30}))
        return float(np.mean(loop(bandit, rewards, len(CONTEXTS), 10)))

    random = MAB(ARMS, LearningPolicy.LinGreedy(epsilon=1.0), seed=1)
    gain = average(MABWiserBandit(named()), REWARDS) - average(random, REWARDS)
    assert gain > 0.2  # of 0.333; measured 0.27
    nothing = average(MABWiserBandit(named()), NO_SIGNAL) - average(random, NO_SIGNAL)
    assert abs(nothing) < 0.04  # three sigma of a difference


@pytest.mark.parametrize(
    "as_given", [np.asarray, lambda x: np.asarray(x).tolist(), pd.DataFrame], ids=["array", "list", "frame"]
)
def test_a_batch_is_learned_with_the_propensities_of_its_decisions(as_given):
    bandit, twin = MABWiserBandit(named()), named()
    for start in range(0, FEW, 8):
        arms = bandit.predict(as_given(TABLE[start : start + 8]))
        decisions = [twin.decide(x) for x in CONTEXTS[start : start + 8]]
        assert arms == [decision.arm for decision in decisions]
        told = rewards_of(arms, REWARDS, start)
        bandit.partial_fit(np.array(arms), pd.Series(told), as_given(TABLE[start : start + 8]))
        for decision, reward in zip(decisions, told, strict=True):
            twin.learn(decision, reward=reward)
    assert state(bandit.policy) == state(twin)


def test_late_rewards_use_the_propensity_of_their_decision():
    bandit, twin, wrong = MABWiserBandit(named(horizon=200), waiting=60), named(horizon=200), named(horizon=200)
    late = []
    for t, x in enumerate([round(x, 1) for x in CONTEXTS[:FEW]]):  # few contexts, so that several alike wait
        arm = bandit.predict([[x]])
        late.append((arm, x, twin.decide(x), REWARDS[t][ARMS.index(arm)]))
        assert arm == late[-1][2].arm
        if t >= 40 and t % 5 == 0:
            for _, x, decision, reward in late[:5]:
                twin.learn(decision, reward=reward)
                now = wrong.probabilities(x)[ARMS.index(decision.arm)]  # the propensity of the moment instead
                wrong.learn(hsb.Decision(context=x, arm=decision.arm, propensity=now), reward=reward)
            bandit.partial_fit([row[0] for row in late[:5]], [row[3] for row in late[:5]], [[row[1]] for row in late[:5]])
            late = late[5:]
    assert state(bandit.policy) == state(twin)
    assert state(wrong)["arrays"] != state(twin)["arrays"]


def test_by_default_the_last_call_waits():
    bandit = MABWiserBandit(named())
    first = bandit.predict([[0.1], [0.2]])
    second = bandit.predict([[0.3], [0.4], [0.5]])
    fragments = ["Row 0: no decision waits", "at context 0.1", "waiting=", "propensities="]
    refused(lambda: bandit.partial_fit(first, [1, 1], [[0.1], [0.2]]), fragments)
    bandit.partial_fit(second[1:], [1, 1], [[0.4], [0.5]])
    bandit.partial_fit(second[:1], [1], [[0.3]])
    assert bandit.policy.rounds == 3


def test_a_log_is_learned_with_its_propensities():
    rows = log(REWARDS, FEW)
    probabilities = np.random.default_rng(0).uniform(0.2, 0.9, FEW).tolist()
    bandit = MABWiserBandit(named())
    bandit.predict([[0.3]])
    bandit.fit(*rows, propensities=probabilities)
    assert state(bandit.policy) == state(learned(named(), *rows, probabilities))
    bandit.partial_fit(*rows, propensities=np.array(probabilities))
    assert state(bandit.policy) == state(learned(learned(named(), *rows, probabilities), *rows, probabilities))
    bandit.fit(*rows, propensities=probabilities)  # begins again
    assert state(bandit.policy) == state(learned(named(), *rows, probabilities))
    for probability, expected in ((0.25, [0.25] * FEW), (lambda x, arm: 0.5 if arm == "a" else x / 2 + 0.1, None)):
        expected = expected or [probability(x, arm) for x, arm in zip(CONTEXTS[:FEW], rows[0], strict=True)]
        known = MABWiserBandit(named(), logged_propensity=probability)
        known.fit(*rows)
        assert state(known.policy) == state(learned(named(), *rows, expected))


def test_a_log_is_a_log_even_where_it_played_what_was_predicted():
    bandit, twin = MABWiserBandit(named(), logged_propensity=1 / 3), named()
    for t in range(FEW):
        arm = bandit.predict(TABLE[t : t + 1])
        assert arm == twin.decide(CONTEXTS[t]).arm
        bandit.partial_fit([arm], [1.0], TABLE[t : t + 1])
        twin.learn(hsb.Decision(context=CONTEXTS[t], arm=arm, propensity=1 / 3), reward=1.0)
    assert state(bandit.policy) == state(twin)


def test_contexts_of_several_features_series_and_none():
    plane = hsb.LinUCB(2, arms=ARMS, seed=1)
    points = np.random.default_rng(2).random((FEW, 2))
    bandit, twin = MABWiserBandit(plane), plane.copy()
    for t in range(FEW):
        one = pd.Series(points[t])
        arm = bandit.predict(one)
        bandit.partial_fit([arm], rewards_of([arm], REWARDS, t), one)
    by_hand(twin, points, REWARDS[:FEW])
    assert state(bandit.policy) == state(twin)
    column = MABWiserBandit(named())
    assert len(column.predict(pd.Series(CONTEXTS[:5]))) == 5
    column.fit(*log(REWARDS, 5)[:2], pd.Series(CONTEXTS[:5]), propensities=[0.5] * 5)
    without = MABWiserBandit(hsb.Exp3(arms=ARMS, seed=1))
    for t in range(FEW):
        arm = without.predict()
        without.partial_fit([arm], rewards_of([arm], REWARDS, t))
    free = hsb.Exp3(arms=ARMS, seed=1)
    by_hand(free, [None] * FEW, REWARDS[:FEW])
    assert state(without.policy) == state(free)
    assert (without.is_contextual, bandit.is_contextual) == (False, True)


def test_arms_come_and_go():
    bandit = MABWiserBandit(named(horizon=100))
    bandit.add_arm("d")
    bandit.remove_arm("a")
    assert bandit.arms == ["b", "c", "d"]
    assert set(bandit.predict([[0.5]] * 200)) == {"b", "c", "d"}
    shares = bandit.predict_expectations([[0.5], [0.6]])
    assert list(shares[0]) == ["b", "c", "d"] and sum(shares[1].values()) == pytest.approx(1.0, abs=1e-12)
    bandit.fit(["d"], [1], [[0.5]], propensities=[0.5])
    assert bandit.arms == ["b", "c", "d"]
    bandit.add_arm("a")
    assert bandit.arms == ["a", "b", "c", "d"]


def test_expectations_are_probabilities_and_change_nothing():
    bandit, twin = MABWiserBandit(named()), MABWiserBandit(named())
    for t in range(FEW):
        result = bandit.predict_expectations(TABLE[t : t + 1])
        assert list(result.values()) == bandit.policy.probabilities(CONTEXTS[t]).tolist()
        arm = bandit.predict(TABLE[t : t + 1])
        assert arm == twin.predict(TABLE[t : t + 1])
        for each in (bandit, twin):
            each.partial_fit([arm], rewards_of([arm], REWARDS, t), TABLE[t : t + 1])
    assert state(bandit.policy) == state(twin.policy)


# -- the Simulator -----------------------------------------------------------------------------------------------------


@pytest.fixture
def quiet():
    """The Simulator sets the root logger up, for good."""
    root = logging.getLogger()
    kept = root.handlers[:], root.level
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
    root.handlers[:], level = kept
    root.setLevel(level)


@pytest.mark.usefixtures("quiet")
@pytest.mark.filterwarnings("ignore:A single label was found:UserWarning")  # scikit-learn's, of the Simulator's batches of one
@pytest.mark.parametrize("batch", [0, 50, 1])
def test_their_simulator_takes_one(batch):
    rounds = 300
    decisions, rewards, contexts = log(REWARDS, rounds)
    bandits = [
        ("hsb", MABWiserBandit(named(), logged_propensity=1 / 3)),
        ("random", MAB(ARMS, LearningPolicy.Random(), seed=1)),
    ]
    simulator = Simulator(
        bandits, decisions, rewards, contexts, test_size=0.5, is_ordered=True, batch_size=batch, is_quick=True
    )
    simulator.run()
    half = rounds // 2
    twin = learned(named(), decisions[:half], rewards[:half], contexts[:half], [1 / 3] * half)
    expected = []
    for start in range(half, rounds, batch or half):
        stop = min(start + (batch or half), rounds)
        expected += [twin.decide(x).arm for x in CONTEXTS[start:stop]]
        if batch:
            learned(twin, decisions[start:stop], rewards[start:stop], contexts[start:stop], [1 / 3] * (stop - start))
    assert simulator.bandit_to_predictions["hsb"] == expected
    assert state(bandits[0][1].policy) == state(twin)
    counts = simulator.bandit_to_arm_to_stats_avg["hsb"]
    counts = counts["total"] if batch else counts
    assert {arm: counts[arm]["count"] for arm in ARMS} == {arm: expected.count(arm) for arm in ARMS}


@pytest.mark.usefixtures("quiet")
def test_in_their_simulator_it_finds_the_right_arms():
    def right(rewards):
        decisions, told, contexts = log(rewards)
        bandits = [
            ("hsb", MABWiserBandit(named(), logged_propensity=1 / 3)),
            ("random", MAB(ARMS, LearningPolicy.Random(), seed=1)),
        ]
        simulator = Simulator(bandits, decisions, told, contexts, test_size=0.3, is_ordered=True, batch_size=100, is_quick=True)
        simulator.run()
        rows = range(len(CONTEXTS) - 900, len(CONTEXTS))
        best = [ARMS[int(np.digitize(CONTEXTS[t], [0.3, 0.6]))] for t in rows]
        return [
            np.mean([a == b for a, b in zip(simulator.bandit_to_predictions[who], best, strict=True)])
            for who in ("hsb", "random")
        ]

    ours, theirs = right(REWARDS)
    assert ours - theirs > 0.4  # of 0.667
    ours, theirs = right(NO_SIGNAL)
    assert abs(ours - theirs) < 0.15


@pytest.mark.usefixtures("quiet")
def test_their_simulator_without_contexts():
    decisions, rewards, _ = log(REWARDS, 200)
    bandit, twin = MABWiserBandit(hsb.Exp3(arms=ARMS, seed=1), logged_propensity=1 / 3), hsb.Exp3(arms=ARMS, seed=1)
    simulator = Simulator([("hsb", bandit)], decisions, rewards, test_size=0.5, is_ordered=True, batch_size=0, is_quick=True)
    simulator.run()
    learned(twin, decisions[:100], rewards[:100], TABLE[:100], [1 / 3] * 100)
    assert simulator.bandit_to_predictions["hsb"] == [twin.decide(None).arm for _ in range(100)]
    assert simulator.bandit_to_expectations["hsb"] == dict(zip(ARMS, twin.probabilities(None).tolist(), strict=True))


@pytest.mark.usefixtures("quiet")
def test_their_simulator_without_a_propensity_is_refused():
    decisions, rewards, contexts = log(REWARDS, 100)
    simulator = Simulator([("hsb", MABWiserBandit(named()))], decisions, rewards, contexts, test_size=0.5, is_quick=True)
    refused(simulator.run, ["fit learns a log", "propensities=", "logged_propensity="])


# -- copies, and what is refused ---------------------------------------------------------------------------------------


def test_copies_are_independent_and_remember_what_waits():
    bandit = MABWiserBandit(named())
    loop(bandit, REWARDS, FEW, 10)
    arms = bandit.predict([[0.1], [0.1], [0.8]])

    def answered(one):
        one.partial_fit(arms, [1, 0, 1], [[0.1], [0.1], [0.8]])
        return loop(one, NO_SIGNAL, FEW, 10)

    copies_go_on_alike(bandit, answered, lambda: bandit.policy)


def test_bad_input_changes_nothing():
    bandit = MABWiserBandit(named())
    arms = bandit.predict([[0.1], [0.2], [0.3]])
    contexts = [[0.1], [0.2], [0.3]]
    before = state(bandit.policy)
    refused(lambda: bandit.fit(arms, [1, 1, 1], contexts), ["fit learns a log", "propensities=", "partial_fit"])
    refused(lambda: bandit.fit(arms, [1, 1, 5], contexts, propensities=[0.5] * 3), ["Row 2: reward must be", "5"])
    refused(lambda: bandit.fit(arms, [1, 1, 1], contexts, propensities=[0.5, 0.5]), ["one for each of the 3", "given 2"])
    refused(lambda: bandit.fit(["z"], [1], [[0.1]], propensities=[0.5]), ["Row 0: Unknown arm 'z'"])
    refused(lambda: bandit.fit(["a"], [1], [[0.1]], propensities=[0.0]), ["propensity must be in (0, 1]"])
    refused(
        lambda: bandit.partial_fit(arms, [1, 1, 5], contexts), ["Row 2: reward must be"]
    )  # two were learned, and taken back
    assert state(bandit.policy) == before
    refused(lambda: bandit.partial_fit(arms, [1, 1, 1], [[0.1], [0.2], [0.4]]), ["Row 2: no decision waits"])
    refused(lambda: bandit.partial_fit(arms, [1, 1], contexts), ["a row for each round", "3, 2 and 3"])
    refused(lambda: bandit.partial_fit(arms, [1, 1, 1]), ["no decision waits"])
    refused(lambda: bandit.partial_fit("abc", [1, 1, 1], contexts), ["decisions must be a list", "'abc'"])
    refused(lambda: bandit.partial_fit(arms, [1, 1, 1], [0.1, 0.2, 0.3]), ["two dimensions", "(3,)"])
    refused(lambda: bandit.predict([[0.1], [7.0]]), ["Context 1: feature 0 is 7.0"])
    refused(lambda: bandit.predict([["noon"]]), ["contexts must be numbers"])
    refused(lambda: bandit.predict(), ["must be numbers"])
    refused(lambda: bandit.predict_expectations([[7.0]]), ["feature 0 is 7.0"])
    refused(lambda: bandit.add_arm("a"), ["an arm 'a' already"])
    refused(lambda: bandit.add_arm("z", len), ["binarizer"])
    refused(lambda: bandit.remove_arm("z"), ["no arm 'z' to remove"])
    refused(lambda: MABWiserBandit(named(), logged_propensity=1.5), ["logged_propensity must be in (0, 1]", "1.5"])
    assert state(bandit.policy) == before
    bandit.partial_fit(arms, [1, 0, 1], contexts)  # they still wait
    twin = named()
    for decision, reward in zip([twin.decide(x) for x in (0.1, 0.2, 0.3)], (1, 0, 1), strict=True):
        twin.learn(decision, reward=reward)
    assert state(bandit.policy) == state(twin)
    refused(lambda: bandit.partial_fit(arms, [1, 0, 1], contexts), ["answered already"])
