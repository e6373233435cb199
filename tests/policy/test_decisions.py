"""A decision is a pure function of state, context and u; a whole table is the same as its rounds one by one."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.structure_cases import EXAMPLES, Array, Case, binary, each_example, lexicographic

import hsb

LAST = float(np.nextafter(1.0, 0.0))  # the largest u
Masks = npt.NDArray[np.bool_]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["hsb.play.tables"], "CHUNK", 16)  # hsb.simulate itself is the function


def trained(case: Case, arms: int, rounds: int = 40, **settings: Any) -> hsb.HSB:
    """A policy that has learned something, but not everywhere."""
    policy = case.policy(arms, **{"learning_rate": 0.3, "seed": 0, **settings})
    rng = np.random.default_rng(1)
    for leaf in rng.integers((case.shape.leaves + 1) // 2, size=rounds):
        policy.learn(policy.decide(case.context(int(leaf), rng)), loss=float(rng.random()))
    return policy


def table(case: Case, rounds: int, arms: int, seed: int = 0) -> tuple[Array, Array, Masks]:
    """Contexts, losses and masks of so many rounds; some rounds offer one arm, some all."""
    rng = np.random.default_rng(seed)
    contexts = np.array([case.context(int(leaf), rng) for leaf in rng.integers(case.shape.leaves, size=rounds)])
    masks = rng.random((rounds, arms)) < rng.choice([0.0, 0.5, 1.0], size=(rounds, 1))
    masks[np.arange(rounds), rng.integers(arms, size=rounds)] = True
    losses = np.where(rng.random((rounds, arms)) < 0.5, rng.choice([0.0, 1.0], size=(rounds, arms)), rng.random((rounds, arms)))
    return contexts, losses, masks


@pytest.mark.nojit
@each_example
@pytest.mark.parametrize("arms", [3, 20])
def test_the_same_question_has_the_same_answer(case: Case, arms: int) -> None:
    policy = trained(case, arms)
    twin = policy.copy()
    rng = np.random.default_rng(2)
    asked = [(context, float(u), None if u < 0.7 else [0, arms - 1]) for context in case.middles for u in rng.random(3)]

    def answers(policy: hsb.HSB) -> list[tuple[Any, float]]:
        decisions = [policy.decide(context, u=u, available=given) for context, u, given in asked]
        return [(decision.arm, decision.propensity) for decision in decisions]

    first = answers(policy)
    assert answers(policy) == first  # whatever was asked in between
    assert answers(twin) == first
    assert answers(policy.copy()) == first
    assert policy.decide(case.middles[0]).arm == twin.decide(case.middles[0]).arm  # given u, none is drawn
    assert policy.rounds == twin.rounds


@each_example
@pytest.mark.parametrize("arms", [1, 3, 16, 17, 40])
@pytest.mark.parametrize("masked", [False, True])
def test_frequencies_are_the_probabilities(case: Case, arms: int, masked: bool) -> None:
    """Over an even grid of u each arm comes as often as it should: up to one, or, where it is a walk, one for each node."""
    policy = trained(case, arms)
    n = 500
    given = sorted({0, arms // 2, arms - 1}) if masked else None
    most = 1 if masked or arms <= 16 else case.structure.cost.nodes + 2
    for context in (case.middles[0], case.middles[-1]):
        p = policy.probabilities(context, available=given)
        decisions = [policy.decide(context, u=(i + 0.5) / n, available=given) for i in range(n)]
        counts = np.bincount([int(decision.arm) for decision in decisions], minlength=arms)
        assert np.abs(counts - n * p).max() <= most + 1e-9
        assert all(abs(decision.propensity - p[decision.arm]) < 1e-12 for decision in decisions)
        assert all((decision.probabilities == p).all() for decision in decisions[:3])


@pytest.mark.nojit
@each_example
@pytest.mark.parametrize("arms", [3, 20])
def test_an_arm_without_probability_is_never_picked(case: Case, arms: int) -> None:
    """The first, the last and one in the middle are long lost; u goes to both ends of its range."""
    policy = case.policy(arms, learning_rate=1.0)
    lost = [0, arms // 2, arms - 1][: arms - 1]
    for arm in lost:
        for context in case.middles:
            policy.learn(hsb.Decision(context=context, arm=arm, propensity=1e-4), loss=1.0)
    for context in case.middles[:: max(1, len(case.middles) // 4)]:
        p = policy.probabilities(context)
        assert p[lost].max() == 0.0
        for u in (0.0, 5e-324, 1e-17, 0.25, 0.5, 0.75, 1 - 1e-15, LAST):
            decision = policy.decide(context, u=u)
            assert decision.arm not in lost
            assert decision.propensity == pytest.approx(p[decision.arm], abs=1e-12)
            among = policy.decide(context, u=u, available=[0, 1, arms - 1])
            assert among.propensity > 0.0
            assert among.arm in ((1,) if 1 not in lost else (0, 1, arms - 1))


@pytest.mark.nojit
@pytest.mark.parametrize("case", [binary(2), lexicographic(4)], ids=["tree", "intervals"])
def test_probabilities_are_propensities(case: Case) -> None:
    """At most 1, to the last bit: `learn` refuses more."""
    policy = case.policy(4, learning_rate=0.3)
    rng = np.random.default_rng(0)
    for _ in range(400):
        context = case.context(int(rng.integers(4)), rng)
        p = policy.probabilities(context)
        assert p.max() <= 1.0
        arm = int(rng.integers(4))
        policy.learn(hsb.Decision(context=context, arm=arm, propensity=max(p[arm], 0.05)), loss=float(rng.random()))


@pytest.mark.nojit
def test_one_feature_as_a_row_of_a_table() -> None:
    """A context of one feature is a number, a list or an array of one."""
    for structure in (hsb.BinaryTree(depth=3), hsb.Lexicographic(leaves=5), hsb.BinaryTree(depth=2, space=hsb.Cells(4))):
        policy = hsb.HSB(structure, arms=2, learning_rate=0.3)
        policy.learn(hsb.Decision(context=1, arm=1, propensity=0.5), loss=1.0)
        p = policy.probabilities(1)
        for context in (1.0, [1], np.float64(1), np.array(1.0), np.array([1.0]), np.array([[1.0]])):
            assert (policy.probabilities(context) == p).all()


def one_by_one(
    policy: hsb.HSB, contexts: Array, losses: Array, masks: Masks | None, rewards: bool
) -> tuple[list[Any], list[float]]:
    decisions = []
    for t, context in enumerate(contexts):
        given = None if masks is None else [arm for arm, available in zip(policy.arms, masks[t], strict=True) if available]
        decision = policy.decide(context.tolist(), available=given)
        value = float(losses[t, policy.arms.index(decision.arm)])
        policy.learn(decision, **{"reward" if rewards else "loss": value})
        decisions.append(decision)
    return [decision.arm for decision in decisions], [decision.propensity for decision in decisions]


def check_same_run(
    case: Case,
    arms: int | Sequence[str],
    *,
    masked: bool = False,
    rewards: bool = False,
    rounds: int = 80,
    loss_range: tuple[float, float] = (0.0, 1.0),
    **settings: Any,
) -> None:
    fast, slow = (case.policy(arms, seed=7, loss_range=loss_range, **settings) for _ in range(2))
    contexts, losses, masks = table(case, rounds, len(fast.arms))
    losses = np.clip(loss_range[0] + (loss_range[1] - loss_range[0]) * losses, *loss_range)
    names, given = "rewards" if rewards else "losses", masks if masked else None
    run = hsb.simulate(fast, contexts, available=given, **{names: losses})
    played, propensities = one_by_one(slow, contexts, losses, given, rewards)
    assert run.arms.tolist() == played
    assert run.propensities.tolist() == propensities
    value = losses[np.arange(rounds), [fast.arms.index(arm) for arm in played]]
    assert run.losses.tolist() == (sum(loss_range) - value if rewards else value).tolist()
    assert (fast.rounds, len(run)) == (slow.rounds, rounds)
    for context in case.middles:
        assert fast.probabilities(context).tolist() == slow.probabilities(context).tolist()
    assert fast.decide(case.middles[0]).arm == slow.decide(case.middles[0]).arm  # as many random numbers were drawn


@each_example
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("arms", [3, 5, 8, 12, 18])
@pytest.mark.usefixtures("small_chunks")
def test_a_table_is_its_rounds_one_by_one(case: Case, arms: int, masked: bool) -> None:
    check_same_run(case, arms, masked=masked, learning_rate=0.4)


@pytest.mark.nojit
@each_example
@pytest.mark.usefixtures("small_chunks")
def test_a_short_table_is_its_rounds_one_by_one(case: Case) -> None:
    check_same_run(case, 3, masked=True, learning_rate=0.4, rounds=20)


@pytest.mark.parametrize("name", ["binary", "binary, compressed", "one of"])
@pytest.mark.parametrize(
    "settings",
    [
        {"arms": ["left", "right", "none"], "learning_rate": 2.0, "masked": True},
        {"arms": 3},  # anytime
        {"arms": 2, "regions": 3, "masked": True},  # anytime
        {"arms": 3, "horizon": 100},
        {"arms": 3, "learning_rate": 0.7, "loss_range": (-1.3, 2.9)},
        {"arms": 3, "learning_rate": 0.7, "loss_range": (0.0, 7.0), "rewards": True},
        {"arms": 3, "learning_rate": 0.7, "loss_range": (-1.3, 2.9), "rewards": True},
        {"arms": 3, "learning_rate": 300.0},  # steps beyond the fast passes
        {"arms": 3, "learning_rate": 300.0, "masked": True},
        {"arms": 1, "learning_rate": 1.0},
        {"arms": 4, "learning_rate": 1.0},
        {"arms": 5, "learning_rate": 1.0},
    ],
    ids=lambda settings: ", ".join(f"{name}={value}" for name, value in settings.items()),
)
@pytest.mark.usefixtures("small_chunks")
def test_with_every_setting(name: str, settings: dict[str, Any]) -> None:
    check_same_run(EXAMPLES[name], **settings)


@pytest.mark.parametrize("name", ["binary", "binary, compressed", "one of"])
def test_tables_in_pieces(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of any size, calls of any length, and whatever is told to `progress`: one and the same run."""
    case = EXAMPLES[name]
    contexts, losses, _ = table(case, 150, 3)

    def run(chunk: int, cuts: Sequence[int]) -> list[float]:
        monkeypatch.setattr(sys.modules["hsb.play.tables"], "CHUNK", chunk)
        policy = case.policy(3, seed=3)
        parts = zip(np.split(contexts, cuts), np.split(losses, cuts), strict=True)
        return [p for xs, ls in parts for p in hsb.simulate(policy, xs, ls).propensities.tolist()]

    whole = run(1 << 14, [])
    assert len(whole) == 150
    for chunk, cuts in ((1, []), (7, []), (149, []), (150, [70]), (64, [0, 1, 1, 99])):
        assert run(chunk, cuts) == whole
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(sys.modules["hsb.play.tables"], "CHUNK", 60)
    hsb.simulate(case.policy(3), contexts, losses, progress=lambda done, total: told.append((done, total)))
    assert told == [(60, 150), (120, 150), (150, 150)]


