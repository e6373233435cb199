"""HSB without a structure: one round at a time, tables, logs, files and late feedback are the same policy, bit for bit."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hsb
import hsb.logs
from hsb.kernels import header as h
from hsb.storage import described

ARMS = ["a", "b", "c"]


def world(rows: int, seed: int = 0, *, harsh: bool = False) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Contexts with new categories, new keys and missing values on the way; losses near 1 if harsh, so that it leans."""
    rng, contexts = np.random.default_rng([seed, 77]), []
    for t in range(rows):
        found: dict[str, Any] = {"size": float(rng.lognormal()), "kind": f"k{int(rng.integers(2 + t // 60))}"}
        if t > rows // 4:
            found["member"] = bool(rng.random() < 0.3)
        if t > rows // 2:
            found["hour"] = int(rng.integers(24))
        for name in list(found)[1:]:
            if t > 20 and rng.random() < 0.05:
                found[name] = None
        if t > 40 and rng.random() < 0.05:
            del found["size"]
        contexts.append(found)
    good = np.array([(found.get("size") or 0.0) > 1.0 for found in contexts]).astype(int)
    means = np.where(np.arange(3) == good[:, None], 0.85 if harsh else 0.1, 0.98 if harsh else 0.7)
    return contexts, (rng.random((rows, 3)) < means).astype(float)


def loop(policy, contexts, losses, masks=None) -> tuple[list[Any], list[float]]:
    arms, chances = [], []
    for t, context in enumerate(contexts):
        offered = None if masks is None else [arm for arm, on in zip(policy.arms, masks[t], strict=True) if on]
        decision = policy.decide(context, available=offered)
        policy.learn(decision, loss=float(losses[t, policy.arms.index(decision.arm)]))
        arms.append(decision.arm)
        chances.append(decision.propensity)
    return arms, chances


def state(policy) -> dict[str, Any]:
    arrays = {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in policy.to_arrays().items()}
    return {**arrays, "settings": policy.settings(), "rounds": policy.rounds, "rng": str(policy.rng.bit_generator.state)}


def assert_same(one, other) -> None:
    ours, theirs = state(one), state(other)
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []


# -- tables ----------------------------------------------------------------------------------------------------------------


def as_columns(contexts) -> dict[str, list[Any]]:
    names = ["size", "kind", "member", "hour"]
    return {name: [found.get(name) for found in contexts] for name in names}


def tables(form: str, contexts) -> tuple[Any, list[Any]]:
    """A table, and its rows as a loop is given them."""
    columns = as_columns(contexts)
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if form == "dicts":
        return contexts, contexts
    if form == "columns":
        return columns, rows
    if form == "frame":
        pandas = pytest.importorskip("pandas")
        return pandas.DataFrame(columns), rows
    table = np.array([[np.nan if v is None else float(v) for v in (row["size"], row["member"], row["hour"])] for row in rows])
    return table, list(table)


@pytest.mark.parametrize("form", ["dicts", "columns", "frame", "array"])
@pytest.mark.parametrize("how", [{}, {"floor": 0.2}, {"masks": True}, {"harsh": True}, {"loss_range": "auto"}], ids=str)
def test_a_table_is_a_loop(form, how):
    how = dict(how)
    masked, harsh = how.pop("masks", False), how.pop("harsh", False)
    contexts, losses = world(700, harsh=harsh)
    losses = losses * 7.0 if how.get("loss_range") == "auto" else losses
    masks = None
    if masked:
        masks = np.random.default_rng(5).random((700, 3)) < 0.7
        masks[~masks.any(axis=1), 1] = True
    table, rows = tables(form, contexts)
    ours, theirs = hsb.HSB(arms=ARMS, seed=3, **how), hsb.HSB(arms=ARMS, seed=3, **how)
    first = hsb.simulate(ours, table[:300] if form in ("dicts", "array") else tables(form, contexts[:300])[0], losses[:300], available=None if masks is None else masks[:300])
    rest = table[300:] if form in ("dicts", "array") else tables(form, contexts[300:])[0]
    second = hsb.simulate(ours, rest, losses[300:], available=None if masks is None else masks[300:])
    arms, chances = loop(theirs, rows, losses, masks)
    assert [*first.arms, *second.arms] == arms
    assert [*first.propensities, *second.propensities] == chances
    assert_same(ours, theirs)
    assert harsh == (ours.shift > 0)
    assert ours.encoder.places > 5 or form == "array"


