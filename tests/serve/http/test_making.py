"""Policies that are asked for, and files that are sent, are made and read beside the event loop, one at a time and within bounds."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.serve.http_cases import decide

import hsb
from hsb.files.policy_file import pack

BINARY = {"Content-Type": "application/octet-stream"}
WIDE = {f"c{i}": {"kind": "category", "limit": 65536} for i in range(1000)}


def test_a_candidate_that_asks_for_gigabytes_is_refused_when_it_is_asked_for(one, name):
    key = one.post("/v1/keys", {"name": "k", "scopes": ["evaluate"], "policies": [name]}).json["key"]
    for more in ({}, {"other": {"uniform": True}}):
        asked = {"candidates": {"x": {"kind": "HSB", "features": WIDE}, **more}}
        refused = one.post(f"/v1/policies/{name}/evaluations", asked, key=key)
        assert refused.status == 422 and "256 MB" in refused.json["detail"]
    assert one.get(f"/v1/policies/{name}/evaluations", key=key).json["evaluations"] == []


def test_a_policy_that_asks_for_gigabytes_is_not_made(one, name):
    for path, body in (("", {"name": "wide", "arms": ["a"], "policy": {"features": WIDE}}),
                       (f"/{name}/candidates", {"name": "wide", "policy": {"features": WIDE}})):  # fmt: skip
        refused = one.post(f"/v1/policies{path}", body)
        assert refused.status == 422 and "256 MB" in refused.json["detail"]


def test_nobody_waits_for_what_is_made(one, name):
    """While something is being made, evaluations and files wait for their turn, decisions and rewards do not."""
    over, began = threading.Event(), threading.Event()

    def wait():
        began.set()
        assert over.wait(60)

    url = f"/v1/policies/{name}"
    file = pack(hsb.Exp3(arms=["a", "b", "c"], seed=0))
    with ThreadPoolExecutor(3) as threads:
        result = one.service.making.submit(wait)
        assert began.wait(30)
        try:
            waiting = [
                threads.submit(one.post, f"{url}/evaluations", {"candidates": {"x": {"kind": "Exp3"}}}),
                threads.submit(one.ask, "PUT", f"{url}/state", raw=file, headers=BINARY),
            ]
            for _ in range(20):
                decided = decide(one, name)
                assert one.post(f"/v1/decisions/{decided['id']}/reward", {"reward": 1}).status == 200
            assert not any(each.done() for each in waiting)
        finally:
            over.set()
        result.result(30)
        asked, imported = (each.result(30) for each in waiting)
    assert asked.status == 202 and imported.status == 200
    assert one.ask("DELETE", asked.headers["location"]).status == 204
    assert one.get(f"{url}?digest=true").json["digests"][""] == hsb.Exp3(arms=["a", "b", "c"], seed=0).digest()


def test_a_file_that_was_read_is_the_one_that_is_taken(one, name):
    """Two files, the second of which is refused: what plays is the first, and nothing of the second is left."""
    url, policy = f"/v1/policies/{name}", hsb.Exp3(arms=["a", "b", "c"], seed=0)
    for _ in range(5):
        policy.learn(policy.decide(None), reward=1.0)
    assert one.ask("PUT", f"{url}/state", raw=pack(policy), headers=BINARY).status == 200
    refused = one.ask("PUT", f"{url}/state", raw=pack(hsb.Exp3(arms=["x"], seed=0)), headers=BINARY)
    assert refused.status == 422 and "arms are 'x'" in refused.json["detail"]
    assert one.get(f"{url}?digest=true").json["digests"][""] == policy.digest()
    assert one.service.core.policies[name].arriving == (b"", None)


@pytest.mark.parametrize("limit", [1 << 20])
def test_a_file_may_take_so_much(monkeypatch, limit):
    from hsb.serve.core import policy_state

    data = pack(hsb.HSB(arms=2, seed=0))
    assert policy_state.read_file(data).arms == [0, 1]
    monkeypatch.setattr(policy_state, "MOST_READ", limit)
    with pytest.raises(hsb.FileError, match="out of proportion to the size"):
        policy_state.read_file(data)
