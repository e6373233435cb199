"""Bad input: every refusal says what was given, what is needed and how to mend it, and leaves the state byte for byte as it was."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.policy_cases import play, state
from support.refusals import refused

import hsb

Row = tuple[Callable[..., Any], list[str]]
TREE = hsb.BinaryTree(depth=4)
PLANE = hsb.BinaryTree(depth=4, space=hsb.Box([18, 0], [90, 1]))
CLIP = hsb.BinaryTree(depth=4, space=hsb.Box([18, 0], [90, 1], outside="clip"))
CELLS = hsb.Lexicographic(leaves=4, space=hsb.Cells(4))
HUGE = 10**400  # no double


def made(context: Any = 0.3, arm: Any = "a", propensity: Any = 0.5, **more: Any) -> hsb.Decision:
    return hsb.Decision(context=context, arm=arm, propensity=propensity, **more)


def policy(structure: hsb.Structure = TREE, **settings: Any) -> hsb.HSB:
    """A policy with a past."""
    result = hsb.HSB(structure, **({"arms": ["a", "b", "c", "gone"], "learning_rate": 0.3, "seed": 0} | settings))
    play(result, 10)
    if "gone" in result.arms:
        result.remove_arm("gone")
    result.decide(0 if isinstance(structure.space, hsb.Cells) else structure.space.low.tolist())
    return result


def table(rows: dict[str, Row]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("call", "fragments"), rows.values(), ids=rows)


# -- contexts: the same answers from decide, probabilities, learn and simulate -----------------------------------------

NUMBERS = ["Contexts must be numbers"]
CONTEXTS: dict[str, tuple[hsb.Structure, Any, list[str]]] = {
    "above": (TREE, 1.5, ["feature 0 is 1.5", "[0.0, 1.0]", "Box(", "clip"]),
    "below": (TREE, -0.25, ["feature 0 is -0.25", "[0.0, 1.0]"]),
    "second feature": (PLANE, [20, 1.25], ["feature 1 is 1.25", "[0.0, 1.0]", "Box(", "clip"]),
    "first feature": (PLANE, [17, 0.5], ["feature 0 is 17.0", "[18.0, 90.0]"]),
    "nan": (TREE, np.nan, ["feature 0 is NaN", "drop the row or fill"]),
    "nan, second": (PLANE, [20, np.nan], ["feature 1 is NaN"]),
    "nan is not clipped": (CLIP, [20, np.nan], ["feature 1 is NaN"]),
    "infinite": (TREE, np.inf, ["feature 0 is inf", "[0.0, 1.0]"]),
    "none": (TREE, None, ["number"]),
    "none, second": (PLANE, [20, None], ["number"]),
    "one number too few": (PLANE, [20], ["2 features", "given"]),
    "a number for a plane": (PLANE, 20, ["2 features", "given"]),
    "one number too many": (PLANE, [20, 0.5, 1], ["2 features", "given"]),
    "two numbers for one": (TREE, [0.5, 0.5], ["1 feature", "given"]),
    "no number": (TREE, [], ["1 feature", "given"]),
    "ragged": (PLANE, [[20], [20, 0.5]], NUMBERS),
    "letters": (TREE, "high", [*NUMBERS, "'high'", "Encode"]),
    "digits in quotes": (TREE, "0.37", [*NUMBERS, "'0.37'"]),
    "digits in bytes": (TREE, b"0.37", NUMBERS),
    "digits in a list": (PLANE, ["20", "0.5"], NUMBERS),
    "a dict": (PLANE, {"age": 20, "x": 0.5}, NUMBERS),
    "a set": (TREE, {0.5}, NUMBERS),
    "complex": (TREE, 0.5j, NUMBERS),
    "complex from numpy": (TREE, np.complex128(0.5), NUMBERS),
    "complex array": (PLANE, np.array([20j, 0.5]), NUMBERS),
    "a date": (TREE, np.datetime64("1970-01-01"), NUMBERS),
    "too large": (TREE, HUGE, []),
    "too large, in a list": (PLANE, [HUGE, 0.5], []),
    "no cell": (CELLS, 4, ["given 4", "0 .. 3"]),
    "a negative cell": (CELLS, -1, ["given -1", "0 .. 3"]),
    "half a cell": (CELLS, 1.5, ["given 1.5", "0 .. 3"]),
    "a cell of letters": (CELLS, "1", NUMBERS),
}


@pytest.mark.parametrize(("structure", "context", "fragments"), CONTEXTS.values(), ids=CONTEXTS)
def test_contexts(structure, context, fragments):
    p = policy(structure)
    before = state(p)
    decision = made(context)
    calls = [
        lambda: p.decide(context),
        lambda: p.decide(context, available=["a"]),
        lambda: p.probabilities(context),
        lambda: p.learn(decision, loss=1.0),
        lambda: structure.leaf_of(context),
    ]
    for call in calls:
        refused(call, fragments)
        assert state(p) == before
    assert decision._learned_by == ()


def test_one_context_at_a_time():
    p = policy(PLANE)
    before = state(p)
    refused(lambda: p.decide([[[20, 0.5]]]), ["2 features", "(1, 1, 2)"])
    for call in (p.decide, p.probabilities):
        refused(lambda: call([[20, 0.5], [21, 0.5]]), ["One context", "given 2", "hsb.simulate"])  # noqa: B023
    assert state(p) == before


def test_a_refused_decision_is_not_counted_as_clipped():
    p = policy(CLIP)
    before = state(p)
    refused(lambda: p.decide([99, 0.5], u=2.0), ["u must be in [0, 1)", "2.0"])
    refused(lambda: p.decide([99, 0.5], available=[]), ["available is empty"])
    refused(lambda: p.learn(made([99, 0.5]), loss=2.0), ["loss"])
    refused(lambda: p.learn(made([99, 0.5], "z"), loss=1.0), ["'z'"])
    assert state(p) == before


# -- decide, learn, arms -----------------------------------------------------------------------------------------------

ARMS = ["'a', 'b', 'c'"]
RANGE = ["number in [0.0, 1.0]", "given", "_range=(low, high)"]
PROPENSITY = ["propensity must be in (0, 1]", "given"]
CALLS: dict[str, Row] = {
    "available, none": (lambda p: p.decide(0.3, available=[]), ["available is empty", "Leave it out"]),
    "available, unknown": (lambda p: p.decide(0.3, available=["a", "z"]), ["'z'", "available", *ARMS]),
    "available, removed": (lambda p: p.decide(0.3, available=["gone"]), ["'gone'", "removed", "add_arm('gone')"]),
    "available, a number": (lambda p: p.decide(0.3, available=5), ["available", "5"]),
    "available, one arm by itself": (lambda p: p.decide(0.3, available="gone"), ["available", *ARMS]),
    "available, lists": (lambda p: p.decide(0.3, available=[["a"]]), ["['a']", "available"]),
    "available, arrays": (lambda p: p.decide(0.3, available=[np.array(["a"])]), ["available"]),
    "available, of probabilities": (lambda p: p.probabilities(0.3, available=["z"]), ["'z'", "available"]),
    "u, too large": (lambda p: p.decide(0.3, u=1.0), ["u must be in [0, 1)", "1.0"]),
    "u, negative": (lambda p: p.decide(0.3, u=-0.1), ["u must be in [0, 1)", "-0.1"]),
    "u, nan": (lambda p: p.decide(0.3, u=np.nan), ["u must be in [0, 1)", "nan"]),
    "u, letters": (lambda p: p.decide(0.3, u="a"), ["u must be", "'a'"]),
    "u, an array": (lambda p: p.decide(0.3, u=np.array([0.5, 0.5])), ["u must be"]),
    "u, complex": (lambda p: p.decide(0.3, u=0.5j), ["u must be", "0.5j"]),
    "learn nothing": (lambda p: p.learn(None, loss=1.0), ["Decision", "None"]),
    "learn a number": (lambda p: p.learn(0.3, loss=1.0), ["Decision", "0.3"]),
    "learn a dict": (
        lambda p: p.learn({"context": 0.3, "arm": "a"}, loss=1.0),
        ["given a dict with 'context', 'arm'", "hsb.Decision.from_dict"],
    ),
    "both": (lambda p: p.learn(made(), loss=1.0, reward=1.0), ["loss= or reward=", "exactly one", "both"]),
    "neither": (
        lambda p: p.learn(made(), reward=None),
        ["loss= or reward=", "exactly one", "neither. If no reward came, do not call learn", "missing='skip'"],
    ),
    "an empty dict": (lambda p: p.learn({}, reward=1), ["given a dict with nothing in it", "hsb.Decision.from_dict"]),
    "no context": (lambda p: p.decide(), ["Contexts must be numbers", "given None"]),
    **{
        f"loss {value!r:.20}": (lambda p, value=value: p.learn(made(), loss=value), ["loss", *RANGE])
        for value in (1.5, -0.5, np.nan, np.inf, HUGE)
    },
    **{
        f"loss {value!r:.20}": (
            lambda p, value=value: p.learn(made(), loss=value),
            [f"loss must be a number in [0.0, 1.0]; given {value!r}."],
        )
        for value in ("1", "high", 1j, [1])  # no range would take them
    },
    **{
        f"loss {value!r:.20}": (lambda p, value=value: p.learn(made(), loss=value), ["loss must be a number in [0.0, 1.0]"])
        for value in (np.array([1.0]), np.array([1.0, 0.0]))
    },
    "reward": (lambda p: p.learn(made(), reward=1.5), ["reward", "1.5", *RANGE]),
    **{
        f"propensity {value!r:.20}": (lambda p, value=value: p.learn(made(propensity=value), loss=1.0), PROPENSITY)
        for value in (0, 0.0, -0.5, 1.0000001, np.nan, np.inf, HUGE, None, "0.5", 0.5j, [0.5], np.array([0.5, 0.5]))
    },
    "unknown arm": (lambda p: p.learn(made(arm="z"), loss=1.0), ["Unknown arm 'z'", *ARMS, "add_arm"]),
    "arm by number": (lambda p: p.learn(made(arm=0), loss=1.0), ["Unknown arm 0", *ARMS]),
    "arm in a list": (lambda p: p.learn(made(arm=["a"]), loss=1.0), ["Unknown arm ['a']"]),
    "arm with a list inside": (lambda p: p.learn(made(arm=(["a"],)), loss=1.0), ["Unknown arm (['a'],)"]),
    "arm not available": (lambda p: p.learn(made(available=["b", "c"]), loss=1.0), ["'a'", "not among", "['b', 'c']"]),
    "nothing was available": (lambda p: p.learn(made(available=[]), loss=1.0), ["available is empty"]),
    "a list was available": (lambda p: p.learn(made(available=[["a"]]), loss=1.0), ["['a']", "available"]),
    "a number was available": (lambda p: p.learn(made(available=5), loss=1.0), ["available", "5"]),
    **{
        f"id {value!r:.20}": (
            lambda p, value=value: p.learn(made(id=value), loss=1.0),
            ["id must be the text of decision.id", "given ", "Leave id out"],
        )
        for value in (11, 10**30, -1, "a", "a-01", "-7", "a-" + "9" * 30, "a" * 500 + "-1", 1.5, True)
    },
    "id not issued": (
        lambda p: p.learn(made(id=f"{p.ledger.lineage}-11"), loss=1.0),
        ["has not made decision number", "it has made 11", "Leave id out"],
    ),
    "add an arm twice": (lambda p: p.add_arm("a"), ["'a' already", "differ"]),
    "add a list": (lambda p: p.add_arm(["d"]), ["['d']", "hashable"]),
    "add a tuple with a list": (lambda p: p.add_arm((["d"],)), ["(['d'],)", "hashable"]),
    "remove an unknown arm": (lambda p: p.remove_arm("z"), ["no arm 'z'", "['a', 'b', 'c']"]),
    "remove an arm twice": (lambda p: p.remove_arm("gone"), ["no arm 'gone'", "['a', 'b', 'c']"]),
    "remove a list": (lambda p: p.remove_arm(["a"]), ["['a']"]),
}


@table(CALLS)
def test_calls(call, fragments):
    p = policy()
    before = state(p)
    refused(lambda: call(p), fragments)
    assert state(p) == before
    play(p, 3)


def test_of_a_dict_the_names_alone_are_said():
    """What it holds may be personal."""
    with pytest.raises(hsb.InputError) as caught:
        policy().learn({"context": {"email": "ann@example.com"}, "arm": "a"}, reward=1)  # type: ignore[arg-type]
    assert "'context', 'arm'" in str(caught.value) and "ann" not in str(caught.value)


def test_a_policy_that_looks_at_no_context_needs_none():
    exp3 = hsb.Exp3(arms=2, seed=0)
    decision = exp3.decide()
    exp3.learn(decision, reward=1)
    assert decision.context is None and exp3.rounds == 1
    assert exp3.choose(u=0.0) == exp3.choose(None, u=0.0) and (exp3.probabilities() == exp3.probabilities(None)).all()


def test_the_last_arm_stays():
    p = policy()
    p.remove_arm("a")
    p.remove_arm("b")
    before = state(p)
    refused(lambda: p.remove_arm("c"), ["'c' is the last arm", "Add another"])
    assert state(p) == before


def test_an_arm_too_many_for_the_intervals():
    p = policy(hsb.Lexicographic(leaves=500))
    before = state(p)
    refused(lambda: p.add_arm("d"), ["500 leaves with 5 arms", "700", "BinaryTree"], hsb.BudgetError)
    assert state(p) == before and "d" not in p.arms


def test_a_list_of_truths_is_no_list_of_arms():
    """With arms 0, 1, 2 a mask would otherwise be read as the arms 1 and 0."""
    p = policy(arms=3)
    for mask in ([True, False, True], np.array([True, False, True])):
        refused(lambda: p.decide(0.3, available=mask), ["available"])  # noqa: B023


# -- whole tables ------------------------------------------------------------------------------------------------------

X, L = np.linspace(0, 1, 6), np.full((6, 4), 0.5)
LAST = np.arange(24).reshape(6, 4) == 23  # only the last entry


def last(value: float) -> np.ndarray:
    """A table that is bad in its last entry only, so that it is seen whether all of it was checked first."""
    return np.where(LAST, value, L)


TABLES: dict[str, Row] = {
    "a late context": (lambda p: hsb.simulate(p, np.append(X[:5], 1.5), L), ["Context 5: feature 0 is 1.5", "[0.0, 1.0]"]),
    "a late nan": (lambda p: hsb.simulate(p, np.append(X[:5], np.nan), L), ["Context 5: feature 0 is NaN"]),
    "contexts too wide": (lambda p: hsb.simulate(p, np.zeros((6, 2)), L), ["1 feature", "(6, 2)"]),
    "contexts of letters": (lambda p: hsb.simulate(p, ["a"] * 6, L), NUMBERS),
    "contexts of quoted digits": (lambda p: hsb.simulate(p, ["0.5"] * 6, L), NUMBERS),
    "complex contexts": (lambda p: hsb.simulate(p, X + 0j, L), NUMBERS),
    "contexts too large": (lambda p: hsb.simulate(p, [HUGE] * 6, L), []),
    "no losses": (lambda p: hsb.simulate(p, X), ["losses or rewards", "exactly one", "neither"]),
    "losses and rewards": (lambda p: hsb.simulate(p, X, L, rewards=L), ["losses or rewards", "exactly one", "both"]),
    "a late loss": (lambda p: hsb.simulate(p, X, last(1.5)), ["losses[5, 3] is 1.5", "[0.0, 1.0]", "loss_range"]),
    "a late loss that is none": (lambda p: hsb.simulate(p, X, last(np.nan)), ["losses[5, 3] is nan", "[0.0, 1.0]"]),
    "a late reward": (lambda p: hsb.simulate(p, X, rewards=last(-1)), ["rewards[5, 3] is -1.0", "[0.0, 1.0]"]),
    "too few rows": (lambda p: hsb.simulate(p, X, L[:5]), ["losses", "(6, 4)", "(5, 4)"]),
    "too few columns": (lambda p: hsb.simulate(p, X, L[:, :3]), ["losses", "(6, 4)", "(6, 3)", "column per arm"]),
    "losses of letters": (lambda p: hsb.simulate(p, X, [["a"] * 4] * 6), ["losses", "numbers"]),
    "losses of quoted digits": (lambda p: hsb.simulate(p, X, [["1"] * 4] * 6), ["losses", "numbers"]),
    "ragged losses": (lambda p: hsb.simulate(p, X, [[1], [1, 2]]), ["losses", "numbers"]),
    "complex losses": (lambda p: hsb.simulate(p, X, L + 0j), ["losses", "numbers"]),
    "losses in a dict": (lambda p: hsb.simulate(p, X, {}), ["losses", "numbers"]),
    "available as numbers": (lambda p: hsb.simulate(p, X, L, available=L), ["available", "booleans", "(6, 4)", "float64"]),
    "available of another shape": (lambda p: hsb.simulate(p, X, L, available=LAST[:5]), ["available", "(6, 4)", "(5, 4)"]),
    "a round without arms": (lambda p: hsb.simulate(p, X, L, available=~LAST & (X < 1)[:, None]), ["available[5]", "no arm"]),
    "a round of a removed arm": (
        lambda p: hsb.simulate(p, X, L, available=LAST | (X < 1)[:, None]),
        ["available[5]", "no arm"],
    ),
    "no policy": (lambda p: hsb.simulate(TREE, X, L), ["policy", "BinaryTree(depth=4)"]),
}


@table(TABLES)
def test_tables_are_checked_before_the_first_round(call, fragments):
    p = policy()
    before = state(p)
    refused(lambda: call(p), fragments)
    assert state(p) == before


# -- constructors ------------------------------------------------------------------------------------------------------

WHOLE = ["must be a whole number of at least"]
FEATURES = ["features must be different numbers in 0 .. 0"]
MAKE: dict[str, list[str]] = {
    "Box([0, 0], [1])": ["one low and one high per feature", "2 low and 1 high"],
    "Box([], [])": ["one low and one high per feature", "0 low"],
    "Box(1, 1)": ["low < high", "feature 0", "1.0"],
    "Box([0, 5], [1, 4])": ["low < high", "feature 1", "5.0", "4.0"],
    "Box(0, np.inf)": ["finite", "clip"],
    "Box(np.nan, 1)": ["finite"],
    "Box(-1e308, 1e308)": ["feature 0"],  # high - low is not finite
    "Box('a', 'b')": ["numbers", "'a'"],
    "Box('0', '1')": ["numbers", "'0'"],
    "Box(1j, 2)": ["numbers"],
    "Box(0, HUGE)": ["finite"],
    "Box(0, 1, outside='wrap')": ["'error' or 'clip'", "'wrap'"],
    "Box.unit('a')": ["features", "'a'"],
    "Cells(0)": ["at least 1", "0"],
    "Cells(2.0)": ["whole number", "2.0"],
    "Cells(True)": ["whole number", "True"],
    "BinaryTree(depth=-1)": ["depth", *WHOLE, "-1"],
    "BinaryTree(depth=1.5)": ["depth", *WHOLE, "1.5"],
    "BinaryTree(depth='3')": ["depth", *WHOLE, "'3'"],
    "BinaryTree(depth=53)": ["depth=53", "at most 52"],
    "BinaryTree(depth=10**9)": ["at most 52"],
    "BinaryTree(depth=3, space=5)": ["space", "hsb.Box or hsb.Cells", "5"],
    "BinaryTree(depth=3, space=Cells(7))": ["8 leaves", "Cells(7)"],
    "BinaryTree(depth=3, features=[1])": [*FEATURES, "[1]"],
    "BinaryTree(depth=3, features=[])": FEATURES,
    "BinaryTree(depth=3, features=0)": FEATURES,
    "BinaryTree(depth=3, features=['a'])": [*FEATURES, "'a'"],
    "BinaryTree(depth=3, features=[0.5])": [*FEATURES, "0.5"],
    "BinaryTree(depth=3, features=[0, 0])": FEATURES,
    "KaryTree(k=1, depth=3)": ["k", *WHOLE, "1"],
    "KaryTree(k=3, depth=33)": ["depth=33", "at most 32"],
    "Lexicographic(leaves=0)": ["leaves", *WHOLE, "0"],
    "Lexicographic(leaves=6, space=Box.unit(2))": ["power of two", "given 6", "Use 8"],
    "Lexicographic(leaves=6, space=Cells(5))": ["6 leaves", "Cells(5)"],
    "GroupedLexicographic(leaves=6, groups=1)": ["groups", *WHOLE, "1"],
    "PositionSplits(bits=[])": ["bits", "given []"],
    "PositionSplits(bits=5)": ["bits", "5"],
    "PositionSplits(bits=[2, -1])": ["bits[1]", *WHOLE, "-1"],
    "PositionSplits(bits=[1, 1], space=Box.unit(3))": ["3 features, 2 entries"],
    "PositionSplits(bits=[2], space=Cells(5))": ["4 leaves", "Cells(5)"],
    "OneOf()": ["OneOf needs structures", "()"],
    "OneOf([TREE])": ["OneOf needs structures"],
    "OneOf(TREE, PLANE)": ["one space", "Box([18.0, 0.0], [90.0, 1.0])", "space="],
    "Hierarchy({})": ["at least one node"],
    "Hierarchy([1])": ["nodes", "[1]"],
    "Hierarchy({'a': [0]})": ["Node 'a'", "'leaves'", "[0]"],
    "Hierarchy({'a': {'leaves': [0], 'colour': 1}})": ["Node 'a'", "colour"],
    "Hierarchy({'a': {'leaves': []}})": ["Node 'a'", "leaves"],
    "Hierarchy({'a': {'leaves': 5}})": ["Node 'a'", "leaves", "5"],
    "Hierarchy({'a': {'leaves': ['x']}})": ["Node 'a'", "leaves", "'x'"],
    "Hierarchy({'a': {'leaves': [0.5]}})": ["Node 'a'", "leaves", "0.5"],
    "Hierarchy({'a': {'leaves': [0, 0]}})": ["Node 'a'", "each once", "[0, 0]"],
    "Hierarchy({'a': {'leaves': [1, 2]}})": ["root's leaves", "0 .. N-1", "[1, 2]"],
    "Hierarchy({'a': {'leaves': [0]}}, root='z')": ["root 'z'", "['a']"],
    "Hierarchy({'a': {'leaves': [0, 1], 'groups': [['b']]}, 'b': {'leaves': [0]}})": ["['b'] of 'a'", "missing [1]"],
    "Hierarchy({'a': {'leaves': [0], 'groups': [['b']]}, 'b': {'leaves': [0, 1]}})": ["['b'] of 'a'", "foreign [1]"],
    "Hierarchy({'a': {'leaves': [0], 'groups': [['b', 'b']]}, 'b': {'leaves': [0]}})": ["leaf 0 is in 'b' and in 'b'"],
    "Hierarchy({'a': {'leaves': [0], 'groups': [['z']]}})": ["'a'", "'z'", "not a node"],
    "Hierarchy({'a': {'leaves': [0], 'groups': [[]]}})": ["'a'", "empty group"],
    "Hierarchy({'a': {'leaves': [0], 'groups': 5}})": ["Node 'a'", "groups", "5"],
    "Hierarchy({'a': {'leaves': [0], 'groups': ['b']}, 'b': {'leaves': [0]}})": ["Node 'a'", "groups", "'b'"],
    "Hierarchy({'a': {'leaves': [0], 'groups': [['a']]}})": ["'a' is below itself", "cycle"],
    "Hierarchy({'a': {'leaves': [0]}, 'b': {'leaves': [0]}})": ["No group leads to ['b']"],
    "from_dict({'structure': 'Tree'})": ["structure must be one of", "'BinaryTree'", "given 'Tree'"],
    "from_dict({'structure': 'BinaryTree', 'depth': 3})": ["space"],
    "from_dict(TREE.to_dict() | {'k': 3})": ["BinaryTree", "k"],
    "from_dict(TREE.to_dict() | {'space': {}})": ["'Box' or 'Cells'"],
    "from_json('{')": ["JSON"],
    "HSB(BinaryTree, arms=2)": ["structure must be a structure", "BinaryTree(depth=10)"],
    "HSB(None, arms=2, horizon=10)": ["horizon needs a structure", "BinaryTree"],
    "HSB(arms=2, flor=0.1)": ["HSB has no setting 'flor'. Did you mean 'floor'? Its settings are", "seed."],
    "HSB(TREE, arms=2, flor=0.1)": ["HSB has no setting 'flor'. Did you mean 'floor'? Its settings are"],
    "HSB(arm=['a'])": ["HSB has no setting 'arm'. Did you mean 'arms'? Its settings are"],
    "HSB(armss=['a'])": ["HSB has no setting 'armss'. Did you mean 'arms'?"],
    "HSB(['a', 'b'])": ["HSB needs arms=, e.g. hsb.HSB(arms=[...])", "given ['a', 'b'] in place of a structure"],
    "HSB(3, seed=0)": ["HSB needs arms=, e.g. hsb.HSB(arms=[...])", "given 3"],
    "HSB(TREE)": ["HSB needs arms=", "arms=['a', 'b']; given no arms"],
    "HSB(seed=0)": ["HSB needs arms=", "given no arms"],
    "HSB(TREE, arms=None)": ["HSB needs arms=", "given no arms"],
    "HSB(arms=2).decide()": ["given None", "give {}"],
    "LinUCB(3, arms=2).decide({'age': 3})": ["LinUCB takes rows of 3 numbers, not dicts", "with ['age']", "hsb.HSB(arms=...)"],
    "LinUCB(1, arms=2).decide_many([{'age': 3}])": ["LinUCB takes rows of 1 number, not dicts", "hsb.HSB(arms=...)"],
    "LinUCB(['age'], arms=2)": ["features must be their number, at least 1, e.g. hsb.LinUCB(3, arms=...)", "given ['age']"],
    "HSB(arms=2, x=1)": ["HSB has no setting 'x'. Its settings are structure, arms, features", "seed."],
    "HSB(arms=2, features=3)": ["features must be hsb.Features", "3"],
    **{
        f"HSB(TREE, arms={arms})": ["arms must be"]
        for arms in ("0", "-1", "2.5", "True", "'ab'", "b'ab'", "[]", "[1, 1]", "[[1]]", "[([],)]", "{'a', 'b'}")
    },
    **{
        f"HSB(TREE, arms=2, horizon={horizon})": ["horizon must be", "at least 1"]
        for horizon in ("0", "-5", "np.nan", "np.inf", "'long'", "[1]", "True")
    },
    **{
        f"HSB(TREE, arms=2, {rate}, regions={regions})": ["regions"]
        for rate in ("horizon=9", "learning_rate=0.1")
        for regions in ("0", "'a'", "2.5", "np.nan")
    },
    **{
        f"HSB(TREE, arms=2, learning_rate={rate})": ["learning_rate must be a positive number"]
        for rate in ("0", "-1", "np.nan", "np.inf", "'fast'", "HUGE", "np.array([0.1, 0.2])")
    },
    "HSB(TREE, arms=2, learning_rate=0.1, horizon=10)": ["horizon= or learning_rate=", "not both"],
    **{f"HSB(TREE, arms=2, stop={stop})": ["stop must be in [0, 1)"] for stop in ("1", "-0.1", "np.nan", "'a'")},
    "HSB(CELLS, arms=2, stop=0.3)": ["stop=", "Lexicographic", "BinaryTree"],
    **{
        f"HSB(TREE, arms=2, loss_range={pair})": ["loss_range must be (low, high)"]
        for pair in ("(1, 0)", "(0, 0)", "(0, np.inf)", "(0,)", "(0, 1, 2)", "None", "5", "('a', 'b')", "(-1e308, 1e308)")
    },
    **{f"HSB(TREE, arms=2, seed={seed})": ["seed must be"] for seed in ("-1", "1.0", "'a'", "True", "np.random.PCG64(1)")},
    "theory.prior_bound(TREE, arms='a', regions=2)": ["arms"],
    "theory.prior_bound(None, arms=2, regions=2)": ["structure", "None"],
}
BUDGETS = {
    "ArbitrarySplits(leaves=15)": ["leaves=15", "16,384 sets and 4,766,585 splits", "limit is 14", "BinaryTree"],
    "ArbitrarySplits(leaves=20_000)": ["leaves=20000", "limit is 14"],
    "PositionSplits(bits=[20, 1])": ["6,291,453 boxes", "42 of them in each round", "2,097,152", "BinaryTree"],
    "PositionSplits(bits=[20_000])": ["2,097,152"],
    "HSB(Lexicographic(leaves=700), arms=3)": ["700 leaves with 3 arms", "here it is 769", "BinaryTree"],
    "Lexicographic(leaves=1100)": ["1,210,000 intervals", "limit is 900 leaves"],
    "HSB(Lexicographic(leaves=900), arms=3)": ["900 leaves with 3 arms", "here it is 989"],
    "HSB(KaryTree(k=2**40, depth=1), arms=2)": ["1099511627776"],
}


@pytest.mark.parametrize(("code", "fragments"), (MAKE | BUDGETS).items(), ids=MAKE | BUDGETS)
def test_constructors(code, fragments):
    names = vars(hsb) | vars(hsb.structures) | globals()
    refused(lambda: eval(code, names), fragments, hsb.BudgetError if code in BUDGETS else hsb.InputError)
