"""Policies whose arms come with each request: what the journal holds, restarts, probabilities, and what is refused."""

import json
import math

import numpy as np
import pytest
from support.serve.core_cases import HOUR, At
from support.serve.request_cases import BANDIT, GROUPS, SECRET, asked, fill, make, reward_of

import hsb
from hsb.features.request import Request
from hsb.serve.checking import check
from hsb.serve.core import AddArm, AddCandidate, Change, Create, Decide, Forget, ForgetWords, Import, Promote, RemoveArm, Reward
from hsb.serve.core.learner import pack
from hsb.serve.core.requests import check_arms, count_arms, counts_of, read_request, write_request


@pytest.fixture
def at(tmp_path):
    service = At(tmp_path / "hsb.db")
    yield service
    service.close()


def digest(at):
    return at.home.live.policy.digest()


def refused(at, message):
    """The sentence of a refusal, which changes nothing."""
    before = digest(at), at.home.version, at.home.settings
    answer = at.ask(message)
    assert answer.status == "refused", answer
    assert (digest(at), at.home.version, at.home.settings) == before
    return answer.body["detail"]


def replaced(at, row, **values):
    """Change columns of a decision in the journal, as no service would."""
    sets = ", ".join(f"{name} = ?" for name in values)
    at.store.connection.execute(f"UPDATE decision SET {sets} WHERE id = ?", (*values.values(), row))


def test_a_restart_and_the_check_of_the_journal_find_the_same_bits(at, tmp_path):
    make(at)
    fill(at, 80)
    before, row = digest(at), next(at.store.decisions(at.home.id))
    at.close()
    again = At(tmp_path / "hsb.db")
    assert digest(again) == before and again.home.live.policy.rounds == 77
    report = check(again.store)
    assert report.sound and report.decisions == 80 and report.updates == 77
    context, arms = asked(0)
    assert read_request(row.context) == Request(context, arms)
    assert row.played in arms and sum(counts_of(row.available)) == len(arms)
    replaced(again, row.id, played=next(arm for arm in arms if arm != row.played))
    assert not check(again.store).sound
    again.close()


def test_the_same_rounds_as_a_policy_of_the_library(at):
    """Without a floor the service plays and learns as `hsb.HSB(arms=hsb.Open(...))` does."""
    make(at, floor=0.0)
    fill(at, 60)
    alone = hsb.HSB(arms=hsb.Open(["home"], group="topic", groups=["news", "sport"], known=50), seed=0)
    decisions = {}
    for k, row in enumerate(at.store.decisions(at.home.id)):
        decisions[k] = alone.propose(read_request(row.context), u=row.u)
        assert (decisions[k].arm, decisions[k].propensity) == (row.played, row.propensity)
        if k >= 3:
            alone.learn_proposed(decisions[k - 3], reward=reward_of(decisions[k - 3].arm, asked(k - 3)[1]))
    assert alone.learner.models.known.names == at.home.live.policy.learner.models.known.names
    assert all(alone.to_arrays()[name].tobytes() == array.tobytes() for name, array in at.home.live.policy.to_arrays().items())


def test_probabilities_with_floor_and_ramp_are_exact(at):
    """The propensity is (1 - ramp) [baseline] + ramp ((1 - floor) p + floor / n), and the arm is the one that u selects."""
    make(at, floor=0.2, ramp=0.5, baseline="home")
    fill(at, 40)
    context, arms = asked(999)
    p = at.home.live.policy.probabilities(Request(context, arms))
    names = list(arms)
    q = 0.5 * (0.8 * p + 0.2 / len(names)) + 0.5 * np.array([name == "home" for name in names])
    counts = dict.fromkeys(names, 0)
    for k in range(300):
        row = at.home.decide(f"x-{k}", context, None, None, True, 0, arms=arms)
        assert row.propensity == pytest.approx(q[names.index(row.played)], rel=1e-12)
        assert names[int(np.searchsorted(np.cumsum(q), row.u, side="right"))] == row.played
        counts[row.played] += 1
    assert counts["home"] == pytest.approx(300 * q[names.index("home")], abs=40)
    assert check(at.store).sound


