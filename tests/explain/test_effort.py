"""An explanation is a bounded piece of work, in nobody's way, whatever categories and tags there are."""

import threading
from typing import Any

import numpy as np
import pytest
from support.played_cases import linear

import hsb
from hsb import cli
from hsb.explain.asking import player
from hsb.explain.columns import Column
from hsb.explain.effort import UNITS, Effort, query_cost
from hsb.explain.played import MEASURED, WEIGHED, extract_rules

LIMIT = 120.0  # seconds


def wide(columns: int, rounds: int = 600, arms: int = 4) -> hsb.HSB:
    """A policy over many columns, of which each matters a little: rules say little of it, however many they are."""
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(rounds, columns))
    contexts = [{f"n{j}": float(x) for j, x in enumerate(row[:-2])} | {"c": "abcdefgh"[int(row[-1] * 10) % 8]} for row in X]
    policy = hsb.HSB(arms=arms, seed=0)
    hsb.simulate(policy, contexts, (rng.random((rounds, arms)) > 1 / (1 + np.exp(-X @ rng.normal(size=(columns, arms))))) * 1.0)
    return policy


@pytest.fixture(scope="module")
def twenty() -> hsb.HSB:
    return wide(20)


def border(columns: int) -> Any:
    """Four arms whose borders are linear in all columns."""
    return linear(np.random.default_rng(0).normal(size=(4, columns)))


class Counted:
    """How much was asked."""

    def __init__(self, play: Any) -> None:
        self.play, self.asked = play, 0

    def __call__(self, points: Any) -> Any:
        self.asked += len(points)
        return self.play(points)


def test_by_default_a_few_rules_and_a_bounded_number_of_questions(twenty: hsb.HSB) -> None:
    told: list[tuple[int, int]] = []
    explanation = twenty.explain(progress=lambda done, total: told.append((done, total)))
    assert len(explanation) <= 12 and explanation.agreement is not None
    assert told[0] == (0, 1000) and told[-1] == (1000, 1000)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    again = twenty.explain()
    assert again.to_dict() == explanation.to_dict()  # work is counted, not timed


@pytest.mark.parametrize("cost", [1.0, 20.0, 300.0])
@pytest.mark.parametrize("rules", [12, None])
def test_the_work_is_what_was_allowed(cost: float, rules: int | None) -> None:
    """Questions that cost more are fewer; a border that is linear in eight columns takes all there is."""
    columns = [Column(f"x{j}", low=0.0, high=1.0) for j in range(8)]
    for effort in (0.3, 3.0):
        play = Counted(border(8))
        work = Effort(effort, query_cost=cost, columns=8)
        extract_rules(columns, play, list("abcd"), rules=rules, work=work)
        whole = UNITS * effort * (1.0 + 2.0 * MEASURED + WEIGHED)
        assert 0 < play.asked * cost <= 1.2 * whole + cost * 8 * 300


def test_more_effort_says_more() -> None:
    columns = [Column(f"x{j}", low=0.0, high=1.0) for j in range(3)]
    shares = []
    for effort in (0.05, 0.3, 5.0):
        work = Effort(effort, query_cost=5.0, columns=3)
        result = extract_rules(columns, border(3), list("abcd"), rules=None, work=work)
        assert result.agreement is not None
        shares.append(result.agreement)
    assert shares == sorted(shares) and shares[-1] > shares[0] + 0.05


def test_it_ends_where_more_rules_say_no_more() -> None:
    """Arms by the digits of a number: nothing to be found. The control: a border that more rules tell better."""
    columns = [Column(f"x{j}", low=0.0, high=1.0) for j in range(6)]

    def dice(points: Any) -> Any:
        arm = (points * 1e6).astype(int).sum(axis=1) % 2
        return np.stack([arm == 0, arm == 1], axis=1).astype(float)

    play, control = Counted(dice), Counted(border(6))
    result = extract_rules(columns, play, ["a", "b"], rules=None, work=Effort(50.0, query_cost=2.0, columns=6))
    other = extract_rules(columns, control, list("abcd"), rules=None, work=Effort(50.0, query_cost=2.0, columns=6))
    assert len(result) <= 12 and play.asked < 200_000
    assert len(other) > 100 and control.asked > play.asked


@pytest.mark.parametrize("effort", [0, -1.0, float("nan"), "much", True, 1e9])
def test_wrong_efforts(twenty: hsb.HSB, effort: Any) -> None:
    with pytest.raises(hsb.InputError, match="effort must be a number above 0"):
        twenty.explain(effort=effort)


def test_questions_cost_what_was_measured() -> None:
    """The formula against microseconds that were measured once (docs/peers.md has such machines): within a factor of 2.2."""
    measured = {
        (2, 3): 2.1,
        (24, 3): 3.5,
        (37, 3): 4.7,
        (74, 6): 13.4,
        (150, 3): 46.8,
        (256, 3): 241.0,
        (24, 30): 19.7,
        (74, 100): 257.0,
    }
    for about, took in measured.items():
        assert took / 2.2 <= query_cost(*about) <= took * 2.2


