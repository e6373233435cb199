"""The description says what is so: every answer that is no file has a type, answers have its fields and no others, limits are as they are."""

import json
import re

import msgspec
import pytest
from support.serve.http_cases import running
from support.waiting import wait_until

from hsb.policy.open import KNOWN
from hsb.serve.http.app import endpoints
from hsb.serve.http.openapi import document, plain

P = "/v1/policies/home"
UPDATES = 30


def typed():
    """The operations whose answers are objects, and their types by status."""
    values = {}
    for each in endpoints():
        kinds = {
            status: kind if isinstance(kind, tuple) else (kind,)
            for status, kind in each.answers.items()
            if status < 300 and kind is not None and not isinstance(kind, str)
        }
        if kinds and each.path not in ("/openapi.json", "/v1/limits"):
            values[each.method, plain(each.path)] = kinds
    return values


TYPED = typed()


def fits(kinds, said):
    """Is it an answer of one of these types, and has no field that they have not?"""
    if isinstance(said, dict) and "rows" in said:
        said = said | {"rows": [_without_more(row) for row in said["rows"]]}
    for kind in kinds:
        try:
            if msgspec.to_builtins(msgspec.convert(said, kind)) == said:
                return True
        except msgspec.ValidationError:
            continue
    return False


def _without_more(row):
    """A row of a batch whose problem has the members that every problem has: some say more, e.g. of what is in the way."""
    if "problem" not in row:
        return row
    return row | {"problem": {name: row["problem"][name] for name in ("type", "title", "status", "detail")}}


class Asked:
    """A client that looks whether each answer is as described."""

    def __init__(self, one):
        self.one, self.seen = one, set()

    def __call__(self, method, path, body=None, **more):
        result = self.one.ask(method, path, body, **more)
        bare = path.partition("?")[0]
        for (its, pattern), kinds in TYPED.items():
            if its == method and re.fullmatch(re.sub(r"{\w+}", "[^/]+", pattern), bare) and result.status in kinds:
                assert fits(kinds[result.status], result.json), (method, path, result.json, kinds[result.status])
                self.seen.add((its, pattern))
        return result


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db") as result:
        yield result


OCTETS = {"Content-Type": "application/octet-stream"}
EVENT = {"specversion": "1.0", "id": "e", "source": "/s", "type": "t", "subject": "d0", "data": {"reward": 1}}
ROWS = {"decisions": [{"id": "d1", "context": {"x": 1}}, {"id": "b1", "context": {"x": "text"}}, {}]}
REWARDS = {"rewards": [{"decision": "d1", "reward": 1}, {"decision": "nobody", "loss": 1}]}
PERSON = {"context": {"targetingKey": "anna", "x": 1}}


def test_every_answer_is_as_described(one):
    ask = Asked(one)
    response = ask("POST", "/v1/policies", {"name": "home", "arms": ["a", "b"], "flag": {"values": {"a": True, "b": False}}})
    assert response.status == 201, response
    for k in range(UPDATES):
        ask("POST", f"{P}/decisions?receipt=true", {"id": f"d{k}", "context": {"x": k % 5}})
        ask("POST", f"/v1/decisions/d{k}/reward", {"reward": k % 2})
    ask("POST", "/v1/rewards", raw=json.dumps(EVENT), headers={"Content-Type": "application/cloudevents+json"})
    for method, path, body in (
        ("POST", f"{P}/decisions/batch", ROWS),
        ("POST", "/v1/rewards", REWARDS),
        ("POST", "/ofrep/v1/evaluate/flags/home", PERSON),
        ("POST", "/ofrep/v1/evaluate/flags", PERSON),
        ("POST", f"{P}/candidates", {"name": "even", "policy": {"kind": "Exp3"}}),
        ("POST", f"{P}/candidates", {"name": "line", "policy": {"kind": "LinUCB"}}),
    ):
        assert ask(method, path, body).status < 300, path
    wait_until(lambda: not (any(each["read"] < each["version"] for each in ask("GET", f"{P}/candidates").json["candidates"])))
    for method, path, body in (
        ("GET", f"{P}/candidates/line", None),
        ("GET", f"{P}/rules", None),
        ("POST", f"{P}/snapshots", None),
        ("GET", f"{P}/snapshots", None),
        ("POST", f"{P}/candidates/even/promote", None),
        ("GET", P, None),
        ("GET", f"{P}?digest=true", None),
        ("GET", "/v1/policies?limit=1", None),
        ("PATCH", P, {"floor": 0.1, "keep_contexts": "P90D"}),
        ("PUT", f"{P}/arms/c", None),
        ("PUT", f"{P}/arms/c", None),
        ("GET", f"{P}/decisions?newest=true", None),
        ("GET", f"{P}/decisions/d1?recompute=true", None),
        ("GET", f"{P}/probabilities?context={{}}", None),
        ("GET", f"{P}/certificate", None),
        ("GET", f"{P}/certificate?horizon=1000", None),
        ("GET", f"{P}/stats", None),
        ("GET", f"{P}/rejections", None),
        ("POST", "/v1/keys", {"name": "k", "scopes": ["read"]}),
        ("GET", "/v1/keys", None),
        ("GET", "/v1/audit", None),
        ("GET", "/healthz", None),
        ("GET", "/readyz", None),
        ("POST", "/v1/clock/confirm", None),
    ):
        assert ask(method, path, body).status < 300, path
    for _ in range(2):  # the second is what was answered to the first
        ask("POST", "/v1/keys", {"name": "k", "scopes": ["read"]}, headers={"Idempotency-Key": "once"})
    asked = ask("POST", f"{P}/evaluations", {"candidates": {"even": {"uniform": True}, "a": {"arm": "a"}}})
    wait_until(lambda: ask("GET", asked.headers["location"]).json["status"] not in ("waiting", "running"))
    ask("GET", f"{P}/evaluations")
    one.post("/v1/policies", {"name": "other", "arms": ["a", "b"]})
    seq = one.post("/v1/policies/other/snapshots").json["seq"]
    file = one.get(f"/v1/policies/other/snapshots/{seq}.hsb").raw
    assert ask("PUT", "/v1/policies/other/state", raw=file, headers=OCTETS).status == 200
    for path in (f"{P}/decisions?id=d1", f"{P}?purge=true"):
        assert ask("DELETE", path).status in (200, 202)
    assert set(TYPED) == ask.seen, set(TYPED) - ask.seen


