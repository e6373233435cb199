"""What is refused, and in which words; limits; slow clients; overload."""

import asyncio
import select
from contextlib import suppress

import pytest
from support.serve.http_cases import DECIDE, QUICK, connected, running
from support.waiting import LIMIT, wait_until

from hsb.serve.http import ServerSettings

SMALL = ServerSettings(header_seconds=1.0, body_seconds=1.0, connections=40, body=2000, batch_body=20_000, rows=50, numbers=20)


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db", SMALL) as result:
        result.make()
        yield result


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "kind", "pointer", "words"),
    [
        ("POST", DECIDE, {"contxt": 1}, 422, "unknown-field", "/contxt", "Its fields are context, id"),
        ("POST", DECIDE, {"id": 5}, 422, "misfit", "/id", "id must be text or null; given a whole number."),
        ("POST", DECIDE, {"id": "a b"}, 422, "refused", "/id", "letters, digits"),
        ("POST", DECIDE, {"available": ["a", "z"]}, 422, "unknown-arm", "/available/1", "The arms are 'a', 'b', 'c'"),
        ("POST", DECIDE, {"available": []}, 422, "refused", "/available", "non-empty list"),
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
    response = one.ask(method, path, body)
    assert response.status == status, response
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json
    assert (
        problem["type"] == f"/problems/{kind}"
        and problem["status"] == status
        and problem["request_id"] == response.headers["x-request-id"]
    )
    assert problem.get("pointer") == pointer and words in problem["detail"], problem


def test_a_header_that_does_not_come(one):
    with connected(one) as slow:
        slow.sendall(b"POST /v1/pol")
        assert slow.recv(10) == b""  # hung up on
    with connected(one) as kept:  # the second request of a connection too
        kept.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        data = b""
        while b"}" not in data:
            data += kept.recv(4096)
        assert b"200 OK" in data
        kept.sendall(b"GET /heal")
        assert kept.recv(10) == b""


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
            assert one.post(DECIDE, {"context": k}).status == 201
    finally:
        for each in slow:
            each.close()


def test_too_many_connections(one):
    many = [connected(one) for _ in range(SMALL.connections + 10)]
    told = {}

    def turned_away():
        for each in select.select([each for each in many if each not in told], [], [], 0)[0]:
            told[each] = each.recv(4096)
        return sum(b"503" in text and b"retry-after" in text for text in told.values()) >= 10

    try:
        wait_until(turned_away)
    finally:
        for each in many:
            each.close()

    def welcome():
        one.connections.one.close()
        return one.get("/healthz").status == 200

    wait_until(welcome)


def test_reads_are_limited(tmp_path):
    with running(tmp_path / "hsb.db", ServerSettings(read_seconds=0.0)) as one:
        one.make(policy=QUICK)

        def endless(reader):
            return reader.rows("WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT COUNT(*) FROM n")

        work = asyncio.run_coroutine_threadsafe(one.service.readers.scan(endless), one.service.loop)
        with pytest.raises(Exception, match="takes too long"):
            work.result(LIMIT)
