"""Hostile requests to a running service: raw bytes, hostile JSON to every endpoint, in any order, on persistent connections.

`python tests/support/attack/http_storms.py COUNT [SEED]`. The service answers other requests in between and never replies with a fault,
and the journal is sound afterwards.
"""

import json
import socket
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from hsb.serve.checking import check
from hsb.serve.store.sqlite import SqliteReader
from support.serve.http_cases import Running

DOORS = [
    ("POST", "/v1/policies"),
    ("POST", "/v1/policies/home/decisions"),
    ("POST", "/v1/policies/home/decisions/batch"),
    ("POST", "/v1/decisions/known/reward"),
    ("POST", "/v1/decisions/known/activate"),
    ("POST", "/v1/rewards"),
    ("PATCH", "/v1/policies/home"),
    ("POST", "/v1/policies/home/candidates"),
    ("POST", "/v1/policies/home/evaluations"),
    ("PUT", "/v1/policies/home/state"),
    ("PUT", "/v1/policies/home/arms/a"),
    ("POST", "/v1/keys"),
    ("POST", "/v1/session"),
    ("POST", "/login"),
    ("POST", "/ofrep/v1/evaluate/flags/home"),
    ("POST", "/ofrep/v1/evaluate/flags"),
]
TYPES = [
    "application/json",
    "application/cloudevents+json",
    "application/cloudevents-batch+json",
    "application/octet-stream",
    "text/plain",
    "",
]
WORDS = [
    "context",
    "id",
    "reward",
    "loss",
    "decision",
    "decisions",
    "rewards",
    "name",
    "arms",
    "policy",
    "kind",
    "floor",
    "targetingKey",
    "x",
]
LEAVES: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    1e308,
    5e-324,
    2**63,
    "",
    "a",
    "HSB",
    "LinUCB",
    "\u0000",
    "\ud800",
    "x" * 1000,
    [],
    {},
]
GOOD = {"context": {"x": 1.0}}
ALLOWED = {100, *range(200, 500), 503, 507}  # 500 is a fault


def value(rng: np.random.Generator, deep: int = 0) -> Any:
    """Return JSON of any form; now and then very deep, wide, or with long names."""
    what = rng.random()
    if deep > 5 or what < 0.4:
        return LEAVES[rng.integers(len(LEAVES))]
    if what < 0.42 and not deep:
        inner: Any = 1
        for _ in range(int(rng.choice([31, 33, 900, 5000]))):
            inner = {"x": inner} if what < 0.41 else [inner]
        return {"context": inner}
    if what < 0.45:
        return {"n" * int(rng.choice([300, 30_000])): {f"a{k}": k for k in range(int(rng.choice([2, 255, 3000])))}}
    if what < 0.6:
        return [value(rng, deep + 1) for _ in range(rng.integers(5))]
    return {WORDS[rng.integers(len(WORDS))]: value(rng, deep + 1) for _ in range(rng.integers(5))}


def body(rng: np.random.Generator) -> bytes:
    """Return a request body: JSON, JSON that is cut or changed, or bytes."""
    given = GOOD | {"id": "known"} if rng.random() < 0.1 else value(rng)
    raw = _json(given)
    what = rng.random()
    if what < 0.1 and raw:
        raw = raw[: int(rng.integers(len(raw)))]
    elif what < 0.2 and raw:
        at = int(rng.integers(len(raw)))
        raw = raw[:at] + bytes([int(rng.integers(256))]) + raw[at + 1 :]
    return rng.bytes(int(rng.integers(2000))) if what > 0.95 else raw


def _json(given: Any) -> bytes:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    try:
        return json.dumps(given).encode()
    finally:
        sys.setrecursionlimit(limit)


def request(rng: np.random.Generator, key: str) -> bytes:
    """Return a request as bytes, with lengths, chunks, trailers and headers that may be wrong."""
    method, path = DOORS[rng.integers(len(DOORS))]
    raw, headers = body(rng), [b"Host: x"]
    if rng.random() < 0.8:
        headers.append(b"Authorization: Bearer " + key.encode())
    if rng.random() < 0.9:
        headers.append(b"Content-Type: " + TYPES[0 if rng.random() < 0.7 else rng.integers(len(TYPES))].encode())
    for _ in range(rng.integers(3) if rng.random() < 0.2 else 0):
        some = [
            b"Host: y",
            b"X-API-Key: z",
            b"Origin: http://evil.example",
            b"Upgrade: h2c",
            b"Expect: 100-continue",
            b"Cookie: hsb=1",
        ]
        headers.append([*some, b"If-Match: 1", b"Idempotency-Key: k", b"ce-id: 1", b"ce-specversion: 1.0"][rng.integers(10)])
    lengths, trailer = [b"Content-Length: %d" % len(raw)], b""
    what = rng.random()
    if what < 0.2:
        lengths, trailer = (
            [b"Transfer-Encoding: chunked"],
            b"".join(b"t%d: x\r\n" % k for k in range(rng.choice([0, 1, 20_000]))),
        )
        raw = (b"%x\r\n%s\r\n" % (len(raw), raw) if raw else b"") + b"0\r\n" + trailer + b"\r\n"
    elif what < 0.25:
        lengths = [b"Content-Length: %d" % rng.choice([0, 1, 10**12]), *lengths]
    return b"\r\n".join([f"{method} {path} HTTP/1.1".encode(), *headers, *lengths, b"", raw])


def said(port: int, parts: list[bytes]) -> list[int]:
    """Return the statuses of the answers on one connection, until it closes or pauses."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
        try:
            for part in parts:
                link.sendall(part)
            link.shutdown(socket.SHUT_WR)
            while more := link.recv(65536):
                answer += more
        except OSError:  # it was cut off: that is an answer too
            pass
    return [int(each[:3]) for each in answer.split(b"HTTP/1.1 ")[1:] if each[:3].isdigit()]


def storm(one: Running, count: int, seed: int = 0) -> Counter[int]:
    """Send `count` requests; return how often each status came. Raises AssertionError at a fault, or if other requests get no answer."""
    rng, result = np.random.default_rng(seed), Counter[int]()
    for _ in range(max(1, count // 3)):
        result.update(said(one.port, [request(rng, one.key) for _ in range(rng.integers(1, 6))]))
        assert one.get("/healthz").status == 200
    assert set(result) <= ALLOWED, result
    response = one.post("/v1/policies/still/decisions", GOOD)
    assert response.status == 201 and one.post(f"/v1/decisions/{response.json['id']}/reward", {"reward": 1}).status == 200
    return result


def begun(path: Path) -> Running:
    """Start a service with policies that the storm may hit, and one that it does not."""
    one = Running(path)
    for name, more in (("home", {"policy": {"kind": "Exp3"}}), ("still", {"policy": {"kind": "Exp3"}})):
        one.make(name, **more)
    assert one.post("/v1/policies/home/decisions", GOOD | {"id": "known"}).status == 201
    return one


def tried(path: Path, count: int, seed: int = 0) -> Counter[int]:
    """Run a storm, and check the journal after it."""
    one = begun(path)
    try:
        result = storm(one, count, seed)
    finally:
        one.stop()
    reader = SqliteReader(path)
    try:
        report = check(reader)
    finally:
        reader.close()
    assert report.sound, report
    return result


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(tried(Path(folder) / "hsb.db", int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
