"""Every endpoint, through a real socket."""

import json
import time

import pytest
from support.serve.http_cases import QUICK, decide

import hsb
import hsb.logs
from hsb.serve.checking import check
from hsb.serve.store.sqlite import SqliteReader


def test_a_decision_and_its_reward(one, name):
    made = decide(one, name, id=f"{name}-1")
    assert made["arm"] in "abc" and made["propensity"] == 1 / 3 and made["version"] == 1 and made["deadline"].endswith("Z")
    again = one.post(f"/v1/policies/{name}/decisions", {"context": 0.5, "id": f"{name}-1"})
    assert again.status == 200 and again.json == made
    other = one.post(f"/v1/policies/{name}/decisions", {"context": 0.6, "id": f"{name}-1"})
    assert other.status == 409 and other.json["type"] == "/problems/conflict"
    found = one.post(f"/v1/decisions/{made['id']}/reward", {"reward": 1})
    assert found.status == 200 and found.json == {
        "decision": made["id"],
        "status": "learned",
        "policy": name,
        "learned_at_version": 2,
    }
    assert one.post(f"/v1/decisions/{made['id']}/reward", {"reward": 1}).json["status"] == "duplicate"
    assert one.post(f"/v1/decisions/{made['id']}/reward", {"reward": 0.5}).status == 409
    late = one.post(f"/v1/decisions/{made['id']}/reward", {"reward": 0.5, "id": "2"})
    assert late.status == 410 and late.json["type"] == "/problems/feedback-closed"
    assert one.post("/v1/decisions/nobody/reward", {"reward": 1}).status == 404


def test_a_fresh_id_is_a_uuid_of_version_7(one, name):
    ids = [decide(one, name)["id"] for _ in range(3)]
    assert len(set(ids)) == 3 and all(each[14] == "7" and each[19] in "89ab" for each in ids)
    assert abs(int(ids[0].replace("-", "")[:12], 16) / 1000 - time.time()) < 60


def test_accepted_until_the_deadline(one):
    one.make("waits", feedback={"wait": 0.3, "default_reward": 0})
    first, second = decide(one, "waits"), decide(one, "waits")
    assert one.post(f"/v1/decisions/{first['id']}/reward", {"reward": True}).status == 202
    until = time.monotonic() + 10
    while one.get("/v1/policies/waits").json["updates"] < 2:
        assert time.monotonic() < until
        time.sleep(0.02)
    assert one.post(f"/v1/decisions/{second['id']}/reward", {"reward": 1}).status == 410
    found = one.get(f"/v1/policies/waits/decisions/{second['id']}").json
    assert found["state"] == "learned" and found["defaulted"] and found["rewards"][0]["late"]


def test_batches(one, name):
    rows = [{"context": k / 10, "id": f"{name}-{k}"} for k in range(5)] + [{"available": ["z"]}]
    found = one.post(f"/v1/policies/{name}/decisions/batch", {"decisions": rows})
    assert found.status == 200 and [row["status"] for row in found.json["rows"]] == [201] * 5 + [422]
    assert found.json["rows"][5]["problem"]["pointer"] == "/available/0"
    given = [{"decision": f"{name}-{k}", "reward": k % 2} for k in range(5)] + [{"decision": "nobody", "reward": 1}]
    found = one.post("/v1/rewards", {"rewards": given})
    assert [row["status"] for row in found.json["rows"]] == [200] * 5 + [404]
    assert [row["result"]["learned_at_version"] for row in found.json["rows"][:5]] == [2, 3, 4, 5, 6]


def test_activate_and_void(one, name):
    shown, never = decide(one, name, activate=False), decide(one, name)
    assert one.post(f"/v1/decisions/{shown['id']}/activate").status == 204
    assert one.post(f"/v1/decisions/{never['id']}/void").status == 204
    assert one.post(f"/v1/decisions/{never['id']}/reward", {"reward": 1}).status == 410
    assert one.get(f"/v1/policies/{name}/decisions/{never['id']}").json["state"] == "void"
    assert one.post("/v1/decisions/nobody/void").status == 404


