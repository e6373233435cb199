"""Rewards in all their forms: losses, CloudEvents, receipts; through a real socket."""

import json
import time

import pytest
from support.serve.http_cases import QUICK, decide
from support.waiting import wait_until

from hsb.serve.checking import check
from hsb.serve.core.receipts import make_receipt
from hsb.serve.store.sqlite import SqliteReader

EVENTS = {"Content-Type": "application/cloudevents-batch+json"}


def stored(one, name, id):
    return [each["reward"] for each in one.get(f"/v1/policies/{name}/decisions/{id}").json["rewards"]]


def event(subject, id="e1", **more):
    return {
        "specversion": "1.0",
        "id": id,
        "source": "/shop",
        "type": "click",
        "subject": subject,
        "data": {"reward": 1},
    } | more


@pytest.mark.parametrize(
    ("kind", "loss", "reward"),
    [
        ({}, 0.25, 0.75),
        ({"loss_range": [2, 10]}, 9, 3.0),
        ({"reward_range": [2, 10]}, 9, 3.0),
        ({"loss_range": "auto"}, 9, -9.0),
        ({}, True, 0.0),
    ],
)
def test_a_loss_is_the_mirror_image_of_a_reward(one, kind, loss, reward, request):
    name = f"loss-{abs(hash(request.node.name))}"
    one.make(name, policy=QUICK | kind)
    decision = decide(one, name)
    assert one.post(f"/v1/decisions/{decision['id']}/reward", {"loss": loss}).status == 200
    assert stored(one, name, decision["id"]) == [reward]
    assert one.post(f"/v1/decisions/{decision['id']}/reward", {"reward": reward}).json["status"] == "duplicate"
    assert one.post(f"/v1/decisions/{decision['id']}/reward", {"loss": loss}).json["status"] == "duplicate"
    other = one.post(f"/v1/decisions/{decision['id']}/reward", {"loss": 0.125})
    assert other.status == 409 and "the loss 0.125" in other.json["detail"]


def test_wrong_losses(one, name):
    decision = decide(one, name)
    for body, pointer, word in (
        ({}, "/reward", "Give 'reward' or 'loss'"),
        ({"reward": 1, "loss": 0}, "/loss", "both 'reward' and 'loss'"),
        ({"loss": 2}, "/loss", "loss must be a number in [0.0, 1.0]"),
        ({"loss": "x"}, "/loss", "must be"),
        ({"los": 0}, "/los", "los"),
    ):
        response = one.post(f"/v1/decisions/{decision['id']}/reward", body)
        assert response.status == 422 and response.json["pointer"] == pointer and word in response.json["detail"], response
    assert stored(one, name, decision["id"]) == []
    rows = [{"decision": decision["id"], "loss": 0}, {"decision": decision["id"]}]
    response = one.post("/v1/rewards", {"rewards": rows})
    assert (
        response.status == 422 and response.json["pointer"] == "/rewards/1/reward" and stored(one, name, decision["id"]) == []
    )
    response = one.post("/v1/rewards", {"rewards": rows[:1]})
    assert response.json["rows"][0]["result"]["status"] == "learned" and stored(one, name, decision["id"]) == [1.0]


def test_what_cannot_be_learned_is_not_said_to_be(one, request):
    """A context of another kind than one that was learned after it was decided on: kept, answered as such, told with why."""
    name = f"mixed-{request.node.name[:20]}"
    one.make(name, policy={"kind": "HSB"})
    for k, country in enumerate([5, "DE", "FR"]):
        body = {"id": f"{name}-{k}", "context": {"country": country}}
        assert one.post(f"/v1/policies/{name}/decisions", body).status == 201
    assert one.post(f"/v1/decisions/{name}-0/reward", {"reward": 1}).json["status"] == "learned"
    response = one.post(f"/v1/decisions/{name}-1/reward", {"reward": 1})
    assert (response.status, response.json["status"], response.json["learned_at_version"]) == (200, "not_learned", None)
    assert "'country' has had a number" in response.json["detail"]
    assert '"policy": {"features": {"country": "category", ...}}' in response.json["detail"]
    rows = one.post("/v1/rewards", {"rewards": [{"decision": f"{name}-2", "reward": 1}]}).json["rows"]
    assert [row["result"]["status"] for row in rows] == ["not_learned"]
    assert stored(one, name, f"{name}-1") == [1.0]
    about = one.get(f"/v1/policies/{name}").json
    assert about["not_learned"] == 2 and about["certificate"]["rounds"] == 1
    (rejection,) = [
        each for each in one.get(f"/v1/policies/{name}/rejections").json["rejections"] if each["kind"] == "not-learned"
    ]
    assert rejection["count"] == 2 and rejection["first"][0]["detail"].startswith(f"{name}-1: Feature 'country'")
    refused = one.post(f"/v1/policies/{name}/decisions", {"context": {"country": "DE"}})
    assert refused.status == 422 and '"policy": {"features"' in refused.json["detail"]
    asked = one.get(f"/v1/policies/{name}/probabilities?context=%7B%22country%22%3A%22DE%22%7D")
    assert asked.status == 422 and '"policy": {"features"' in asked.json["detail"]
    again = one.post(f"/v1/decisions/{name}-1/reward", {"reward": 1})
    assert again.json["status"] == "duplicate"