def test_what_comes_after_a_table_is_as_after_a_loop():
    """Also a decision that was made before it, whose context the encoder now sees otherwise."""
    contexts, losses = world(500)
    ours, theirs = hsb.HSB(arms=ARMS, seed=3), hsb.HSB(arms=ARMS, seed=3)
    late = []
    for policy in (ours, theirs):
        loop(policy, contexts[:100], losses[:100])
        late.append(policy.decide(contexts[100], u=0.3))
    hsb.simulate(ours, contexts[101:400], losses[101:400])
    loop(theirs, contexts[101:400], losses[101:400])
    for policy, decision in zip((ours, theirs), late, strict=True):
        policy.learn(decision, loss=1.0)
        loop(policy, contexts[400:], losses[400:])
    assert_same(ours, theirs)


def test_a_decision_right_before_a_table_without_news():
    """The last thing located was this decision's context: its z is that of the scales of now when it is learned."""
    rng = np.random.default_rng(0)
    table, losses = rng.normal(size=(200, 2)) * [1.0, 50.0], rng.random((200, 3))
    ours, theirs = hsb.HSB(arms=ARMS, seed=3), hsb.HSB(arms=ARMS, seed=3)
    late = []
    for policy in (ours, theirs):
        hsb.simulate(policy, table[:9], losses[:9])
        late.append(policy.decide(table[9], u=0.3))
    hsb.simulate(ours, table[10:], losses[10:])
    loop(theirs, table[10:], losses[10:])
    for policy, decision in zip((ours, theirs), late, strict=True):
        policy.learn(decision, loss=1.0)
    assert_same(ours, theirs)


def test_decide_many_is_a_loop_of_decide():
    """Few rows and many, which have a kernel of their own; learned in another order."""
    contexts, losses = world(1300)
    ours, theirs = hsb.HSB(arms=ARMS, seed=3), hsb.HSB(arms=ARMS, seed=3)
    for part in (slice(0, 100), slice(100, 1300)):
        made = list(ours.decide_many(contexts[part]))
        each = [theirs.decide(context) for context in contexts[part]]
        for mine, its in zip(made, each, strict=True):
            assert (mine.arm, mine.propensity, mine.advised, mine.context) == (its.arm, its.propensity, its.advised, its.context)
            assert list(mine.seen) == list(its.seen)
        feedback = [float(losses[part][t, ARMS.index(d.arm)]) for t, d in enumerate(made)]
        assert ours.learn_many(made[::-1], losses=feedback[::-1]) == len(made)
        for decision, loss in zip(each[::-1], feedback[::-1], strict=True):
            theirs.learn(decision, loss=loss)
        assert_same(ours, theirs)


def test_learn_many_is_all_or_nothing_also_where_contexts_contradict_each_other():
    """Each alone could be learned; after the first, the second has text where a number was."""
    policy = hsb.HSB(arms=ARMS, seed=0)
    decisions = [policy.decide({"age": 31}), policy.decide({"age": "old"})]
    before = state(policy)
    with pytest.raises(hsb.InputError, match="Row 1: .*age"):
        policy.learn_many(decisions, losses=[0.0, 1.0])
    assert state(policy) == before
    assert policy.learn_many(decisions[:1], losses=[0.0]) == 1


# -- logs --------------------------------------------------------------------------------------------------------------------


def batches(rows: int, parts: int, seed: int = 0) -> list[hsb.logs.Batch]:
    """A log drawn uniformly from three arms, with contexts of two numbers, now and then missing."""
    rng = np.random.default_rng([seed, 9])
    contexts = rng.normal(size=(rows, 2)) * [1.0, 30.0]
    contexts[50:][rng.random((rows - 50, 2)) < 0.1] = np.nan
    arm = rng.integers(3, size=rows)
    reward = (rng.random(rows) < np.where((np.nan_to_num(contexts[:, 0]) > 0) == (arm == 1), 0.8, 0.2)).astype(float)
    pools = np.ones((1, 3), dtype=bool)
    found = []
    for some in np.array_split(np.arange(rows), parts):
        n = len(some)
        found.append(
            hsb.logs.Batch(
                contexts=contexts[some], arm=arm[some], reward=reward[some], propensity=np.full(n, 1 / 3),
                pool=np.zeros(n, dtype=np.int64), pools=pools, arms=ARMS,
            )
        )  # fmt: skip
    return found
