"""The doors for others' clients: OFREP and Personalizer, in their own forms, through a real socket."""

import pytest
from http_cases import QUICK, running

from hsb.serve.checking import check
from hsb.serve.store.sqlite import SqliteReader

FLAGS, RANK = "/ofrep/v1/evaluate/flags", "/personalizer/v1.0/rank"


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db") as found:
        found.make("home", feedback={"wait": 600})
        found.make("other", floor=0.1)
        found.make(
            "tree", policy=QUICK | {"kind": "SExp3", "structure": {"kind": "BinaryTree", "depth": 2}, "learning_rate": 0.1}
        )
        yield found


@pytest.fixture(scope="module")
def key(one):
    return one.post("/v1/keys", {"name": "p", "scopes": ["decide", "learn"], "policies": ["home"]}).json["key"]


def test_a_flag(one):
    found = one.post(f"{FLAGS}/home", {"context": {"targetingKey": "anna", "age": 31}})
    assert found.status == 200 and found.headers["content-type"] == "application/json"
    body = found.json
    assert body["key"] == "home" and body["value"] == body["variant"] in "abc" and body["reason"] == "SPLIT"
    assert set(body["metadata"]) == {"decision", "propensity", "version"} and body["metadata"]["propensity"] == 1 / 3
    id = body["metadata"]["decision"]
    assert one.get(f"/v1/policies/home/decisions/{id}").json["context"] == {"age": 31}  # nothing is learned from a name
    assert one.post(f"/v1/decisions/{id}/reward", {"reward": 1}).status == 200
    assert one.post(f"{FLAGS}/home").status == 200 and one.post(f"{FLAGS}/home", {}).status == 200


def test_wrong_flags(one, key):
    found = one.post(f"{FLAGS}/nobody", {"context": {}})
    assert found.status == 404 and found.json["key"] == "nobody" and found.json["errorCode"] == "FLAG_NOT_FOUND"
    found = one.post(f"{FLAGS}/home", raw="{")
    assert found.status == 400 and found.json["errorCode"] == "PARSE_ERROR" and found.json["key"] == "home"
    found = one.post(f"{FLAGS}/tree", {"context": {"x": "y"}})
    assert found.status == 400 and found.json["errorCode"] == "INVALID_CONTEXT"
    assert one.post(f"{FLAGS}/home", {"context": [1]}).status == 400
    found = one.post(f"{FLAGS}/home", {"context": {str(k): k for k in range(500)}})
    assert found.status == 400 and found.json["errorCode"] == "INVALID_CONTEXT"
    assert (
        one.post(f"{FLAGS}/home", {}, key=None).status == 401 and "errorDetails" in one.post(f"{FLAGS}/home", {}, key=None).json
    )
    assert one.post(f"{FLAGS}/other", {}, key=key).status == 403
    assert one.post(f"{FLAGS}/home", {}, headers={"Content-Type": "text/plain"}).status == 400


def test_all_flags(one, key):
    found = one.post(FLAGS, {"context": {"targetingKey": "anna", "age": 31}})
    assert found.status == 200 and [each["key"] for each in found.json["flags"]] == ["home", "other", "tree"]
    assert found.json["flags"][2]["errorCode"] == "INVALID_CONTEXT" and "value" not in found.json["flags"][2]
    id = found.json["flags"][0]["metadata"]["decision"]
    assert one.get(f"/v1/policies/home/decisions/{id}").json["state"] == "inactive"  # until it is shown
    same = one.post(FLAGS, {"context": {"targetingKey": "anna", "age": 31}}, headers={"If-None-Match": found.headers["etag"]})
    assert same.status == 304 and same.raw == b""
    other = one.post(FLAGS, {"context": {"targetingKey": "bert", "age": 31}}, headers={"If-None-Match": found.headers["etag"]})
    assert other.status == 200
    assert [each["key"] for each in one.post(FLAGS, {}, key=key).json["flags"]] == ["home"]


def ranked(**more):
    actions = [{"id": name, "features": [{"kind": name}]} for name in "abc"]
    return {"contextFeatures": [{"time": "morning"}, {"user": {"age": 31}}], "actions": actions, "eventId": "e-1"} | more


def test_rank_reward_activate(one, key):
    headers = {"Ocp-Apim-Subscription-Key": key}
    found = one.post(RANK, ranked(excludedActions=["b"]), key=None, headers=headers)
    body = found.json
    assert found.status == 201 and body["eventId"] == "e-1" and body["rewardActionId"] == body["ranking"][0]["id"] in "ac"
    assert {each["id"]: each["probability"] for each in body["ranking"]} == {"a": 0.5, "b": 0.0, "c": 0.5}
    assert found.headers["hsb-note"] == "action features are not used"
    kept = one.get("/v1/policies/home/decisions/e-1").json
    assert kept["context"] == {"time": "morning", "user.age": 31} and kept["available"] == ["a", "c"]
    again = one.post(RANK, ranked(excludedActions=["b"]), key=None, headers=headers)
    assert (
        again.status == 201
        and again.json["rewardActionId"] == body["rewardActionId"]
        and "probability" not in again.json["ranking"][0]
    )
    first = one.post("/personalizer/v1.0/events/e-1/reward", {"value": 1}, key=key)
    assert first.status == 204 and first.headers["hsb-reward"] == "learned" and first.raw == b""
    assert one.post("/personalizer/v1.0/events/e-1/reward", {"value": 0.5}, key=key).headers["hsb-reward"] == "late"
    one.post(RANK, ranked(eventId="e-2", deferActivation=True), key=key)
    assert one.get("/v1/policies/home/decisions/e-2").json["state"] == "inactive"
    assert one.post("/personalizer/v1.0/events/e-2/activate", key=key).status == 204
    assert one.get("/v1/policies/home/decisions/e-2").json["state"] == "pending"
    assert len(one.post(RANK, ranked(eventId=None), key=key).json["eventId"]) == 36
    assert check(SqliteReader(one.service.path)).sound


def test_wrong_ranks(one, key):
    def wrong(body, code="InvalidRankRequest", path=RANK, status=400, **more):
        found = one.post(path, body, **({"key": key} | more))
        assert found.status == status and found.json["error"]["code"] == code and found.json["error"]["message"], found

    wrong(ranked(actions=[]))
    wrong(ranked(actions=[{"id": "a"}, {"id": "a"}]))
    wrong(ranked(actions=[{"id": "z"}]))
    wrong(ranked(excludedActions=["a", "b", "c"]))
    wrong(ranked(contextFeatures=[1]))
    wrong(ranked(contextFeatures=[{str(k): k for k in range(300)}]))
    wrong(ranked(eventId="not an id"))
    wrong({"actions": 1})
    wrong(None, raw="{")
    wrong(ranked(eventId="e-9"), key=one.key)  # a key for all policies: which one is meant?
    wrong({"value": 7}, "InvalidRewardRequest", "/personalizer/v1.0/events/e-1/reward")
    wrong({}, "InvalidRewardRequest", "/personalizer/v1.0/events/e-1/reward")
    wrong({"value": 1}, "ResourceNotFound", "/personalizer/v1.0/events/nobody/reward", 404)
    wrong(None, "ResourceNotFound", "/personalizer/v1.0/events/nobody/activate", 404)
    wrong(None, "InvalidEventIdToActivate", "/personalizer/v1.0/events/e-1/activate")
    wrong(ranked(), "BadRequest", status=401, key=None)
    reader = one.post("/v1/keys", {"name": "r", "scopes": ["read"], "policies": ["home"]}).json["key"]
    wrong(ranked(), "OperationNotAllowed", status=403, key=reader)
