"""The door for OpenFeature's clients (OFREP), in its own form, through a real socket."""

import pytest
from support.serve.http_cases import QUICK, running

FLAGS = "/ofrep/v1/evaluate/flags"


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db") as result:
        result.make("home", feedback={"wait": 600})
        result.make("other", floor=0.1)
        result.make(
            "tree", policy=QUICK | {"kind": "SExp3", "structure": {"kind": "BinaryTree", "depth": 2}, "learning_rate": 0.1}
        )
        yield result


@pytest.fixture(scope="module")
def key(one):
    return one.post("/v1/keys", {"name": "p", "scopes": ["decide", "learn"], "policies": ["home"]}).json["key"]


def test_a_flag(one):
    response = one.post(f"{FLAGS}/home", {"context": {"targetingKey": "anna", "age": 31}})
    assert response.status == 200 and response.headers["content-type"] == "application/json"
    body = response.json
    assert body["key"] == "home" and body["value"] == body["variant"] in "abc" and body["reason"] == "SPLIT"
    assert set(body["metadata"]) == {"decision", "propensity", "version"} and body["metadata"]["propensity"] == 1 / 3
    id = body["metadata"]["decision"]
    assert one.get(f"/v1/policies/home/decisions/{id}").json["context"] == {"age": 31}  # nothing is learned from a name
    assert one.post(f"/v1/decisions/{id}/reward", {"reward": 1}).status == 200
    assert one.post(f"{FLAGS}/home").status == 200 and one.post(f"{FLAGS}/home", {}).status == 200


def test_wrong_flags(one, key):
    response = one.post(f"{FLAGS}/nobody", {"context": {}})
    assert response.status == 404 and response.json["key"] == "nobody" and response.json["errorCode"] == "FLAG_NOT_FOUND"
    response = one.post(f"{FLAGS}/home", raw="{")
    assert response.status == 400 and response.json["errorCode"] == "PARSE_ERROR" and response.json["key"] == "home"
    response = one.post(f"{FLAGS}/tree", {"context": {"x": "y"}})
    assert response.status == 400 and response.json["errorCode"] == "INVALID_CONTEXT"
    assert one.post(f"{FLAGS}/home", {"context": [1]}).status == 400
    response = one.post(f"{FLAGS}/home", {"context": {str(k): k for k in range(500)}})
    assert response.status == 400 and response.json["errorCode"] == "INVALID_CONTEXT"
    assert (
        one.post(f"{FLAGS}/home", {}, key=None).status == 401 and "errorDetails" in one.post(f"{FLAGS}/home", {}, key=None).json
    )
    assert one.post(f"{FLAGS}/other", {}, key=key).status == 403
    assert one.post(f"{FLAGS}/home", {}, headers={"Content-Type": "text/plain"}).status == 400


def test_all_flags(one, key):
    response = one.post(FLAGS, {"context": {"targetingKey": "carla", "age": 31}})
    assert response.status == 200 and [each["key"] for each in response.json["flags"]] == ["home", "other", "tree"]
    assert response.json["flags"][2]["errorCode"] == "INVALID_CONTEXT" and "value" not in response.json["flags"][2]
    id = response.json["flags"][0]["metadata"]["decision"]
    assert one.get(f"/v1/policies/home/decisions/{id}").json["state"] == "inactive"  # until it is shown
    same = one.post(
        FLAGS, {"context": {"targetingKey": "carla", "age": 31}}, headers={"If-None-Match": response.headers["etag"]}
    )
    assert same.status == 304 and same.raw == b""
    other = one.post(
        FLAGS, {"context": {"targetingKey": "bert", "age": 31}}, headers={"If-None-Match": response.headers["etag"]}
    )
    assert other.status == 200
    assert [each["key"] for each in one.post(FLAGS, {}, key=key).json["flags"]] == ["home"]


def flag(one, name, context, status=200, **more):
    response = one.post(f"{FLAGS}/{name}", {"context": context} | more)
    assert response.status == status, response
    return response.json


def test_the_same_person_gets_the_same_arm(one):
    """Within the window, whatever else the context says; it is one decision, with one update. Without a key, each evaluation is a new one."""
    one.make("sticky", floor=1.0)
    for k in range(12):
        first = flag(one, "sticky", {"targetingKey": f"person {k}", "age": 30})
        for age in (30, 31, 55):
            again = flag(one, "sticky", {"targetingKey": f"person {k}", "age": age})
            assert again["value"] == first["value"] and again["metadata"] == first["metadata"]
    variants = {flag(one, "sticky", {"targetingKey": f"person {k}"})["variant"] for k in range(12)}
    assert len(variants) > 1 and len(one.get("/v1/policies/sticky/decisions").json["decisions"]) == 12
    assert len({flag(one, "sticky", {"age": 30})["metadata"]["decision"] for _ in range(5)}) == 5
    id = first["metadata"]["decision"]
    assert one.get(f"/v1/policies/sticky/decisions/{id}").json["context"] == {"age": 30}
    assert one.post(f"/v1/decisions/{id}/reward", {"reward": 1}).status == 200
    assert one.get(f"/v1/policies/sticky/decisions/{id}?recompute=true").json["recomputed"]["same"]
    assert one.post("/v1/policies/sticky/decisions", {"id": id, "context": {"age": 30}}).status == 409  # it is another question