def lost(one, name, id, *, at=None, active=True):
    """The receipt of a decision that was made and never written."""
    served = one.service.core.policies[name]
    row = served.decide(id, 0.25, None, None, active, time.time_ns() // 1000 if at is None else at)
    return make_receipt(served.secret, row, active, one.service.core.processes.now), row


def test_a_receipt_is_made_where_it_is_asked_for(one, name):
    assert "receipt" not in decide(one, name)
    response = one.post(f"/v1/policies/{name}/decisions?receipt=true", {"context": 1, "id": f"{name}-1"})
    text = response.json["receipt"]
    assert response.status == 201 and text.startswith("hsb1.") and "receipt" not in decide(one, name, context=1, id=f"{name}-1")
    again = one.post(f"/v1/policies/{name}/decisions?receipt=true", {"context": 1, "id": f"{name}-1"})
    assert again.status == 200 and again.json["receipt"] == text
    rows = one.post(f"/v1/policies/{name}/decisions/batch?receipt=true", {"decisions": [{"context": 1}, {"context": 2}]}).json[
        "rows"
    ]
    assert all(row["result"]["receipt"].startswith("hsb1.") for row in rows)
    assert one.post(f"/v1/policies/{name}/decisions?receipt=yes", {"context": 1}).status == 422
    known = one.post(f"/v1/decisions/{name}-1/reward", {"reward": 1, "receipt": text})
    assert known.status == 200 and known.json["status"] == "learned"


def test_answered_from_memory_and_then_written(one, name):
    assert one.ask("PATCH", f"/v1/policies/{name}", {"durability": "receipt"}).json["durability"] == "receipt"
    decisions = [decide(one, name, context=k) for k in range(20)]
    assert all(each["receipt"] for each in decisions) and "receipt" not in decide(one, name, id=f"{name}-own")
    wait_until(lambda: one.get(f"/v1/policies/{name}").json["pending"] >= 21)
    for each in decisions:
        response = one.get(f"/v1/policies/{name}/decisions/{each['id']}").json
        assert (response["arm"], response["propensity"]) == (each["arm"], each["propensity"])
    assert one.ask("PATCH", f"/v1/policies/{name}", {"durability": "never"}).status == 422


def test_a_lost_decision_is_restored_once(one, name):
    text, row = lost(one, name, f"{name}-lost")
    assert one.post(f"/v1/decisions/{row.id}/reward", {"reward": 1}).status == 404
    response = one.post(f"/v1/decisions/{row.id}/reward", {"reward": 1, "receipt": text})
    assert response.status == 200 and response.json["status"] == "learned" and response.json["policy"] == name
    again = one.post(f"/v1/decisions/{row.id}/reward", {"reward": 1, "receipt": text})
    assert again.json["status"] == "duplicate" and one.get(f"/v1/policies/{name}").json["updates"] == 1
    kept = one.get(f"/v1/policies/{name}/decisions/{row.id}?recompute=true").json
    assert kept["propensity"] == row.propensity and kept["u"] == row.u and kept["recomputed"]["same"]
    text, row = lost(one, name, f"{name}-old", at=1_000_000)
    response = one.post("/v1/rewards", {"rewards": [{"decision": row.id, "loss": 0, "receipt": text}]})
    assert response.json["rows"][0]["status"] == 410  # its wait was over: kept, and not learned
    text, row = lost(one, name, f"{name}-event")
    response = one.post("/v1/rewards", raw=json.dumps([event(row.id, data={"reward": 1, "receipt": text})]), headers=EVENTS)
    assert response.json["rows"][0]["result"]["status"] == "learned"
    assert check(SqliteReader(one.service.path)).sound


def test_wrong_receipts(one, name):
    text, row = lost(one, name, f"{name}-1")
    _, other = lost(one, name, f"{name}-2")
    body, seal = text.split(".")[1:]
    swapped = body[:40] + ("A" if body[40] != "A" else "B") + body[41:]
    for wrong in (
        "",
        "x",
        "hsb1.",
        "hsb1.e30.AA",
        f"hsb1.{body}",
        f"hsb1.{body}.AAAA",
        f"hsb1.{swapped}.{seal}",
        "hsb1.ä.b",
        text + ".",
    ):
        response = one.post(f"/v1/decisions/{row.id}/reward", {"reward": 1, "receipt": wrong})
        assert response.status == 422 and response.json["pointer"] == "/receipt", (wrong, response)
    response = one.post(f"/v1/decisions/{other.id}/reward", {"reward": 1, "receipt": text})
    assert response.status == 422 and row.id in response.json["detail"]
    ahead = make_receipt(one.service.core.policies[name].secret, row._replace(version=99), True, one.service.core.processes.now)
    assert "older copy" in one.post(f"/v1/decisions/{row.id}/reward", {"reward": 1, "receipt": ahead}).json["detail"]
    assert one.post(f"/v1/decisions/{row.id}/reward", {"reward": 9, "receipt": text}).status == 422
    assert one.get(f"/v1/policies/{name}/decisions/{row.id}").status == 404
    key = one.post("/v1/keys", {"name": "k", "scopes": ["learn"], "policies": ["another"]}).json["key"]
    assert one.post(f"/v1/decisions/{row.id}/reward", {"reward": 1, "receipt": text}, key=key).status == 403
    decide(one, name, id=row.id, context=7)
    response = one.post(f"/v1/decisions/{row.id}/reward", {"reward": 1, "receipt": text})
    assert response.status == 409 and "another decision" in response.json["detail"]


@pytest.mark.parametrize("scoped", [False, True])
def test_an_unreadable_receipt_loses_no_reward(one, name, scoped):
    decision = decide(one, name)
    body = {"name": "k", "scopes": ["learn"], "policies": [name]}
    key = one.post("/v1/keys", body).json["key"] if scoped else one.key
    given = {"reward": 1, "receipt": "hsb9.of-another-version.of-hsb"}
    assert one.post(f"/v1/decisions/{decision['id']}/reward", given, key=key).status == 200
    lost = one.post("/v1/decisions/lost/reward", given, key=key)
    assert lost.status == 422 and "receipt must be what came with the decision" in lost.json["detail"]