def test_policies(one, name):
    found = one.get(f"/v1/policies/{name}")
    assert found.json["arms"] == ["a", "b", "c"] and found.json["pending"] == 0 and found.json["certificate"]["rounds"] == 0
    assert name in [each["name"] for each in one.get("/v1/policies?limit=1000").json["policies"]]
    assert one.post("/v1/policies", {"name": name, "arms": ["a"]}).status == 409
    some = one.get("/v1/policies?limit=1")
    assert len(some.json["policies"]) == 1 and 'rel="next"' in some.headers["link"]
    changed = one.ask("PATCH", f"/v1/policies/{name}", {"floor": 0.3}, headers={"If-Match": found.headers["etag"]})
    assert changed.status == 200 and changed.json["floor"] == 0.3
    stale = one.ask("PATCH", f"/v1/policies/{name}", {"floor": 0.1}, headers={"If-Match": found.headers["etag"]})
    assert stale.status == 412 and one.get(f"/v1/policies/{name}").json["floor"] == 0.3
    made = decide(one, name)
    assert one.ask("DELETE", f"/v1/policies/{name}").status == 204
    assert one.post(f"/v1/policies/{name}/decisions", {}).status == 410
    assert one.post(f"/v1/decisions/{made['id']}/reward", {"reward": 1}).status == 200  # still taken


def test_arms(one, name):
    assert one.ask("PUT", f"/v1/policies/{name}/arms/d").status == 201
    assert one.ask("PUT", f"/v1/policies/{name}/arms/d").status == 200
    assert one.ask("PUT", f"/v1/policies/{name}/arms/50%25%20off%2Fnow").json["arms"][-1] == "50% off/now"
    for arm in ("a", "b", "c", "50%25%20off%2Fnow"):
        assert one.ask("DELETE", f"/v1/policies/{name}/arms/{arm}").status == 204
    assert one.ask("DELETE", f"/v1/policies/{name}/arms/d").status == 409
    assert one.ask("DELETE", f"/v1/policies/{name}/arms/e").status == 404
    assert decide(one, name)["arm"] == "d"


def test_min_version(one, name):
    made = decide(one, name)
    one.post(f"/v1/decisions/{made['id']}/reward", {"reward": 1})
    assert decide(one, name, min_version=2)["version"] == 2
    began = time.monotonic()
    late = one.post(f"/v1/policies/{name}/decisions", {"min_version": 3})
    assert late.status == 412 and late.json["type"] == "/problems/version-not-reached" and time.monotonic() - began >= 0.2


def test_what_can_be_read(one, name):
    for k in range(6):
        made = decide(one, name, context=k / 6)
        one.post(f"/v1/decisions/{made['id']}/reward", {"reward": k % 2})
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
    made = decide(one, "ruled")
    one.post(f"/v1/decisions/{made['id']}/reward", {"reward": 1})
    found = one.get("/v1/policies/ruled/rules").json
    assert found["version"] == 2 and any("play" in line for line in found["rules"])


def test_problems_are_kept(one, name):
    for _ in range(12):
        one.post(f"/v1/policies/{name}/decisions", {"available": ["z"]})
    (found,) = one.get(f"/v1/policies/{name}/rejections").json["rejections"]
    assert found["kind"] == "unknown-arm" and found["count"] == 12 and len(found["first"]) == 10 and len(found["last"]) == 2


def test_journal_export_snapshots_state(one, name, tmp_path):
    for k in range(4):
        made = decide(one, name, context={"age": k})
        one.post(f"/v1/decisions/{made['id']}/reward", {"reward": k % 2})
    p = f"/v1/policies/{name}"
    lines = [json.loads(line) for line in one.get(f"{p}/journal").raw.splitlines()]
    assert [line["seq"] for line in lines] == [1, 2, 3, 4, 5] and lines[4]["decision"]["context"] == {"age": 3}
    assert len(one.get(f"{p}/journal?after=3&limit=1").raw.splitlines()) == 1
    (tmp_path / "log.dsjson").write_bytes(one.get(f"{p}/export").raw)
    (batch,) = hsb.logs.open(tmp_path / "log.dsjson")
    assert batch.reward.tolist() == [0, 1, 0, 1]
    parquet = one.get(f"{p}/export?format=parquet")
    assert parquet.raw[:4] == b"PAR1" or "pyarrow" in parquet.json["detail"]
    assert one.get(f"{p}/export?format=csv").status == 422
    taken = one.post(f"{p}/snapshots")
    assert taken.status == 201 and one.get(f"{p}/snapshots").json["snapshots"][0]["seq"] == 5
    file = one.get(taken.headers["location"])
    (tmp_path / "home.hsb").write_bytes(file.raw)
    policy = hsb.load(tmp_path / "home.hsb")
    assert policy.digest() == file.headers["x-hsb-digest"] == one.get(f"{p}?digest=true").json["digests"][""]
    assert policy.rounds == 4 and one.get(f"{p}/snapshots/4.hsb").status == 404
    binary = {"Content-Type": "application/octet-stream"}
    assert one.ask("PUT", f"{p}/state", raw=file.raw, headers=binary).json["version"] == 6
    broken = one.ask("PUT", f"{p}/state", raw=file.raw[:-40], headers=binary)
    assert broken.status == 422 and "policy file" in broken.json["detail"]


