"""The page of a policy whose arms come with each request: every view, and figures that groups do not bias."""

import json

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("jinja2")

from support.serve import page_harness as harness
from support.serve.request_cases import GROUPS, SECRET, asked

from hsb.serve.core import AddCandidate, Change, Create, Decide, Reward
from hsb.serve.page.app import SECTIONS
from hsb.serve.page.numbers import Floors, UpdateTally, updates_of

UPDATES = 400


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    server = harness.Harness(tmp_path_factory.mktemp("page") / "hsb.db")
    server.local.ask(Create(0, {"name": "home", "arms": GROUPS, "floor": 0.3}, SECRET))
    server.local.ask(Create(0, {"name": "empty", "arms": GROUPS}, SECRET))
    rng = np.random.default_rng(0)
    for k in range(UPDATES):
        if k == UPDATES // 2:
            server.local.ask(AddCandidate(0, "home", "careful", {"implicit": True}))
            server.local.ask(Change(0, "home", {"ramp": 0.5, "baseline": "home"}))
        context, arms = asked(k)
        made = server.local.ask(Decide(0, "home", f"d-{k}", context, arms=arms)).body
        server.local.ask(Reward(0, f"d-{k}", float(rng.random() < value(made["arm"], arms))))
    yield server
    server.close()


def value(arm, arms):
    """The probability of a reward."""
    return 0.4 if arms[arm] is None else {"news": 0.8, "sport": 0.2, "art": 0.5}[arms[arm]["topic"]]


@pytest.mark.parametrize("name", ["home", "empty"])
@pytest.mark.parametrize("section", [section for section in SECTIONS if section != "rules"])
def test_every_view(service, section, name):
    client = service.client()
    page, twin = client.get(f"/p/{name}/{section}"), client.get(f"/p/{name}/{section}.json")
    assert page.status_code == twin.status_code == 200, page.text[:500]
    assert json.loads(twin.text)["section"] == section


def test_arms_are_groups_and_those_most_played(service):
    it = json.loads(service.client().get("/p/home/arms.json").text)
    assert [arm["name"] for arm in it["arms"]] == ["other arms", "home", "topic=news", "topic=sport"]
    assert sum(arm["played"] for arm in it["arms"]) == UPDATES and it["open"] and it["known"] > 20
    totals = [arm["plays"] for arm in it["most_played"]]
    assert totals == sorted(totals, reverse=True) and len(totals) == 20
    text = service.client().get("/p/home/arms").text
    assert "Groups of arms" in text and it["most_played"][0]["arm"] in text
    assert "other arms" in text and "with a model of their own" in text


def test_the_value_of_a_group_is_that_of_its_arms_drawn_uniformly(service):
    """Its interval holds the true value, its propensities are not doubted; without the number of arms in the group they are."""
    rows = service.local.store.stream(service.core.policies["home"].id)
    updates = updates_of(rows, 4, Floors())
    tally = UpdateTally((0.0, 1.0))
    tally.add(updates)
    for index, truth in ((0, 0.5), (1, 0.4), (2, 0.8), (3, 0.2)):
        band = tally.arm(index)
        assert band.low < truth < band.high
    assert max(tally.suspicion().values()) < 3.0 and tally.support()[1]
    wrong = UpdateTally((0.0, 1.0))
    wrong.add(updates._replace(alike=np.ones(UPDATES)))
    assert wrong.suspicion()["arms"] > 6.9


def test_no_alarm_and_the_share_of_the_baseline(service):
    it = json.loads(service.client().get("/p/home/overview.json").text)
    assert it["alarms"] == [] and it["shared"] == UPDATES // 2
    assert any(row["name"].startswith("baseline: always home") for row in it["rows"])
    chosen = {row["line"]: row for row in it["rows"]}["estimated"]
    assert 0.3 < chosen["value"] < 0.9


def test_a_baseline_that_is_no_group_is_shown_without_an_estimate(service):
    assert service.local.ask(Change(0, "home", {"baseline": "a17"})).status == "done"
    for section in ("overview", "arms", "settings", "candidates"):
        assert service.client().get(f"/p/home/{section}").status_code == 200
    assert 'value="a17"' in service.client().get("/p/home/settings").text
    assert service.local.ask(Change(0, "home", {"baseline": "home"})).status == "done"


def test_rules_map_and_evaluations_say_why_not(service):
    client = service.client()
    for section in ("rules", "map", "what-if"):
        assert "come with each request" in client.get(f"/p/home/{section}").text
