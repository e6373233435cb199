"""What a policy over named features plays, in the names and units of its contexts."""

from datetime import datetime, timedelta

import numpy as np
import pytest

import hsb
from hsb.explain.columns import Column

Context = dict[str, object]


def visitors(n: int, seed: int) -> list[Context]:
    rng = np.random.default_rng(seed)
    return [
        {
            "country": str(rng.choice(["FR", "DE", "IT", "US", "UK"], p=[0.3, 0.25, 0.2, 0.15, 0.1])),
            "age": None if rng.random() < 0.2 else float(round(rng.normal(40, 12))),
            "device": str(rng.choice(["mobile", "desktop"])),
            "hour": float(rng.integers(24)),
            "member": bool(rng.random() < 0.3),
            "spend": float(rng.lognormal(3, 1)),
        }
        for _ in range(n)
    ]


def taught(rounds: int = 5000) -> hsb.HSB:
    """Four arms, good by country and hour, device and age, membership, and always somewhat."""
    contexts = visitors(rounds, 0)
    probabilities = [
        [
            0.1 + 0.5 * (c["country"] in ("FR", "DE") and c["hour"] >= 18),  # type: ignore[operator]
            0.1 + 0.4 * (c["device"] == "mobile" and (c["age"] or 38) > 45),  # type: ignore[operator]
            0.1 + 0.3 * bool(c["member"]),
            0.3,
        ]
        for c in contexts
    ]
    policy = hsb.HSB(arms=list("abcd"), seed=0)
    hsb.simulate(policy, contexts, (np.random.default_rng(1).random((rounds, 4)) >= probabilities).astype(float))
    return policy


@pytest.fixture(scope="module")
def policy() -> hsb.HSB:
    return taught()


def agreement(found: hsb.explain.Explanation, policy: hsb.HSB, contexts: list[Context]) -> float:
    most = [policy.arms[int(np.argmax(policy.probabilities(context)))] for context in contexts]
    return float(np.mean([a == b for a, b in zip(found.arms_at(contexts), most, strict=True)]))


def test_a_ensemble_of_models_is_told_in_rules(policy: hsb.HSB) -> None:
    """Linear models and forests have no cells; measured on 2,000 fresh contexts, standard error 0.003."""
    explanation, fresh = policy.explain(rules=None, effort=100), visitors(2000, 9)
    assert agreement(explanation, policy, fresh) >= 0.98
    assert explanation.agreement == pytest.approx(agreement(explanation, policy, fresh), abs=0.015)
    assert agreement(explanation, taught(40), fresh) < 0.8  # negative control: another policy
    text = str(explanation)
    assert "hour >= " in text and "country in" in text and "member is true" in text
    assert min(explanation.importance, key=lambda name: explanation.importance[name]) == "spend"
    assert explanation.importance["member"] > 0.15


def test_contexts_and_few_rules(policy: hsb.HSB) -> None:
    members = [{**context, "member": True} for context in visitors(400, 3)]
    explanation = policy.explain(contexts=members)
    assert explanation.importance["member"] == 0.0 and agreement(explanation, policy, members) >= 0.98
    assert sum(region.coverage for region in explanation) == pytest.approx(1.0)
    short = policy.explain(rules=8)
    assert len(short) <= 8 and short.agreement is not None and 0.7 < short.agreement < 0.99
    assert (
        len(str(policy.explain(rules=8, top=2)).splitlines()) == 5
    )  # two rules, what is left out, what matters, how often right
    assert "land" in str(policy.explain(rules=8, names=["land", "years", "device", "hour", "member", "spend"]))
    with pytest.raises(hsb.InputError, match="names needs 6 different names"):
        policy.explain(names=["land"])


def test_asking_changes_nothing_and_is_of_its_time(policy: hsb.HSB) -> None:
    twin = policy.copy()
    explanation, context = twin.explain(rules=6), visitors(1, 5)[0]
    before = explanation.arm_at(context)
    assert all(np.array_equal(a, policy.to_arrays()[name], equal_nan=True) for name, a in twin.to_arrays().items())
    twin.learn(twin.decide({**context, "country": "CH", "new": 3}), loss=1.0)  # the encoder grows; the explanation does not
    assert explanation.arm_at(context) == before
    assert explanation.arm_at({**context, "country": "XX"}) in "abcd"


def test_before_anything_is_known() -> None:
    fresh = hsb.HSB(arms=["a", "b"], seed=0)
    assert str(fresh.explain()) == "everywhere: never seen" and fresh.explain().arm_at({"x": 1}) == "a"
    fresh.learn(fresh.decide({"x": 1.0}), reward=1)
    assert len(fresh.explain()) >= 1


def test_missing_values_of_a_cycle() -> None:
    """Hours go from 0 to 24 and may be missing, which is a rule of its own."""
    policy, rng = (
        hsb.HSB(arms=["a", "b"], features=hsb.features.Features(hour=hsb.features.Cycle(24)), seed=0),
        np.random.default_rng(0),
    )
    for _ in range(1500):
        hour = None if rng.random() < 0.4 else float(rng.random() * 24)
        decision = policy.decide({"hour": hour})
        policy.learn(decision, reward=float((decision.arm == "a") == (hour is None)))
    explanation = policy.explain()
    assert [explanation.arm_at({"hour": hour}) for hour in (None, 1.0, 12.0, 23.0)] == ["a", "b", "b", "b"]
    assert "hour is missing: play 'a'" in str(explanation)


def test_times_are_dates_and_hours() -> None:
    assert Column("when", form="date").condition((19000.0, np.inf)) == "when >= 2022-01-08"
    assert Column("when", low=0.0, high=24.0, form="clock").condition((18.5, 24.0), short=True) == "when >= 18:30"
    assert Column("when", low=0.0, high=7.0, form="weekday").condition((4.5, 7.0), short=True) == "when >= Saturday"
    policy, rng = hsb.HSB(arms=["day", "night"], seed=0), np.random.default_rng(0)
    for _ in range(1500):
        when = datetime(2024, 1, 1) + timedelta(hours=float(rng.random() * 24 * 60))
        decision = policy.decide({"when": when})
        policy.learn(decision, reward=float((decision.arm == "day") == (8 <= when.hour < 20)))
    rules = policy.explain(rules=4)
    assert rules.importance["when hour"] > 0.3 > 0.05 > rules.importance["when weekday"]
    assert ":" in rules.regions[0].where and "when hour" in rules.regions[0].where
