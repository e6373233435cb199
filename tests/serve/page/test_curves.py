"""Figures over time: averages lie in their bands, shares add up to 1."""

import pytest

from hsb.serve.core import Create, Decide, Reward
from hsb.serve.local import Local, clock
from hsb.serve.page import curves
from hsb.serve.page.sheets import TallyCache, sheet


@pytest.fixture(scope="module")
def tally(tmp_path_factory):
    local = Local(tmp_path_factory.mktemp("curves") / "hsb.db")
    local.ask(Create(0, {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}, "floor": 0.2}, b"s" * 32))
    for k in range(300):
        decision = local.ask(Decide(k, "home", f"d{k}", 0.5))
        local.ask(Reward(k, f"d{k}", float(decision.body["arm"] == "a")))
    served = local.core.policies["home"]
    result, _ = TallyCache().tally(local.store, sheet(local.core, served, clock().wall))
    yield result
    local.close()


def test_times_rise_and_each_has_a_value(tally):
    times, curve = curves.times(tally), curves.policy_curve(tally, "policy")
    assert times == sorted(times) and len(times) == len(curve.value) == len(curves.means(tally))
    for value, low, high in zip(curve.value, curve.low, curve.high, strict=True):
        assert value is None or low <= value <= high


def test_an_arm_that_is_better_is_seen_to_be(tally):
    a, b = (curves.arm_curve(tally, name, index, 0.05) for index, name in enumerate("ab"))
    assert a.value[-1] > curves.uniform_curve(tally, "uniform").value[-1] > b.value[-1]


def test_shares_add_up(tally):
    for row in curves.shares(tally):
        assert sum(row) == pytest.approx(1.0)