@each_example
@pytest.mark.usefixtures("small_chunks")
def test_after_arms_came_and_went(case: Case) -> None:
    policies = [case.policy(["a", "b", "c"], learning_rate=0.5, seed=1) for _ in range(2)]
    contexts, losses, _ = table(case, 60, 4)
    for policy in policies:
        policy.learn(hsb.Decision(context=case.middles[0], arm="a", propensity=0.3), loss=1.0)
        policy.add_arm("d")
        policy.remove_arm("b")
    run = hsb.simulate(policies[0], contexts, losses)
    played, result = one_by_one(policies[1], contexts, losses, None, rewards=False)
    assert (run.arms.tolist(), run.propensities.tolist()) == (played, result)
    assert set(played) == {"a", "c", "d"}


def test_contexts_beyond_the_box_are_clipped_alike() -> None:
    tree = hsb.BinaryTree(depth=4, space=hsb.Box(-1, 2, outside="clip"))
    fast, slow = (hsb.HSB(tree, arms=2, learning_rate=0.5, seed=0) for _ in range(2))
    rng = np.random.default_rng(0)
    contexts, losses = rng.uniform(-3, 4, size=200), rng.random((200, 2))
    run = hsb.simulate(fast, contexts, losses)
    assert (run.arms.tolist(), run.propensities.tolist()) == one_by_one(slow, contexts, losses, None, rewards=False)
    assert fast.clipped == slow.clipped == int(((contexts < -1) | (contexts > 2)).sum())


