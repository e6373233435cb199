"""What is refused, and in which words; limits; slow clients; overload."""

import asyncio
import http.client
import json
import socket
import sqlite3
import threading
import time
from contextlib import suppress

import pytest
from support.serve.http_cases import QUICK, Running, running

from hsb.serve.http import ServerSettings
from hsb.serve.http.readers import Readers
from hsb.serve.http.service import Service

SMALL = ServerSettings(header_seconds=0.4, body_seconds=0.4, connections=40, body=2000, batch_body=20_000, rows=50, numbers=20)


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db", SMALL) as found:
        found.make()
        yield found


DECIDE = "/v1/policies/home/decisions"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "kind", "pointer", "words"),
    [
        ("POST", DECIDE, {"contxt": 1}, 422, "unknown-field", "/contxt", "Its fields are context, id"),
        ("POST", DECIDE, {"id": 5}, 422, "misfit", "/id", "id must be text or null; given a whole number."),
        ("POST", DECIDE, {"id": "a b"}, 422, "refused", "/id", "letters, digits"),
        ("POST", DECIDE, {"available": ["a", "z"]}, 422, "unknown-arm", "/available/1", "The arms are 'a', 'b', 'c'"),
        ("POST", DECIDE, {"available": []}, 422, "refused", "/available", "not empty"),
        ("POST", DECIDE, {"context": list(range(30))}, 422, "context", "/context", "20 values"),
        ("POST", "/v1/policies/house/decisions", {}, 404, "not-found", None, "no policy 'house'"),
        ("POST", DECIDE + "/batch", {"decisions": []}, 422, "rows", "/decisions", "1 to 50"),
        ("POST", DECIDE + "/batch", {"decisions": [{}] * 51}, 422, "rows", "/decisions", "given 51"),
        ("POST", DECIDE + "/batch", {"decisions": [{}, {"x": 1}]}, 422, "unknown-field", "/decisions/1/x", "'x'"),
        ("POST", "/v1/decisions/d/reward", {}, 422, "missing-field", "/reward", "'reward' is missing"),
        ("POST", "/v1/decisions/d/reward", {"reward": "much"}, 422, "misfit", "/reward", "a number; given text."),
        ("POST", "/v1/decisions/a%20b/reward", {"reward": 1}, 422, "refused", "/decision", "letters, digits"),
        ("POST", "/v1/policies", {"name": "x", "arms": []}, 422, "refused", "/arms", "1 to 1000"),
        ("POST", "/v1/policies", {"name": "x"}, 422, "missing-field", "/arms", "missing"),
        ("POST", "/v1/policies", {"name": "x", "arms": ["a"], "policy": {"kind": "Magic"}}, 422, "refused", "/policy/kind", "Exp3"),
        (
            "POST", "/v1/policies", {"name": "x", "arms": ["a"], "feedback": {"wait": "soon"}}, 422, "refused", "/feedback/wait", "PT24H",
        ),
        ("POST", "/v1/policies", {"name": "x", "arms": ["a"], "feedback": {"wit": 1}}, 422, "unknown-field", "/feedback/wit", "'wit'"),
        ("PATCH", "/v1/policies/home", {"ramp": 2}, 422, "refused", "/ramp", "share"),
        ("PATCH", "/v1/policies/home", {"name": "other"}, 422, "unknown-field", "/name", "feedback"),
        ("POST", "/v1/keys", {"name": "x", "scopes": ["all"]}, 422, "refused", "/scopes", "decide"),
        ("GET", "/v1/policies?limt=1", None, 422, "unknown-field", None, "'limt'"),
        ("GET", "/v1/policies?limit=x", None, 422, "query", "/limit", "whole number"),
        ("GET", "/v1/policies/home/stats?bucket=7y", None, 422, "query", "/bucket", "1h"),
        ("GET", "/v1/policies/home/stats?bucket=1s&since=0", None, 422, "span", "/since", "buckets"),
        ("GET", "/v1/policies/home/probabilities?context={", None, 422, "context", "/context", "JSON"),
        ("GET", "/v1/policies/home/decisions/none", None, 404, "not-found", None, "no decision"),
        ("GET", "/v1/policies/home/nothing", None, 404, "not-found", None, "/docs"),
        ("PUT", "/v1/policies", {}, 405, "method", None, "GET, POST"),
        ("GET", DECIDE + "/batch/x", None, 404, "not-found", None, "nothing"),
    ],
)  # fmt: skip
def test_refused(one, method, path, body, status, kind, pointer, words):
    found = one.ask(method, path, body)
    assert found.status == status, found
    assert found.headers["content-type"] == "application/problem+json"
    problem = found.json
    assert (
        problem["type"] == f"/problems/{kind}"
        and problem["status"] == status
        and problem["request_id"] == found.headers["x-request-id"]
    )
    assert problem.get("pointer") == pointer and words in problem["detail"], problem


