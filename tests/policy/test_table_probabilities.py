"""`policy.probabilities` of a table is that of each of its rows, and changes nothing."""

from typing import Any

import numpy as np
import pytest

import hsb

PLANE = hsb.BinaryTree(depth=4, space=hsb.Box([0, 0], [1, 1]))
MAKERS = {
    "default": lambda: hsb.HSB(PLANE, arms=["a", "b", "c"], seed=0),
    "with a floor": lambda: hsb.HSB(PLANE, arms=["a", "b", "c"], floor=0.1, seed=0),
    "LinUCB": lambda: hsb.LinUCB(2, arms=["a", "b", "c"], seed=0),
    "TreeThompson": lambda: hsb.TreeThompson(PLANE, arms=["a", "b", "c"], seed=0),
}


def mixed(rng: np.random.Generator) -> dict[str, Any]:
    return {"age": float(rng.normal(40, 9)), "country": "abcd"[rng.integers(4)], "tags": ["x"] * int(rng.integers(2))}


@pytest.mark.parametrize("name", MAKERS)
def test_an_array_with_rows(name):
    rng, policy = np.random.default_rng(0), MAKERS[name]()
    for _ in range(40):
        policy.learn(policy.decide(rng.random(2)), reward=float(rng.random() < 0.5))
    contexts, before = rng.random((9, 2)), policy.digest()
    for available in (None, ["a", "c"]):
        result = policy.probabilities(contexts, available=available)
        assert result.shape == (9, 3) and policy.digest() == before
        each = [policy.probabilities(row, available=available) for row in contexts]
        assert np.allclose(result, each, rtol=0, atol=1e-12)


def test_lists_of_dicts_and_frames():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    rng, policy = np.random.default_rng(0), hsb.HSB(arms=["a", "b", "c"], seed=0)
    for _ in range(60):
        policy.learn(policy.decide(mixed(rng)), reward=float(rng.random() < 0.5))
    policy.remove_arm("b")
    rows, before = [mixed(rng) for _ in range(20)], policy.digest()
    rows[3] |= {"country": "new", "age": None}  # unseen, and decided by what is known
    each = np.array([policy.probabilities(row) for row in rows])
    assert (each[:, 1] == 0.0).all() and len(np.unique(each.round(9), axis=0)) > 3
    for table in (rows, pd.DataFrame(rows), pl.DataFrame(rows, schema_overrides={"age": pl.Float64})):
        assert np.allclose(policy.probabilities(table), each, rtol=0, atol=1e-12)
    assert policy.digest() == before
    assert policy.probabilities(rows[0]).shape == (3,)
    with pytest.raises(hsb.InputError, match="Row 1"):
        policy.probabilities([rows[0], {"age": "old"}])
