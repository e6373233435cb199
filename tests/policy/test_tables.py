"""Many decisions at once, and their feedback: the same as one after the other, or nothing at all."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import rewards as naive
from support.loss_range_cases import made
from support.policies import AVAILABLE, CANNOT_WIDEN, CONTEXTS, POLICIES, each_policy, play, state
from support.structures import EXAMPLES

import hsb
from hsb.learners import mixture

TREE = hsb.BinaryTree(depth=3)


@pytest.fixture(params=["rows", "kernel"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mixtures have a kernel for many rows."""
    monkeypatch.setattr(mixture, "MANY", 1 if request.param == "kernel" else 10**9)


def told(decisions: Any) -> list[Any]:
    return [(d.context, d.arm, d.propensity, d.available, d.id, d.memo[:3]) for d in decisions]


def twins(name: str, **common: Any) -> tuple[hsb.Policy, hsb.Policy]:
    """Two in the same state and of the same name; else every decision would say that it is another's."""
    pair = made(name, **common), made(name, **common)
    for policy in pair:
        play(policy, slice(0, 40), masks=True)
    pair[1].ledger.lineage = pair[0].ledger.lineage
    return pair


# -- decisions -------------------------------------------------------------------------------------------------------


@each_policy
@pytest.mark.parametrize("floor", [0.0, 0.3])
@pytest.mark.usefixtures("way")
def test_a_table_is_decided_as_its_rows(name: str, floor: float) -> None:
    one, other = twins(name, floor=floor)
    names = [None if available.all() else np.flatnonzero(available).tolist() for available in AVAILABLE]
    assert told(one.decide_many(CONTEXTS)) == told(naive.decide_many(other, CONTEXTS.tolist()))
    assert told(one.decide_many(CONTEXTS, available=AVAILABLE)) == told(naive.decide_many(other, CONTEXTS.tolist(), names))
    assert told(one.decide_many(CONTEXTS.tolist(), available=names)) == told(naive.decide_many(other, CONTEXTS.tolist(), names))
    us = np.linspace(0.0, 1.0, len(CONTEXTS), endpoint=False)
    assert told(one.decide_many(CONTEXTS, u=us)) == told(naive.decide_many(other, CONTEXTS.tolist(), u=us.tolist()))
    assert state(one) == state(other)
    assert one.decide_many([]).arms.tolist() == []


@each_policy
@pytest.mark.usefixtures("way")
def test_also_after_arms_came_and_went(name: str) -> None:
    one, other = twins(name)
    for policy in (one, other):
        policy.remove_arm(1)
        if name not in CANNOT_WIDEN and name != "Exp4":
            policy.add_arm("late")
    assert told(one.decide_many(CONTEXTS)) == told(naive.decide_many(other, CONTEXTS.tolist()))
    assert 1 not in one.decide_many(CONTEXTS).arms.tolist()


@pytest.mark.nojit
@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("arms", [3, 9, 20])
@pytest.mark.usefixtures("way")
def test_every_structure(name: str, arms: int) -> None:
    """Also where only logarithms can tell: arms that have no chance worth speaking of, and nothing else on offer."""
    structure = EXAMPLES[name]
    rng = np.random.default_rng(0)
    points = rng.random((30, structure.space.features))
    low, high = (np.asarray(end) for end in structure.space.ends())
    contexts = (
        np.floor(low + points * (high - low) + 0.5) if isinstance(structure.space, hsb.Cells) else low + points * (high - low)
    )
    one, other = (hsb.HSB(structure, arms=arms, learning_rate=1.0, drift=drift, seed=2) for drift in (None, None))
    for policy in (one, other):
        for context in contexts:
            policy.learn(hsb.Decision(context=context, arm=0, propensity=1e-4), loss=1.0)
            policy.learn(hsb.Decision(context=context, arm=arms - 1, propensity=1e-3), loss=1.0)
    other.ledger.lineage = one.ledger.lineage
    lost = [[0, arms - 1] if t % 3 else None for t in range(30)]
    for available in (None, lost):
        ours, theirs = one.decide_many(contexts, available=available), naive.decide_many(other, contexts, available)
        assert [row[1:] for row in told(ours)] == [row[1:] for row in told(theirs)]
        assert all(d.context.tolist() == context.tolist() for d, context in zip(ours, contexts, strict=True))


