"""Decisions and rewards, one and many, through a real socket."""

import threading
import time

from support.serve.http_cases import decide
from support.waiting import LIMIT, wait_until


def test_a_decision_and_its_reward(one, name):
    decision = decide(one, name, id=f"{name}-1")
    assert (
        decision["arm"] in "abc"
        and decision["propensity"] == 1 / 3
        and decision["version"] == 1
        and decision["deadline"].endswith("Z")
    )
    again = one.post(f"/v1/policies/{name}/decisions", {"context": 0.5, "id": f"{name}-1"})
    assert again.status == 200 and again.json == decision
    other = one.post(f"/v1/policies/{name}/decisions", {"context": 0.6, "id": f"{name}-1"})
    assert other.status == 409 and other.json["type"] == "/problems/conflict"
    response = one.post(f"/v1/decisions/{decision['id']}/reward", {"reward": 1})
    assert response.status == 200 and response.json == {
        "decision": decision["id"],
        "status": "learned",
        "policy": name,
        "learned_at_version": 2,
    }
    assert one.post(f"/v1/decisions/{decision['id']}/reward", {"reward": 1}).json["status"] == "duplicate"
    assert one.post(f"/v1/decisions/{decision['id']}/reward", {"reward": 0.5}).status == 409
    late = one.post(f"/v1/decisions/{decision['id']}/reward", {"reward": 0.5, "id": "2"})
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
    wait_until(lambda: not (one.get("/v1/policies/waits").json["updates"] < 2))
    assert one.post(f"/v1/decisions/{second['id']}/reward", {"reward": 1}).status == 410
    response = one.get(f"/v1/policies/waits/decisions/{second['id']}").json
    assert response["state"] == "learned" and response["defaulted"] and response["rewards"][0]["late"]


def test_batches(one, name):
    rows = [{"context": k / 10, "id": f"{name}-{k}"} for k in range(5)] + [{"available": ["z"]}]
    response = one.post(f"/v1/policies/{name}/decisions/batch", {"decisions": rows})
    assert response.status == 200 and [row["status"] for row in response.json["rows"]] == [201] * 5 + [422]
    assert response.json["rows"][5]["problem"]["pointer"] == "/available/0"
    given = [{"decision": f"{name}-{k}", "reward": k % 2} for k in range(5)] + [{"decision": "nobody", "reward": 1}]
    response = one.post("/v1/rewards", {"rewards": given})
    assert [row["status"] for row in response.json["rows"]] == [200] * 5 + [404]
    assert [row["result"]["learned_at_version"] for row in response.json["rows"][:5]] == [2, 3, 4, 5, 6]


def test_activate_and_void(one, name):
    shown, never = decide(one, name, activate=False), decide(one, name)
    assert one.post(f"/v1/decisions/{shown['id']}/activate").status == 204
    assert one.post(f"/v1/decisions/{never['id']}/void").status == 204
    assert one.post(f"/v1/decisions/{never['id']}/reward", {"reward": 1}).status == 410
    assert one.get(f"/v1/policies/{name}/decisions/{never['id']}").json["state"] == "void"
    assert one.post("/v1/decisions/nobody/void").status == 404


def test_min_version(one, name):
    decision = decide(one, name)
    one.post(f"/v1/decisions/{decision['id']}/reward", {"reward": 1})
    assert decide(one, name, min_version=2)["version"] == 2
    began = time.monotonic()
    late = one.post(f"/v1/policies/{name}/decisions", {"min_version": 3})
    assert late.status == 412 and late.json["type"] == "/problems/version-not-reached" and time.monotonic() - began >= 0.2


def test_min_version_waits(one, name, monkeypatch):
    url = f"/v1/policies/{name}/decisions"
    before = time.monotonic()
    response = one.post(url, {"context": 1, "min_version": 5})
    assert response.status == 412 and response.json["type"] == "/problems/version-not-reached" and response.json["version"] == 1
    assert time.monotonic() - before > 0.15  # it has waited
    monkeypatch.setattr(one.service, "settings", one.service.settings._replace(version_seconds=LIMIT))
    threading.Timer(0.02, lambda: one.ask("PATCH", f"/v1/policies/{name}", {"floor": 0.1})).start()
    response = one.post(url, {"context": 1, "min_version": 2})
    assert response.status == 201 and response.json["version"] == 2