def test_a_long_explanation_keeps_nobody_waiting(twenty: hsb.HSB) -> None:
    """It stands still in the middle until another thread has decided and learned: with the lock held that would be for ever."""
    policy, done, waited = twenty.copy(seed=1), threading.Event(), []

    def work() -> None:
        for _ in range(3):
            policy.learn(policy.decide({"n0": 0.5, "c": "new"}), reward=1.0)
        done.set()

    def pause(at: int, total: int) -> None:
        if at >= 1 and not waited:
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            waited.append(done.wait(LIMIT))

    before = twenty.explain().to_dict()
    explanation = policy.explain(progress=pause)
    assert waited == [True] and policy.rounds == twenty.rounds + 3
    assert explanation.to_dict() == before  # of the moment in which it was asked for


def tagged(most: int, rounds: int = 500) -> hsb.HSB:
    """A policy that is right to mind one tag, and has seen `most` of them."""
    rng, policy = np.random.default_rng(0), hsb.HSB(arms=["a", "b"], seed=1)
    for _ in range(rounds):
        tags = [f"t{i}" for i in rng.integers(0, most, size=3)] + (["vip"] if rng.random() < 0.5 else [])
        decision = policy.decide({"tags": tags})
        policy.learn(decision, loss=float((decision.arm == "a") == ("vip" in tags)))
    return policy


@pytest.mark.parametrize("most", [20, 90, 400])
def test_more_tags_than_are_told_apart(most: int) -> None:
    policy = tagged(most)
    for how in ({}, {"rules": None}, {"rules": 1}):
        explanation = policy.explain(**how)  # type: ignore[arg-type]
        assert sum(region.coverage for region in explanation) == pytest.approx(1.0)
        assert explanation.arm_at({"tags": ["t1", "never seen before"]}) in "ab"
    explanation = policy.explain()
    assert explanation.agreement is not None and explanation.agreement > 0.97
    assert ("or what shares its column" in " ".join(map(str, explanation.columns))) == (most > 64)  # said of those that share
    assert "vip" in str(explanation)


@pytest.mark.parametrize("categories", [10, 200])
def test_more_categories_than_are_told_apart(categories: int) -> None:
    """The arm is right by the category; those beyond the limit share the column of another, and are of its rule."""
    rng, policy = np.random.default_rng(0), hsb.HSB(arms=["a", "b"], seed=1)
    good = rng.random(categories) < 0.5
    for _ in range(1500):
        k = int(rng.integers(categories))
        decision = policy.decide({"zip": f"z{k}", "age": float(rng.integers(20, 60))})
        policy.learn(decision, loss=float((decision.arm == "a") != good[k]))
    explanation = policy.explain(rules=None)
    assert explanation.agreement is not None and explanation.agreement > 0.95  # it was 0.67 where they had no label
    people = [{"zip": f"z{int(rng.integers(categories))}", "age": float(rng.integers(20, 60))} for _ in range(500)]
    most = [policy.arms[int(np.argmax(policy.probabilities(each)))] for each in people]
    assert np.mean([a == b for a, b in zip(explanation.arms_at(people), most, strict=True)]) > 0.95
    assert ("or what shares its column" in str(replaced(explanation))) == (categories > 64)


def replaced(found: Any) -> str:
    """All that its rules say, labels that are not listed included."""
    return " ".join(label for column in found.columns for label in column.labels)


def test_a_question_is_asked_of_rows_as_the_policy_keeps_them() -> None:
    """What shares a column plays as the column does; so a rule of one is a rule of the other."""
    policy = tagged(90)
    reader = policy.learner.reader
    rows = reader.sample[np.argsort(-(reader.sample == 2.0).sum(axis=1))[:20]]
    assert (rows == 2.0).any()
    play = player(policy, raw=True)
    assert np.array_equal(play(rows), play(np.where(rows == 2.0, 1.0, rows)))


def test_the_command_shows_a_bar_for_what_takes_long(
    twenty: hsb.HSB, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "policy.hsb")
    twenty.save(path)
    messages = []
    for more in ([], ["--rules", "30", "--effort", "2"], ["--all", "--effort", "2"]):
        assert cli.main(["explain", path, *more]) == 0
        messages.append(capsys.readouterr())
    assert "explain" not in messages[0].err and all("explain" in each.err and "100%" in each.err for each in messages[1:])
    lines = [sum(": play " in line for line in each.out.splitlines()) for each in messages]
    assert lines[0] <= 12 and lines[1] <= 30
    assert cli.main(["explain", path, "--effort", "0"]) == 2 and "effort must be" in capsys.readouterr().err