def test_a_long_table_takes_the_kernel_by_itself() -> None:
    rng = np.random.default_rng(0)
    xs = rng.random(3 * mixture.MANY)
    for how in ({}, {"horizon": 1000}):
        one, other = (hsb.HSB(TREE, arms=3, seed=0, **how) for _ in range(2))
        for policy in (one, other):
            hsb.simulate(policy, xs, rng.random((len(xs), 3)) * 0.0 + [0.1, 0.2, 0.3])
        other.ledger.lineage = one.ledger.lineage
        assert told(one.decide_many(xs)) == told(naive.decide_many(other, xs.tolist()))


@pytest.mark.usefixtures("way")
def test_clipped_contexts_are_counted() -> None:
    tree = hsb.BinaryTree(depth=3, space=hsb.Box(0, 1, outside="clip"))
    policy = hsb.HSB(tree, arms=2, seed=0)
    decisions = policy.decide_many([-1.0, 0.5, 2.0])
    assert (policy.clipped, decisions.contexts) == (2, [-1.0, 0.5, 2.0])
    policy.learn_many(decisions, losses=[1, 1, 1])
    assert policy.clipped == 2


def test_contexts_are_the_policys_own_copies() -> None:
    policy = hsb.LinUCB(2, arms=2, seed=0)
    table, rows = np.array([[0.1, 0.2], [0.3, 0.4]]), [[0.1, 0.2], [0.3, 0.4]]
    for given_contexts in (table, rows):
        decisions = policy.decide_many(given_contexts)
        given_contexts[1][0] = 9.0
        assert [list(context) for context in decisions.contexts] == [[0.1, 0.2], [0.3, 0.4]]


BAD_TABLES: dict[str, tuple[dict[str, Any], str]] = {
    "a context": ({"contexts": [0.1, 7.0, 0.2]}, "Context 1: feature 0 is 7.0"),
    "no table": ({"contexts": 0.3}, "Contexts must be a table"),
    "u": ({"contexts": [0.1, 0.2], "u": [0.5, 1.0]}, "u must be 2 numbers in"),
    "too few u": ({"contexts": [0.1, 0.2], "u": [0.5]}, "u must be 2 numbers in"),
    "an arm": ({"contexts": [0.1, 0.2], "available": [["a"], ["z"]]}, "Row 1: Unknown arm 'z'"),
    "no arm": ({"contexts": [0.1, 0.2], "available": [[], ["a"]]}, "Row 0: available is empty"),
    "too few": ({"contexts": [0.1, 0.2], "available": [["a"]]}, "an entry for each of the 2 contexts"),
    "text": ({"contexts": [0.1, 0.2], "available": "ab"}, "available must be a list with an entry for each row"),
    "a table of another shape": ({"contexts": [0.1, 0.2], "available": np.ones((2, 5), dtype=bool)}, "shape"),
}


