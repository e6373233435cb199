"""EXP4: what advice and settings may look like, and what is said of those that may not be."""

import math
from typing import Any

import numpy as np
import pytest
from support.exp4_cases import ARMS, TREE, made, state
from support.refusals import refused

import hsb
from hsb.policies.exp4 import Exp4
from hsb.structures.mappings import Mappings, mappings

# -- what advice may look like ---------------------------------------------------------------------------------------


def test_labels_of_every_kind():
    tuples = Exp4(2, arms=[(0, 1), (1, 0)], learning_rate=1.0)
    assert tuples.probabilities([(0, 1), (0, 1)]).tolist() == [1.0, 0.0]  # an arm first, not a distribution
    assert Exp4(2, arms=[20, 10], learning_rate=1.0).probabilities([10, 10]).tolist() == [0.0, 1.0]  # a label, not a index
    assert Exp4(2, arms=["x", "y"], learning_rate=1.0).probabilities(np.array([1, 1])).tolist() == [0.0, 1.0]
    assert Exp4(2, arms=[False, True], learning_rate=1.0).probabilities([True, True]).tolist() == [0.0, 1.0]
    assert Exp4([lambda x: (1, 0)], arms=[(0, 1), (1, 0)], learning_rate=1.0).probabilities(0).tolist() == [0.0, 1.0]
    assert Exp4(2, arms=[None, "b"], learning_rate=1.0).probabilities([None, None]).tolist() == [1.0, 0.0]
    single = np.array([[0.1, 0.9], [0.3, 0.7]], dtype=np.float32)
    assert Exp4(2, arms=2, learning_rate=1.0).probabilities(single) == pytest.approx([0.2, 0.8])
    run = hsb.simulate(Exp4(2, arms=["x", "y"], seed=0), [["x", "y"], ["y", "y"]], [[0, 1], [1, 0]])
    assert run.arms[1] == "y" and len(hsb.simulate(Exp4(2, arms=2), np.zeros((0, 2)), np.zeros((0, 2)))) == 0


def test_contexts_of_functions_may_be_anything():
    policy = Exp4([lambda user: user["likes"], lambda user: "b"], arms=["a", "b"], seed=0, learning_rate=0.5)
    users = [{"likes": "a"}, {"likes": "b"}] * 50
    run = hsb.simulate(policy, users, np.tile([[0.0, 1.0], [1.0, 0.0]], (50, 1)))
    assert policy.weights[0] > 0.99 and len(run) == 100


def test_an_arm_added_while_running():
    policy = Exp4([lambda x: "a", lambda x: "new" if x > 0.5 else "a"], arms=["a", "b"], horizon=1000, seed=0)
    before = policy.learning_rate
    early = policy.decide(0.3)
    policy.add_arm("new")
    assert policy.learning_rate == pytest.approx(before * math.sqrt(2 / 3))
    assert policy.probabilities(0.9) == pytest.approx([0.5, 0.0, 0.5])
    policy.learn(early, loss=1.0)  # the new arm was not available then
    given = Exp4(2, arms=2, learning_rate=0.5)
    given.add_arm("new")
    assert given.probabilities([[0.5, 0, 0.5], [0, 0, 1]]) == pytest.approx([0.25, 0.0, 0.75])
    refused(lambda: made("mappings").add_arm("d"), ["Exp4 cannot add an arm after construction", "Make a new policy"])


# -- bad input -------------------------------------------------------------------------------------------------------

ADVICE = ["Expert 1 advised", "'a', 'b', 'c'", "add to 1"]
WRONG_ADVICE: dict[str, Any] = {
    "unknown": "z",
    "none": None,
    "a number": 7,
    "half": 0.5,
    "too few": [0.5, 0.5],
    "too much": [0.5, 0.5, 0.5],
    "nothing": [0.0, 0.0, 0.0],
    "negative": [-0.5, 1.0, 0.5],
    "nan": [np.nan, 0.5, 0.5],
    "letters": ["0.5", "0.5", "0"],
    "ragged": [[0.5], [0.5, 0.1], 0],
    "a dict": {"a": 1.0},
    "a boolean": True,
}


