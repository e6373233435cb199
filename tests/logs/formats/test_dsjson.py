"""VW's decision service format (dsjson): read, written, and every way in which an event can be wrong."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hsb
import hsb.logs
from hsb.features.encoders import code
from hsb.logs import Batch

EVENT = json.loads(
    '{"_label_cost":-1.0,"_label_probability":0.8166667,"_label_Action":1,"_labelIndex":0,"o":[{"EventId":"e1","v":1.0}],'
    '"Timestamp":"2026-11-15T05:00:00.0000000Z","Version":"1","EventId":"e1","a":[1,2,3],"c":{"GUser":{"age":0.3,"town":"Ulm"},'
    '"_multi":[{"TAction":{"a":"0"}},{"TAction":{"a":"1"}},{"TAction":{"a":"2"}}]},"p":[0.8166667,0.0916667,0.0916667],'
    '"VWState":{"m":"model/1"}}'
)


def dsjson(tmp_path, events, **options):
    path = tmp_path / "log.dsjson"
    path.write_text("\n".join(event if isinstance(event, str) else json.dumps(event) for event in events))
    log = hsb.logs.open(path, **options)
    return log, list(log)


def batch(n=300, seed=0, arms=("a", "b", "c")):
    rng = np.random.default_rng(seed)
    m = len(arms)
    available = rng.random((n, m)) < 0.6
    arm = rng.integers(0, m, n)
    available[np.arange(n), arm] = True
    available[np.arange(n), (arm + 1) % m] = True
    return Batch.of(
        contexts=rng.normal(size=(n, 2)).round(3),
        arm=arm,
        reward=rng.random(n),
        propensity=rng.uniform(0.1, 1.0, n),
        available=available,
        timestamp=1.7e9 + np.arange(n) + 0.25,
        arms=arms,
    )


def same(actual, expected, times=True):
    assert np.array_equal(actual.contexts, expected.contexts)
    assert list(map(str, actual.labels())) == list(map(str, expected.labels()))
    assert np.array_equal(actual.reward, expected.reward)
    assert np.array_equal(actual.propensity, expected.propensity)
    if times:
        assert np.array_equal(actual.timestamp, expected.timestamp)
    for i in range(len(actual)):
        names = {str(actual.arms[k]) for k in actual.pools[actual.pool[i]]}
        assert names == {str(expected.arms[k]) for k in expected.pools[expected.pool[i]]}


def test_an_event(tmp_path):
    log, [actual] = dsjson(tmp_path, [EVENT])
    assert actual.contexts.tolist() == [[0.3, code("Ulm")]]
    assert (log.arms, actual.reward[0], actual.propensity[0]) == (["0", "1", "2"], 1.0, 0.8166667)
    assert actual.timestamp[0] == 1794718800.0
    _, [actual] = dsjson(tmp_path, [EVENT], loss_range=(-1, 0), context=["GUser.age"], arm="TAction.a", arms=[0, 1, 2])
    assert (actual.reward[0], actual.arms, actual.contexts.tolist()) == (0.0, (0, 1, 2), [[0.3]])
    _, [actual] = dsjson(tmp_path, [EVENT | {"_labelIndex": 2, "_label_Action": 3}], arm="index")
    assert actual.labels().tolist() == ["2"]


def without(name):
    return {key: value for key, value in EVENT.items() if key != name}


SHARED = EVENT["c"]
WRONG = {
    "empty": "",
    "JSON": "{",
    "JSON object": "[1]",
    "not a JSON": json.dumps(EVENT).replace("-1.0", "NaN"),
    "no _label_cost": without("_label_cost"),
    "no c": without("c"),
    "_skipLearn": EVENT | {"_skipLearn": True},
    "different actions": EVENT | {"_labelIndex": 1},
    "not one of the actions": EVENT | {"_labelIndex": 3, "_label_Action": 4},
    "not one of": EVENT | {"_labelIndex": -1, "_label_Action": 0},
    "not a whole": EVENT | {"_labelIndex": "0"},
    "propensity is not": EVENT | {"_label_probability": 0.0},
    "propensity is missing": EVENT | {"_label_probability": None},
    "is text": EVENT | {"_label_cost": "1"},
    "loss is missing": EVENT | {"_label_cost": None},
    "duplicate": EVENT | {"EventId": "e1"},
    "timestamp": EVENT | {"Timestamp": "noon"},
    "no actions": EVENT | {"c": {"GUser": {}, "_multi": []}},
    "no name": EVENT | {"c": SHARED | {"_multi": [{}, {}]}},
    "twice": EVENT | {"c": SHARED | {"_multi": [{"TAction": {"a": "0"}}] * 2}},
    "age": EVENT | {"c": SHARED | {"GUser": {"town": "Ulm"}}},
    "'GUser.age'": EVENT | {"c": SHARED | {"GUser": {"age": "old", "town": "Ulm"}}},
    "town": EVENT | {"c": SHARED | {"GUser": {"age": 1}}},
}


@pytest.mark.parametrize("reason", WRONG)
def test_an_event_that_cannot_be_used(tmp_path, reason):
    wrong = WRONG[reason]
    if isinstance(wrong, dict) and reason != "duplicate":
        wrong = wrong | {"EventId": "e2"}
    log, [actual] = dsjson(tmp_path, [EVENT, wrong, EVENT | {"EventId": "e3"}])
    assert len(actual) == 2
    [problem] = log.problems.first
    assert problem.line == 2
    assert reason in problem.reason
    with pytest.raises(hsb.FileError, match="line 2"):
        dsjson(tmp_path, [EVENT, wrong, "{}"], on_error="raise")


@pytest.mark.parametrize("name", ["log.dsjson", "log.dsjson.gz"])
def test_dsjson_round_trip(tmp_path, name):
    original = batch()
    assert hsb.logs.write(tmp_path / name, [original.take(slice(0, 100)), original.take(slice(100, None))], "dsjson") == 300
    log = hsb.logs.open(tmp_path / name)
    [actual] = log
    same(actual, original)
    assert len(log.problems) == 0
    raw = (tmp_path / name).read_bytes()
    if name.endswith("gz"):
        (tmp_path / name).write_bytes(raw[: len(raw) // 2])
        with pytest.raises(hsb.FileError, match="cut off"):
            list(hsb.logs.open(tmp_path / name))
    else:
        (tmp_path / name).write_bytes(raw.replace(b"\n", b"\r\n").rstrip())
        [actual] = hsb.logs.open(tmp_path / name)
        same(actual, original)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_fuzz_dsjson(tmp_path_factory, data):
    """An event with a part replaced, or its text cut: used as it is, or reported."""
    text = json.dumps(EVENT | {"EventId": "e2"})
    name = data.draw(st.sampled_from(sorted(EVENT)))
    value = st.recursive(
        st.none() | st.booleans() | st.integers(-3, 4) | st.floats(-2, 2) | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["_multi", "GUser", "age"]), inner, max_size=2)
        ),
        max_leaves=4,
    )
    cut = data.draw(st.integers(0, len(text)))
    changed = json.dumps(EVENT | {"EventId": "e3", name: data.draw(value)})
    log, [actual] = dsjson(tmp_path_factory.mktemp("fuzz"), [EVENT, text[:cut], changed])
    assert len(actual) + len(log.problems) == 3
    assert np.isfinite(actual.contexts).all() and ((actual.propensity > 0) & (actual.propensity <= 1)).all()


# -- features of actions -----------------------------------------------------------------------------------------------


def shop_event(t, actions, index=0, cost=-1.0, p=0.5):
    context = {"GUser": {"age": 0.3}, "_multi": actions}
    return {"_label_cost": cost, "_label_probability": p, "_labelIndex": index, "EventId": f"e{t}", "c": context}


def item(name, **features):
    return {"_tag": name, "i": {"price": 9, **features}, "j": [{"_title": name.upper(), "at": [0.5, 2]}]}


def test_features_of_actions_are_read_for_requests(tmp_path):
    events = [
        shop_event(0, [item("a"), item("b", topic=["new", "hot"])]),
        shop_event(1, [item("b", topic=None), item("c", stock=True)], 1),
    ]
    log, [plain] = dsjson(tmp_path, events, arm="_tag")
    assert plain.arm_features is None and plain.arms == ("a", "b", "c")
    [batch] = log.by_name(arms=hsb.HSB(arms=hsb.Open()).learner.arm_kinds)
    shared = {"i.price": 9, "j._title": "B", "j.at.0": 0.5, "j.at.1": 2}
    assert batch.arm_features[0]["b"] == {"_tag": "b", **shared, "i.topic": ["new", "hot"]}
    assert batch.arm_features[1]["b"] == {"_tag": "b", **shared, "i.topic": None}
    assert list(batch.arm_features[1]) == ["b", "c"] and batch.arm_features[1]["c"]["i.stock"] is True
    assert [problem.reason for problem in log.problems.first] == []


def test_a_dsjson_log_is_learned_as_its_decisions(tmp_path):
    rng, events = np.random.default_rng(0), []
    policy, twin = hsb.HSB(arms=hsb.Open(), seed=0), hsb.HSB(arms=hsb.Open(), seed=0)
    for t in range(50):
        arms = {f"a{k}": {"id": f"a{k}", "price": float(k)} for k in rng.choice(9, 3, replace=False).tolist()}
        index, reward = int(rng.integers(3)), float(rng.integers(2))
        events.append(shop_event(t, list(arms.values()), index, -reward, 1 / 3))
        request = hsb.features.Request({"GUser.age": 0.3}, arms)
        twin.learn(hsb.Decision(context=request, arm=list(arms)[index], propensity=1 / 3), reward=reward)
    log, _ = dsjson(tmp_path, events, arm="id")
    assert hsb.learn_from(policy, log) == 50
    assert policy.digest() == twin.digest()


def test_features_of_another_kind_are_problems_for_requests_alone(tmp_path):
    events = [shop_event(t, [item("a"), item("b", price=price)]) for t, price in enumerate([3, "cheap", {"now": 3}, [1, "x"]])]
    log, [plain] = dsjson(tmp_path, events, arm="_tag")
    assert len(plain) == 4 and not log.problems
    policy = hsb.HSB(arms=hsb.Open(), seed=0)
    assert hsb.learn_from(policy, log) == 3  # nested ones have names of their own
    [problem] = log.problems.first
    assert str(problem).endswith("line 2: feature 'i.price' of an arm is not a number, as others are")
    assert hsb.learn_from(hsb.HSB(arms=["a", "b"], seed=0), log) == 4 and not log.problems