@pytest.mark.parametrize(("how", "message"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_bad_tables_change_nothing(how: dict[str, Any], message: str) -> None:
    policy = hsb.HSB(TREE, arms=["a", "b"], seed=0)
    before = state(policy)
    with pytest.raises(hsb.InputError, match=message):
        policy.decide_many(**how)
    assert state(policy) == before


# -- feedback --------------------------------------------------------------------------------------------------------


@each_policy
@pytest.mark.parametrize("common", [{}, {"loss_range": "auto"}, {"loss_range": (0.2, 0.8), "outside": "clip"}], ids=str)
def test_feedback_is_learned_as_one_by_one(name: str, common: dict[str, Any]) -> None:
    rng = np.random.default_rng(5)
    one, other = made(name, **common), made(name, **common)
    other.ledger.lineage = one.ledger.lineage
    for step in range(3):
        ours, theirs = one.decide_many(CONTEXTS[:30]), naive.decide_many(other, CONTEXTS[:30].tolist())
        order = rng.permutation(30)
        values = np.where(rng.random(30) < 0.8, rng.random(30), np.nan)
        values = values if common else np.where(np.isnan(values), None, values)
        what = "loss" if step else "reward"
        plural = "losses" if step else "rewards"
        learned = one.learn_many([ours[int(t)] for t in order], **{plural: values.tolist()}, missing="skip")
        naive.learn_many(other, [theirs[int(t)] for t in order], what, values.tolist())
        assert learned == sum(value is not None and value == value for value in values)
        assert state(one) == state(other)
        assert (one.loss_scale.plain_data(), bytes(one.ledger.bits)) == (
            other.loss_scale.plain_data(),
            bytes(other.ledger.bits),
        )
        left = [t for t, value in enumerate(values) if value is None or value != value]
        assert one.learn_many([ours[int(order[t])] for t in left], losses=[0.5] * len(left)) == len(left)  # still open
        naive.learn_many(other, [theirs[int(order[t])] for t in left], "loss", [0.5] * len(left))
        assert state(one) == state(other)


ROWS = st.lists(
    st.tuples(
        st.floats(0, 1), st.sampled_from([None, (0,), (0, 2), (1, 2), (0, 1, 2)]), st.none() | st.floats(0, 1), st.booleans()
    ),
    max_size=12,
)
SOME = ["HSB", "HSB, drift", "Exp3", "Exp4", "LinUCB", "TreeThompson", "CsbFtpl", "EpochGreedy"]


@settings(max_examples=40)
@given(name=st.sampled_from(SOME), calls=st.lists(ROWS, max_size=4), order=st.randoms(use_true_random=False))
def test_any_calls_are_their_loops(name: str, calls: list[Any], order: Any) -> None:
    """Contexts, arms on offer, feedback or none, some decisions from a log; learned in any order, some in a later call."""
    one, other = POLICIES[name](), POLICIES[name]()
    other.ledger.lineage = one.ledger.lineage
    waiting: list[tuple[hsb.Decision, hsb.Decision, Any]] = []
    for rows in calls:
        xs, offers = [row[0] for row in rows], [row[1] for row in rows]
        ours, theirs = one.decide_many(xs, available=offers), naive.decide_many(other, xs, offers)
        assert told(ours) == told(theirs)
        for mine, its, (x, _, value, logged) in zip(ours, theirs, rows, strict=True):
            if logged:
                mine, its = (hsb.Decision(context=x, arm=2, propensity=0.25) for _ in range(2))
            waiting.append((mine, its, value))
        order.shuffle(waiting)
        now, waiting = waiting[: len(waiting) // 2], waiting[len(waiting) // 2 :]
        values = [value for _, _, value in now]
        one.learn_many([mine for mine, _, _ in now], losses=values, missing="skip")
        naive.learn_many(other, [its for _, its, _ in now], "loss", values)
        assert state(one) == state(other)


@each_policy
def test_all_or_nothing(name: str) -> None:
    policy, stranger = made(name, loss_range=(0, 10)), made(name)
    decisions = policy.decide_many(CONTEXTS[:6])
    foreign = hsb.Decision(context=0.2, arm=2, propensity=0.25)
    policy.learn(decisions[5], loss=1.0)
    five = decisions[:5]
    bad: list[tuple[Any, Any, str]] = [
        (five, [1, 1, math.nan, 1, 1], "Row 2: loss must be a number in .*given nan.*Nothing of this call was learned"),
        (five, [1, 1, 1, None, 1], "Row 3: losses has None here. missing='skip'"),
        (five, [1, 1, 1, 1, 11], "Row 4: loss must be a number in"),
        (five, [1, 1, 1, 1, "1"], "Row 4: loss must be a number in"),
        ([*five, decisions[5]], [1] * 6, "Row 5: .*learned already"),
        ([*five, decisions[1]], [1] * 6, "Row 5: .*is in row 1 already"),
        ([*five, foreign, foreign], [1] * 7, "Row 6: .*is in row 5 already"),
        ([*five, 3], [1] * 6, "Row 5: learn needs a Decision"),
        ([*five, hsb.Decision(context=0.2, arm=9, propensity=0.5)], [1] * 6, "Row 5: Unknown arm 9"),
        ([*five, hsb.Decision(context=0.2, arm=1, propensity=1.5)], [1] * 6, "Row 5: propensity"),
        (
            [*five, hsb.Decision(context=0.2, arm=1, propensity=0.5, id=f"{policy.ledger.lineage}-99")],
            [1] * 6,
            "Row 5: .*has not made decision number",
        ),
        ([*five, hsb.Decision(context=0.2, arm=1, propensity=0.5, available=[0])], [1] * 6, "Row 5: Arm 1 was not among"),
        (five, [1, 1], "one of losses for each decision; given 2 for 5"),
        (five, "11111", "must be a list with an entry for each row"),
        (five, np.ones((5, 1)), "must be a list with an entry for each row"),
        (3, [1], "decisions must be a list with an entry for each row"),
    ]
    if name not in {"Exp3", "Uniform", "Exp4"}:  # those take any context, or ask a function
        bad.append(
            (
                [*five, hsb.Decision(context="x", arm=1, propensity=0.5)],
                [1] * 6,
                "Row 5: (Contexts must be numbers|A context is)",
            )
        )
    before, bits, scale = state(policy), bytes(policy.ledger.bits), policy.loss_scale.plain_data()
    for given_decisions, values, message in bad:
        with pytest.raises(hsb.InputError, match=message):
            policy.learn_many(given_decisions, losses=values)
        assert (state(policy), bytes(policy.ledger.bits), policy.loss_scale.plain_data()) == (before, bits, scale)
    for how in ({}, {"losses": [1] * 5, "rewards": [1] * 5}, {"losses": [1] * 5, "missing": "drop"}):
        with pytest.raises(hsb.InputError, match=r"exactly one|missing must be"):
            policy.learn_many(five, **how)
    assert policy.learn_many([*five, foreign, *stranger.decide_many([0.1])], losses=[1] * 7) == 7
    assert policy.rounds == 8


def test_a_loop_would_have_learned_the_first_rows() -> None:
    """The control of all or nothing."""
    policy = hsb.Exp3(arms=2, seed=0)
    decisions = policy.decide_many([None] * 3)
    with pytest.raises(hsb.InputError):
        naive.learn_many(policy, decisions, "loss", [1.0, 1.0, 7.0])
    assert policy.rounds == 2


# -- the columns -----------------------------------------------------------------------------------------------------


def test_columns() -> None:
    policy = hsb.HSB(TREE, arms=[("a", 1), "b"], seed=0)
    decisions = policy.decide_many([0.1, 0.6, 0.9], available=[None, ["b"], None])
    assert isinstance(decisions, hsb.Decisions) and len(decisions) == 3
    assert decisions.arms.tolist() == [d.arm for d in decisions] and decisions.arms.dtype == object
    assert decisions.propensities.tolist() == [d.propensity for d in decisions]
    assert decisions.ids.tolist() == [f"{policy.ledger.lineage}-{number}" for number in range(3)] and decisions.contexts == [
        0.1,
        0.6,
        0.9,
    ]
    assert decisions[1].arm == "b" and decisions[-1].number == 2
    part = decisions[1:]
    assert isinstance(part, hsb.Decisions) and part.ids.tolist() == [d.id for d in decisions][1:] and part[0] is decisions[1]
    table = decisions.table()
    assert {len(column) for column in table.values()} == {3}
    assert table["available"] == [None, ["b"], None]
    assert repr(decisions).startswith("Decisions(3: Decision(context=0.1")
    assert hsb.Decisions([hsb.Decision(context=0, arm=1, propensity=1.0)]).ids.tolist() == [None]
    assert hsb.Uniform(arms=3).decide_many([0, 0]).arms.dtype.kind == "i"
    with pytest.raises(hsb.InputError, match=r"needs hsb.Decision"):
        hsb.Decisions([3])  # type: ignore[list-item]


def test_a_frame_takes_the_columns() -> None:
    pandas = pytest.importorskip("pandas")
    policy = hsb.LinUCB(2, arms=["a", "b"], seed=0)
    frame = pandas.DataFrame({"x": [0.1, 0.2], "y": [0.3, 0.4]})
    decisions = policy.decide_many(frame)
    result = pandas.DataFrame(decisions.table())
    assert result.arm.tolist() == decisions.arms.tolist() and result.id.tolist() == [d.id for d in decisions]
    assert policy.learn_many(decisions, rewards=pandas.Series([1.0, np.nan]), missing="skip") == 1


def test_distributions_can_be_asked_for_until_something_is_learned() -> None:
    policy = hsb.HSB(TREE, arms=3, seed=0)
    decisions = policy.decide_many([0.1, 0.9])
    assert decisions[0].probabilities.tolist() == policy.probabilities(0.1).tolist()
    policy.learn_many(decisions, losses=[1, 0])
    with pytest.raises(hsb.StaleDecision):
        _ = decisions[1].probabilities
