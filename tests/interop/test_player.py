"""What all adapters share: nothing imported too soon, and a policy of their own."""

import subprocess
import sys

import pytest
from support.adapter_cases import hsb_policy, state
from support.refusals import refused

import hsb
from hsb import adapters
from hsb.interop.features import names, row
from hsb.interop.player import Player
from hsb.interop.waiting import key_of


def test_importing_imports_no_other_library():
    code = (
        "import sys, hsb, hsb.interop; before = {'coba', 'river', 'obp', 'mabwiser'} & set(sys.modules);"
        "hsb.adapters.CobaLearner, hsb.adapters.OBPPolicy; print(before, {'coba', 'river', 'obp'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set() set()\n"


def test_a_missing_library_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "river" or name == "hsb.interop.river"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(ImportError, match="RiverPolicy needs river, which is not installed: pip install river"):
        _ = adapters.RiverPolicy
    monkeypatch.setitem(sys.modules, "obp", None)
    with pytest.raises(ImportError, match="pip install obp"):
        _ = adapters.OBPPolicy(hsb_policy()).policy_type
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = adapters.Nothing


def test_mabwiser_can_be_missing(monkeypatch):
    _ = adapters.MABWiserBandit  # imported, so that it is put back afterwards
    monkeypatch.delitem(sys.modules, "hsb.interop.mabwiser")
    monkeypatch.setitem(sys.modules, "mabwiser", None)
    assert adapters.MABWiserBandit(hsb_policy()).predict([[0.5]]) in (0, 1, 2)


def test_the_policy_given_stays_as_it_is():
    given = hsb_policy()
    before = state(given)
    player = Player(given)
    player.policy.learn(player.decide(0.3, [0, 1]), reward=1.0)
    assert state(given) == before == state(player.source)
    given.decide(0.1)
    assert state(player.source) == before


def test_arms_are_added_as_they_are_met():
    player = Player(lambda arms: hsb_policy(arms, horizon=100))
    refused(lambda: player.policy, ["arms are not known yet", "Give a policy"])
    player.decide(0.3, ["a", "b", "a"])
    assert player.policy.arms == ["a", "b"]
    decision = player.decide(0.3, ["c", "b"])
    assert player.policy.arms == ["a", "b", "c"] and decision.available == ("b", "c")


def test_what_cannot_be_used_adds_no_arm():
    player = Player(lambda arms: hsb_policy(arms))
    refused(lambda: player.decide(7.0, ["a", "b"]), ["feature 0 is 7.0"])
    refused(lambda: player.policy, ["arms are not known yet"])
    player.decide(0.3, ["a", "b"])
    before = state(player.policy)
    refused(lambda: player.decide(7.0, ["a", "c"]), ["feature 0 is 7.0"])
    refused(lambda: player.decide(0.3, ["a", ["c"]]), ["must be hashable", "['c']"])
    refused(lambda: player.decide(0.3, []), ["available is empty"])
    assert state(player.policy) == before
    fixed = Player(hsb.MixtureOfMappings(hsb.BinaryTree(depth=2), arms=["a", "b"], learning_rate=0.1, seed=0))
    before = state(fixed.policy)
    refused(lambda: fixed.decide(0.3, ["a", "z"]), ["cannot add an arm after construction", "Make a new policy"])
    assert state(fixed.policy) == before


def test_what_is_no_policy_is_refused():
    refused(lambda: Player("HSB"), ["needs a policy", "'HSB'"])
    refused(lambda: Player(lambda arms: None).decide(0.3, ["a"]), ["must return a policy", "None"])
    refused(lambda: adapters.OBPPolicy(hsb_policy), ["OBPPolicy needs a policy"])
    refused(lambda: adapters.MABWiserBandit(None), ["MABWiserBandit needs a policy", "None"])


def test_features_in_order():
    assert row({"b": 2, "a": 1}, ["a", "b"], absent=None) == [1, 2]
    assert row({"b": 2}, ["a", "b"], absent=0.0) == [0.0, 2]
    assert row({"b": 2}, ["b"], absent=None) == 2
    refused(lambda: row({"b": 2}, ["a", "b"], absent=None), ["['a', 'b']", "without 'a'"])
    for bad in ("ab", [], ["a", "a"], 3):
        refused(lambda bad=bad: names(bad), ["features must be different names", repr(bad)])
    refused(lambda: key_of([["nested"]], "a"), ["numbers or names"])
