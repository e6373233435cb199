"""The ensemble stays a set of numbers, whatever it is told; where its numbers were broken from outside, it says so and plays no further."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import advisor as advisor_words
from hsb.engine.kernels.words import ensemble as p
from hsb.engine.state import Member
from hsb.engine.state import ensemble as parts
from hsb.files.policy_file import pack, unpack

ARMS = ["a", "b", "c"]
ENSEMBLE, ADVISOR = h.ENSEMBLE, h.ADVISOR


def member_of(policy: Any, kind: int) -> Member:
    """The one member of this kind, as a view."""
    (result,) = [member for member in policy.learner.mixture.state.members if member.I[h.KIND] == kind]
    return result


def check(policy: Any, contexts: list[Any]) -> None:
    """All that it learned are numbers, it decides, and its file is one that rounds can have led to."""
    arrays = policy.to_arrays()
    for k, member in enumerate(policy.learner.mixture.state.members):
        floats = arrays[f"{k}.floats"]
        assert not np.isnan(floats).any(), k
        if member.I[h.KIND] in (h.ENSEMBLE, h.HEAD, h.ADVISOR):
            assert np.isfinite(floats).all(), k
    for context in contexts:
        for available in (None, policy.arms[:1], policy.arms[1:]):
            probabilities = policy.probabilities(context, available=available)
            assert np.isfinite(probabilities).all() and abs(probabilities.sum() - 1.0) < 1e-9
            decision = policy.decide(context, available=available, u=0.7)
            assert 0.0 < decision.propensity <= 1.0
    assert unpack(pack(policy), {}).digest() == policy.digest()


# -- an arm that always loses ------------------------------------------------------------------------------------------------


def test_an_arm_that_always_lost_may_win():
    """Nested means of an arm that always loses round to 1, which made its first win impossible: 0/0, and every forecast 1/2 from then on.

    Afterwards that arm is the best by far, and is found: what is played on purpose (the floor is 0.3) loses at most .2 in the last tenth,
    where the arm loses .1 and the others .6 and more.
    """
    rounds, floor = 60_000, 0.3
    rng = np.random.default_rng(0)
    contexts, losses, late = rng.random((rounds, 4)), np.ones((rounds, 3)), rounds * 4 // 5
    losses[:, 0] = rng.random(rounds) > contexts[:, 0] * (contexts[:, 1] > 0.5)
    losses[:, 1] = rng.random(rounds) > contexts[:, 2] * (contexts[:, 3] > 0.3)
    losses[late:, 2] = rng.random(rounds - late) > 0.9
    policy = hsb.HSB(arms=3, seed=0, floor=floor)
    run = hsb.simulate(policy, contexts, losses)
    last = slice(-rounds // 10, None)
    wanted = (run.losses[last].mean() - floor * losses[last].mean()) / (1.0 - floor)
    print(wanted)
    assert wanted < 0.2
    check(policy, list(contexts[:3]))


# -- anything that rounds can bring ------------------------------------------------------------------------------------------

CONTEXTS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "numbers": lambda rng, t: {"x": float(rng.random()), "y": float(rng.normal())},
    "constant": lambda rng, t: {"x": 3.0, "y": -1e-300},
    "huge": lambda rng, t: {
        "x": float(rng.normal() * 10.0 ** rng.integers(-300, 300)),
        "y": float(rng.choice([-1e308, 0.0, 1e308])),
    },
    "growing": lambda rng, t: {"x": 2.0 ** min(t, 990), "y": -(10.0 ** min(t, 300)) * float(rng.random())},
    "missing": lambda rng, t: {name: None if rng.random() < 0.5 else float(rng.normal()) for name in ("x", "y")},
    "late": lambda rng, t: {"x": float(rng.random())} | ({f"z{t // 40}": 10.0 ** float(rng.integers(9))} if t > 50 else {}),
    "names": lambda rng, t: {"x": str(rng.integers(1 + t // 4)), "y": bool(rng.random() < 0.5)},
    "twins": lambda rng, t: (lambda v: {"x": v, "y": v, "w": 1e9 + v})(float(rng.random())),
    "nothing": lambda rng, t: {},
}
LOSSES: dict[str, Callable[[np.random.Generator, int, int], float]] = {
    "all": lambda rng, t, arm: 1.0,
    "none": lambda rng, t, arm: 0.0,
    "turned": lambda rng, t, arm: float((t // 97) % 2),
    "one wins at last": lambda rng, t, arm: float(arm != 2 or t < 200),
    "one loses at last": lambda rng, t, arm: float(arm == 2 and t > 200),
    "coins": lambda rng, t, arm: float(rng.random() < 0.5),
    "tiny": lambda rng, t, arm: 1e-300,
    "nearly all": lambda rng, t, arm: 1.0 - 2.0**-53,
    "mixed": lambda rng, t, arm: float(rng.choice([0.0, 5e-324, 1e-17, 0.5, 1.0 - 2.0**-53, 1.0])),
}


def available_in(rng: np.random.Generator, arms: list[Any], masks: bool) -> list[Any] | None:
    """Some of the arms, now and then."""
    if not masks or rng.random() < 0.5:
        return None
    return [arm for arm in arms if rng.random() < 0.5] or arms[-1:]


def live(
    policy: Any, rng: np.random.Generator, rounds: int, context: str, loss: str, *, masks: bool, tiny: float, add: bool
) -> list[Any]:
    """Rounds of its own and rounds from a log, some of which had next to no chance; the last contexts."""
    seen: list[Any] = []
    for t in range(rounds):
        if add and t in (60, 150):
            policy.add_arm(f"new {t}", features={"price": float(t)} if t == 150 else None)
        seen.append(CONTEXTS[context](rng, t))
        available = available_in(rng, policy.arms, masks)
        if rng.random() < 0.3:
            arm = policy.arms[0] if available is None else available[0]
            decision = hsb.Decision(context=seen[-1], arm=arm, propensity=tiny, available=available)
        else:
            decision = policy.decide(seen[-1], available=available)
        policy.learn(decision, loss=LOSSES[loss](rng, t, policy.arms.index(decision.arm)))
    return seen[-3:]


@settings(max_examples=60)
@given(
    context=st.sampled_from(list(CONTEXTS)),
    loss=st.sampled_from(list(LOSSES)),
    floor=st.sampled_from([0.0, 1e-9, 0.3, 1.0]),
    tiny=st.sampled_from([1e-300, 1e-12, 1e-3, 1.0]),
    masks=st.booleans(),
    add=st.booleans(),
    exact=st.booleans(),
    seed=st.integers(0, 1000),
)
@example(context="huge", loss="mixed", floor=0.0, tiny=1e-300, masks=True, add=True, exact=False, seed=0)
@example(context="growing", loss="coins", floor=0.0, tiny=1.0, masks=False, add=True, exact=False, seed=0)
def test_it_stays_finite(context, loss, floor, tiny, masks, add, exact, seed):
    """`exact`: where many columns are rescaled the prior moves with them; here that is done for few places."""
    features = {"a": {"price": 1.0}, "b": {"price": 2.0}} if add else None
    policy = hsb.HSB(arms=ARMS, floor=floor, seed=seed, arm_features=features)
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        if not exact:
            patch.setattr(parts, "EXACT", 0)
        check(policy, live(policy, rng, 300, context, loss, masks=masks, tiny=tiny, add=add))


@settings(max_examples=20)
@given(
    loss=st.sampled_from(list(LOSSES)),
    floor=st.sampled_from([0.0, 0.3, 1.0]),
    context=st.sampled_from(["numbers", "constant", "huge", "growing", "twins"]),
    seed=st.integers(0, 1000),
)
@example(loss="one wins at last", floor=0.3, context="numbers", seed=0)
def test_it_stays_finite_for_long(loss, floor, context, seed):
    """Thousands of rounds in a table, so that trees are deep; then what always was is turned round."""
    rng, rounds = np.random.default_rng(seed), 3000
    contexts = [CONTEXTS[context](rng, t) for t in range(rounds)]
    losses = np.array([[LOSSES[loss](rng, t, arm) for arm in range(3)] for t in range(rounds)])
    bits = np.array([int(abs(row["x"]) * 64) % 2 if abs(row["x"]) < 1e15 else 0 for row in contexts])
    losses[:, 0] = bits  # so that trees grow whatever the others do
    policy = hsb.HSB(arms=3, floor=floor, seed=seed)
    hsb.simulate(policy, contexts, losses)
    check(policy, contexts[:2])
    hsb.simulate(policy, contexts[:300], 1.0 - losses[:300])
    check(policy, contexts[:2])


@settings(max_examples=20)
@given(
    loss=st.sampled_from(list(LOSSES)),
    tiny=st.sampled_from([1e-300, 1e-3, 1.0]),
    masks=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_the_advisor_stays_finite(loss, tiny, masks, seed):
    """The one that stands beside a structure: a Bayes context tree."""
    policy = hsb.HSB(hsb.BinaryTree(depth=8), arms=ARMS, seed=seed)
    member_of(policy, ADVISOR)
    rng = np.random.default_rng(seed)
    for t in range(300):
        x, available = float(rng.random()), available_in(rng, policy.arms, masks)
        decision = policy.decide(x, available=available)
        if rng.random() < 0.3:
            decision = hsb.Decision(context=x, arm=decision.arm, propensity=tiny, available=available)
        policy.learn(decision, loss=LOSSES[loss](rng, t, policy.arms.index(decision.arm)))
    check(policy, [0.1, 0.9])


# -- numbers broken from outside ---------------------------------------------------------------------------------------------


def _stack(member: Member) -> None:
    parts.piece(member, p.STACK, 4)[1] = np.nan


def _line(member: Member) -> None:
    parts.linear_models(member)[0][:] = np.nan


def _covariance(member: Member) -> None:
    parts.linear_models(member)[1][:] = np.nan


def _cosine(member: Member) -> None:
    parts.cosine_models(member)[2][:] = np.nan


def _stops(member: Member) -> None:
    nodes = parts.forest_nodes(member)
    nodes[:, p.STOP] = np.nan
    assert (nodes[: p.TREES, p.LEFT] > 0.0).any()


def _counts(member: Member) -> None:
    parts.forest_nodes(member)[:, p.COUNTS :] = np.nan


def _all(member: Member) -> None:
    member.F[:] = np.nan


BREAKS = [_stack, _line, _covariance, _cosine, _stops, _counts, _all]
BROKEN = pytest.raises(hsb.BrokenState, match="no longer a distribution")


def learned(arms: int = 3, floor: float = 0.0) -> tuple[Any, np.ndarray, np.ndarray]:
    """A policy whose trees have grown, and what it learned from."""
    rng = np.random.default_rng(1)
    contexts = rng.random((500, 2))
    losses = np.tile((contexts[:, :1] > 0.5).astype(float), (1, arms))
    losses[:, 0] = 1.0 - losses[:, 0]
    policy = hsb.HSB(arms=arms, floor=floor, seed=0)
    hsb.simulate(policy, contexts, losses)
    return policy, contexts, losses


@pytest.mark.parametrize("break_it", BREAKS)
def test_a_broken_ensemble_says_so(break_it):
    """From every verb, also for a decision taken while it was sound; what is refused is not learned."""
    policy, contexts, losses = learned()
    early = policy.decide(contexts[0])
    policy.probabilities(contexts[1])  # else it would learn by the paths through the trees that it has just followed
    break_it(member_of(policy, ENSEMBLE))
    rest = [policy.learner.mixture.state.members[k].F.copy() for k in (0, 2)]
    rounds = policy.rounds
    for loss in (0.0, 1.0):
        with BROKEN:
            policy.learn(early, loss=loss)
    for available in (None, [0, 1]):
        with BROKEN:
            policy.decide(contexts[1], available=available)
        with BROKEN:
            policy.probabilities(contexts[1], available=available)
        for loss in (0.0, 1.0):
            with BROKEN:
                policy.learn(hsb.Decision(context=contexts[1], arm=0, propensity=0.5, available=available), loss=loss)
    with BROKEN:
        policy.decide_many(contexts[:3])
    with BROKEN:
        hsb.simulate(policy, contexts[:3], losses[:3])
    assert policy.rounds == rounds
    for before, member in zip(rest, (policy.learner.mixture.state.members[k] for k in (0, 2)), strict=True):
        for start, size in member.kind.scratch(member):
            before[start : start + size] = member.F[start : start + size]
        assert np.array_equal(before, member.F)


@pytest.mark.parametrize("floor", [0.0, 0.5])
def test_a_broken_ensemble_of_many_arms_says_so(floor):
    """Decisions among more than 16 arms walk, and whole tables may play an arm of the floor."""
    policy, contexts, losses = learned(20, floor)
    _stack(member_of(policy, ENSEMBLE))
    for u in (0.0, 0.4, 0.99):
        with BROKEN:
            policy.decide(contexts[0], u=u)
    with BROKEN:
        policy.probabilities(contexts[0])
    with BROKEN:
        hsb.simulate(policy, contexts[:5], losses[:5])


def test_a_broken_advisor_says_so():
    policy = hsb.HSB(hsb.BinaryTree(depth=5), arms=ARMS, seed=0)
    for t in range(20):
        policy.learn(policy.decide(t / 20), loss=float(t % 2))
    F, I = member_of(policy, ADVISOR)
    F[I[advisor_words.ROW0] : I[advisor_words.ROWS_END]] = np.nan
    for available in (None, ["a", "b"]):
        with BROKEN:
            policy.decide(0.3, available=available)
        with BROKEN:
            policy.probabilities(0.3, available=available)


@pytest.mark.parametrize("break_it", BREAKS[:-1])
def test_the_file_of_a_broken_ensemble_is_refused(break_it, tmp_path):
    policy, *_ = learned()
    policy.save(tmp_path / "sound.hsb")
    assert hsb.load(tmp_path / "sound.hsb").digest() == policy.digest()
    break_it(member_of(policy, ENSEMBLE))
    policy.save(tmp_path / "broken.hsb")
    with pytest.raises(hsb.FileError, match="no rounds lead to"):
        hsb.load(tmp_path / "broken.hsb")
