"""Recompute decisions from the journal."""

from support.serve.slow_core import with_a_candidate

from hsb.serve.core import Decide, Promote, TakeSnapshot
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
