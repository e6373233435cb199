"""hsb inside coba's own evaluators and experiments."""

import numpy as np
import pytest
from support.adapter_cases import ARMS, CONTEXTS, NO_SIGNAL, POLICIES, REWARDS, by_hand, copies_go_on_alike, hsb_policy, state
from support.refusals import refused

import hsb
from hsb.interop import CobaLearner

coba = pytest.importorskip("coba")
from coba.evaluators import RejectionCB, SequentialCB  # noqa: E402
from coba.learners import CorralLearner, RandomLearner  # noqa: E402
from coba.safety import SafeLearner  # noqa: E402

EVERYTHING = SequentialCB(record=["reward", "action", "probability"])
FEW = 120


class World:
    """A coba environment of rows."""

    def __init__(self, contexts, rewards, actions=(0, 1, 2)):
        self.rows = list(zip(contexts, rewards, strict=True))
        self.actions = list(actions)

    @property
    def params(self):
        return {}

    def read(self):
        for context, row in self.rows:
            yield coba.SimulatedInteraction(context, self.actions, row)


class Log(World):
    """What a uniform policy made of it; every third round with other probabilities."""

    probability = True

    def read(self):
        rng = np.random.default_rng(3)
        for t, (context, row) in enumerate(self.rows):
            probabilities = [0.7, 0.2, 0.1] if t % 3 == 0 else [1 / 3] * 3
            index = int(rng.choice(3, p=probabilities))
            probability = {"probability": probabilities[index]} if self.probability else {}
            yield coba.LoggedInteraction(context, self.actions[index], row[index], **probability, actions=self.actions)


def few(rewards=REWARDS) -> World:
    return World(CONTEXTS[:FEW], rewards[:FEW])


def told(rows):
    return [(row["action"], row["probability"], row["reward"]) for row in rows]


def average(learner, rewards) -> float:
    rows = list(SequentialCB(record=["reward"]).evaluate(World(CONTEXTS, rewards), learner))
    assert len(rows) == len(CONTEXTS)
    return float(np.mean([row["reward"] for row in rows]))


@pytest.mark.parametrize("name", POLICIES)
def test_the_same_as_by_hand(name):
    learner, twin = CobaLearner(POLICIES[name]()), POLICIES[name]()
    assert told(EVERYTHING.evaluate(few(), learner)) == by_hand(twin, CONTEXTS[:FEW], REWARDS[:FEW])
    assert state(learner.policy) == state(twin)


def test_an_experiment_with_two_worlds_and_its_tables():
    learner = CobaLearner(hsb_policy(), name="mine")
    outcome = CobaLearner(lambda arms: hsb_policy(arms))
    result = coba.Experiment([few(), few(NO_SIGNAL)], [learner, outcome, RandomLearner()], EVERYTHING).run(quiet=True)
    frame = result.interactions.to_pandas()
    for world, rewards in enumerate((REWARDS, NO_SIGNAL)):
        expected = by_hand(hsb_policy(), CONTEXTS[:FEW], rewards[:FEW])
        for who in (0, 1):
            rows = frame[(frame.environment_id == world) & (frame.learner_id == who)]
            assert rows.action.tolist() == [arm for arm, _, _ in expected]
            assert rows.reward.tolist() == [reward for _, _, reward in expected]
            assert rows.probability.tolist() == [round(p, 5) for _, p, _ in expected]  # coba keeps five digits
    told = result.learners.to_pandas().set_index("learner_id")
    assert told.family.tolist()[:2] == ["mine", "hsb"]
    assert "BinaryTree(depth=4)" in told.policy[0]
    assert learner.policy.rounds == 0  # coba played copies


def test_an_experiment_in_two_processes_is_the_same():
    def run(processes):
        learners = [CobaLearner(hsb_policy()), CobaLearner(hsb.LinUCB(1, arms=3, seed=2))]
        result = coba.Experiment([few(), few(NO_SIGNAL)], learners, EVERYTHING).run(quiet=True, processes=processes)
        columns = ["environment_id", "learner_id", "index", "action", "reward", "probability"]
        return result.interactions.to_pandas()[columns].sort_values(columns[:3]).to_numpy().tolist()

    assert len(run(1)) == 4 * FEW
    assert run(2) == run(1)