def test_windows_and_arms_that_go(one):
    """A window of nothing: each evaluation anew. Who has an arm that is removed gets another."""
    one.make("windows", floor=1.0, flag={"sticky": "PT12H"})
    assert one.get("/v1/policies/windows").json["flag"] == {"sticky": 43_200.0, "values": None}
    people = {f"p{k}": flag(one, "windows", {"targetingKey": f"p{k}"})["variant"] for k in range(20)}
    assert one.ask("DELETE", "/v1/policies/windows/arms/a").status == 204
    now = {name: flag(one, "windows", {"targetingKey": name})["variant"] for name in people}
    assert set(now.values()) == {"b", "c"}
    assert one.ask("PATCH", "/v1/policies/windows", {"flag": {"sticky": None}}).status == 200
    assert len({flag(one, "windows", {"targetingKey": "p0"})["metadata"]["decision"] for _ in range(5)}) == 5
    for wrong in ("soon", 0, -1, True):
        assert one.ask("PATCH", "/v1/policies/windows", {"flag": {"sticky": wrong}}).status == 422


def test_all_flags_and_one_agree(one):
    """What a call for all flags kept is what one evaluation shows, and it is activated then."""
    one.make("both", floor=1.0)
    for k in range(6):
        person = {"targetingKey": f"q{k}", "age": k}
        kept = next(each for each in one.post(FLAGS, {"context": person}).json["flags"] if each["key"] == "both")
        url = f"/v1/policies/both/decisions/{kept['metadata']['decision']}"
        assert one.get(url).json["state"] == "inactive"
        assert flag(one, "both", person)["metadata"]["decision"] == kept["metadata"]["decision"]
        assert one.get(url).json["state"] == "pending"


@pytest.mark.parametrize(
    ("values", "type", "others"),
    [
        ({"a": True, "b": False, "c": False}, "boolean", ["string", "object", "integer"]),
        ({"a": 1, "b": 2.5, "c": 3}, "float", ["boolean", "string"]),
        ({"a": {"color": "red", "size": 3}, "b": {"color": "blue"}, "c": {}}, "object", ["boolean", "number"]),
        (None, "string", ["boolean", "object"]),
    ],
)
def test_values_of_arms(one, values, type, others):
    """Flags that are no texts. Who says which type is wanted gets no decision of another one."""
    name = f"typed-{type}"
    one.make(name, floor=1.0, **({} if values is None else {"flag": {"values": values}}))
    for k in range(8):
        result = flag(one, name, {"targetingKey": f"r{k}"}, type=type)
        assert result["value"] == (result["variant"] if values is None else values[result["variant"]])
    before = len(one.get(f"/v1/policies/{name}/decisions").json["decisions"])
    for other in others:
        result = flag(one, name, {"targetingKey": "new", "age": 3}, 400, type=other)
        assert result["errorCode"] == "TYPE_MISMATCH" and result["key"] == name
    assert len(one.get(f"/v1/policies/{name}/decisions").json["decisions"]) == before == 8


def test_arms_without_a_value_are_not_available(one):
    one.make("some", floor=1.0, flag={"values": {"a": True, "b": False}})
    assert {flag(one, "some", {"targetingKey": f"s{k}"})["value"] for k in range(20)} == {True, False}
    assert one.ask("PUT", "/v1/policies/some/arms/d").status == 201
    assert {flag(one, "some", {})["variant"] for k in range(20)} == {"a", "b"}
    deep = {"a": {}}
    for _ in range(600):
        deep = {"a": deep}
    for wrong in ({"z": True}, {}, {"a": True, "b": "no"}, {"a": None}, {"a": [1]}, {"a": {"x": "y" * 20_000}}, deep):
        assert one.ask("PATCH", "/v1/policies/some", {"flag": {"values": wrong}}).status in (400, 422), str(wrong)[:50]


def test_nested_contexts(one):
    """They are flattened, as in logs."""
    one.post("/v1/policies", {"name": "named", "arms": ["a", "b"]})
    result = flag(one, "named", {"targetingKey": "t", "user": {"age": 3, "from": {"land": "FR"}}, "tags": ["x", "y"]})
    kept = one.get(f"/v1/policies/named/decisions/{result['metadata']['decision']}").json["context"]
    assert kept == {"user.age": 3, "user.from.land": "FR", "tags": ["x", "y"]}


@pytest.mark.parametrize("path", [FLAGS + "/home", FLAGS, "/v1/policies/home/decisions"])
def test_names_are_not_multiplied(one, path):
    """Flattened, a name stands before each of those within: 54 KB would be 13 MB, for every policy that is asked. Control: short ones."""
    for name, inner in (("n" * 53_000, {f"a{k}": 1 for k in range(250)}), ("n", {"m" * 995: {"o" * 5: 1}})):
        response = one.post(path, {"context": {name: inner}})
        assert response.status in (400, 422) and "more than 1,000. Shorten it" in response.raw.decode()
    assert one.post(path, {"context": {"n": {"m" * 995: {"oo": 1}}}}).status in (200, 201)


def test_what_is_sticky_goes_on_after_a_start(tmp_path):
    with running(tmp_path / "hsb.db") as one:
        one.make("home", floor=1.0, flag={"values": {"a": 1, "b": 2, "c": 3}})
        before, key = [flag(one, "home", {"targetingKey": f"p{k}"})["value"] for k in range(10)], one.key
    with running(tmp_path / "hsb.db", admin_key=key) as one:
        assert [flag(one, "home", {"targetingKey": f"p{k}"})["value"] for k in range(10)] == before
