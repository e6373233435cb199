"""Pages of several slots: draws without replacement with exact propensities, and feedback slot by slot."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from support import interrupting
from support.policies import CONTEXTS, POLICIES, play

import hsb
from hsb.policy.slots import uniforms

ESTIMATED = ("CsbFtpl",)  # their propensity is an estimate by design
ARMS = ["a", "b", "c", "d"]
CONTEXT = {"age": 31, "device": "web"}


def trained(**settings: Any) -> hsb.HSB:
    """A policy with dicts as contexts that prefers some arms to others."""
    policy = hsb.HSB(arms=ARMS, seed=3, **settings)
    rng = np.random.default_rng(0)
    for t in range(60):
        page = policy.decide({"age": int(rng.integers(18, 60)), "device": ("web", "ios")[t % 2]}, k=2)
        policy.learn(page, rewards=[float(rng.random() < {"a": 0.9, "b": 0.6}.get(str(arm), 0.2)) for arm in page.arms])
    return policy


def selections(policy: hsb.Policy, available: tuple[Any, ...], k: int) -> dict[tuple[Any, ...], list[float]]:
    """The propensities of every ordered selection of k arms, by the distributions of its slots one by one."""
    every = {}
    for selection in itertools.permutations(available, k):
        each = []
        for slot, arm in enumerate(selection):
            left = [other for other in available if other not in selection[:slot]]
            each.append(float(policy.probabilities(CONTEXT, available=left, slot=slot)[policy.arms.index(arm)]))
        every[selection] = each
    return every


@pytest.mark.parametrize("settings", [{}, {"floor": 0.3}, {"slots": 3}, {"slots": 3, "floor": 0.3}], ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_propensities_are_those_of_every_ordered_selection(settings: dict[str, Any], size: int) -> None:
    policy = trained(**settings)
    for available in itertools.combinations(ARMS, size):
        for k in range(1, min(size, 3) + 1):
            every = selections(policy, available, k)
            assert sum(map(math.prod, every.values())) == pytest.approx(1.0, abs=1e-12)
            if "floor" in settings:
                least = math.prod(settings["floor"] / (size - slot) for slot in range(k))
                assert min(map(math.prod, every.values())) >= least * (1 - 1e-9)
            for u in np.random.default_rng(k).random(25):
                page = policy.decide(CONTEXT, k=k, available=available, u=float(u))
                assert page.propensities == pytest.approx(every[page.arms], rel=1e-12)
                assert page.propensity == pytest.approx(math.prod(every[page.arms]), rel=1e-12)


def farthest(pages: list[tuple[Any, ...]], every: dict[tuple[Any, ...], list[float]]) -> float:
    """The largest difference, in standard deviations, between how often a selection was drawn and its probability."""
    n, worst = len(pages), 0.0
    for selection, each in every.items():
        p = math.prod(each)
        worst = max(worst, abs(pages.count(selection) - n * p) / math.sqrt(n * p * (1 - p)))
    return worst


def test_selections_are_drawn_as_often_as_their_propensities_say(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = hsb.HSB(arms=ARMS, floor=0.5, seed=0)
    policy.learn(hsb.Decision(context=CONTEXT, arm="a", propensity=0.05), loss=1.0)
    every = selections(policy, tuple(ARMS), 3)
    assert len(every) == 24
    grid = (np.arange(6000) + 0.5) / 6000
    assert farthest([policy.decide(CONTEXT, k=3, u=float(u)).arms for u in grid], every) < 4.0
    monkeypatch.setattr("hsb.policy.slots.uniforms", lambda u, k: [u] * k)  # a control: slots that depend on each other
    assert farthest([policy.decide(CONTEXT, k=3, u=float(u)).arms for u in grid], every) > 20.0


def test_the_numbers_of_slots_are_uniform_and_independent() -> None:
    table = np.array([uniforms(float(u), 4) for u in np.random.default_rng(5).random(20_000)])
    assert table.min() >= 0.0 and table.max() < 1.0
    assert np.abs(np.corrcoef(table.T) - np.eye(4)).max() < 0.03
    cells = (table[:, :3] * 4).astype(int) @ [16, 4, 1]
    counts = np.bincount(cells, minlength=64)
    assert ((counts - 312.5) ** 2 / 312.5).sum() < 63 + 5 * math.sqrt(2 * 63)
    close = [uniforms(k * 2.0**-53, 2)[1] for k in range(1000)]  # the smallest differences of u
    assert len(set(close)) == 1000 and abs(np.mean(close) - 0.5) < 0.04


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_draws_pages(name: str) -> None:
    policy = POLICIES[name]()
    play(policy, slice(0, 60), masks=True)
    context, arms = CONTEXTS[7], policy.arms
    before, twin = policy.rounds, policy.copy()
    page = policy.decide(context, k=3, u=0.37)
    assert twin.decide(context, k=3, u=0.37).arms == page.arms and len(set(page.arms)) == 3
    assert twin.decide(context, u=0.37).arm == page.arms[0]
    if not name.startswith(ESTIMATED):
        for slot, decision in enumerate(page):
            left = [arm for arm in arms if arm not in page.arms[:slot]]
            p = twin.probabilities(context, available=left)
            assert decision.propensity == pytest.approx(p[arms.index(decision.arm)], rel=1e-9)
            if policy.rounds == before:
                assert decision.probabilities.tolist() == p.tolist()
    policy.learn(page, losses=[0.0, None, 1.0])
    assert policy.rounds == before + 2
    with pytest.raises(hsb.InputError, match="learned already"):
        policy.learn(page[0], loss=0.0)
    policy.learn(page[1], loss=0.5)
    assert policy.rounds == before + 3


def test_a_page_is_its_slots_one_by_one() -> None:
    whole, single = trained(), trained()
    page = whole.decide(CONTEXT, k=3, u=0.8)
    left, numbers = list(ARMS), uniforms(0.8, 3)
    slots = []
    for number in numbers:
        slots.append(single.decide(CONTEXT, available=left, u=number))
        left.remove(slots[-1].arm)
    assert [(one.arm, one.propensity) for one in page] == [(one.arm, one.propensity) for one in slots]
    whole.learn(page, rewards=[1.0, None, 0.0])
    single.learn_many(slots, rewards=[1.0, None, 0.0], missing="skip")
    assert whole.digest() == single.digest()


@pytest.mark.parametrize(
    ("page_feedback", "of_slots"), [({"reward": 1}, {"rewards": [1, 1]}), ({"loss": 0.25}, {"losses": [0.25, 0.25]})]
)
def test_one_number_for_the_page_is_that_number_for_every_slot(page_feedback: dict[str, Any], of_slots: dict[str, Any]) -> None:
    one, other = trained(), trained()
    one.learn(one.decide(CONTEXT, k=2, u=0.1), **page_feedback)
    other.learn(other.decide(CONTEXT, k=2, u=0.1), **of_slots)
    assert one.digest() == other.digest()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k must be a whole number of at least 1; given 0"),
        ({"k": True}, "k must be a whole number"),
        ({"k": 2.0}, "k must be a whole number"),
        ({"k": "2"}, "k must be a whole number"),
        ({"k": 5}, "k must be at most 4, the number of available arms; given 5"),
        ({"k": 3, "available": ["a", "b"]}, "k must be at most 2, the number of available arms"),
        ({"k": 2, "available": ["a", "z"]}, "Unknown arm 'z'"),
        ({"k": 2, "u": 1.0}, "u must be in"),
        ({"k": 2, "context": {"age": [1]}}, "age"),
    ],
)
def test_a_wrong_page_changes_nothing(arguments: dict[str, Any], message: str) -> None:
    policy = trained()
    before = policy.digest(), policy.ledger.issued, policy.rng.bit_generator.state
    with pytest.raises(hsb.InputError, match=message):
        policy.decide(**{"context": CONTEXT, **arguments})
    assert (policy.digest(), policy.ledger.issued, policy.rng.bit_generator.state) == before


def test_more_slots_than_the_policy_has_are_refused() -> None:
    policy = hsb.HSB(arms=ARMS, slots=2, seed=0)
    with pytest.raises(hsb.InputError, match=r"k must be at most 2, the slots of this policy; given 3\. Make it with slots=3"):
        policy.decide(CONTEXT, k=3)
    with pytest.raises(hsb.InputError, match="slot must be less than 2"):
        policy.probabilities(CONTEXT, slot=2)


@pytest.mark.parametrize(
    ("feedback", "message"),
    [
        ({}, "needs one of losses=, rewards= .*given none"),
        ({"reward": 1, "rewards": [1, 1, 1]}, "given reward and rewards"),
        ({"rewards": [1, 0]}, "given 2 for 3 decisions"),
        ({"rewards": 1}, "rewards must be a list"),
        ({"rewards": [1, 0, 2]}, "Row 2: .*Nothing of this call was learned"),
        ({"loss": 2}, "Row 0: .*Nothing of this call was learned"),
        ({"rewards": [1, "x", 0]}, "Row 1"),
    ],
)
def test_wrong_feedback_of_a_page_changes_nothing(feedback: dict[str, Any], message: str) -> None:
    policy = trained()
    page, before = policy.decide(CONTEXT, k=3), policy.digest()
    with pytest.raises(hsb.InputError, match=message):
        policy.learn(page, **feedback)
    assert policy.digest() == before
    policy.learn(page, rewards=[1, 0, None])
    assert policy.rounds == 122


def test_a_decision_takes_no_feedback_of_slots() -> None:
    policy = trained()
    decision = policy.decide(CONTEXT)
    with pytest.raises(hsb.InputError, match="rewards is for a slate"):
        policy.learn(decision, rewards=[1])  # type: ignore[arg-type]
    policy.learn(decision, reward=1)


@pytest.mark.parametrize("settings", [{}, {"slots": 3}], ids=str)
def test_an_interrupted_page_is_learned_slot_by_slot(settings: dict[str, Any]) -> None:
    policy = trained(**settings) if settings else trained()
    page = policy.decide({"age": 77, "device": "tv"}, k=3)  # a new category: the learner grows
    whole = []
    for slots in range(4):
        twin = policy.copy()
        twin.learn(page, rewards=[1.0 if slot < slots else None for slot in range(3)])
        whole.append(twin.digest())
    seen = set()
    for twin in interrupting.every_step(lambda one: one.learn(page, rewards=[1.0] * 3), policy, 211):
        done = twin.rounds - policy.rounds
        assert twin.digest() == whole[done]
        seen.add(done)
        twin.learn(page, rewards=[None if slot < done else 1.0 for slot in range(3)])
        assert twin.digest() == whole[3]
    assert seen >= {0, 1, 2}


def test_a_caller_may_change_the_context_afterwards() -> None:
    policy, context = trained(), dict(CONTEXT)
    page = policy.decide(context, k=2)
    context["age"] = 99
    assert page.context == CONTEXT


def test_learning_a_page_in_order_is_as_if_each_slot_had_been_learned_before_the_next() -> None:
    def shift(policy: hsb.HSB) -> float:
        """How far learning earlier slots moves the distribution of later ones, at most."""
        rng, worst = np.random.default_rng(0), 0.0
        for _ in range(150):
            context = float(rng.random())
            page = policy.decide(context, k=3)
            before = [policy.probabilities(context, available=decision.available) for decision in page]
            for slot, decision in enumerate(page):
                now = policy.probabilities(context, available=decision.available)
                worst = max(worst, float(np.abs(now - before[slot]).max()))
                policy.learn(decision, loss=float(rng.random() < (0.2 if decision.arm == context > 0.5 else 0.8)))
        return worst

    tree = hsb.BinaryTree(depth=4)
    assert shift(hsb.HSB(tree, arms=5, learning_rate=0.3, seed=0)) < 1e-9
    assert shift(hsb.HSB(tree, arms=5, learning_rate=0.3, drift=0.05, seed=0)) > 1e-3  # sharing moves weight to all arms
    assert shift(hsb.HSB(tree, arms=5, seed=0)) > 1e-3  # so does an advisor that learns
