"""Evaluations of candidates on the updates of a journal."""

import pytest
from support.serve.core_cases import EXP3, At, make

import hsb
from hsb.serve.core import Decide, Reward
from hsb.serve.http import evaluating

REQUEST = {"candidates": {"uniform": {"uniform": True}, "a": {"arm": "a"}}, "baseline": None, "estimator": "ips"}
REQUEST |= {"confidence": 0.95, "seed": 0}


@pytest.fixture
def at(tmp_path):
    local = At(tmp_path / "hsb.db")
    make(local, feedback={"learn": "on_arrival"})
    local.path = str(tmp_path / "hsb.db")
    yield local
    local.close()


def filled(at, rows=60):
    """Only the arm a earns, always 1. Contexts differ in their fields."""
    answers = at.ask_all([Decide(k, "home", f"d{k}", {"x": k} if k % 2 else {"y": "z"}) for k in range(rows)])
    at.ask_all([Reward(k, f"d{k}", float(answer.body["arm"] == "a")) for k, answer in enumerate(answers)])


def test_values_are_weighted_means_of_the_log(at):
    filled(at)
    result = evaluating.evaluate(at.path, "home", REQUEST)
    rows = [(row, decision) for row, decision in at.store.entries(1) if decision is not None]
    weights = [(decision.arm == 0) / decision.propensity for _, decision in rows]
    assert result["updates"] == 60 and result["logged"] == pytest.approx(sum(row.reward for row, _ in rows) / 60)
    assert result["candidates"]["a"]["value"] == pytest.approx(sum(weights) / 60)
    assert result["candidates"]["uniform"]["value"] == pytest.approx(sum(weights) / 180)


def test_contexts_become_columns(at):
    filled(at, 4)
    assert evaluating.updates_table(at.store, at.store.policies()[0])[1] == [{"y": "z"}, {"x": 1}, {"y": "z"}, {"x": 3}]


def test_the_log_has_the_updates_in_their_order(at):
    at.ask_all([Decide(k, "home", f"d{k}", {"x": k, "deep": {"y": -k}}) for k in range(5)])
    at.ask_all([Reward(k, f"d{k}", k / 5) for k in (3, 1, 4)])
    log, _ = evaluating.updates_table(at.store, at.store.policies()[0])
    (batch,) = log
    rows = [decision for _, decision in at.store.entries(1) if decision is not None]
    assert [row.id for row in rows] == ["d3", "d1", "d4"] and batch.contexts.tolist() == [[3, -3], [1, -1], [4, -4]]
    assert batch.reward.tolist() == [0.6, 0.2, 0.8] and batch.propensity.tolist() == [row.propensity for row in rows]
    assert [batch.arms[index] for index in batch.arm] == ["abc"[row.arm] for row in rows]


def test_without_updates_there_is_nothing_to_evaluate_on(at):
    at.ask(Decide(0, "home", "d0", None))
    with pytest.raises(hsb.InputError, match=r"There is no update yet, .* Send rewards first"):
        evaluating.evaluate(at.path, "home", REQUEST)
    with pytest.raises(hsb.InputError, match="There is no policy 'nobody'"):
        evaluating.evaluate(at.path, "nobody", REQUEST)


def test_candidates_of_a_request(at):
    policies = evaluating.candidates(
        at.home, {"arm": {"arm": "b"}, "any": {"uniform": True}, "now": {"live": True}, "new": EXP3}, [{"x": 1.0}]
    )
    assert (policies["arm"], policies["any"], policies["now"]) == ("b", None, at.home.live.policy)
    assert list(policies["new"].policy.arms) == ["a", "b", "c"]
    for wrong in ({}, {"arm": "nobody"}, {"uniform": False}, {"live": True, "more": 1}):
        with pytest.raises(hsb.InputError, match=r"candidates\.odd must be like"):
            evaluating.candidates(at.home, {"odd": wrong}, [])
    with pytest.raises(hsb.InputError, match="candidates must be 1 to 20, by name; given 21"):
        evaluating.check_candidates(at.home, {str(k): {"uniform": True} for k in range(21)}, [])
