"""Rules, computed in a process of their own, and what they earned."""

import pytest

pytest.importorskip("starlette")
pytest.importorskip("jinja2")
from support.serve import page_harness as harness

import hsb
from hsb.serve import explaining


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    server = harness.Harness(tmp_path_factory.mktemp("page") / "hsb.db")
    harness.fill(server.local, "home", 400, hours=2.0, floor=0.1, baseline="spring sale")
    yield server
    server.close()


def test_rules_are_worked_out_beside_the_service(service):
    import asyncio

    body = service.core.policies["home"].live.to_bytes()
    result = asyncio.run(explaining.explain_in_process(body, 7))
    assert (
        result["version"] == 7
        and result["rules"]
        and sum(each["coverage"] for each in result["rules"]) == pytest.approx(1.0, abs=0.3)
    )
    assert "took longer than" in asyncio.run(explaining.explain_in_process(body, 7, 0.01))["why"]
    assert asyncio.run(explaining.explain_in_process(b"nothing", 7))["rules"] is None


def test_a_policy_whose_arms_come_with_requests_has_no_rules():
    result = explaining.explain_policy(hsb.HSB(arms=hsb.Open(), seed=0))
    assert result["rules"] is None and "come with each request" in result["why"]


def test_rules_say_what_they_earn_by_the_journal(service):
    """The last updates, weighed as the naive count below weighs them; a policy without them says nothing."""
    import asyncio

    home = service.core.policies["home"]
    body, about = home.live.to_bytes(), (service.reader.path, home.id, list(home.arms))
    result = asyncio.run(explaining.explain_in_process(body, 7, updates=about))
    updates = list(explaining.updates_of(str(service.reader.path), home.id, list(home.arms)))
    assert result["earned_rows"] == len(updates) > 350
    told = home.live.policy.explain().merged()
    for rule in result["rules"]:
        [region] = [each for each in told.regions if each.where == rule["where"]]
        mine = [each for each in updates if told.region_at(each[0]) is region]
        weights = [(arm == region.arm) / p for _, arm, _, p, _ in mine]
        if not sum(weights):
            assert rule["earned"] is None
            continue
        value = sum(w * each[4] for w, each in zip(weights, mine, strict=True)) / sum(weights)
        assert rule["earned"]["value"] == pytest.approx(value) and rule["earned"]["rows"] == len(mine)
        assert rule["earned"]["low"] <= value <= rule["earned"]["high"]
    assert any(rule["earned"] for rule in result["rules"])
    without = asyncio.run(explaining.explain_in_process(body, 7))
    assert without["earned_rows"] == 0 and not any(rule["earned"] for rule in without["rules"])