def test_it_beats_random_play_and_nothing_where_there_is_nothing():
    gain = average(CobaLearner(hsb_policy()), REWARDS) - average(RandomLearner(), REWARDS)
    assert gain > 0.2  # of 0.333; measured 0.30
    nothing = average(CobaLearner(hsb_policy()), NO_SIGNAL) - average(RandomLearner(), NO_SIGNAL)
    assert abs(nothing) < 0.04  # three sigma of a difference


@pytest.mark.parametrize("size", [2, 3, 7])
def test_a_batch_is_learned_with_the_propensities_of_its_decisions(size):
    learner, twin = CobaLearner(hsb_policy()), hsb_policy()
    batches = coba.Environments(few()).batch(size)[0]
    expected = []
    for start in range(0, FEW, size):
        decisions = [twin.decide(x) for x in CONTEXTS[start : min(start + size, FEW)]]
        for row, decision in zip(REWARDS[start:], decisions, strict=False):
            expected.append((decision.arm, decision.propensity, row[decision.arm]))
            twin.learn(decision, reward=row[decision.arm])
    assert told(EVERYTHING.evaluate(batches, learner)) == expected
    assert state(learner.policy) == state(twin)


def test_late_rewards_in_any_order():
    learner, twin = CobaLearner(hsb_policy(horizon=100)), hsb_policy(horizon=100)
    kept = [learner.predict(x, [0, 1, 2]) for x in CONTEXTS[:20]]
    decisions = [twin.decide(x) for x in CONTEXTS[:20]]
    for t in np.random.default_rng(0).permutation(20):
        action, probability, more = kept[t]
        learner.learn(CONTEXTS[t], action, REWARDS[t][action], probability, **more)
        twin.learn(decisions[t], reward=REWARDS[t][action])
    assert state(learner.policy) == state(twin)
    before = state(learner.policy)
    refused(lambda: learner.learn(CONTEXTS[0], kept[0][0], 1.0, kept[0][1], **kept[0][2]), ["learned already"])
    assert state(learner.policy) == before


