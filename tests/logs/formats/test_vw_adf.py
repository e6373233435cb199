"""VW's text with features of actions: read, and every way in which an example can be wrong."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hsb
import hsb.logs
from hsb.features import Request
from hsb.logs.formats.vw_adf import parse_example

GOOD = "shared |user age:0.3\n0:-1:0.5 'a17 |item price:9 new\n'b3 |item:2 price:6\n\n"


def written(path, text):
    path.write_text(text)
    return path


def requests(log):
    [batch] = log.by_name(arms=hsb.HSB(arms=hsb.Open()).learner.arm_kinds)
    return batch, batch.arm_features.tolist()


def test_an_example(tmp_path):
    log = hsb.logs.open(written(tmp_path / "log", GOOD + "shared |user age:0.5 tall\n| x\n1:0:0.25 | y:2\n"))
    batch, arms = requests(log)
    assert arms == [
        {"a17": {"item^price": 9.0, "item^new": 1.0}, "b3": {"item^price": 12.0}},
        {"x": {"x": 1.0}, "y:2": {"y": 2.0}},
    ]
    assert batch.labels().tolist() == ["a17", "y:2"] and batch.arms == ("a17", "b3", "y:2", "x")
    assert batch.reward.tolist() == [1.0, 0.0] and batch.propensity.tolist() == [0.5, 0.25]
    assert [batch.named.context(t) for t in range(2)] == [
        {"user^age": 0.3, "user^tall": 0.0},
        {"user^age": 0.5, "user^tall": 1.0},
    ]
    [plain] = log
    assert plain.arm_features is None and np.array_equal(plain.contexts, [[0.3, 0.0], [0.5, 1.0]])


def test_the_log_is_learned_as_its_decisions(tmp_path):
    rng = np.random.default_rng(0)
    text, policy, twin = "", hsb.HSB(arms=hsb.Open(), seed=0), hsb.HSB(arms=hsb.Open(), seed=0)
    for _ in range(60):
        age, prices = round(float(rng.random()), 3), rng.choice(50, size=4, replace=False).tolist()
        k, reward = int(rng.integers(4)), float(rng.integers(2))
        lines = [f"{f'0:{-reward}:0.25 ' if j == k else ''}'p{price} |item price:{price}" for j, price in enumerate(prices)]
        text += "\n".join([f"shared |user age:{age}", *lines]) + "\n\n"
        request = Request({"user^age": age}, {f"p{price}": {"item^price": float(price)} for price in prices})
        twin.learn(hsb.Decision(context=request, arm=f"p{prices[k]}", propensity=0.25), reward=reward)
    (tmp_path / "log.vw.gz").write_bytes(gzip.compress(text.replace("\n", "\r\n").encode()))
    log = hsb.logs.open(tmp_path / "log.vw.gz", rows=7)
    assert hsb.learn_from(policy, log) == 60
    assert policy.digest() == twin.digest()
    fixed = hsb.HSB(arms=log.arms, seed=0)
    assert hsb.learn_from(fixed, log) == 60


def test_names_of_actions(tmp_path):
    path = written(tmp_path / "log.vw", GOOD)
    assert hsb.logs.open(path, arm="index").arms == [1, 2]
    assert hsb.logs.open(written(tmp_path / "tagged.vw", GOOD.replace("'a17 |", "a17|"))).arms == ["a17", "b3"]
    with pytest.raises(hsb.InputError, match='In the format vw arm= may be "index"'):
        hsb.logs.open(path, arm="price")
    with pytest.raises(hsb.InputError, match="The columns of the format vw are fixed"):
        hsb.logs.open(written(tmp_path / "cb.vw", "1:0:0.5 2 | x\n"), "vw", arm="index")
    with pytest.raises(hsb.InputError, match="fixed; given arm_features="):
        hsb.logs.open(path, "vw", arm_features="item")


def test_which_text_has_features_of_actions(tmp_path):
    for text in ("shared| a\n0:1:0.5 | x\n", "0:1:0.5 | x\n| y\n\n", "| y\n0:1:0.5 | x\n\n", "\n\n" + GOOD):
        assert "AdfFiles" in repr(hsb.logs.open(written(tmp_path / "log.vw", text)).source), text
    for text in ("1:1:0.5 | x\n2:0:0.5 | y\n\n", "1:1:0.5 2 | x\n", "1:1:0.5 | x\n| y\n"):
        assert "VWFiles" in repr(hsb.logs.open(written(tmp_path / "log.vw", text)).source), text
    log = hsb.logs.open(written(tmp_path / "log.vw", "0:-1:0.5 'a | x\n'b | y\n\n"))
    policy = hsb.HSB(arms=hsb.Open(), seed=0)
    assert hsb.learn_from(policy, log) == 1 and policy.decide({}, arms={"a": {"x": 1}}).arm == "a"


WRONG = {
    "shared | a\n": "no action has a cost",
    "shared | a\n| x\n| y\n": "no action has a cost",
    "| x\nshared | a\n": "a line of shared features is not the first of its example",
    "shared | a\n0:1:0.5 | x\n0:1:0.5 | y\n": "two actions have a cost",
    "shared | a\n0:1 | x\n": "a label is not action:cost:probability",
    "shared | a\n-1:1:0.5 | x\n": "a label is not action:cost:probability",
    "shared | a\n0:1:0.5 1:1:0.5 | x\n": "a label is not action:cost:probability",
    "shared | a\n0:one:0.5 | x\n": "a cost or a probability is not a number",
    "shared | a\n0:1:0.5 x\n": "there is no | before the features",
    "shared | a\n0:1:0.5 | x:y\n": "a feature is not name or name:value",
    "shared | a a\n0:1:0.5 | x\n": "a feature appears twice",
    "shared | a\n0:1:1.5 | x\n": "the propensity is not in (0, 1]",
    "shared | a\n0:1:0.5 | x\n| x\n": "an arm is listed twice in available",
    "shared | a\n0:1:0.5 |\n| x\n": "an action has no name: neither a tag nor features",
    "shared | a\n0:1:0.5 | \xff\n": "a line of the example is not UTF-8",
    "shared | a\n" + "x" * 300 + "\n0:1:0.5 | x\n": "the line is longer than 200 bytes",
}


@pytest.mark.parametrize("text", WRONG)
def test_an_example_that_cannot_be_used(tmp_path, text):
    path = tmp_path / "log.vw"
    path.write_bytes((GOOD + text + "\n" + GOOD).encode("latin-1"))
    log = hsb.logs.open(path, limits=hsb.logs.Limits(line=200))
    policy = hsb.HSB(arms=hsb.Open(), seed=0)
    assert hsb.learn_from(policy, log) == 2
    problems = [problem.reason for problem in log.problems.first]
    assert set(problems) - {"a line of the example was skipped"} == {WRONG[text]}
    assert log.problems.first[-1].line in (5, 6)


PIECES = st.sampled_from(
    ["shared", " ", "|", "0:1:0.5", "'t", "x:1", "x:y", "a", ":", "\n", "\n\n", "\u00e9", "1e999", "item:2"]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_fuzz(tmp_path_factory, text):
    assert isinstance(parse_example(text.split("\n")), str | tuple)
    path = tmp_path_factory.mktemp("fuzz") / "log.vw"
    path.write_text(GOOD + text + "\n\n" + GOOD)
    policy, log = hsb.HSB(arms=hsb.Open(), seed=0), hsb.logs.open(path)
    assert hsb.learn_from(policy, log) == policy.rounds >= 2