@pytest.mark.parametrize("wrong", WRONG_ADVICE.values(), ids=WRONG_ADVICE)
def test_wrong_advice_of_a_function(wrong):
    policy = Exp4([lambda x: "a", lambda x: wrong if x > 0.8 else "b"], arms=ARMS, learning_rate=0.5, seed=0)
    hsb.simulate(policy, [0.1, 0.3], np.ones((2, 3)))
    before = state(policy)
    refused(lambda: policy.decide(0.9), [*ADVICE, "The context was 0.9"])
    refused(lambda: policy.probabilities(0.9), ADVICE)
    refused(lambda: policy.learn(hsb.Decision(context=0.9, arm="a", propensity=0.5), loss=1.0), ADVICE)
    refused(lambda: hsb.simulate(policy, [0.1, 0.2, 0.9], np.ones((3, 3))), ADVICE)
    assert state(policy) == before
    assert policy.decide(0.1).context == 0.1


TABLES: dict[str, tuple[Any, list[str]]] = {
    "unknown": (["a", "z"], ["Expert 1 advised 'z'", "'a', 'b', 'c'"]),
    "a index too far": ([0, 3], ["Expert 1 advised 3"]),
    "negative": ([0, -1], ["Expert 1 advised -1"]),
    "booleans": ([True, False], ["advised"]),
    "half": ([0.5, 0.5], ["Expert 0 advised 0.5"]),
    "mixed": (["a", [0.5, 0.5, 0.0]], ["Expert 1 advised [0.5, 0.5, 0.0]"]),
    "too few": (["a"], ["all 2 experts", "(2, 3)", "given 1 entries"]),
    "too many": (["a", "b", "c"], ["all 2 experts", "given 3 entries"]),
    "nothing": ([], ["all 2 experts", "given 0 entries"]),
    "a number": (0, ["all 2 experts", "given 0"]),
    "none": (None, ["all 2 experts", "given None"]),
    "letters": ("ab", ["all 2 experts", "given 'ab'"]),
    "a dict": ({"a": 1}, ["all 2 experts", "given {'a': 1}"]),
    "too much": (
        [[0.5, 0.5, 0.0], [0.5, 0.5, 0.5]],
        ["Expert 1 advised [0.5, 0.5, 0.5], which add to 1.5", "Divide by the sum"],
    ),
    "too little": ([[0.5, 0.5, 0.0], [0.1, 0.1, 0.1]], ["add to 0.3"]),
    "below 0": ([[0.5, 0.5, 0.0], [-1.0, 1.0, 1.0]], ["Expert 1 advised [-1.0, 1.0, 1.0]", "at least 0"]),
    "nan": ([[np.nan, 0.5, 0.5], [1, 0, 0]], ["Expert 0 advised [nan"]),
    "two numbers each": ([[0.5, 0.5], [0.5, 0.5]], ["Expert 0 advised"]),
}


@pytest.mark.parametrize(("context", "fragments"), TABLES.values(), ids=TABLES)
def test_wrong_advice_in_a_context(context, fragments):
    policy = Exp4(2, arms=ARMS, learning_rate=0.5, seed=0)
    policy.learn(policy.decide(["a", "b"]), loss=1.0)
    before = state(policy)
    refused(lambda: policy.decide(context), fragments)
    refused(lambda: policy.probabilities(context), fragments)
    refused(lambda: policy.learn(hsb.Decision(context=context, arm="a", propensity=0.5), loss=1.0), fragments)
    refused(lambda: hsb.simulate(policy, [context], np.ones((1, 3))), fragments)
    assert state(policy) == before