@pytest.mark.parametrize("raw", [b"", b"{", b'{"context": NaN}', b"\xff\xfe", b'{"id": "\\ud800"}'])
def test_not_json(one, raw):
    found = one.post(DECIDE, raw=raw)
    assert found.status == 400 and found.json["type"] == "/problems/not-json"


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


def connected(one):
    return socket.create_connection(("127.0.0.1", one.port), timeout=10)


def test_a_header_that_does_not_come(one):
    with connected(one) as slow:
        slow.sendall(b"POST /v1/pol")
        assert slow.recv(10) == b""  # hung up on
    with connected(one) as kept:  # the second request of a connection too
        kept.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        said = b""
        while b"}" not in said:
            said += kept.recv(4096)
        assert b"200 OK" in said
        kept.sendall(b"GET /heal")
        began = time.monotonic()
        assert kept.recv(10) == b"" and time.monotonic() - began < 5


def test_a_body_that_does_not_come(one):
    head = f"POST {DECIDE} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {one.key}\r\ncontent-length: 20\r\n\r\n"
    with connected(one) as slow:
        slow.sendall(head.encode() + b"{")
        assert b" 408 " in slow.recv(4096)


def test_slow_clients_hinder_nobody(one):
    """Thirty that send a byte now and then, and one that is served meanwhile."""
    slow = [connected(one) for _ in range(30)]
    try:
        for k in range(20):
            for each in slow:
                with suppress(OSError):
                    each.sendall(b"x")
            began = time.monotonic()
            assert one.post(DECIDE, {"context": k}).status == 201
            assert time.monotonic() - began < 2
    finally:
        for each in slow:
            each.close()


def test_too_many_connections(one):
    time.sleep(0.1)
    many = [connected(one) for _ in range(SMALL.connections + 10)]
    try:
        time.sleep(0.1)
        said = []
        for each in many:
            each.settimeout(0.2)
            try:
                said.append(each.recv(4096))
            except TimeoutError:
                said.append(None)
        assert sum(b"503" in (text or b"") and b"retry-after" in (text or b"") for text in said) >= 10
    finally:
        for each in many:
            each.close()
    time.sleep(0.2)
    one.connections.one.close()
    assert one.get("/healthz").status == 200


def test_overload(tmp_path):
    """With room for 20, of 200 that come while the disk stands still most are turned away at once, the rest served after."""
    with running(tmp_path / "hsb.db", ServerSettings(waiting=20)) as one:
        one.make()
        gate, commit = threading.Event(), one.service.store.commit
        one.service.store.commit = lambda batch: (gate.wait(20), commit(batch))[1]
        found = []

        def client(k):
            connection = http.client.HTTPConnection("127.0.0.1", one.port, timeout=30)
            connection.request("POST", DECIDE, json.dumps({"id": f"d{k}"}), {"Authorization": f"Bearer {one.key}"})
            answer = connection.getresponse()
            answer.read()
            found.append((answer.status, answer.headers["retry-after"]))
            connection.close()

        threads = [threading.Thread(target=client, args=(k,)) for k in range(200)]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 20
        while len(found) < 100:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert set(found) == {(503, "1")}
        assert len(one.service.core.waiting) == 20
        gate.set()
        for thread in threads:
            thread.join()
        statuses = [status for status, _ in found]
        assert set(statuses) == {201, 503} and 20 <= statuses.count(201) <= 60
        assert one.post(DECIDE, {}).status == 201  # as before


def test_a_full_disk(tmp_path):
    with running(tmp_path / "hsb.db") as one:
        one.make()
        ((most,),) = one.service.store.rows("PRAGMA page_count")
        one.service.writer.also(lambda store: None, lambda *_: None)
        one.service.store.connection.execute(f"PRAGMA max_page_count = {most}").fetchall()
        statuses = {one.post(DECIDE, {"context": "x" * 2000}).status for _ in range(40)}
        assert statuses == {201, 507}
        full = one.post(DECIDE, {"context": "x" * 20_000})
        assert full.status == 507 and full.headers["retry-after"] == "1" and "disk is full" in full.json["detail"]
        assert one.post("/v1/keys", {"name": "n" * 90, "scopes": ["read"]}).status in (201, 507)
        one.service.store.connection.execute("PRAGMA max_page_count = 1000000").fetchall()
        assert one.post(DECIDE, {"context": 1}).status == 201


