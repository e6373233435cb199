"""Bodies of answers about decisions and rewards."""

import pytest
from support.serve.core_cases import At, make

from hsb.serve.core import Change, Decide, Reward, Void
from hsb.serve.core.orders import Outcome
from hsb.serve.core.replies import describe_decision, explain_outcome
from hsb.serve.core.rows import RewardRow


@pytest.fixture
def at(tmp_path):
    local = At(tmp_path / "hsb.db")
    make(local, baseline="b")
    yield local
    local.close()


@pytest.mark.parametrize(("ramp", "mode"), [(0.0, "shadow"), (0.5, "ramp"), (1.0, "live")])
def test_a_decision_names_its_arm_and_its_mode(at, ramp, mode):
    at.ask(Change(0, "home", {"ramp": ramp}))
    row = at.home.decide("d1", {"x": 1}, None, None, True, at.wall)
    body = describe_decision(at.home, row, "process")
    assert body == {
        "id": "d1",
        "policy": "home",
        "arm": "abc"[row.arm],
        "propensity": row.propensity,
        "version": at.home.version,
        "mode": mode,
        "deadline": at.wall + at.home.rules.wait,
    }
    receipt = describe_decision(at.home, row, "process", active=True).pop("receipt")
    assert receipt.startswith("hsb1.") and receipt != describe_decision(at.home, row, "another", active=True)["receipt"]


@pytest.mark.parametrize(
    ("how", "words"),
    [("learned", "already learned"), ("void", "closed as never shown"), ("expired", "without feedback"), ("other", "closed")],
)
def test_a_late_reward_is_kept_and_not_learned(how, words):
    reward, void = Reward(0, "d1", 1.0), Void(0, "d1")
    text = explain_outcome(Reward, reward, Outcome("late", detail=how))
    assert words in text and text.endswith("The reward is kept, but not learned.")
    assert explain_outcome(Void, void, Outcome("late", detail=how)) + " The reward is kept, but not learned." == text


@pytest.mark.parametrize(("loss", "sent"), [(False, "given 0.5"), (True, "given the loss 0.5")])
def test_another_value_for_the_same_id_is_a_conflict(loss, sent):
    outcome = Outcome("conflict", reward=RewardRow("d1", "r", 0.25, False, 9))
    text = explain_outcome(Reward, Reward(0, "d1", 0.5, "r", loss=loss), outcome)
    assert "'r', which is 0.25" in text and sent in text and text.endswith("Give another reward another id.")


def test_outcomes_are_counted(at):
    assert at.ask(Decide(0, "home", "d1", None)).body["id"] == "d1"
    at.ask(Decide(0, "home", "d1", None))
    assert "belongs to a decision for another request" in at.ask(Decide(0, "home", "d1", 5)).body["detail"]
    answer = at.ask(Reward(0, "d1", 1.0))
    assert answer.body["decision"] == "d1" and answer.body["closed"] is None
    assert at.ask(Reward(0, "nobody", 1.0)).body == {"detail": "There is no decision 'nobody'."}
    assert [at.core.counts[name] for name in ("decisions", "duplicates", "rewards")] == [1, 1, 1]