def test_wrong_tables():
    policy = Exp4(2, arms=ARMS, learning_rate=0.5, seed=0)
    before = state(policy)
    refused(lambda: hsb.simulate(policy, 5, np.ones((1, 3))), ["must be a table", "given 5"])
    refused(lambda: hsb.simulate(policy, [["a", "b"], ["a"]], np.ones((2, 3))), ["all 2 experts", "given 1 entries"])
    refused(lambda: hsb.simulate(policy, np.zeros((4, 5)), np.ones((4, 3))), ["all 2 experts", "given 5 entries"])
    late = np.zeros((50_000, 2), dtype=int)
    late[-1, 1] = 9
    refused(lambda: hsb.simulate(policy, late, np.ones((50_000, 3))), ["Expert 1 advised 9"])
    assert state(policy) == before


EXPERTS = ["list of functions", "hsb.mappings", "number of experts", "given"]
SETTINGS: dict[str, tuple[Any, list[str]]] = {
    "no experts": (lambda: Exp4([], arms=2), EXPERTS),
    "none": (lambda: Exp4(None, arms=2), [*EXPERTS, "None"]),
    "zero": (lambda: Exp4(0, arms=2), [*EXPERTS, "0"]),
    "true": (lambda: Exp4(True, arms=2), EXPERTS),
    "names": (lambda: Exp4(["a", "b"], arms=2), [*EXPERTS, "['a', 'b']"]),
    "arms beyond": (lambda: Exp4(mappings(2, arms=3, regions=1), arms=2), ["arm number 2", "below 2"]),
    "prior, too few": (lambda: Exp4(3, arms=2, prior=[1, 1]), ["each of the 3 experts", "(2,)"]),
    "prior, zero": (lambda: Exp4(3, arms=2, prior=[1, 0, 1]), ["positive", "prior[1] is 0"]),
    "prior, nan": (lambda: Exp4(3, arms=2, prior=[1, np.nan, 1]), ["positive", "prior["]),
    "prior, infinite": (lambda: Exp4(3, arms=2, prior=[1, 1, np.inf]), ["positive", "prior["]),
    "prior, letters": (lambda: Exp4(3, arms=2, prior="abc"), ["each of the 3 experts"]),
    "prior, ragged": (lambda: Exp4(2, arms=2, prior=[[1], [1, 2]]), ["each of the 2 experts"]),
    "both rates": (lambda: Exp4(3, arms=2, horizon=10, learning_rate=0.1), ["not both"]),
    "rate": (lambda: Exp4(3, arms=2, learning_rate=-1), ["learning_rate must be a positive number", "-1"]),
    "horizon": (lambda: Exp4(3, arms=2, horizon=0), ["horizon", "0"]),
    "regions": (lambda: mappings(TREE, arms=2, regions=0), ["regions", "0"]),
    "budget": (lambda: mappings(TREE, arms=2, regions=2, budget=0), ["budget", "0"]),
    "structure": (lambda: mappings("tree", arms=2, regions=2), ["structure", "'tree'"]),
    "arms": (lambda: mappings(TREE, arms=0, regions=2), ["arms", "0"]),
    "table, shape": (lambda: Mappings(TREE, [[0, 1]]), ["4 leaves", "(1, 2)"]),
    "table, empty": (lambda: Mappings(TREE, np.zeros((0, 4), dtype=int)), ["at least one", "(0, 4)"]),
    "table, ragged": (lambda: Mappings(TREE, [[0], [0, 1]]), ["4 leaves"]),
    "table, halves": (lambda: Mappings(TREE, [[0.5] * 4]), ["arm numbers", "float64"]),
    "table, negative": (lambda: Mappings(TREE, [[0, 0, 0, -1]]), ["at least 0", "-1"]),
}


@pytest.mark.parametrize(("call", "fragments"), SETTINGS.values(), ids=SETTINGS)
def test_wrong_settings(call, fragments):
    refused(call, fragments)