def test_a_journal_that_is_lost(tmp_path, monkeypatch):
    """A commit fails: 503 with Retry-After, never 401, and the process ends with 70."""
    ended = []
    monkeypatch.setattr("os._exit", ended.append)
    with running(tmp_path / "hsb.db") as one:
        one.make()

        def fail(batch):
            raise sqlite3.OperationalError("disk I/O error")

        monkeypatch.setattr(one.service.store, "facts", fail)
        found = one.post(DECIDE, {})
        assert found.status == 503 and found.headers["retry-after"] == "1"
        again = one.post(DECIDE, {})
        assert again.status == 503 and one.get("/readyz", key=None).status == 503
        until = time.monotonic() + 5
        while not ended:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert ended == [70]
        one.service.store.broken = False  # so that it can be closed


def test_a_fault_is_500_and_logged(tmp_path, monkeypatch, capfd):
    async def fault(*_):
        raise ZeroDivisionError("oh")

    with running(tmp_path / "hsb.db") as one:
        one.make()
        monkeypatch.setattr(Readers, "quick", fault)
        monkeypatch.setattr(Readers, "scan", fault)
        found = one.get("/v1/policies/home")
        assert found.status == 500 and "oh" not in found.raw.decode()
        line = next(json.loads(line) for line in capfd.readouterr().err.splitlines() if '"fault"' in line)
        assert line["kind"] == "ZeroDivisionError" and line["request"] == found.json["request_id"]
        assert one.key not in json.dumps(line)


def test_a_client_that_leaves(one):
    """Its decision is made, nobody is told, nothing breaks."""
    body = json.dumps({"id": "left"}).encode()
    head = f"POST {DECIDE} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {one.key}\r\ncontent-length: {len(body)}\r\n\r\n"
    with connected(one) as gone:
        gone.sendall(head.encode() + body)
    until = time.monotonic() + 5
    while one.get(DECIDE + "/left").status != 200:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert one.post(DECIDE, {"id": "left"}).status == 200


def test_a_client_that_reads_nothing(tmp_path):
    """It is given up after a while, and the reading of the journal with it."""
    with running(tmp_path / "hsb.db", ServerSettings(send_seconds=0.5)) as one:
        one.make()
        for _ in range(4):
            rows = [{"context": "x" * 4000} for _ in range(200)]
            made = one.post(DECIDE + "/batch", {"decisions": rows}).json["rows"]
            one.post("/v1/rewards", {"rewards": [{"decision": row["result"]["id"], "reward": 1} for row in made]})
        asked = f"GET /v1/policies/home/journal HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {one.key}\r\n\r\n".encode()
        many = []
        for _ in range(5):
            slow = socket.socket()
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", one.port))
            slow.sendall(asked)
            many.append(slow)
        time.sleep(0.2)
        assert one.post(DECIDE, {}).status == 201
        whole = one.get("/v1/policies/home/journal").raw
        assert len(whole.splitlines()) == 801
        time.sleep(1.0)
        for slow in many:
            slow.settimeout(5)
            got = 0
            with suppress(OSError):
                while part := slow.recv(1 << 16):
                    got += len(part)
            assert 0 < got < len(whole)
            slow.close()


def test_two_services_on_one_file(one):
    with pytest.raises(ValueError, match="in use by another process"):
        Service(one.service.path)


def test_reads_are_limited(tmp_path):
    with running(tmp_path / "hsb.db", ServerSettings(read_seconds=0.0)) as one:
        one.make(policy=QUICK)

        def endless(reader):
            return reader.rows("WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT COUNT(*) FROM n")

        work = asyncio.run_coroutine_threadsafe(one.service.readers.scan(endless), one.service.loop)
        with pytest.raises(Exception, match="takes too long"):
            work.result(20)


def test_a_stop_waits_for_no_read(tmp_path):
    """A query under way when the service stops is ended: read_seconds are 20, and a stop takes 10 at most."""
    one = Running(tmp_path / "hsb.db")
    begun = threading.Event()

    def endless(reader):
        begun.set()
        return reader.rows("WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT COUNT(*) FROM n")

    work = asyncio.run_coroutine_threadsafe(one.service.readers.scan(endless), one.service.loop)
    assert begun.wait(10)
    began = time.monotonic()
    one.stop()
    assert time.monotonic() - began < 10
    work.cancel()
