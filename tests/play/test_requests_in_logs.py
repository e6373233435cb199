"""Logs with features of arms, for policies whose arms come with the request."""

import json

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest
from support.open_cases import open_policy, requests_of

import hsb
import hsb.logs
from hsb.evaluate.off_policy import passes
from hsb.features import Request


def decisions_of(seed, rounds):
    """Logged decisions on requests, their rewards, and the decisions as lines."""
    requests, rewards = requests_of(seed, rounds)
    rng, decisions, earned = np.random.default_rng(seed + 1), [], []
    for request, reward in zip(requests, rewards, strict=True):
        k = int(rng.integers(len(request.arms)))
        decisions.append(hsb.Decision(context=request, arm=list(request.arms)[k], propensity=1.0 / len(request.arms)))
        earned.append(float(reward[k]))
    return decisions, earned


def columns(decisions, rewards):
    """The same as columns, with the features of arms in one of them."""
    requests = [decision.context for decision in decisions]
    return {
        **{name: [request.context[name] for request in requests] for name in ("age", "device")},
        "arm": [decision.arm for decision in decisions],
        "p": [decision.propensity for decision in decisions],
        "reward": rewards,
        "arms": [request.arms for request in requests],
    }


def write_lines(path, decisions, rewards):
    lines = [decision.to_dict() | {"reward": reward} for decision, reward in zip(decisions, rewards, strict=True)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def learned_one_by_one(decisions, rewards, **settings):
    policy = open_policy(**settings)
    for decision, reward in zip(decisions, rewards, strict=True):
        policy.learn(hsb.Decision.from_dict(decision.to_dict()), reward=reward)
    return policy


ROLES = {"arm": "arm", "propensity": "p", "reward": "reward", "arm_features": "arms"}


def logs_of(tmp_path, decisions, rewards):
    """The same log in several formats."""
    table = columns(decisions, rewards)
    as_text = table | {"arms": [json.dumps(arms) for arms in table["arms"]]}
    pandas.DataFrame(as_text).to_csv(tmp_path / "log.csv", index=False)
    names = [list(arms) for arms in table["arms"]]
    of_features = {
        f"arm_{name}": [[(features or {}).get(name) for features in arms.values()] for arms in table["arms"]]
        for name in ("price", "topic")
    }
    rest = {name: column for name, column in table.items() if name != "arms"}
    aligned = rest | {"names": names} | of_features
    pyarrow.parquet.write_table(pyarrow.table(aligned), tmp_path / "log.parquet")
    of_lists = rest | {"names": names, "arms": [list(arms.values()) for arms in table["arms"]]}
    lists = {"available": "names"}
    return {
        "json lines": hsb.logs.open(write_lines(tmp_path / "log.jsonl", decisions, rewards)),
        "a column of dicts": hsb.logs.open(table, **ROLES, rows=37),
        "csv": hsb.logs.open(tmp_path / "log.csv", **ROLES),
        "parquet, a column for each feature": hsb.logs.open(
            tmp_path / "log.parquet", **(ROLES | {"arm_features": "arm_*"}), **lists
        ),
        "lists in the order of the arms": hsb.logs.open(of_lists, **ROLES, **lists),
        "data frame": hsb.logs.open(pandas.DataFrame(as_text), **ROLES),
    }


def test_learning_a_log_is_learning_its_decisions_one_by_one(tmp_path):
    decisions, rewards = decisions_of(0, 160)
    digest = learned_one_by_one(decisions, rewards).digest()
    for name, log in logs_of(tmp_path, decisions, rewards).items():
        policy = open_policy()
        assert hsb.learn_from(policy, log) == 160, name
        assert not log.problems, name
        assert policy.digest() == digest, name


def test_how_a_log_is_cut_does_not_matter_nor_does_the_fit():
    decisions, rewards = decisions_of(3, 120)
    whole, parts, plain = open_policy(), open_policy(), open_policy()
    log = hsb.logs.open(columns(decisions, rewards), **ROLES)
    hsb.learn_from(whole, log)
    hsb.learn_from(plain, log, fit=False)
    assert hsb.learn_from(parts, log.head(50)) + hsb.learn_from(parts, log.rest(50)) == 120
    assert whole.digest() == parts.digest() == plain.digest()


def test_a_range_that_is_inferred_takes_in_the_rewards_of_the_log():
    decisions, rewards = decisions_of(4, 60)
    many = [5.0 * reward - k % 7 for k, reward in enumerate(rewards)]
    policy = open_policy(loss_range="auto")
    hsb.learn_from(policy, hsb.logs.open(columns(decisions, many), **ROLES, rows=11))
    single = learned_one_by_one(decisions, many, loss_range="auto")
    assert policy.digest() == single.digest() and policy.reward_range == single.reward_range


def test_a_decision_among_some_of_the_arms_is_learned_from_its_line(tmp_path):
    decisions, rewards = decisions_of(5, 60)
    for k, decision in enumerate(decisions):
        others = [arm for arm in decision.context.arms if arm != decision.arm]
        if k % 3 == 0 and len(others) > 1:
            decisions[k] = hsb.Decision(
                context=decision.context, arm=decision.arm, propensity=decision.propensity, available=[decision.arm, others[0]]
            )
    log = hsb.logs.open(write_lines(tmp_path / "log.jsonl", decisions, rewards))
    policy = open_policy()
    assert hsb.learn_from(policy, log) == 60
    assert policy.digest() == learned_one_by_one(decisions, rewards).digest()


def test_replay_plays_the_requests_and_learns_where_it_chose_the_arm_shown():
    decisions, rewards = decisions_of(6, 200)
    log = hsb.logs.open(columns(decisions, rewards), **ROLES, rows=64)
    policy, twin = open_policy(), open_policy()
    result = hsb.replay(policy, log, floor=1 / 8)
    fair = np.random.default_rng([0, 0x7265])  # as the replay thins the log
    kept = [t for t in range(200) if fair.random() * decisions[t].propensity < 1 / 8]
    us, matched, total = twin.rng.random(len(kept)), 0, 0.0
    for t, u in zip(kept, us, strict=True):
        decision = twin.decide(decisions[t].context, u=u)
        if decision.arm == decisions[t].arm:
            twin.learn(decision, reward=rewards[t])
            matched, total = matched + 1, total + rewards[t]
    assert (result.rounds, result.matched, result.rejected) == (200, matched, 200 - len(kept))
    assert result.average_reward == pytest.approx(total / matched) and 10 < matched < len(kept)
    assert policy.rounds == twin.rounds and policy.digest() == twin.digest()


def test_a_log_without_features_of_arms():
    rng = np.random.default_rng(7)
    table = {"x": rng.random(90).tolist(), "arm": rng.choice(["a", "b", "c"], 90).tolist(), "reward": rng.integers(0, 2, 90)}
    log = hsb.logs.open(table, arm="arm", propensity="uniform", reward="reward")
    policy, twin = hsb.HSB(arms=hsb.Open(["a"]), seed=0), hsb.HSB(arms=hsb.Open(["a"]), seed=0)
    assert hsb.learn_from(policy, log) == 90
    names = log.arms
    for x, arm, reward in zip(table["x"], table["arm"], table["reward"].tolist(), strict=True):
        twin.learn(hsb.Decision(context=Request({"x": x}, names), arm=arm, propensity=1 / 3), reward=reward)
    assert policy.digest() == twin.digest()


def test_a_batch_of_numbers_is_rows_of_numbers():
    batch = hsb.logs.Batch.of(contexts=[[0.1, 2], [0.7, 3]], arm=[0, 1], reward=[1, 0], propensity=[0.5, 0.5], arms=["a", "b"])
    policy, twin = hsb.HSB(arms=hsb.Open(), seed=0), hsb.HSB(arms=hsb.Open(), seed=0)
    hsb.learn_from(policy, [batch])
    for row, arm, reward in (([0.1, 2.0], "a", 1), ([0.7, 3.0], "b", 0)):
        twin.learn(hsb.Decision(context=Request(row, ["a", "b"]), arm=arm, propensity=0.5), reward=reward)
    assert policy.digest() == twin.digest()
    turned = hsb.HSB(arms=hsb.Open(), seed=0)
    assert hsb.learn_from(turned, [batch], context=lambda rows: 1.0 - rows[:, :1]) == 2
    assert turned.digest() != policy.digest()


def test_a_policy_with_a_list_of_arms_learns_the_log_as_it_would_without_features(tmp_path):
    decisions, rewards = decisions_of(8, 100)
    table = columns(decisions, rewards)
    without = {name: column for name, column in table.items() if name != "arms"} | {
        "names": [list(arms) for arms in table["arms"]]
    }
    table["arms"][5] = {arm: {"price": "no number"} for arm in table["arms"][5]}  # nobody looks at it
    with_features = hsb.logs.open(table, **ROLES)
    plain = hsb.logs.open(without, arm="arm", propensity="p", reward="reward", available="names")
    names = [f"a{k}" for k in range(20)] + ["home"]
    policy, twin = hsb.HSB(arms=names, seed=0), hsb.HSB(arms=names, seed=0)
    assert hsb.learn_from(policy, with_features) == hsb.learn_from(twin, plain) == 100
    assert policy.digest() == twin.digest()
    assert all(batch.arm_features is None for batch in with_features.by_name())


def test_estimates_are_those_of_the_probabilities_of_each_request():
    decisions, rewards = decisions_of(9, 300)
    policy = open_policy()
    log = hsb.logs.open(columns(decisions, rewards), **ROLES, rows=64)
    hsb.learn_from(policy, log.head(150))
    result = hsb.evaluate.off_policy(policy, log.rest(150), clip=3.0)
    weights = []
    for decision in decisions[150:]:
        p = policy.probabilities(decision.context)
        weights.append(p[list(decision.context.arms).index(decision.arm)] / decision.propensity)
    weights, earned = np.array(weights), np.array(rewards[150:])
    assert result["ips"].value == pytest.approx((weights * earned).mean())
    assert result["snips"].value == pytest.approx((weights * earned).sum() / weights.sum())
    assert result["clipped"].value == pytest.approx((np.minimum(weights, 3.0) * earned).mean())
    assert policy.rounds == 150
    both = hsb.evaluate.compare_off_policy({"open": policy, "uniform": None, "home": "home"}, log.rest(150), estimator="snips")
    assert both["open"].value == pytest.approx(result["snips"].value)
    assert both["uniform"].value == pytest.approx(earned.mean(), abs=1e-9)  # the log was drawn uniformly


def test_a_replay_of_several_policies_reads_the_log_once():
    decisions, rewards = decisions_of(10, 80)
    log = hsb.logs.open(columns(decisions, rewards), **ROLES)
    names = [f"a{k}" for k in range(20)] + ["home"]
    alone, together = open_policy(), open_policy()
    fixed = hsb.HSB(arms=names, seed=0)
    single = hsb.replay(alone, log)
    several = hsb.play.replay_all({"open": together, "fixed": fixed}, log)
    assert several["open"] == single and alone.digest() == together.digest()
    assert several["fixed"].rounds == 80


def test_a_stopped_replay_of_requests_goes_on(tmp_path):
    class Stopped(Exception):
        pass

    def stop(done, total):
        if done > 100:
            raise Stopped

    decisions, rewards = decisions_of(11, 160)
    log, path = hsb.logs.open(columns(decisions, rewards), **ROLES, rows=40), tmp_path / "replay.ckpt"
    whole, policy = open_policy(), open_policy()
    result = hsb.replay(whole, log)
    with pytest.raises(Stopped):
        hsb.replay(open_policy(), log, checkpoint=path, every=40, progress=stop)
    others = decisions_of(11, 160)[0]
    others[3].context.arms[others[3].arm] = {"topic": "other"}
    with pytest.raises(hsb.FileError, match="another log"):
        hsb.replay(open_policy(), hsb.logs.open(columns(others, rewards), **ROLES, rows=40), checkpoint=path)
    assert hsb.replay(policy, log, checkpoint=path, every=40) == result and policy.digest() == whole.digest()


def test_parts_of_a_log_are_read_in_two_processes(tmp_path):
    decisions, rewards = decisions_of(12, 200)
    paths = []
    for k in range(2):
        part = slice(100 * k, 100 * k + 100)
        table = columns(decisions[part], rewards[part])
        table["arms"] = [json.dumps(arms) for arms in table["arms"]]
        paths.append(tmp_path / f"log{k}.csv")
        pandas.DataFrame(table).to_csv(paths[-1], index=False)
    log = hsb.logs.open(paths, **ROLES)
    policy = open_policy()
    hsb.learn_from(policy, log.head(100))
    one, two = (
        hsb.evaluate.compare_off_policy({"open": policy, "uniform": None}, log, estimator="ips", jobs=jobs) for jobs in (1, 2)
    )
    assert one["open"].value == pytest.approx(two["open"].value, rel=1e-12)


def test_rows_with_many_arms_are_estimated_in_parts(monkeypatch):
    decisions, rewards = decisions_of(13, 90)
    log, policy = hsb.logs.open(columns(decisions, rewards), **ROLES), open_policy()
    whole = hsb.evaluate.off_policy(policy, log, estimators=("ips", "dr"))
    monkeypatch.setattr(passes, "MOST_CELLS", 130)
    sizes = [len(batch) for batch in passes.in_parts(log.by_name(arms=policy.learner.arm_kinds))]
    assert sum(sizes) == 90 and max(sizes) < 10 and [len(batch) for batch in passes.in_parts(log.by_name())] == [90]
    parts = hsb.evaluate.off_policy(policy, log, estimators=("ips", "dr"))
    assert parts["ips"].value == pytest.approx(whole["ips"].value, rel=1e-12) and parts.rows == 90


def test_models_of_rewards_that_do_not_fit_are_refused():
    decisions, rewards = decisions_of(14, 60)
    log, policy = hsb.logs.open(columns(decisions, rewards), **ROLES), open_policy()
    with pytest.raises(hsb.InputError, match=r"this policy takes arms with the request\. Leave out model="):
        hsb.evaluate.off_policy(policy, log, model=hsb.BinaryTree(depth=2))
    given = hsb.evaluate.off_policy(
        policy, log, estimators="dr", model=lambda features, arms: np.full((len(features), len(arms)), 0.5)
    )
    assert 0.0 <= given["dr"].value <= 1.5


def test_a_log_that_lacks_a_column_is_refused_by_name():
    decisions, rewards = decisions_of(15, 40)
    table = columns(decisions, rewards)
    policy = open_policy()
    hsb.learn_from(policy, hsb.logs.open(table, **ROLES))
    before = policy.digest()
    lacking = {name: column for name, column in table.items() if name != "device"}
    with pytest.raises(hsb.InputError, match="trained on the columns age, device; the log has no device"):
        hsb.learn_from(policy, hsb.logs.open(lacking, **ROLES))
    with pytest.raises(hsb.InputError, match="The reward of event 3"):
        hsb.learn_from(policy, hsb.logs.open(table | {"reward": [0.0, 1.0, 0.5, 7.0, *rewards[4:]]}, **ROLES))
    assert policy.digest() == before
