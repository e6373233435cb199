"""What every endpoint does with a request: read its body, name it, answer faults."""

import json
import socket
from contextlib import suppress

import pytest
from support.serve.http_cases import DECIDE, connected, running
from support.waiting import LIMIT, wait_until

from hsb.serve.http import ServerSettings
from hsb.serve.http.readers import Readers

SMALL = ServerSettings(header_seconds=1.0, body_seconds=1.0, connections=40, body=2000, batch_body=20_000, rows=50, numbers=20)


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db", SMALL) as result:
        result.make()
        yield result


@pytest.mark.parametrize("raw", [b"", b"{", b'{"context": NaN}', b"\xff\xfe", b'{"id": "\\ud800"}'])
def test_not_json(one, raw):
    response = one.post(DECIDE, raw=raw)
    assert response.status == 400 and response.json["type"] == "/problems/not-json"


def test_types_and_sizes(one):
    assert one.post(DECIDE, raw="context=1", headers={"Content-Type": "text/xml"}).status == 415
    assert one.post(DECIDE, {"context": "x" * 3000}).status == 413
    large = one.post(DECIDE, raw=iter([b'{"context": "', b"x" * 3000, b'"}']))
    assert large.status == 413
    one.connections.one.close()
    assert one.post(DECIDE, raw=iter([b'{"context"', b": 1}"])).status == 201


def test_request_ids(one):
    assert one.get("/healthz", headers={"X-Request-Id": "mine-1"}).headers["x-request-id"] == "mine-1"
    assert one.get("/healthz", headers={"X-Request-Id": "not mine"}).headers["x-request-id"] != "not mine"


def test_a_fault_is_500_and_logged(tmp_path, monkeypatch, capfd):
    async def fault(*_):
        raise ZeroDivisionError("oh")

    with running(tmp_path / "hsb.db") as one:
        one.make()
        monkeypatch.setattr(Readers, "quick", fault)
        monkeypatch.setattr(Readers, "scan", fault)
        response = one.get("/v1/policies/home")
        assert response.status == 500 and "oh" not in response.raw.decode()
        line = next(json.loads(line) for line in capfd.readouterr().err.splitlines() if '"fault"' in line)
        assert line["kind"] == "ZeroDivisionError" and line["request"] == response.json["request_id"]
        assert one.key not in json.dumps(line)


def test_a_client_that_leaves(one):
    """Its decision is made, nobody is told, nothing breaks."""
    body = json.dumps({"id": "left"}).encode()
    head = f"POST {DECIDE} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {one.key}\r\ncontent-length: {len(body)}\r\n\r\n"
    with connected(one) as gone:
        gone.sendall(head.encode() + body)
    wait_until(lambda: one.get(DECIDE + "/left").status == 200)
    assert one.post(DECIDE, {"id": "left"}).status == 200


def test_a_client_that_reads_nothing(tmp_path):
    """It is given up after a while, and the reading of the journal with it."""
    with running(tmp_path / "hsb.db", ServerSettings(send_seconds=0.5)) as one:
        one.make()
        for _ in range(4):
            rows = [{"context": "x" * 4000} for _ in range(200)]
            response = one.post(DECIDE + "/batch", {"decisions": rows}).json["rows"]
            one.post("/v1/rewards", {"rewards": [{"decision": row["result"]["id"], "reward": 1} for row in response]})
        asked = f"GET /v1/policies/home/journal HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {one.key}\r\n\r\n".encode()
        many = []
        for _ in range(5):
            slow = socket.socket()
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", one.port))
            slow.sendall(asked)
            many.append(slow)
        assert one.post(DECIDE, {}).status == 201
        whole = one.get("/v1/policies/home/journal").raw
        assert len(whole.splitlines()) == 801
        wait_until(lambda: len(one.server.server_state.connections) == 1)  # ours: it has hung up on the others
        for slow in many:
            slow.settimeout(LIMIT)
            got = 0
            with suppress(OSError):
                while part := slow.recv(1 << 16):
                    got += len(part)
            assert 0 < got < len(whole)
            slow.close()
