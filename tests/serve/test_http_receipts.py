"""A real process that answers with receipts, killed under load: what it answered can be rewarded, once, and is what was answered."""

import http.client
import threading
import time

from test_http_process import Process, sound


def decided(service, made):
    """Decide until the service is gone; note what was answered."""
    connection, k = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10), 0
    try:
        while True:
            k += 1
            status, body = service.ask(connection, "POST", "/v1/policies/home/decisions", {"context": k / 1000})
            assert status == 201 and body["receipt"]
            made.append(body)
    except (OSError, http.client.HTTPException):
        pass
    finally:
        connection.close()


def test_a_kill_takes_no_reward(tmp_path):
    path, made = tmp_path / "hsb.db", []
    for round in range(3):
        service = Process(path)
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)
        spec = {"name": "home", "arms": ["a", "b", "c"], "policy": {"kind": "Exp3"}, "durability": "receipt"}
        assert service.ask(connection, "POST", "/v1/policies", spec)[0] == (201 if round == 0 else 409)
        for body in made:  # of the process before
            given = {"reward": 1, "receipt": body["receipt"]}
            status, found = service.ask(connection, "POST", f"/v1/decisions/{body['id']}/reward", given)
            assert status == 200 and found["status"] == "learned", found
        if made:
            sound(path, [("decision", body["id"], body["arm"], body["propensity"]) for body in made])
        made = []
        clients = [threading.Thread(target=decided, args=(service, made)) for _ in range(4)]
        for client in clients:
            client.start()
        until = time.monotonic() + 20
        while len(made) < 100 and time.monotonic() < until:
            time.sleep(0.01)
        service.process.kill()
        for client in clients:
            client.join()
        service.process.communicate()
        connection.close()
        assert len(made) >= 100