def test_a_retry_gets_the_same_decision_whatever_the_order_of_its_arms(at):
    make(at)
    context, arms = asked(1)
    first = at.ask(Decide(0, "home", "d", context, arms=arms))
    again = at.ask(Decide(0, "home", "d", context, arms=dict(reversed(arms.items()))))
    assert (first.status, again.status) == ("created", "stored") and first.body["arm"] == again.body["arm"]
    other = at.ask(Decide(0, "home", "d", context, arms=arms | {"more": None}))
    assert other.status == "conflict"


def test_late_rewards_are_kept_and_not_learned(at):
    make(at, feedback={"wait": 3600})
    fill(at, 5)
    at.later(2 * HOUR)
    assert at.says(Reward(0, "home-4", 1.0)) == "late"
    assert check(at.store).sound and check(at.store).late == 1


def test_forgotten_contexts_and_words(at, tmp_path):
    """A forgotten request keeps the name of its arm; forgotten words leave the readers of contexts and of arms."""
    make(at)
    fill(at, 40)
    assert at.says(ForgetWords(0, "home", ["news", "d"])) == "done"
    models = at.home.live.policy.learner.models
    written = json.dumps([models.x_reader.to_dict(), models.arm_reader.to_dict()])
    assert '"news"' not in written and '"d"' not in written and '"sport"' in written
    assert at.says(Forget(0, "home", [f"home-{k}" for k in range(20)])) == "done"
    row = next(at.store.decisions(at.home.id))
    assert not row.context and row.played
    before = digest(at)
    at.close()
    again = At(tmp_path / "hsb.db")
    assert digest(again) == before
    assert check(again.store).sound
    again.close()


def test_candidates_learn_and_are_valued_on_the_same_requests(at):
    make(at)
    fill(at, 40)
    assert at.says(AddCandidate(0, "home", "careful", {"implicit": True})) == "created"
    fill(at, 40, first=40)
    candidate = at.home.candidates["careful"]
    assert candidate.at == at.home.version and candidate.policy.rounds == at.home.live.policy.rounds
    assert candidate.bets.updates == 37 and candidate.tallies[1] == pytest.approx(candidate.tallies[0], rel=0.5)
    assert at.says(Promote(0, "home", "careful")) == "done"
    fill(at, 10, first=80)
    assert check(at.store).sound
    for spec in ({"kind": "Exp3"}, {"structure": {"kind": "BinaryTree", "depth": 3}}, {"kind": "LinUCB"}):
        assert "only HSB without a structure" in refused(at, AddCandidate(0, "home", "other", spec))


def test_a_file_must_have_the_same_groups(at):
    make(at)
    fill(at, 10)
    same = hsb.HSB(arms=hsb.Open(["home"], group="topic", groups=["news", "sport"], known=50), seed=0)
    assert at.says(Import(0, "home", pack(same))) == "done" and at.home.live.policy.rounds == 0
    fill(at, 10, first=10)
    assert check(at.store).sound
    for other in (hsb.HSB(arms=hsb.Open(["home"]), seed=0), hsb.HSB(arms=at.home.arms, seed=0)):
        assert "same groups" in refused(at, Import(0, "home", pack(other)))


@pytest.mark.parametrize(
    ("arms", "why"),
    [
        (None, "arms is missing"),
        ({}, "arms is empty"),
        ([], "arms is empty"),
        ("home", "arms must be an object"),
        (7, "arms must be an object"),
        (["a", "a"], "an arm twice"),
        ([1, 2], "An arm's name must be text"),
        ({"": None}, "An arm's name must be text"),
        ({"x" * 257: None}, "An arm's name must be text"),
        ({"\ud800": None}, "An arm's name must be text"),
        ({"..": None}, "another meaning"),
        ({"a": 7}, "Features of an arm are a dict"),
        ({"a": {"price": math.nan}}, "without NaN"),
        ({"a": {"price": math.inf}}, "without NaN"),
        ({"a": {"price": object()}}, "without NaN"),
        ({f"a{k}": None for k in range(1001)}, "at most 1,000 in a request"),
        ({f"a{k}": None for k in range(100_001)}, "at most 1,000 in a request"),
        ({"a": {"price": "cheap"}}, "Feature 'price' has had a number"),
    ],
)
def test_wrong_arms_are_refused(at, arms, why):
    make(at)
    fill(at, 10)
    assert why in refused(at, Decide(0, "home", "d", {"age": 3, "country": "d"}, arms=arms))
    fill(at, 10, first=10)
    assert check(at.store).sound


