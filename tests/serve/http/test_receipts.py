"""A real process that answers with receipts, killed under load: what it answered can be rewarded, once, and is what was answered."""

import http.client
import threading
from types import SimpleNamespace

from support.serve.processes import ARMS, Process, sound
from support.waiting import wait_until

SPEC = {"arms": list(ARMS), "policy": {"kind": "Exp3"}, "durability": "receipt"}


def decided(service, made):
    """Decide until the service is gone; note what was answered."""
    k = 0
    try:
        while True:
            k += 1
            status, body = service.ask("POST", "/v1/policies/home/decisions", {"context": k / 1000})
            assert status == 201 and body["receipt"]
            made.append(body)
    except (OSError, http.client.HTTPException):
        pass


def test_a_kill_takes_no_reward(tmp_path):
    path, made = tmp_path / "hsb.db", []
    for _ in range(3):
        service = Process(path)
        service.make(home=SPEC)
        for body in made:  # of the process before
            given = {"reward": 1, "receipt": body["receipt"]}
            status, result = service.ask("POST", f"/v1/decisions/{body['id']}/reward", given)
            assert status == 200 and result["status"] == "learned", result
        if made:
            messages = [("decision", body["id"], "home", body["arm"], body["propensity"]) for body in made]
            sound(path, SimpleNamespace(said=messages, strange=[]))
        made = []
        clients = [threading.Thread(target=decided, args=(service, made)) for _ in range(4)]
        for client in clients:
            client.start()
        wait_until(lambda made=made: len(made) >= 100)
        service.kill()
        for client in clients:
            client.join()
        assert len(made) >= 100
