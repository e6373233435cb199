"""Features that come late share the memory of the policy as it was; with room for them or without, it is the same policy, bit for bit."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import hsb
from hsb.engine.state import state as states

ROUNDS, KINDS = 240, ("number", "category", "flag", "tags")


def context(t: int) -> dict[str, Any]:
    """Another feature every ten rounds, each of its own kind."""
    rng = np.random.default_rng([t, 5])
    result: dict[str, Any] = {"size": float(rng.lognormal()), "city": f"c{rng.integers(3 + t // 50)}"}
    for k in range(t // 10):
        kind, x = KINDS[k % 4], int(rng.integers(5))
        values = {"number": x / 4.0, "category": f"v{x}", "flag": x > 2, "tags": [f"t{x}"]}
        result[f"f{k}"] = values[kind]
    return result


def play(policy: hsb.HSB, first: int, last: int, *, copies: bool = False) -> tuple[hsb.HSB, int]:
    """The policy after these rounds, and how often its memory was replaced. With `copies` a copy or a pickle of it goes on now and then."""
    moves = 0
    for t in range(first, last):
        if copies and t % 7 == 0:
            policy = pickle.loads(pickle.dumps(policy)) if t % 2 else copy.deepcopy(policy)
        before = policy.learner.mixture.state.F
        decision = policy.decide(context(t), u=(t * 0.37) % 1.0)
        policy.learn(decision, loss=float((t + decision.arm) % 3 == 0))
        moves += not np.shares_memory(before, policy.learner.mixture.state.F)
    return policy, moves


@pytest.mark.parametrize("arms", [2, 40])
def test_with_room_or_without_it_is_the_same_policy(arms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {}
    for spare in (states.SPARE, 40_000, 0):
        monkeypatch.setattr(states, "SPARE", spare)
        values[spare] = play(hsb.HSB(arms=arms, seed=0), 0, ROUNDS)
    (roomy, few), (tight, more), (_, most) = values.values()
    assert {policy.digest() for policy, _ in values.values()} == {roomy.digest()}
    assert few <= more < most if arms == 2 else few < more <= most
    contexts = [context(t) for t in range(ROUNDS)]
    assert np.array_equal(roomy.probabilities(contexts), tight.probabilities(contexts))


def test_copies_pickles_and_files_go_on_the_same(tmp_path: Any) -> None:
    through, copied = (play(hsb.HSB(arms=3, seed=0), 0, ROUNDS, copies=copies)[0] for copies in (False, True))
    half = play(hsb.HSB(arms=3, seed=0), 0, 125)[0]
    half.save(tmp_path / "half.hsb")
    loaded = play(hsb.load(tmp_path / "half.hsb"), 125, ROUNDS)[0]
    assert through.digest() == copied.digest() == loaded.digest()


def test_what_a_refused_round_prepared_leaves_nothing() -> None:
    """A feature is made ready before its round is learned; the next one is made ready in the same place."""
    policy = play(hsb.HSB(arms=3, seed=0), 0, 35)[0]
    twin, before = copy.deepcopy(policy), policy.digest()
    for name in ("late", "later"):
        seen, _ = policy.learner.read({"size": 1.0, name: "x"})
        policy.learner.prepare(seen, None)
    assert policy.digest() == before
    for each in (policy, twin):
        play(each, 35, 60)
    assert policy.digest() == twin.digest()