def test_actions_that_change():
    learner, twin = CobaLearner(lambda arms: hsb_policy(arms, horizon=100)), hsb_policy(["a", "b"], horizon=100)
    pools = [["a", "b"], ["b", "c"], ["c", "a", "d"], ["d", "b"]]
    for t, (x, row) in enumerate(zip(CONTEXTS[:FEW], REWARDS[:FEW], strict=True)):
        pool = pools[min(t // 10, 3)]
        for arm in pool:
            if arm not in twin.arms:
                twin.add_arm(arm)
        action, probability, more = learner.predict(x, pool)
        decision = twin.decide(x, available=pool)
        assert (action, probability, action in pool) == (decision.arm, decision.propensity, True)
        assert learner.score(x, pool, action) == pytest.approx(probability, rel=1e-12)
        learner.learn(x, action, row[0], probability, **more)
        twin.learn(decision, reward=row[0])
    assert state(learner.policy) == state(twin)


def test_a_log_is_learned_with_its_own_probabilities():
    learner, twin, wrong = CobaLearner(hsb_policy(horizon=100)), hsb_policy(horizon=100), hsb_policy(horizon=100)
    log = Log(CONTEXTS[:FEW], REWARDS[:FEW])
    list(SequentialCB(record=["reward"], learn="off", eval=None).evaluate(log, learner))
    for row in log.read():
        twin.learn(hsb.Decision(context=row["context"], arm=row["action"], propensity=row["probability"]), reward=row["reward"])
        wrong.learn(hsb.Decision(context=row["context"], arm=row["action"], propensity=1 / 3), reward=row["reward"])
    assert state(learner.policy) == state(twin)
    assert state(learner.policy) != state(wrong)


def test_it_may_make_the_log():
    log = coba.Environments(few()).logged(CobaLearner(hsb_policy(horizon=100)))[0]
    rows = [(row["action"], row["probability"], row["reward"]) for row in log.read()]
    assert rows == by_hand(hsb_policy(horizon=100), CONTEXTS[:FEW], REWARDS[:FEW])


def test_a_log_without_probabilities_is_refused():
    learner = CobaLearner(hsb_policy())
    log = Log(CONTEXTS[:FEW], REWARDS[:FEW])
    log.probability = False
    evaluator = SequentialCB(record=["reward"], learn="off", eval=None)
    refused(lambda: list(evaluator.evaluate(log, learner)), ["needs the probability", "None", "LoggedInteraction"])
    assert state(learner.policy) == state(hsb_policy())


def test_off_policy_values_and_rejection_sampling_ask_for_scores():
    log = Log(CONTEXTS[:1000], REWARDS[:1000])
    assert SafeLearner(CobaLearner(hsb_policy())).has_score
    learner = CobaLearner(hsb_policy())
    rows = list(SequentialCB(record=["reward"], learn="off", eval="ips").evaluate(log, learner))
    assert len(rows) == learner.policy.rounds == 1000
    assert np.mean([row["reward"] for row in rows[500:]]) > 0.55  # 0.467 for uniform play, 0.8 at best; measured 0.65
    learner = CobaLearner(hsb_policy())
    rows = list(RejectionCB(record=["reward"], seed=1).evaluate(log, learner))
    assert len(rows) == learner.policy.rounds > 50


def test_corral_may_play_something_else():
    base, twin = CobaLearner(hsb_policy(horizon=100)), hsb_policy(horizon=100)
    rows = list(EVERYTHING.evaluate(few(), CorralLearner([base, RandomLearner()], mode="off-policy", seed=4)))
    strange = 0
    for row, x in zip(rows, CONTEXTS[:FEW], strict=True):
        strange += twin.decide(x).arm != row["action"]
        probability = min(row["probability"], 1.0)
        twin.learn(hsb.Decision(context=x, arm=row["action"], propensity=probability), reward=row["reward"])
    assert strange > 20
    assert max(row["probability"] for row in rows) > 1.0  # rounded by coba, beyond 1
    assert state(base.policy) == state(twin)


# -- contexts and actions of other kinds -------------------------------------------------------------------------------


def test_sparse_contexts_need_an_order():
    plane = hsb.HSB(hsb.BinaryTree(depth=4, space=hsb.Box.unit(2)), arms=3, seed=1)
    points = np.random.default_rng(2).random((FEW, 2)).tolist()
    dicts = [{"y": y, "x": x, "z": 5.0} for x, y in points]
    learner = CobaLearner(plane, features=["x", "y"])
    assert told(EVERYTHING.evaluate(World(dicts, REWARDS[:FEW]), learner)) == by_hand(plane.copy(), points, REWARDS[:FEW])
    learner.predict({"y": 0.5}, [0, 1])  # left out: 0
    before = state(learner.policy)
    refused(lambda: CobaLearner(plane).predict({"x": 0.1, "y": 0.2}, [0, 1]), ["no order", "features=[...]"])
    refused(lambda: learner.predict({"x": 2.0}, [0, 1]), ["feature 0 is 2.0"])
    assert state(learner.policy) == before


def test_contexts_that_are_tuples_or_none():
    points = [tuple(p) for p in np.random.default_rng(2).random((FEW, 2)).tolist()]
    linear = hsb.LinUCB(2, arms=3, seed=1)
    assert told(EVERYTHING.evaluate(World(points, REWARDS[:FEW]), CobaLearner(linear))) == by_hand(
        linear, points, REWARDS[:FEW]
    )
    without = hsb.Exp3(arms=3, seed=1)
    rows = told(EVERYTHING.evaluate(World([None] * FEW, REWARDS[:FEW]), CobaLearner(without)))
    assert rows == by_hand(without, [None] * FEW, REWARDS[:FEW])


@pytest.mark.parametrize(
    ("actions", "arms"),
    [
        (ARMS, ARMS),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [(1, 0, 0), (0, 1, 0), (0, 0, 1)]),
        ([{"x": 1}, {"x": 2}, {"x": 1, "y": 2}], [(("x", 1),), (("x", 2),), (("x", 1), ("y", 2))]),
        ([(1, 0), (0, 1), (1, 1)], [(1, 0), (0, 1), (1, 1)]),
    ],
)
def test_actions_of_any_kind(actions, arms):
    learner = CobaLearner(lambda given: hsb_policy(given))
    rows = list(EVERYTHING.evaluate(World(CONTEXTS[:FEW], REWARDS[:FEW], actions), learner))
    twin = hsb_policy(arms)
    expected = by_hand(twin, CONTEXTS[:FEW], REWARDS[:FEW])
    assert learner.policy.arms == arms
    assert [actions.index(row["action"]) for row in rows] == [arm for arm, _, _ in expected]
    assert [row["probability"] for row in rows] == [p for _, p, _ in expected]


def test_a_classification_dataset_of_coba():
    labels = [ARMS[int(np.argmax(row))] for row in REWARDS[:FEW]]
    world = coba.Environments.from_supervised([[x] for x in CONTEXTS[:FEW]], labels, label_type="c")[0]
    learner = CobaLearner(lambda arms: hsb_policy(arms))
    assert len(list(EVERYTHING.evaluate(world, learner))) == FEW
    assert sorted(learner.policy.arms) == ARMS


# -- copies, and what is refused ---------------------------------------------------------------------------------------


def test_copies_are_independent_and_repeat():
    learner = CobaLearner(hsb_policy())
    list(EVERYTHING.evaluate(few(), learner))
    copies_go_on_alike(learner, lambda one: told(EVERYTHING.evaluate(few(NO_SIGNAL), one)), lambda: learner.policy)


def test_bad_input_changes_nothing():
    learner = CobaLearner(hsb_policy())
    action, probability, more = learner.predict(0.3, [0, 1, 2])
    before = state(learner.policy)

    class Batch(list):
        is_batch = True

    refused(lambda: learner.predict(Batch([0.3, 0.4]), Batch([[0, 1]] * 2)), ["One round at a time", "batch"])
    refused(lambda: learner.learn(Batch([0.3]), Batch([0]), Batch([1.0]), [0.5]), ["One round at a time"])
    refused(lambda: learner.predict(0.3, None), ["must list the actions", "None"])
    refused(lambda: learner.predict(0.3, []), ["must list the actions", "[]"])
    refused(lambda: learner.predict("noon", [0, 1]), ["must be numbers"])
    refused(lambda: learner.predict(2.0, [0, 5]), ["feature 0 is 2.0"])
    refused(lambda: learner.score(0.3, [0, 1], 2), ["among those available", "2"])
    refused(
        lambda: learner.learn(0.3, action, 1.5, probability, **more), ["reward must be a number in [0.0, 1.0]", "reward_range"]
    )
    refused(lambda: learner.learn(0.3, 1, 1.0, 0.0), ["propensity must be in (0, 1]"])
    refused(lambda: learner.learn(0.3, "z", 1.0, 0.5), ["Unknown arm 'z'"])
    refused(lambda: learner.learn(0.3, action, 1.0, probability, decision=3), ["decision must be", "3"])
    refused(lambda: CobaLearner(lambda arms: hsb_policy(arms)).learn(0.3, 1, 1.0, 0.5), ["arms are not known yet"])
    assert state(learner.policy) == before
    learner.learn(0.3, action, 1.0, probability, **more)  # the decision still waits
    assert learner.policy.rounds == 1


def test_rewards_of_another_range():
    scaled = [[10 * r - 5 for r in row] for row in REWARDS[:FEW]]
    wide, twin = hsb_policy(loss_range=(-5, 5)), hsb_policy(loss_range=(-5, 5))
    assert told(EVERYTHING.evaluate(World(CONTEXTS[:FEW], scaled), CobaLearner(wide))) == by_hand(twin, CONTEXTS[:FEW], scaled)


# -- arms that come with the request -----------------------------------------------------------------------------------


class Shop:
    """A coba environment whose actions are other ones each round, as dicts, or as lists of the same numbers."""

    def __init__(self, rounds=FEW, seed=4, as_dicts=True):
        rng = np.random.default_rng(seed)
        self.rows = []
        for _ in range(rounds):
            prices = [float(price) for price in rng.choice(9, size=int(rng.integers(2, 5)), replace=False)]
            context = {"rich": bool(rng.random() < 0.5)}
            actions = [{"price": price, "size": 1.0} if as_dicts else [price, 1.0] for price in prices]
            rewards = [float(rng.random() < (0.8 if (price > 4) == context["rich"] else 0.2)) for price in prices]
            self.rows.append((context, actions, rewards))

    @property
    def params(self):
        return {}

    def read(self):
        for context, actions, rewards in self.rows:
            yield coba.SimulatedInteraction(context, actions, rewards)


def arms_of(actions):
    """The arms that stand for the actions of a `Shop`, with their features."""
    if isinstance(actions[0], dict):
        return {(("price", action["price"]), ("size", 1.0)): action for action in actions}
    return {tuple(action): {"x0": action[0], "x1": action[1]} for action in actions}


def open_policy(**settings):
    return hsb.HSB(**{"arms": hsb.Open(), "seed": 3} | settings)


@pytest.mark.parametrize("as_dicts", [True, False])
def test_actions_are_features_of_open_arms(as_dicts):
    shop, twin, expected = Shop(as_dicts=as_dicts), open_policy(), []
    for context, actions, rewards in shop.rows:
        decision = twin.decide(context, arms=arms_of(actions))
        k = list(arms_of(actions)).index(decision.arm)
        twin.learn(decision, reward=rewards[k])
        expected.append((k, decision.propensity, rewards[k]))
    for learner in (CobaLearner(open_policy()), CobaLearner(lambda arms: open_policy())):
        rows = told(EVERYTHING.evaluate(shop, learner))
        played = [actions.index(action) for (_, actions, _), (action, _, _) in zip(shop.rows, rows, strict=True)]
        assert [(k, p, reward) for k, (_, p, reward) in zip(played, rows, strict=True)] == expected
        assert learner.policy.digest() == twin.digest()


def test_open_arms_learn_prices():
    rows = list(SequentialCB(record=["reward"]).evaluate(Shop(1000), CobaLearner(open_policy())))
    assert np.mean([row["reward"] for row in rows[300:]]) > 0.65  # 0.5 for uniform play; measured 0.73


def test_scores_and_logged_rounds_of_open_arms():
    learner, twin = CobaLearner(open_policy()), open_policy()
    (context, actions, rewards), (_, others, _) = Shop(2).rows
    arms = arms_of(actions)
    scores = [learner.score(context, actions, action) for action in actions]
    assert scores == twin.probabilities(context, arms=arms).tolist() and sum(scores) == pytest.approx(1.0)
    _, _, kept = learner.predict(context, actions)
    learner.learn(
        context, actions[0], rewards[0], 0.25, **kept
    )  # coba played another action than this decision's, or with another probability
    learner.learn(None, others[1], 1.0, 0.5)
    first, other = next(iter(arms)), list(arms_of(others))[1]
    twin.decide(context, arms=arms)
    twin.learn(hsb.Decision(context=hsb.features.Request(context, arms), arm=first, propensity=0.25), reward=rewards[0])
    alone = hsb.features.Request({}, {other: others[1]})
    twin.learn(hsb.Decision(context=alone, arm=other, propensity=0.5), reward=1.0)
    assert learner.policy.rounds == 2 and learner.policy.digest() == twin.digest()
    before = learner.policy.digest()
    refused(lambda: learner.predict(context, [{"price": "cheap"}, {"price": 2.0}]), ["'price' has had a number", "'cheap'"])
    refused(lambda: learner.score(context, actions, {"price": -1.0}), ["must be among those available"])
    refused(lambda: learner.learn(context, {"price": "cheap"}, 1.0, 0.5), ["'price' has had a number"])
    assert learner.policy.digest() == before and learner.policy.rounds == 2