def test_what_it_says_is_checked(one):
    """The test above notices a field too many, one that is missing, and another type."""
    (kind,) = TYPED["GET", "/v1/policies/{policy}/probabilities"][200]
    answers = {"version": 3, "probabilities": {"a": 0.5}}
    assert fits((kind,), answers)
    for wrong in (answers | {"more": 1}, {"version": 3}, answers | {"version": "3"}):
        assert not fits((kind,), wrong)


def test_no_answer_is_free_form():
    result = document(endpoints())
    free = [
        (method, path)
        for path, methods in result["paths"].items()
        for method, each in methods.items()
        for status, answer in each["responses"].items()
        if status < "300" and answer.get("content", {}).get("application/json", {}).get("schema") == {"type": "object"}
    ]
    assert free == [("get", "/openapi.json")]  # which describes itself
    assert '"default"' not in json.dumps(result["components"])


def test_operations_have_names_for_people():
    results = [each["operationId"] for methods in document(endpoints())["paths"].values() for each in methods.values()]
    assert len(set(results)) == len(results) and all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in results)
    assert {"decide", "decide_batch", "reward", "reward_batch", "create_policy", "list_policies", "evaluate_flag"} <= set(
        results
    )


def test_limits_are_as_they_are(one):
    """Numbers are whole numbers with their bounds, batches and arms have lengths, a reward or a loss is given."""
    result = document(endpoints())
    by_name = {each["operationId"]: each for methods in result["paths"].values() for each in methods.values()}

    def given(operation, name):
        return next(each["schema"] for each in by_name[operation]["parameters"] if each["name"] == name)

    assert given("list_decisions", "limit") == {"type": "integer", "minimum": 1, "maximum": 1000}
    assert given("list_decisions", "after") == {"type": "integer", "minimum": 0, "maximum": 1 << 62}
    assert given("get_certificate", "horizon")["type"] == "integer" and given("decide", "receipt") == {"type": "boolean"}
    pattern = given("create_policy", "Idempotency-Key")["pattern"]
    for name in ("a-1", "two words", "", "x" * 255, "x" * 256):
        sent = one.post("/v1/clock/confirm", headers={"Idempotency-Key": name})
        assert (re.fullmatch(pattern, name) is not None) == (sent.status == 200), name
    schemas = result["components"]["schemas"]
    rows = schemas["DecideBatch"]["properties"]["decisions"]
    assert (rows["minItems"], rows["maxItems"]) == (1, one.get("/v1/limits").json["rows"])
    arms, open_arms = schemas["PolicyBody"]["properties"]["arms"]["anyOf"]
    assert open_arms == {"$ref": "#/components/schemas/OpenArmsBody"}
    assert schemas["OpenBody"]["properties"]["known"]["maximum"] == KNOWN
    assert {each["type"] for each in schemas["DecideBody"]["properties"]["arms"]["anyOf"]} == {"object", "array", "null"}
    assert (arms["minItems"], arms["maxItems"]) == (1, one.get("/v1/limits").json["arms"])
    for name in ("RewardBody", "RewardItem", "EventData"):
        either = [schemas[each["$ref"].rpartition("/")[2]] for each in schemas[name]["oneOf"]]
        assert [("reward" in each["properties"], "loss" in each["properties"]) for each in either] == [
            (True, False),
            (False, True),
        ]
        assert "reward" in either[0]["required"] and "loss" in either[1]["required"]
