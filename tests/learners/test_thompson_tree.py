"""The Thompson tree in files and copies, and what it refuses."""

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from support.thompson_cases import TREE, state, trained

import hsb
from hsb.engine.kernels.words import tree as tree_words
from hsb.policies.tree_thompson import TreeThompson

# -- files and copies ----------------------------------------------------------------------------------------------------


def saved(policy: TreeThompson, folder: Any) -> TreeThompson:
    policy.save(folder / "policy.hsb")
    loaded_policy = hsb.load(folder / "policy.hsb")
    assert isinstance(loaded_policy, TreeThompson)
    return loaded_policy


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"forgetting": 0.99, "stop": 0.2, "prior": (0.5, 2.0), "loss_range": (-1.0, 3.0)},
        {"stop": 0.0, "structure": hsb.BinaryTree(depth=52)},
        {"structure": hsb.KaryTree(k=7, depth=9, space=hsb.Box([0, 0], [1, 1]), features=[1, 0])},
    ],
    ids=["plain", "all settings", "deep", "7-ary"],
)
@pytest.mark.parametrize("how", ["save", "copy", "pickle", "deepcopy"])
def test_copies_go_on_bit_for_bit(how, settings, tmp_path):
    policy = trained(**settings)
    policy.add_arm("x")
    policy.remove_arm(1)
    policy.decide([0.3] * policy.structure.space.features)
    twin = {
        "save": lambda: saved(policy, tmp_path),
        "copy": policy.copy,
        "pickle": lambda: pickle.loads(pickle.dumps(policy)),
        "deepcopy": lambda: copy.deepcopy(policy),
    }[how]()
    assert state(policy) == state(twin) and repr(policy) == repr(twin)
    rng = np.random.default_rng(9)
    for _ in range(50):
        context = rng.random(policy.structure.space.features).tolist()
        one, other = policy.decide(context), twin.decide(context)
        assert (one.arm, one.propensity) == (other.arm, other.propensity)
        policy.learn(one, loss=0.75)
        twin.learn(other, loss=0.75)
    assert state(policy)["floats"] == state(twin)["floats"]
    before = state(twin)
    policy.learn(policy.decide(context), loss=0.0)
    assert state(twin) == before  # they share nothing


def test_damaged_state_is_refused():
    fresh = TreeThompson(hsb.BinaryTree(depth=6), arms=3).learner
    arrays = trained().to_arrays()
    row = int(arrays["ints"][tree_words.ROW0])
    for at, value in (
        (row, 0.0),
        (row, 1e300),
        (row, -1.0),
        (row, math.nan),
        (row + 1, -1.0),
        (row + 2, math.inf),
        (row + 3, 1e16),
    ):
        floats = arrays["floats"].copy()
        floats[at] = value
        with pytest.raises(ValueError, match=r"its (counts|state)"):
            fresh.from_arrays({"floats": floats, "ints": arrays["ints"]}, 300)
    links = int(arrays["ints"][tree_words.LINKS])
    for at, value in ((tree_words.ROWS, 10**6), (tree_words.STRIDE, 16), (links + 1, 10**6), (links, 7 << 12)):
        ints = arrays["ints"].copy()
        ints[at] = value
        with pytest.raises(ValueError, match="its state"):
            fresh.from_arrays({"floats": arrays["floats"], "ints": ints}, 300)
    with pytest.raises(ValueError, match="its state"):
        TreeThompson(hsb.BinaryTree(depth=7), arms=3).learner.from_arrays(arrays, 300)
    with pytest.raises(ValueError, match="stop prior"):
        TreeThompson(hsb.BinaryTree(depth=6), arms=3, stop=0.1).learner.from_arrays(arrays, 300)
    fresh.from_arrays(arrays, 300)


# -- bad input -----------------------------------------------------------------------------------------------------------

BAD: list[tuple[dict[str, Any], str]] = [
    ({"structure": hsb.Lexicographic(leaves=8)}, r"TreeThompson needs a tree, hsb.BinaryTree.*given Lexicographic.*hsb.HSB"),
    ({"structure": hsb.OneOf(TREE, TREE)}, r"needs a tree"),
    ({"structure": 5}, r"needs a tree.*given 5"),
    *(
        ({"forgetting": bad}, r"forgetting must be in \(0, 1\).*None.*given")
        for bad in (0, 1, 1.0, -0.5, 1.5, math.nan, "0.9", True)
    ),
    *(({"stop": bad}, r"stop must be in \[0, 1\).*given") for bad in (1, -0.1, math.nan, "half", True)),
    *(
        ({"prior": bad}, r"prior must be \(good, bad\).*given")
        for bad in (
            1,
            (1,),
            (1, 1, 1),
            (0, 1),
            (1, -1),
            (math.inf, 1),
            (math.nan, 1),
            "11",
            ("1", 1),
            None,
            (1e-4, 1),
            (1, 1e7),
        )
    ),
    ({"structure": hsb.BinaryTree(depth=40), "stop": 0.9999}, r"depth=40 with stop=0.9999.*smaller"),
    ({"arms": 0}, r"arms must be at least 1"),
    ({"loss_range": (1, 0)}, r"loss_range must be"),
    ({"seed": -1}, r"seed must be"),
]


@pytest.mark.parametrize(("settings", "message"), BAD, ids=str)
def test_bad_settings(settings, message):
    with pytest.raises(hsb.InputError, match=message):
        TreeThompson(**({"structure": TREE, "arms": 2} | settings))


def test_bad_rounds_change_nothing():
    policy = trained()
    before = state(policy)
    for context in (1.5, math.nan, "x", None, [0.1, 0.2]):
        with pytest.raises(hsb.InputError):
            policy.decide(context)
        with pytest.raises(hsb.InputError):
            policy.learn(hsb.Decision(context=context, arm=0, propensity=0.5), loss=0.5)
    for how in ({"loss": 2.0}, {"loss": math.nan}, {}, {"loss": 0.1, "reward": 0.1}):
        with pytest.raises(hsb.InputError):
            policy.learn(hsb.Decision(context=0.5, arm=0, propensity=0.5), **how)
    for arm, propensity in ((7, 0.5), (0, 0.0), (0, 1.5)):
        with pytest.raises(hsb.InputError):
            policy.learn(hsb.Decision(context=0.5, arm=arm, propensity=propensity), loss=0.5)
    with pytest.raises(hsb.InputError):
        policy.decide(0.5, available=[9])
    with pytest.raises(hsb.InputError):
        policy.decide(0.5, u=1.0)
    assert state(policy) == before


def test_it_promises_nothing():
    assert TreeThompson.guarantee.startswith("None") and "adversary" in TreeThompson.guarantee
    assert TreeThompson(TREE, arms=2).regret_bound(1000) == math.inf
