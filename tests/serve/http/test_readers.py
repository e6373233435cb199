"""Nobody waits for somebody else's look: what is read from the journal delays no decision and no reward."""

import asyncio
import threading
from contextlib import contextmanager

import pytest
from support.serve.http_cases import decide


@contextmanager
def busy_readers(one, count):
    """Reads that end when this does, `count` of them, begun when it begins."""
    over, began = threading.Event(), threading.Semaphore(0)

    def wait(reader):
        began.release()
        assert over.wait(60)

    looks = [asyncio.run_coroutine_threadsafe(one.service.readers.scan(wait), one.service.loop) for _ in range(count)]
    try:
        assert began.acquire(timeout=30)
        yield
    finally:
        over.set()
        for look in looks:
            look.result(60)


@pytest.mark.parametrize("policies", [None, ["*"]])
def test_rewards_wait_for_no_reader(one, name, policies):
    asked = {"name": "k", "scopes": ["decide", "learn"], "policies": policies and [name]}
    key = one.post("/v1/keys", asked).json["key"]
    first, second = (decide(one, name)["id"] for _ in range(2))
    with busy_readers(one, 1):
        assert one.post(f"/v1/policies/{name}/decisions", {"context": 0.5}, key=key).status == 201
        assert one.post(f"/v1/decisions/{first}/reward", {"reward": 1}, key=key).status == 200
        rows = one.post("/v1/rewards", {"rewards": [{"decision": second, "reward": 1}]}, key=key).json["rows"]
        assert rows[0]["status"] == 200
        assert one.post(f"/v1/decisions/{second}/void", key=key).status in (204, 410)


def test_a_quick_look_waits_for_no_long_one(one, name):
    decision = decide(one, name)["id"]
    with busy_readers(one, 5):
        assert one.get(f"/v1/policies/{name}/decisions/{decision}").status == 200
        assert one.get("/v1/audit").status == 200
