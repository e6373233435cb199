"""Recompute decisions from the journal."""

import pytest
from support.serve.core_cases import At, make
from support.serve.slow_core import with_a_candidate

from hsb.serve.core import Decide, Promote, Reward, TakeSnapshot
from hsb.serve.http.problem import HttpProblem
from hsb.serve.http.recompute import recompute_decision
from hsb.serve.store import views


def test_decisions_after_a_promotion_are_recomputed(tmp_path):
    slow = with_a_candidate(tmp_path / "hsb.db")
    slow.ask(TakeSnapshot("s", "home"))  # the candidate is still reading
    slow.read()
    slow.ask(Promote("p", "home", "new"))
    slow.ask(Decide("d", "home", "last", {"x": 1}))
    row = views.decision(slow.store, "last")[0]
    assert recompute_decision(str(tmp_path / "hsb.db"), "home", row, 20.0)["same"]
    slow.store.close()


@pytest.fixture
def at(tmp_path):
    """A policy with snapshots after 10 and after 20 updates, the default policy, so that states differ."""
    local = At(tmp_path / "hsb.db")
    make(local, policy={"kind": "HSB"}, feedback={"learn": "on_arrival"})
    local.path = str(tmp_path / "hsb.db")
    for k in range(25):
        local.ask(Decide(k, "home", f"d{k}", {"x": k % 5}))
        local.ask(Reward(k, f"d{k}", float(k % 3 == 0)))
        if k in (9, 19):
            local.ask(TakeSnapshot(0, "home"))
    yield local
    local.close()


@pytest.mark.parametrize(("decision", "since"), [("d3", 0), ("d12", 11), ("d24", 21)])
def test_the_newest_snapshot_before_a_decision_is_replayed(at, decision, since):
    row = views.decision(at.store, decision)[0]
    again = recompute_decision(at.path, "home", row, 20.0)
    assert again == {"arm": "abc"[row.arm], "propensity": row.propensity, "u": row.u, "same": True, "replayed_from": since}


def test_another_propensity_is_noticed(at):
    row = views.decision(at.store, "d12")[0]
    assert not recompute_decision(at.path, "home", row._replace(propensity=row.propensity / 2), 20.0)["same"]
    assert not recompute_decision(at.path, "home", row._replace(arm=(row.arm + 1) % 3), 20.0)["same"]


def test_a_forgotten_context_cannot_be_recomputed(at):
    row = views.decision(at.store, "d12")[0]
    with pytest.raises(HttpProblem, match="forgotten") as caught:
        recompute_decision(at.path, "home", row._replace(context=""), 20.0)
    assert caught.value.status == 410
