"""Every endpoint, through a real socket."""

import pytest
from support.serve.http_cases import QUICK, decide

from hsb.serve.checking import check
from hsb.serve.store.sqlite import SqliteReader


def test_policies(one, name):
    response = one.get(f"/v1/policies/{name}")
    assert (
        response.json["arms"] == ["a", "b", "c"]
        and response.json["pending"] == 0
        and response.json["certificate"]["rounds"] == 0
    )
    assert name in [each["name"] for each in one.get("/v1/policies?limit=1000").json["policies"]]
    assert one.post("/v1/policies", {"name": name, "arms": ["a"]}).status == 409
    one.make(f"{name}-2")
    some = one.get("/v1/policies?limit=1")
    assert len(some.json["policies"]) == 1 and 'rel="next"' in some.headers["link"]
    changed = one.ask("PATCH", f"/v1/policies/{name}", {"floor": 0.3}, headers={"If-Match": response.headers["etag"]})
    assert changed.status == 200 and changed.json["floor"] == 0.3
    stale = one.ask("PATCH", f"/v1/policies/{name}", {"floor": 0.1}, headers={"If-Match": response.headers["etag"]})
    assert stale.status == 412 and one.get(f"/v1/policies/{name}").json["floor"] == 0.3
    decision = decide(one, name)
    assert one.ask("DELETE", f"/v1/policies/{name}").status == 204
    assert one.post(f"/v1/policies/{name}/decisions", {}).status == 410
    assert one.post(f"/v1/decisions/{decision['id']}/reward", {"reward": 1}).status == 200  # still taken


def test_arms(one, name):
    assert one.ask("PUT", f"/v1/policies/{name}/arms/d").status == 201
    assert one.ask("PUT", f"/v1/policies/{name}/arms/d").status == 200
    assert one.ask("PUT", f"/v1/policies/{name}/arms/50%25%20off%2Fnow").json["arms"][-1] == "50% off/now"
    for arm in ("a", "b", "c", "50%25%20off%2Fnow"):
        assert one.ask("DELETE", f"/v1/policies/{name}/arms/{arm}").status == 204
    assert one.ask("DELETE", f"/v1/policies/{name}/arms/d").status == 409
    assert one.ask("DELETE", f"/v1/policies/{name}/arms/e").status == 404
    assert decide(one, name)["arm"] == "d"


def test_problems_are_kept(one, name):
    for _ in range(12):
        one.post(f"/v1/policies/{name}/decisions", {"available": ["z"]})
    (result,) = one.get(f"/v1/policies/{name}/rejections").json["rejections"]
    assert result["kind"] == "unknown-arm" and result["count"] == 12 and len(result["first"]) == 10 and len(result["last"]) == 2


def test_candidates(one, name):
    p = f"/v1/policies/{name}"
    reply = one.post(f"{p}/candidates", {"name": "slow", "policy": {"kind": "Exp3", "learning_rate": 0.01}})
    assert reply.status == 201 and one.post(f"{p}/candidates", {"name": "slow", "policy": QUICK}).status == 409
    for k in range(3):
        decided = decide(one, name)
        one.post(f"/v1/decisions/{decided['id']}/reward", {"reward": k % 2})
    response = one.get(f"{p}/candidates/slow").json
    assert response["updates_valued"] == 3 and response["played_value"] == pytest.approx(1 / 3)
    about = response["difference"]
    assert (about["updates"], about["since"], about["error"], about["why_not"]) == (3, 2, 0.05, "")
    assert -1.0 <= about["low"] < about["value"] < about["high"] <= 1.0
    assert one.post(f"{p}/candidates/slow/promote").status == 200
    (before,) = one.get(f"{p}/candidates").json["candidates"]
    assert before["name"].startswith("before-")
    assert one.ask("DELETE", f"{p}/candidates/{before['name']}").status == 204
    assert one.post(f"{p}/candidates/slow/promote").status == 404


def test_features_can_be_declared(one):
    kinds = {"age": "number", "country": "category", "hour": {"kind": "cycle", "period": 24}, "at": "time", "kinds": "flag"}
    one.make("declared", policy={"kind": "HSB", "features": kinds})
    url = "/v1/policies/declared/decisions"
    for given in ({"age": 31, "at": "2026-11-16T09:30"}, {"hour": 25, "kinds": True}, {"at": "09:30"}, {}):
        assert one.post(url, {"context": given}).status == 201
    for given, why in (
        ({"agee": 31}, "Did you mean 'age'?"),
        ({"at": "soon"}, "the text 'soon', which is no time. Write times as in '2026-11-16T09:30'"),
        ({"age": "31"}, "'age' is declared a number; given"),
    ):
        response = one.post(url, {"context": given})
        assert response.status == 422 and why in response.json["detail"], response.json
    for features, why in (
        ({"age": "nmber"}, "policy: features.age: kind: must be one of number, category"),
        ({"hour": "cycle"}, "policy: features.hour: period: is missing; a cycle needs one."),
        ({"hour": {"kind": "cycle", "perod": 24}}, "policy: features.hour: perod: unknown key. The keys are period."),
        (["age"], "policy.features must be an object"),
    ):
        body = {"name": "undeclared", "arms": ["a", "b"], "policy": {"features": features}}
        response = one.post("/v1/policies", body)
        assert response.status == 422 and why in response.json["detail"], response.json


def test_openapi_and_docs(one):
    response = one.get("/openapi.json", key=None).json
    assert response["openapi"] == "3.1.0" and len(response["paths"]) > 30
    body = response["components"]["schemas"]["DecideBody"]
    assert body["additionalProperties"] is False and "min_version" in body["properties"]
    page = one.get("/docs", key=None)
    assert b"/v1/policies/{policy}/decisions" in page.raw and b"http://" not in page.raw and b"<script" not in page.raw
    assert "default-src 'self'" in page.headers["content-security-policy"]


def test_all_of_it_follows(one):
    """Last: what all the tests above did can be made again from the journal."""
    reader = SqliteReader(one.service.path)
    report = check(reader)
    reader.close()
    assert report.sound, str(report)