def test_deep_features_are_refused(at):
    make(at)
    deep = value = {}
    for _ in range(5000):
        value["x"] = value = {}
    assert refused(at, Decide(0, "home", "d", {}, arms={"a": deep}))
    fill(at, 10)
    assert check(at.store).sound


def test_what_belongs_to_a_fixed_list_is_refused(at):
    make(at, baseline="home")
    context, arms = asked(0)
    assert "Leave available out" in refused(at, Decide(0, "home", "d", context, ["home"], arms=arms))
    assert "come with each request" in refused(at, AddArm(0, "home", "new"))
    assert "come with each request" in refused(at, RemoveArm(0, "home", "home"))
    assert "flag.values" in refused(at, Change(0, "home", {"flag": {"values": {"home": True}}}))
    assert at.says(Change(0, "home", {"ramp": 0.5})) == "done"
    assert "must be one of the arms of the request" in refused(at, Decide(0, "home", "d", context, arms=["x", "y"]))
    assert at.says(Decide(0, "home", "d", context, None, "x", arms=["x", "y"])) == "created"


def test_a_fixed_list_refuses_arms(at):
    at.ask(Create(0, {"name": "home", "arms": ["a", "b"]}, SECRET))
    assert "fixed list of arms, 2 of them" in refused(at, Decide(0, "home", "d", {}, arms={"a": None}))


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"arms": {}}, "arms must be a list of names"),
        ({"arms": {"open": 7}}, "arms must be a list of names"),
        ({"arms": {"open": {"what": 1}}}, "arms must be a list of names"),
        ({"arms": {"open": {"always": ["a", "a"]}}}, "must differ"),
        ({"arms": {"open": {"always": [1]}}}, "must be text"),
        ({"arms": {"open": {"group": "topic"}}}, "must name a feature"),
        ({"arms": {"open": {"groups": ["news"]}}}, "give both or neither"),
        ({"arms": {"open": {"group": "topic", "groups": [{}]}}}, "texts or numbers"),
        ({"arms": {"open": {"group": "topic", "groups": [10**400]}}}, "texts or numbers"),
        ({"arms": {"open": {"group": "topic", "groups": [1, "1"]}}}, "also as text"),
        ({"arms": {"open": {"always": [f"a{k}" for k in range(1000)]}}}, "fewer than 1000 groups"),
        ({"arms": {"open": {"known": 0}}}, "known"),
        ({"arms": {"open": {"known": 10**9}}}, "known"),
        ({"arms": {"open": {}}, "policy": {"kind": "Exp3"}}, "only HSB without a structure"),
        ({"arms": {"open": {}}, "arm_features": {"a": {}}}, "so do their features"),
        ({"arms": {"open": {}}, "baseline": 7}, "baseline must be text"),
    ],
)
def test_wrong_policies_are_not_made(at, spec, why):
    answer = at.ask(Create(0, {"name": "home"} | spec, SECRET))
    assert answer.status == "refused" and why in answer.body["detail"], answer
    assert not at.core.policies


def test_a_receipt_restores_a_decision(at, tmp_path):
    """The journal of a copy that lacks the decision learns its reward from the receipt."""
    make(at)
    fill(at, 10)
    context, arms = asked(50)
    answer = at.ask(Decide(0, "home", "lost", context, arms=arms, receipt=True))
    before = digest(at)
    at.store.connection.execute("DELETE FROM decision WHERE id = 'lost'")
    at.store.connection.execute("DELETE FROM pending WHERE decision = 'lost'")
    assert at.says(Reward(0, "lost", 1.0, receipt=answer.body["receipt"])) == "learned"
    assert digest(at) != before and check(at.store).sound


def test_counts_of_groups_and_of_arms():
    _, text = write_request({"x": 1}, {"a": {"topic": "news"}, "b": None})
    assert json.loads(text) == {"$request": [{"x": 1}, [["a", {"topic": "news"}], ["b", None]]]}
    for wrong in ("7", "{}", '{"$request": 7}', '{"$request": [1, [7]]}', '{"$request": [1, [["a", 7]]]}'):
        with pytest.raises(ValueError, match="it is no request"):
            read_request(wrong)
    assert count_arms(np.array([2, 0, 1], dtype="<u4").tobytes(), 4, came=True).tolist() == [2, 0, 1, 0]
    assert check_arms(GROUPS) == GROUPS and check_arms(BANDIT["arms"]["open"]["always"]) == ["home"]