def played(seed: int | np.random.Generator | None, rounds: int = 30) -> list[int]:
    """With a thousand arms, all alike, the arm is the first digits of u."""
    policy = hsb.HSB(hsb.BinaryTree(depth=0), arms=1000, learning_rate=0.1, seed=seed)
    return [int(policy.decide(0.5).arm) for _ in range(rounds)]


@pytest.mark.nojit
def test_seeds() -> None:
    assert played(5) == played(5)
    assert played(5) != played(6)
    assert played(None) != played(None)
    assert played(np.random.default_rng(5)) == played(np.random.default_rng(5))
    assert played(np.random.default_rng(5)) != played(np.random.default_rng(6))


@pytest.mark.nojit
def test_the_world_has_other_numbers() -> None:
    """A world drawn from default_rng(seed) must not know what the policy with that seed is about to play."""
    for seed in range(5):
        world = (np.random.default_rng(seed).random(30) * 1000).astype(int)
        assert (world == played(seed)).sum() <= 2
        assert world.tolist() == played(np.random.default_rng(seed))  # the control: a generator given is used as it is


@pytest.mark.parametrize("name", ["binary", "arbitrary"])
def test_a_run_can_be_told_from_another(name: str) -> None:
    case = EXAMPLES[name]
    contexts, losses, _ = table(case, 300, 3)
    runs = [hsb.simulate(case.policy(3, seed=seed), contexts, losses) for seed in (1, 1, 2, np.random.default_rng(1))]
    first, again, other, generator = (run.arms.tolist() for run in runs)
    assert first == again
    assert first != other and first != generator
