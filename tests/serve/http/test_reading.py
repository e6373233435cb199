"""Endpoints that read: tags, lists, versions, rules, through a real socket."""

import json

import pytest
from support.serve.http_cases import decide, running

from hsb.serve.http import ServerSettings


def test_etags(one, name):
    url = f"/v1/policies/{name}"
    tag = one.get(url).headers["etag"]
    for same in (tag, "*", f'"x", {tag}', f"W/{tag}"):
        response = one.get(url, headers={"If-None-Match": same})
        assert response.status == 304 and response.raw == b"" and response.headers["etag"] == tag
    assert one.get(url, headers={"If-None-Match": '"x"'}).status == 200
    assert one.ask("PATCH", url, {"floor": 0.1}, headers={"If-Match": '"x"'}).status == 412
    response = one.ask("PATCH", url, {"floor": 0.1}, headers={"If-Match": f'"x", {tag}'})
    assert response.status == 200 and response.headers["etag"] != tag
    assert one.ask("PATCH", url, {"floor": 0.2}, headers={"If-Match": tag}).status == 412
    assert one.get(url, headers={"If-None-Match": tag}).status == 200


def test_lists_lead_on(one, name):
    for k in range(5):
        one.post(f"/v1/policies/{name}/decisions", {"context": k})
        one.ask("PATCH", f"/v1/policies/{name}", {"floor": k / 10})
    for path, what, whole in (
        (f"/v1/policies/{name}/decisions?limit=2&newest=true", "decisions", 5),
        (f"/v1/audit?limit=2&policy={name}", "audit_entries", 6),
    ):
        rows = []
        while path is not None:
            response = one.get(path)
            rows += response.json[what]
            link = response.headers.get("link")
            assert link is None or link.endswith('; rel="next"')
            path = None if link is None else link[1 : link.index(">")]
        assert len(rows) == whole == len({json.dumps(row) for row in rows})


def test_rules_have_a_limit_of_time(tmp_path):
    with running(tmp_path / "hsb.db", ServerSettings(read_seconds=0.05)) as one:
        one.make(policy={"kind": "HSB"})
        reply = one.post("/v1/policies/home/decisions", {"context": {"x": 1}}).json
        one.post(f"/v1/decisions/{reply['id']}/reward", {"reward": 1})
        response = one.get("/v1/policies/home/rules")
        assert response.status == 503 and response.headers["retry-after"] == "60" and "took longer" in response.json["detail"]


def test_what_can_be_read(one, name):
    for k in range(6):
        decision = decide(one, name, context=k / 6)
        one.post(f"/v1/decisions/{decision['id']}/reward", {"reward": k % 2})
    p = f"/v1/policies/{name}"
    listed = one.get(f"{p}/decisions?limit=4")
    assert len(listed.json["decisions"]) == 4
    rest = one.get(f"{p}/decisions?after={listed.json['next']}&limit=4").json["decisions"]
    assert len(rest) == 2 and one.get(f"{p}/decisions?newest=true&limit=1").json["decisions"][0] == rest[-1]
    last = one.get(f"{p}/decisions/{rest[-1]['id']}?recompute=true").json
    assert last["recomputed"] == {
        "arm": last["arm"],
        "propensity": last["propensity"],
        "u": last["u"],
        "same": True,
        "replayed_from": 0,
    }
    assert sum(one.get(f"{p}/probabilities?context=0.3").json["probabilities"].values()) == pytest.approx(1)
    only = one.get(f"{p}/probabilities?context=0.3&available=a,b").json["probabilities"]
    assert set(only) == {"a", "b"}
    assert one.get(f"{p}/certificate").json["certificate"]["rounds"] == 6
    assert "Exp3, which has no rules" in one.get(f"{p}/rules").json["detail"]
    (bucket,) = one.get(f"{p}/stats?bucket=1d").json["buckets"][-1:]
    assert bucket["decisions"] == bucket["updates"] == 6 and bucket["reward"] == 3


def test_rules(one):
    one.make("ruled", policy={"kind": "HSB", "structure": {"kind": "BinaryTree", "depth": 3}})
    decision = decide(one, "ruled")
    one.post(f"/v1/decisions/{decision['id']}/reward", {"reward": 1})
    response = one.get("/v1/policies/ruled/rules").json
    assert response["version"] == 2 and any("play" in line for line in response["rules"])
