"""Decisions and their rewards as a table, which opens as a log."""

import json
from datetime import date

import pytest
from support.propensity_cases import ARMS

import hsb
import hsb.evaluate
import hsb.logs


def test_decisions_become_a_table_and_a_log():
    policy = hsb.HSB(arms=ARMS, seed=0)
    contexts = [{"age": 30.0, "country": "FR"}, {"age": None, "country": "DE"}, {"country": "FR", "is_new": True}]
    decisions = [hsb.Decision.from_dict(json.loads(json.dumps(policy.decide(each).to_dict()))) for each in contexts]
    table = hsb.logs.decisions_table(decisions, [1.0, 0.0, 1.0])
    assert table["age"] == [30.0, None, None] and table["is_new"] == [None, None, True]
    assert table["propensity"] == [each.propensity for each in decisions] and "available" not in table
    named = {"arm": "arm", "propensity": "propensity", "reward": "reward", "categories": "country"}
    [batch] = hsb.logs.open(table, context="country", arms=ARMS, **named)
    assert batch.labels().tolist() == [each.arm for each in decisions] and batch.reward.tolist() == [1.0, 0.0, 1.0]
    some = hsb.logs.decisions_table([policy.decide({"country": "FR"}, available=["a", "c"]), *decisions[:1]], [1.0, 0.0])
    assert some["available"] == [["a", "c"], None]
    rows = hsb.logs.decisions_table([hsb.Decision(context=[0.5, 2], arm="a", propensity=0.5)], [1])
    assert list(rows) == ["x0", "x1", "arm", "propensity", "reward"]
    assert hsb.logs.decisions_table([hsb.Decision(context=0.5, arm="a", propensity=0.5)], [1])["x"] == [0.5]
    for wrong, words in [
        (lambda: hsb.logs.decisions_table(decisions, [1.0]), "one number for each decision"),
        (lambda: hsb.logs.decisions_table([3], [1.0]), "decisions"),
        (lambda: hsb.logs.decisions_table(decisions, ["x", 0, 0]), "numbers"),
        (lambda: hsb.logs.decisions_table(decisions, [1, 0, 0], arm="country"), "A feature has the name 'country'"),
        (lambda: hsb.logs.decisions_table(decisions, [1, 0, 0], arm="reward"), "different names"),
        (lambda: hsb.logs.from_decisions(decisions, [1, 0, 0], arms=ARMS), "decisions_table"),
    ]:
        with pytest.raises(hsb.InputError, match=words):
            wrong()


def test_a_page_is_rows_that_share_its_id():
    policy = hsb.HSB(arms=ARMS, seed=0)
    pages = [policy.decide({"age": 30.0 + t}, k=2) for t in range(3)]
    decisions = [decision for page in pages for decision in page]
    table = hsb.logs.decisions_table(decisions, [0.0, 1.0] * 3)
    assert table["page"] == [page.id for page in pages for _ in range(2)] and table["slot"] == [0, 1] * 3
    named = {
        "context": "age",
        "arm": "arm",
        "propensity": "propensity",
        "reward": "reward",
        "available": "available",
        "arms": ARMS,
    }
    assert table["available"][0] is None and table["available"][1] == [arm for arm in ARMS if arm != pages[0].arms[0]]
    table["available"] = [ARMS if arms is None else arms for arms in table["available"]]
    [batch] = hsb.logs.open(table, **named)
    assert batch.labels().tolist() == [decision.arm for decision in decisions]
    assert batch.propensity.tolist() == [decision.propensity for decision in decisions]
    assert not hsb.logs.decisions_table([page[0] for page in pages], [0.0] * 3).keys() & {"page", "slot"}
    with pytest.raises(hsb.InputError, match="different names"):
        hsb.logs.decisions_table(decisions, [0.0] * 6, page="slot")
    clash = policy.decide({"age": 1, "page": 2}, k=2)
    with pytest.raises(hsb.InputError, match="A feature has the name 'page'"):
        hsb.logs.decisions_table(clash, [0.0, 0.0])


def test_arms_that_came_with_the_request_become_a_column():
    policy, twin = hsb.HSB(arms=hsb.Open(), seed=0), hsb.HSB(arms=hsb.Open(), seed=0)
    decisions = [
        policy.decide({"age": 31}, arms={"a": {"price": 9, "at": date(2026, 3, 1)}, "b": None}),
        policy.decide({"age": 20}, arms={"a": {"price": 9}, "c": {"tags": {"new"}}, "d": {}}, available=["a", "d"]),
    ]
    table = hsb.logs.decisions_table(decisions, [1, 0])
    assert list(table) == ["age", "arm", "propensity", "reward", "available", "arm_features"]
    assert table["arm_features"][0] == '[["a", {"price": 9, "at": {"$date": "2026-03-01"}}], ["b", null]]'
    assert table["available"] == [["a", "b"], ["a", "d"]]
    log = hsb.logs.open(
        table, arm="arm", propensity="propensity", reward="reward", available="available", arm_features="arm_features"
    )
    hsb.learn_from(policy, log)
    for decision, reward in zip(decisions, [1, 0], strict=True):
        own = {"arm": decision.arm, "propensity": decision.propensity, "available": decision.available}
        twin.learn(hsb.Decision(context=decision.context, **own), reward=reward)
    assert policy.digest() == twin.digest()
    with pytest.raises(hsb.InputError, match="arm_features, page and slot must be different names"):
        hsb.logs.decisions_table(decisions, [1, 0], arm_features="arm")
