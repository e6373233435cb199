"""Changes of a policy: checked, then made one after the other."""

import pytest
from support.serve.core_cases import At, make

import hsb
from hsb.files.policy_file import pack
from hsb.serve.checking import check
from hsb.serve.core import AddArm, Archive, Change, Decide, Import, RemoveArm, Reward
from hsb.serve.core.sampling import indices_of


@pytest.fixture
def at(tmp_path):
    local = At(tmp_path / "hsb.db")
    yield local
    assert check(local.store).sound
    local.close()


def test_arms_come_and_go(at):
    make(at)
    at.ask_all([Decide(k, "home", f"d{k}", None) for k in range(20)])
    assert at.says(AddArm(0, "home", "d")) == "created"
    assert at.says(AddArm(0, "home", "d")) == "refused"
    assert at.says(RemoveArm(0, "home", "a")) == "done"
    assert at.says(Decide(0, "home", "x", None, ["a"])) == "refused"
    at.ask_all([Reward(k, f"d{k}", 1.0) for k in range(20)])  # some of them played what is gone
    assert at.home.live.not_learned == 0 and at.home.live.policy.rounds == 20
    at.ask_all([Decide(k, "home", f"e{k}", None) for k in range(40)])
    assert {tuple(indices_of(row.available)) for row in at.store.decisions(1)} == {(0, 1, 2), (1, 2, 3)}
    assert at.says(RemoveArm(0, "home", "b")) == at.says(RemoveArm(0, "home", "c")) == "done"
    assert at.says(RemoveArm(0, "home", "d")) == "refused"  # the last one


def test_an_import_goes_on(at):
    make(at)
    policy = hsb.Exp3(arms=["c", "b", "a"], learning_rate=0.5)  # in another order
    for k in range(100):
        policy.learn(hsb.Decision(context=None, arm="ac"[k % 2], propensity=0.5), reward=0.0)
    at.says(Decide(0, "home", "old", None))
    assert at.says(Import(0, "home", pack(policy))) == "done"
    assert at.home.live.policy.digest() == policy.digest()
    assert at.says(Change(0, "home", {"floor": 0.1})) == "done"
    decisions = at.ask_all([Decide(k, "home", f"d{k}", None) for k in range(100)])
    assert sum(answer.body["arm"] == "b" for answer in decisions) > 60
    assert at.says(Reward(0, "old", 1.0)) == at.says(Reward(0, "d1", 1.0)) == "learned"
    assert at.home.live.policy.rounds == 102


def test_archived(at):
    make(at)
    at.says(Decide(0, "home", "one", None))
    assert at.says(Archive(0, "home")) == "done"
    assert at.says(Decide(0, "home", "two", None)) == at.says(AddArm(0, "home", "d")) == "gone"
    assert at.says(Reward(0, "one", 1.0)) == "learned"


def test_changes_come_one_after_the_other(at):
    make(at)
    several = [RemoveArm(1, "home", "a"), RemoveArm(2, "home", "b"), RemoveArm(3, "home", "c"), AddArm(4, "home", "a")]
    answers = {each.request: each.status for each in at.ask_all(several)}
    assert answers == {1: "done", 2: "done", 3: "refused", 4: "created"}
    assert at.home.active_arms == ["a", "c"]
