"""Which features of arms matter: in worlds whose truth is known, against averages over all pairs, and with a control."""

from __future__ import annotations

from datetime import datetime
from itertools import product
from typing import Any

import numpy as np
import pytest

import hsb
from hsb.explain import ArmsExplanation
from hsb.explain.open_arms import Forecasts, mixture_weights

COLOURS = ["red", "green", "blue"]


def shop(seed: int, rounds: int, *, effect: float = 1.0, **settings: Any) -> hsb.HSB:
    """Dear arms earn less, news earns more on ios only; colour, weight and age change nothing. `effect=0`: nothing does."""
    rng = np.random.default_rng(seed)
    policy = hsb.HSB(**{"arms": hsb.Open(group="topic", groups=["news", "sport"]), "seed": seed} | settings)
    for _ in range(rounds):
        context = {"device": str(rng.choice(["ios", "web"])), "age": float(rng.normal(40.0, 10.0))}
        arms = {}
        for k in rng.choice(200, size=6, replace=False).tolist():
            topic, colour = ["news", "sport"][k % 2], COLOURS[k % 3]
            arms[f"a{k}"] = {"price": float(k // 20), "topic": topic, "colour": colour, "weight": float(k * 7 % 11)}
        decision = policy.decide(context, arms=arms)
        features = arms[decision.arm]
        chance = 0.4 + effect * (0.25 - 0.05 * features["price"])
        if features["topic"] == "news" and context["device"] == "ios":
            chance += 0.25 * effect
        low, high = policy.reward_range
        policy.learn(decision, reward=low + (high - low) * float(rng.random() < chance))
    return policy


def feature(explanation: ArmsExplanation, name: str) -> Any:
    return next(each for each in explanation.features if each.name == name)


@pytest.mark.parametrize("floor", [0.0, 1.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_it_names_the_right_features_and_their_direction_and_controls_come_last(seed: int, floor: float) -> None:
    explanation = shop(seed, 2500, floor=floor).explain()
    assert {each.name for each in explanation.features[:2]} == {"price", "topic"}
    assert {each.name for each in explanation.features[2:]} == {"colour", "weight"}
    [price] = feature(explanation, "price").effects
    assert price.is_clear and price.change < 0.0 and "price: higher values earn less" in str(explanation)
    news = next(effect for effect in feature(explanation, "topic").effects if effect.level == "news")
    assert news.is_clear and news.change > 0.0
    for name in ("colour", "weight"):
        assert str(feature(explanation, name)) == f"{name}: no clear effect on average"
    first = explanation.interactions[0]
    assert first.is_clear and (first.arm, first.context) == ("topic is news", "device is ios") and first.change > 0.0
    assert not any("weight" in each.arm or "colour" in each.arm for each in explanation.interactions if each.is_clear)


def test_with_uniform_play_sizes_are_near_the_truth() -> None:
    """The price's deviation is 2.87, so its effect -0.144; news earns 0.125 more on average and 0.25 more on ios."""
    explanation = shop(2, 3000, floor=1.0).explain()
    [price] = feature(explanation, "price").effects
    assert price.change == pytest.approx(-0.144, abs=4.0 * price.error) and price.error < 0.02
    topic = feature(explanation, "topic").effects[0]
    assert abs(topic.change) == pytest.approx(0.125, abs=4.0 * topic.error) and topic.error < 0.03
    first = explanation.interactions[0]
    assert first.change == pytest.approx(0.25, abs=4.0 * first.error) and first.error < 0.06


def test_where_nothing_matters_hardly_anything_is_clear() -> None:
    """The negative control of `is_clear`: without the three errors, about a third of these changes would be called clear."""
    effects = [
        effect
        for seed in range(4)
        for each in shop(seed, 600, effect=0.0, floor=1.0).explain().features
        for effect in each.effects
    ]
    assert len(effects) >= 28
    assert sum(effect.is_clear for effect in effects) <= 1
    assert sum(abs(effect.change) > effect.error for effect in effects) >= 3


def test_changes_are_averages_over_all_pairs_of_recent_contexts_and_arms() -> None:
    """The slow way: set the feature in every arm, encode, and predict every product by its column."""
    policy = shop(3, 60)
    models, explanation = policy.learner.models, policy.explain()
    order = models.recent.order(60)
    raw_contexts, raw_arms = models.recent.context[order], models.recent.arm[order]
    names = models.arm_reader.raw_input_names

    def predict(raw_context: np.ndarray, raw_arm: np.ndarray) -> float:
        x, g = models.x_reader.encode_row(raw_context)[0], models.arm_reader.encode_row(raw_arm)[0]
        return 0.5 - sum(
            x[i] * g[j] * models.models.shared[models.models.where[i, j]] for i, j in product(range(len(x)), range(len(g)))
        )

    def average(s: int, value: float, contexts: np.ndarray = raw_contexts) -> float:
        rows = raw_arms.copy()
        rows[:, s] = value
        return float(np.mean([predict(context, row) for context, row in product(contexts[::3], rows[::7])]))

    def mean_x(contexts: np.ndarray) -> np.ndarray:
        return np.array([models.x_reader.encode_row(row)[0] for row in contexts])

    thirds = raw_contexts[::3]
    forecasts = Forecasts(models, 1.0)
    s = names.index("price")
    middle, deviation = raw_arms[:, s].mean(), raw_arms[:, s].std()
    [level] = forecasts.arms.levels[s]
    expected = average(s, middle + deviation / 2) - average(s, middle - deviation / 2)
    assert forecasts.change(mean_x(thirds).mean(axis=0), level.change) == pytest.approx(expected, abs=1e-9)
    [price] = feature(explanation, "price").effects
    assert price.change == pytest.approx(forecasts.change(mean_x(raw_contexts).mean(axis=0), level.change), abs=1e-12)
    s = names.index("topic")
    codes = models.arm_reader.knowledge.columns["topic"].codes
    expected = average(s, codes["news"]) - average(s, codes["sport"])
    news = next(level for level in forecasts.arms.levels[s] if level.name == "news")
    assert forecasts.change(mean_x(thirds).mean(axis=0), news.change) == pytest.approx(expected, abs=1e-9)
    ios = next(
        level for level in forecasts.contexts.levels[models.x_reader.raw_input_names.index("device")] if level.name == "ios"
    )
    expected_change = {"device=ios": 1.0, "device=web": -1.0}
    assert ios.change.tolist() == [expected_change.get(name, 0.0) for name in models.x_reader.column_names]


def test_errors_are_those_of_the_model() -> None:
    """The standard deviation of a sum of weights, from the covariance, and the losses' deviation from their forecasts."""
    forecasts = Forecasts(shop(4, 80).learner.models, 2.0)
    x, g = forecasts.contexts.rows[3], forecasts.arms.rows[5]
    weights = np.zeros(len(forecasts.covariance))
    for i, j in product(range(len(x)), range(len(g))):
        weights[forecasts.where[i, j]] += x[i] * g[j]
    assert forecasts.error(x, g) == pytest.approx(2.0 * forecasts.deviation * np.sqrt(weights @ forecasts.covariance @ weights))
    assert 0.3 < forecasts.deviation < 0.6


def test_it_is_the_same_every_time_and_after_a_file(tmp_path) -> None:
    policy = shop(5, 300)
    before, first = policy.digest(), policy.explain().to_dict()
    policy.save(tmp_path / "policy.hsb")
    assert policy.explain().to_dict() == first == policy.copy().explain().to_dict()
    assert hsb.load(tmp_path / "policy.hsb").explain().to_dict() == first
    assert policy.digest() == before


def test_rewards_in_another_range_scale_all_changes() -> None:
    plain, wide = shop(6, 300).explain(), shop(6, 300, reward_range=(10.0, 110.0)).explain()
    for one, other in zip(plain.features, wide.features, strict=True):
        assert other.name == one.name and other.size == pytest.approx(100.0 * one.size)
        assert [100.0 * effect.change for effect in one.effects] == pytest.approx([effect.change for effect in other.effects])
        assert [100.0 * effect.error for effect in one.effects] == pytest.approx([effect.error for effect in other.effects])
    assert [10.0 + 100.0 * arm.reward for arm in plain.arms] == pytest.approx([arm.reward for arm in wide.arms])


def test_known_arms_have_their_plays_and_average_rewards() -> None:
    policy, played = hsb.HSB(arms=hsb.Open(), seed=0), {"a": [], "b": []}
    for t in range(40):
        decision = policy.decide({}, arms=["a", "b"])
        reward = float(decision.arm == "a") * (t % 3 > 0)
        played[decision.arm].append(reward)
        policy.learn(decision, reward=reward)
    explanation = policy.explain()
    assert {arm: (plays, reward) for arm, plays, reward in explanation.arms} == {
        arm: (len(rewards), pytest.approx(np.mean(rewards))) for arm, rewards in played.items()
    }
    assert [arm.plays for arm in explanation.arms] == sorted((len(rewards) for rewards in played.values()), reverse=True)
    assert explanation.lead == "The arms played had no features." and "'a': " in str(explanation)


def test_weights_are_those_of_the_mixture_over_groups() -> None:
    """Losses of one group only: the others gain weight. Shares of groups are what a mixture without advice and rules would play."""
    policy = hsb.HSB(arms=hsb.Open(["home"], group="topic", groups=["news"]), seed=0)
    members = policy.learner.inner.mixture.state.members
    weights, groups = mixture_weights(members, policy.arms)
    assert weights["advice"] == pytest.approx(1.0 - 1e-6) and list(groups.values()) == pytest.approx([1 / 3] * 3)
    for t in range(400):
        decision = policy.decide({}, arms={"home": None, f"n{t}": {"topic": "news"}, f"s{t}": {"topic": "sport"}})
        policy.learn(decision, loss=float(decision.arm != "home"))
    explanation = policy.explain()
    assert sum(explanation.weights.values()) == pytest.approx(1.0) and sum(explanation.groups.values()) == pytest.approx(1.0)
    assert list(explanation.groups) == ["other arms", "home", ("topic", "news")]
    assert max(explanation.groups, key=explanation.groups.__getitem__) == "home"
    assert "Weights of single groups: home " in str(explanation)


def test_all_kinds_of_features_have_levels_in_words() -> None:
    policy, rng = hsb.HSB(arms=hsb.Open(), seed=0), np.random.default_rng(0)
    for t in range(300):
        arms = {}
        for k in range(3):
            hour, new = int(rng.integers(24)), bool(rng.random() < 0.5)
            arms[f"{t}-{k}"] = {
                "at": datetime(2026, 11, 1 + t % 28, hour),
                "new": new,
                "tags": ["hot"] if k else ["hot", "dear"],
            }
            if k == 2:
                arms[f"{t}-{k}"]["stars"] = float(t % 5)
        decision = policy.decide({}, arms=arms)
        policy.learn(decision, reward=0.2 + 0.5 * arms[decision.arm]["new"])
    explanation = policy.explain()
    levels = {each.name: {effect.level for effect in each.effects} for each in explanation.features}
    assert explanation.features[0].name == "new" and levels["new"] == {"true"}
    assert levels["tags: dear"] == {"true"} and levels["tags: hot"] == set()
    assert levels["stars"] == {"higher values", "missing"} and levels["at day"] == {"higher values"}
    assert len(levels["at hour"]) == 8 and "< 03:00" in "".join(levels["at hour"])
    assert "new: true earns more" in str(explanation)


def test_features_of_contexts_interact_also_where_they_are_missing() -> None:
    policy, rng = hsb.HSB(arms=hsb.Open(), floor=1.0, seed=0), np.random.default_rng(0)
    for t in range(800):
        age = None if t % 2 else 30.0 + t % 7
        arms = {f"{t}-{k}": {"price": float(rng.normal())} for k in range(2)}
        decision = policy.decide({"age": age}, arms=arms)
        price = arms[decision.arm]["price"]
        policy.learn(decision, reward=float(np.clip(0.5 + 0.2 * (price if age is None else -price), 0.0, 1.0)))
    first = policy.explain().interactions[0]
    assert (first.arm, first.context) == ("higher price", "age is missing") and first.is_clear and first.change > 0.2


def test_more_products_than_columns_are_said_to_be_mixed() -> None:
    policy, rng = hsb.HSB(arms=hsb.Open(), seed=0), np.random.default_rng(0)
    for t in range(12):
        context = {f"x{i}": float(rng.normal()) for i in range(20)}
        arms = {f"{t}-{k}": {f"g{j}": float(rng.normal()) for j in range(20)} for k in range(2)}
        policy.learn(policy.decide(context, arms=arms), reward=0.5)
    explanation = policy.explain()
    assert explanation.mixed and "share a column" in str(explanation)
    assert not shop(0, 5).explain().mixed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a"]}, "takes no names="),
        ({"contexts": [{"age": 3}]}, "takes no contexts="),
        ({"log": []}, "takes no log="),
        ({"rules": 3}, "takes no rules="),
        ({"top": 0}, "top must be the number of features"),
    ],
)
def test_what_it_does_not_take_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(hsb.InputError, match=message):
        shop(0, 5).explain(**options)
