"""A learner for each slot: each learns its own slot as a policy of its own would."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hsb
from hsb.learners.ranked import Ranked

ARMS = ["a", "b", "c", "d"]
TREE = hsb.BinaryTree(depth=4)
KINDS: dict[str, dict[str, Any]] = {
    "default": {},
    "structure": {"structure": TREE},
    "paper": {"structure": TREE, "horizon": 500},
    "drift": {"structure": TREE, "drift": 0.01},
    "confident": {"learning_rate": "confident", "implicit": True},
}


def make(kind: str, slots: int = 3, **settings: Any) -> hsb.HSB:
    return hsb.HSB(**KINDS[kind], **{"arms": ARMS, "slots": slots, "seed": 0, **settings})


def context(kind: str, t: int) -> Any:
    x = (t * 0.37) % 1.0
    return {"x": x, "device": ("web", "ios", "tv")[t % 3]} if "structure" not in KINDS[kind] else x


def rewards(page: hsb.Slate, t: int) -> list[float | None]:
    rng = np.random.default_rng(t)
    return [None if rng.random() < 0.1 else float(rng.random() < (0.8 if arm == "ab"[t % 2] else 0.3)) for arm in page.arms]


each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_each_slot_learns_as_a_policy_of_its_own(kind: str) -> None:
    ranked = make(kind)
    alone = [make(kind, 1) for _ in range(3)]
    late = []
    for t in range(150):
        page = ranked.decide(context(kind, t), k=3)
        for slot, decision in enumerate(page):
            p = alone[slot].probabilities(context(kind, t), available=decision.available)
            assert decision.propensity == pytest.approx(p[ARMS.index(str(decision.arm))], rel=1e-12)
        late.append((page, [made_by(policy, decision) for policy, decision in zip(alone, page, strict=True)], rewards(page, t)))
        for _ in range(2 if len(late) == 4 else t % 2):  # feedback up to four pages late, the latest first
            whole, single, outcome = late.pop()
            ranked.learn(whole, rewards=outcome)
            for policy, decision, reward in zip(alone, single, outcome, strict=True):
                if reward is not None:
                    policy.learn_proposed(decision, reward=reward)
    for slot in range(3):
        assert ranked.learner.rank(slot).rounds == alone[slot].rounds > 100
        arrays, own = ranked.learner.rank(slot).to_arrays(), alone[slot].to_arrays()
        assert all(np.array_equal(arrays[name], own[name]) for name in own)


def made_by(policy: hsb.HSB, decision: hsb.Decision) -> hsb.Decision:
    """The decision as if a policy without slots had made it now."""
    seen = [int(cell) for cell in decision.memo.cells[1:]]
    single = hsb.Decision.from_dict(decision.to_dict() | {"id": None, "rounds": policy.rounds, "seen": seen, "slot": 0})
    if not seen:
        single.memo = single.memo._replace(cells=None)
    return single


@each_kind
def test_a_file_in_the_middle_of_a_page_goes_on(kind: str, tmp_path: Path) -> None:
    policy = make(kind)
    for t in range(60):
        page = policy.decide(context(kind, t), k=3)
        policy.learn(page, rewards=rewards(page, t))
    page = policy.decide(context(kind, 60), k=3)
    policy.learn(page[0], reward=1.0)
    policy.save(tmp_path / "policy.hsb")
    loaded = hsb.load(tmp_path / "policy.hsb")
    assert loaded.digest() == policy.digest() and loaded.rounds == policy.rounds
    sent = hsb.Slate.from_dict(page.to_dict())
    for one, rest in ((policy, page), (loaded, sent)):
        one.learn(rest, rewards=[None, 0.0, 1.0])
    assert loaded.digest() == policy.digest()
    with pytest.raises(hsb.InputError, match="learned already"):
        loaded.learn(sent[0], reward=1.0)
    assert loaded.decide(context(kind, 3), k=3, u=0.4).arms == policy.decide(context(kind, 3), k=3, u=0.4).arms
    twin = policy.copy()
    twin.learn(twin.decide(context(kind, 3), k=2), reward=1.0)
    assert loaded.digest() == policy.digest() != twin.digest()


def test_a_file_whose_rounds_do_not_add_up_is_refused() -> None:
    policy = make("paper")
    policy.learn(policy.decide(0.3, k=3), reward=1.0)
    arrays = policy.learner.to_arrays()
    fresh = make("paper").learner
    assert fresh.from_arrays(arrays, 3).rounds == 3
    with pytest.raises(ValueError, match="do not add"):
        make("paper").learner.from_arrays(arrays, 4)
    with pytest.raises(ValueError, match="do not add"):
        make("paper", 2).learner.from_arrays(arrays, 3)


@each_kind
def test_arms_come_and_go(kind: str) -> None:
    policy = make(kind)
    page = policy.decide(context(kind, 0), k=3)
    policy.add_arm("e")
    policy.remove_arm("a")
    policy.learn(page, rewards=[1.0, 0.0, 1.0])
    arms = {arm for t in range(40) for arm in policy.decide(context(kind, t), k=3).arms}
    assert arms == {"b", "c", "d", "e"}
    assert policy.probabilities(context(kind, 1), slot=2).sum() == pytest.approx(1.0)


def test_one_slot_is_the_policy_without_slots() -> None:
    one, other = hsb.HSB(arms=3, slots=1, seed=0), hsb.HSB(arms=3, seed=0)
    assert not isinstance(one.learner, Ranked) and one.digest() == other.digest()


@pytest.mark.parametrize("slots", [0, 5, 1.5, True, "2"])
def test_slots_must_be_a_number_up_to_that_of_the_arms(slots: Any) -> None:
    with pytest.raises(hsb.InputError, match="slots must be a whole number of at least 1"):
        hsb.HSB(arms=4, slots=slots)


def test_a_decision_alone_is_one_of_the_first_slot() -> None:
    policy = make("paper")
    policy.learn(policy.decide(0.3), reward=1.0)
    policy.learn(hsb.Decision(context=0.3, arm="a", propensity=0.5), reward=1.0)
    policy.learn(hsb.Decision(context=0.3, arm="a", propensity=0.5, slot=2), reward=1.0)
    assert [policy.learner.rank(slot).rounds for slot in range(3)] == [2, 0, 1]
    before = policy.digest()
    with pytest.raises(hsb.InputError, match=r"slot must be less than 3, the slots of this policy; given 3\."):
        policy.learn(hsb.Decision(context=0.3, arm="a", propensity=0.5, slot=3), reward=1.0)
    assert policy.digest() == before


def test_tables_are_refused_in_words() -> None:
    policy = make("paper")
    before = policy.digest()
    for call in (lambda: policy.decide_many([0.1, 0.2]), lambda: hsb.simulate(policy, [0.1, 0.2], np.zeros((2, 4)))):
        with pytest.raises(hsb.InputError, match="A policy with slots decides and learns page by page"):
            call()
    assert policy.digest() == before


@each_kind
def test_bounds_certificates_and_rules_are_those_of_a_slot(kind: str) -> None:
    policy = make(kind)
    for t in range(200):
        page = policy.decide(context(kind, t), k=3)
        policy.learn(page, rewards=[float(arm == "abc"[slot]) for slot, arm in enumerate(page.arms)])
    alone = make(kind, 1)
    assert policy.regret_bound(500, slot=1) == alone.regret_bound(500) or kind in ("default", "confident")
    assert [policy.certificate(slot=slot).rounds for slot in range(3)] == [200] * 3
    rules = [str(policy.explain(slot=slot)) for slot in range(3)]
    assert ["a" in rules[0], "play 'b'" in rules[1], "play 'c'" in rules[2]] == [True] * 3
    for wrong in (3, -1, "x"):
        with pytest.raises(hsb.InputError, match="slot must be"):
            policy.explain(slot=wrong)  # type: ignore[arg-type]


def test_pages_of_another_policy_teach_each_slot() -> None:
    policy, logger = make("default"), hsb.Uniform(arms=ARMS, seed=0)
    for t in range(30):
        page = logger.decide(context("default", t), k=3)
        policy.learn(hsb.Slate.from_dict(page.to_dict()) if t % 2 else page, rewards=[1.0, None if t < 10 else 0.0, 0.0])
    assert [policy.learner.rank(slot).rounds for slot in range(3)] == [30, 20, 30]


@each_kind
@pytest.mark.parametrize("seen", [[], [2**80], [2**80] * 4, [0, 2**80, 1], [10**9] * 40], ids=str)
def test_a_decision_with_forged_cells_is_learned_or_refused(kind: str, seen: list[int]) -> None:
    policy = make(kind)
    policy.learn(policy.decide(context(kind, 0), k=3), rewards=[1.0, 0.0, 1.0])
    page = policy.decide(context(kind, 1), k=3)
    forged = hsb.Decision.from_dict(page[1].to_dict() | {"seen": seen})
    policy.learn(forged, reward=1.0)
    assert policy.rounds == 4 and np.isfinite(policy.probabilities(context(kind, 1), slot=1)).all()
