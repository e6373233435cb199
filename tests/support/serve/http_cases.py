"""A service on a real socket, in a thread of this process; and requests to it."""

import http.client
import json
import socket
import threading
from contextlib import contextmanager

import pytest

pytest.importorskip("uvicorn")

from hsb.serve.http import ServerSettings, Service
from hsb.serve.http.server import bind, make_server
from support.waiting import LIMIT, wait_until

QUICK = {"kind": "Exp3"}  # compiles nothing that takes long
DECIDE = "/v1/policies/home/decisions"


class Answer:
    def __init__(self, status, headers, raw):
        self.status, self.headers, self.raw = status, headers, raw

    @property
    def json(self):
        return json.loads(self.raw)

    def __repr__(self):
        return f"{self.status} {self.raw[:500]!r}"


class Running:
    """A running service; `ask` sends a request with the admin's key, or with `key`."""

    def __init__(self, path, settings=None, admin_key=None, beside=()):
        self.service = Service(path, settings or ServerSettings(read_seconds=LIMIT), admin_key=admin_key)
        self.key = self.service.keys.printed or admin_key
        self.socket = bind("127.0.0.1", 0)
        self.port = self.socket.getsockname()[1]
        self.server = make_server(self.service, *beside, loop="asyncio")
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()
        wait_until(lambda: self.server.started or not self.thread.is_alive())
        assert self.server.started
        self.connections, self.opened = threading.local(), []

    def ask(self, method, path, body=None, *, key=..., headers=None, raw=None):
        if not hasattr(self.connections, "one"):
            self.connections.one = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
            self.opened.append(self.connections.one)
        connection = self.connections.one
        key = self.key if key is ... else key
        given = ({} if key is None else {"Authorization": f"Bearer {key}"}) | (headers or {})
        connection.request(method, path, raw if raw is not None else None if body is None else json.dumps(body), given)
        answer = connection.getresponse()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.ask("POST", path, body, **more)

    def make(self, name="home", **more):
        result = self.post("/v1/policies", {"name": name, "arms": ["a", "b", "c"], "policy": QUICK} | more)
        assert result.status == 201, result
        return result.json

    def stop(self):
        for connection in self.opened:
            connection.close()
        self.server.should_exit = True
        self.thread.join(LIMIT)
        assert not self.thread.is_alive()


@contextmanager
def running(path, settings=None, **more):
    result = Running(path, settings, **more)
    try:
        yield result
    finally:
        result.stop()


def decide(one, name, **body):
    response = one.post(f"/v1/policies/{name}/decisions", {"context": 0.5} | body)
    assert response.status in (200, 201), response
    return response.json


def connected(one):
    return socket.create_connection(("127.0.0.1", one.port), timeout=LIMIT)


def answers(link, count=1):
    """The first lines of answers, until as many came or the connection is closed."""
    data = b""
    while data.count(b"HTTP/1.1 ") < count or not data.partition(b"\r\n\r\n")[2]:
        try:
            part = link.recv(65536)
        except ConnectionError:
            break
        if not part:
            break
        data += part
    return [each[:3].decode() for each in data.split(b"HTTP/1.1 ")[1:]]


def entered(one, key):
    response = one.post("/v1/session", {"key": key}, key=None, headers={"Content-Type": "application/json"})
    return response.status, {"Cookie": response.headers.get("set-cookie", "").partition(";")[0]}


def key(one, *scopes, **more):
    response = one.post("/v1/keys", {"name": "k", "scopes": list(scopes)} | more)
    assert response.status == 201, response
    return response.json
