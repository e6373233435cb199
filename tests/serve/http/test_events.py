"""Rewards as CloudEvents, through a real socket."""

import json

from support.serve.http_cases import decide

EVENTS = {"Content-Type": "application/cloudevents-batch+json"}


EVENT = {"Content-Type": "application/cloudevents+json; charset=utf-8"}


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


def test_cloudevents(one, name):
    ids = [decide(one, name)["id"] for _ in range(3)]
    some = [event(ids[0]), event(ids[1], data={"loss": 1}, time="2026-11-16T00:00:00Z", comexampleextra="x"), event("nobody")]
    response = one.post("/v1/rewards", raw=json.dumps(some), headers=EVENTS)
    assert response.status == 200 and [row["status"] for row in response.json["rows"]] == [200, 200, 404]
    assert stored(one, name, ids[0]) == [1.0] and stored(one, name, ids[1]) == [0.0]
    again = one.post("/v1/rewards", raw=json.dumps(some[:1]), headers=EVENTS)
    assert again.json["rows"][0]["result"]["status"] == "duplicate"
    other = one.post("/v1/rewards", raw=json.dumps([event(ids[0], source="/till")]), headers=EVENTS)
    assert other.json["rows"][0]["status"] == 410  # another event: another reward, after the decision was learned


def test_single_cloudevents(one, name):
    """In structured mode, with fields that are not ours; answered as one reward is, so that whoever delivers it knows."""
    id = decide(one, name)["id"]
    told = event(id, data={"reward": 1, "currency": "EUR", "basket": [1, 2]})
    response = one.post("/v1/rewards", raw=json.dumps(told), headers=EVENT)
    assert response.status == 200 and response.json["status"] == "learned" and stored(one, name, id) == [1.0]
    assert one.post("/v1/rewards", raw=json.dumps(told), headers=EVENT).json["status"] == "duplicate"
    batch = one.post("/v1/rewards", raw=json.dumps([told]), headers=EVENTS)
    assert batch.json["rows"][0]["result"]["status"] == "duplicate"  # the same event, however it comes
    assert one.post("/v1/rewards", raw=json.dumps(event(id, id="e9")), headers=EVENT).status == 410
    assert one.post("/v1/rewards", raw=json.dumps(event("nobody")), headers=EVENT).status == 404
    for wrong, pointer in (
        (event(id, data={}), "/data/reward"),
        ({"id": "1"}, "/specversion"),
        (event(id, source=""), "/source"),
    ):
        response = one.post("/v1/rewards", raw=json.dumps(wrong), headers=EVENT)
        assert response.status == 422 and response.json["pointer"] == pointer, response


def test_cloudevents_in_headers(one, name):
    """In binary mode the attributes are headers, percent-encoded, and the body is the data."""
    first, second = (decide(one, name)["id"] for _ in range(2))
    told = {"ce-" + key: value for key, value in event(first, source="/shop/caf%C3%A9").items() if key != "data"}
    json_body = {"Content-Type": "application/json"}
    response = one.post("/v1/rewards", {"reward": 1, "currency": "EUR"}, headers=told | json_body)
    assert response.status == 200 and response.json["decision"] == first and stored(one, name, first) == [1.0]
    same = one.post("/v1/rewards", raw=json.dumps(event(first, source="/shop/café")), headers=EVENT)
    assert same.json["status"] == "duplicate"
    response = one.post("/v1/rewards", {"loss": 1}, headers=told | json_body | {"ce-subject": second, "ce-id": "e2"})
    assert response.json["decision"] == second and stored(one, name, second) == [0.0]
    for name_of in ("ce-id", "ce-source", "ce-type", "ce-subject"):
        response = one.post("/v1/rewards", {"reward": 1}, headers={key: value for key, value in told.items() if key != name_of})
        assert (
            response.status == 422 and response.json["pointer"] == "/" + name_of[3:] and "ce-subject" in response.json["detail"]
        )
    assert one.post("/v1/rewards", {"reward": 1}, headers=told | {"ce-specversion": "0.3"}).status == 422
    assert one.post("/v1/rewards", {"reward": 1, "loss": 2}, headers=told).status == 422
    assert (
        one.post("/v1/rewards", {"rewards": [{"decision": first, "reward": 1}]}).status == 200
    )  # without the headers it is ours


def test_wrong_cloudevents(one, name):
    id = decide(one, name)["id"]
    for wrong, pointer in (
        (event(id, specversion="0.3"), "/0/specversion"),
        (event("not an id"), None),
        (event(id, data={}), "/0/data/reward"),
        (event(id, data={"rewards": 1}), "/0/data/reward"),
        (event(id, source=""), "/0/source"),
        ({"id": "1"}, "/0/specversion"),
    ):
        response = one.post("/v1/rewards", raw=json.dumps([wrong]), headers=EVENTS)
        if pointer is None:
            assert response.json["rows"][0]["status"] == 422
        else:
            assert response.status == 422 and response.json["pointer"] == pointer, response
    assert one.post("/v1/rewards", raw="[]", headers=EVENTS).status == 422
    assert one.post("/v1/rewards", raw="{}", headers=EVENTS).status == 422
    assert one.post("/v1/rewards", raw="[", headers=EVENTS).status == 400
    assert one.post("/v1/rewards", raw="[]", headers=EVENT).status == 422
    assert stored(one, name, id) == []
