"""Rewards in all their forms: losses, CloudEvents, receipts; through a real socket."""

import json

import pytest
from http_cases import QUICK, running

EVENTS = {"Content-Type": "application/cloudevents-batch+json"}


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db") as found:
        yield found


@pytest.fixture
def name(one, request):
    found = "".join(c if c.isalnum() else "-" for c in request.node.name)[:50]
    one.make(found)
    return found


def decide(one, name, **body):
    found = one.post(f"/v1/policies/{name}/decisions", {"context": 0.5} | body)
    assert found.status in (200, 201), found
    return found.json


def stored(one, name, id):
    return [each["reward"] for each in one.get(f"/v1/policies/{name}/decisions/{id}").json["rewards"]]


def event(subject, id="e1", **more):
    return {"specversion": "1.0", "id": id, "source": "/shop", "type": "click", "subject": subject, "data": {"reward": 1}} | more


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
    made = decide(one, name)
    assert one.post(f"/v1/decisions/{made['id']}/reward", {"loss": loss}).status == 200
    assert stored(one, name, made["id"]) == [reward]
    assert one.post(f"/v1/decisions/{made['id']}/reward", {"reward": reward}).json["status"] == "duplicate"
    assert one.post(f"/v1/decisions/{made['id']}/reward", {"loss": loss}).json["status"] == "duplicate"
    other = one.post(f"/v1/decisions/{made['id']}/reward", {"loss": 0.125})
    assert other.status == 409 and "the loss 0.125" in other.json["detail"]


def test_wrong_losses(one, name):
    made = decide(one, name)
    for body, pointer, word in (
        ({}, "/reward", "'loss' in its place"),
        ({"reward": 1, "loss": 0}, "/loss", "not both"),
        ({"loss": 2}, "/loss", "loss must be a number in [0.0, 1.0]"),
        ({"loss": "x"}, "/loss", "Expected"),
        ({"los": 0}, "/los", "los"),
    ):
        found = one.post(f"/v1/decisions/{made['id']}/reward", body)
        assert found.status == 422 and found.json["pointer"] == pointer and word in found.json["detail"], found
    assert stored(one, name, made["id"]) == []
    rows = [{"decision": made["id"], "loss": 0}, {"decision": made["id"]}]
    found = one.post("/v1/rewards", {"rewards": rows})
    assert found.status == 422 and found.json["pointer"] == "/rewards/1/reward" and stored(one, name, made["id"]) == []
    found = one.post("/v1/rewards", {"rewards": rows[:1]})
    assert found.json["rows"][0]["result"]["status"] == "learned" and stored(one, name, made["id"]) == [1.0]


def test_cloudevents(one, name):
    ids = [decide(one, name)["id"] for _ in range(3)]
    some = [event(ids[0]), event(ids[1], data={"loss": 1}, time="2026-11-16T00:00:00Z", comexampleextra="x"), event("nobody")]
    found = one.post("/v1/rewards", raw=json.dumps(some), headers=EVENTS)
    assert found.status == 200 and [row["status"] for row in found.json["rows"]] == [200, 200, 404]
    assert stored(one, name, ids[0]) == [1.0] and stored(one, name, ids[1]) == [0.0]
    again = one.post("/v1/rewards", raw=json.dumps(some[:1]), headers=EVENTS)
    assert again.json["rows"][0]["result"]["status"] == "duplicate"
    other = one.post("/v1/rewards", raw=json.dumps([event(ids[0], source="/till")]), headers=EVENTS)
    assert other.json["rows"][0]["status"] == 410  # another event: another reward, after the decision was learned


def test_wrong_cloudevents(one, name):
    id = decide(one, name)["id"]
    for wrong, pointer in (
        (event(id, specversion="0.3"), "/0/specversion"),
        (event("not an id"), None),
        (event(id, data={}), "/0/data/reward"),
        (event(id, data={"reward": 1, "x": 1}), "/0/data/x"),
        (event(id, source=""), "/0/source"),
        ({"id": "1"}, "/0/specversion"),
    ):
        found = one.post("/v1/rewards", raw=json.dumps([wrong]), headers=EVENTS)
        if pointer is None:
            assert found.json["rows"][0]["status"] == 422
        else:
            assert found.status == 422 and found.json["pointer"] == pointer, found
    assert one.post("/v1/rewards", raw="[]", headers=EVENTS).status == 422
    assert one.post("/v1/rewards", raw="{}", headers=EVENTS).status == 422
    assert one.post("/v1/rewards", raw="[", headers=EVENTS).status == 400
    assert one.post("/v1/rewards", raw="[]", headers={"Content-Type": "application/cloudevents+json"}).status == 415
    assert stored(one, name, id) == []
