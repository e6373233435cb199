"""The door for OpenFeature's clients (OFREP), in its own form, through a real socket."""

import pytest
from http_cases import QUICK, running

FLAGS = "/ofrep/v1/evaluate/flags"


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