def test_candidates(one, name):
    p = f"/v1/policies/{name}"
    made = one.post(f"{p}/candidates", {"name": "slow", "policy": {"kind": "Exp3", "learning_rate": 0.01}})
    assert made.status == 201 and one.post(f"{p}/candidates", {"name": "slow", "policy": QUICK}).status == 409
    for k in range(3):
        decided = decide(one, name)
        one.post(f"/v1/decisions/{decided['id']}/reward", {"reward": k % 2})
    found = one.get(f"{p}/candidates/slow").json
    assert found["updates_valued"] == 3 and found["played_value"] == pytest.approx(1 / 3)
    about = found["difference"]
    assert (about["updates"], about["since"], about["error"], about["why_not"]) == (3, 2, 0.05, "")
    assert -1.0 <= about["low"] < about["value"] < about["high"] <= 1.0
    assert one.post(f"{p}/candidates/slow/promote").status == 200
    (before,) = one.get(f"{p}/candidates").json["candidates"]
    assert before["name"].startswith("before-")
    assert one.ask("DELETE", f"{p}/candidates/{before['name']}").status == 204
    assert one.post(f"{p}/candidates/slow/promote").status == 404


def test_evaluations(one, name):
    p = f"/v1/policies/{name}"
    for k in range(20):
        made = decide(one, name, context={"age": k})
        one.post(f"/v1/decisions/{made['id']}/reward", {"reward": float(made["arm"] == "a")})
    asked = one.post(f"{p}/evaluations", {"candidates": {"even": {"uniform": True}, "a": {"arm": "a"}}, "estimator": "ips"})
    assert asked.status == 202
    until = time.monotonic() + 60
    while (found := one.get(asked.headers["location"]).json)["status"] in ("waiting", "running"):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert found["status"] == "done", found
    assert found["result"]["updates"] == 20 and found["result"]["candidates"]["a"]["value"] > 0.5
    assert one.get(f"{p}/evaluations").json["evaluations"][0]["id"] == found["id"]
    assert one.ask("DELETE", asked.headers["location"]).status == 204 and one.get(asked.headers["location"]).status == 404
    wrong = one.post(f"{p}/evaluations", {"candidates": {"x": {"arm": "z"}}})
    assert wrong.status == 422 and "candidates.x" in wrong.json["detail"]


def test_an_evaluation_can_be_stopped(one, name):
    asked = one.post(f"/v1/policies/{name}/evaluations", {"candidates": {"even": {"uniform": True}}})
    assert one.ask("DELETE", asked.headers["location"]).status == 204
    assert one.get(asked.headers["location"]).json["status"] == "cancelled"


def test_health_limits_metrics_audit_entries_clock(one, name):
    assert one.get("/healthz", key=None).json["status"] == "ok" and one.get("/readyz", key=None).json["status"] == "ready"
    assert one.get("/v1/limits").json["waiting"] == 4096
    decide(one, name)
    text = one.get("/metrics").raw.decode()
    assert f'hsb_policy_version{{policy="{name}"}} 1.0' in text and "hsb_commit_seconds_count" in text
    audit_entries = one.get(f"/v1/audit?policy={name}").json["audit_entries"]
    assert audit_entries[0]["what"] == "Create" and audit_entries[0]["who"] == "first"
    assert one.post("/v1/clock/confirm").json == {"held": False}


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
        found = one.post(url, {"context": given})
        assert found.status == 422 and why in found.json["detail"], found.json
    for features, why in (
        ({"age": "nmber"}, "policy: features.age: kind: must be one of number, category"),
        ({"hour": "cycle"}, "policy: features.hour: period: is missing; a cycle needs one."),
        ({"hour": {"kind": "cycle", "perod": 24}}, "policy: features.hour: perod: unknown key. The keys are period."),
        (["age"], "policy.features must be an object"),
    ):
        body = {"name": "undeclared", "arms": ["a", "b"], "policy": {"features": features}}
        found = one.post("/v1/policies", body)
        assert found.status == 422 and why in found.json["detail"], found.json


def test_openapi_and_docs(one):
    found = one.get("/openapi.json", key=None).json
    assert found["openapi"] == "3.1.0" and len(found["paths"]) > 30
    body = found["components"]["schemas"]["DecideBody"]
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
