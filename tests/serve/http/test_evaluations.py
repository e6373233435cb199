"""Evaluations through a real socket: queued, read, cancelled."""

from support.serve.http_cases import decide
from support.waiting import wait_until


def ended(job):
    """The job if it waits and runs no more."""
    return None if job["status"] in ("waiting", "running") else job


def test_evaluations(one, name):
    p = f"/v1/policies/{name}"
    for k in range(20):
        decision = decide(one, name, context={"age": k})
        one.post(f"/v1/decisions/{decision['id']}/reward", {"reward": float(decision["arm"] == "a")})
    asked = one.post(f"{p}/evaluations", {"candidates": {"even": {"uniform": True}, "a": {"arm": "a"}}, "estimator": "ips"})
    assert asked.status == 202
    result = wait_until(lambda: ended(one.get(asked.headers["location"]).json))
    assert result["status"] == "done", result
    assert result["result"]["updates"] == 20 and result["result"]["candidates"]["a"]["value"] > 0.5
    assert one.get(f"{p}/evaluations").json["evaluations"][0]["id"] == result["id"]
    assert one.ask("DELETE", asked.headers["location"]).status == 204 and one.get(asked.headers["location"]).status == 404
    wrong = one.post(f"{p}/evaluations", {"candidates": {"x": {"arm": "z"}}})
    assert wrong.status == 422 and "candidates.x" in wrong.json["detail"]


def test_an_evaluation_can_be_stopped(one, name):
    asked = one.post(f"/v1/policies/{name}/evaluations", {"candidates": {"even": {"uniform": True}}})
    assert one.ask("DELETE", asked.headers["location"]).status == 204
    assert one.get(asked.headers["location"]).json["status"] == "cancelled"
