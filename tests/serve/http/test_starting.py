"""`hsb serve` listens at once, and says what it is doing until it serves."""

import http.client
import json
import signal
import subprocess
import threading
import time

import pytest
from support.serve.http_cases import QUICK
from support.serve.processes import KEY, Process, command
from support.waiting import wait_until

from hsb.errors import FileError
from hsb.serve.core import Create, Decide, Reward
from hsb.serve.http import ServerSettings
from hsb.serve.http.server import bind, server_of
from hsb.serve.http.service import open_journal
from hsb.serve.http.starting import Progress, Starting, prepare
from hsb.serve.local import Local
from hsb.serve.store import recover


def ask(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, {"Authorization": f"Bearer {KEY}"})
    answer = connection.getresponse()
    raw = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, json.loads(raw)


@pytest.fixture
def starts():
    """Begins a server with an application; what began is ended."""
    begun = []

    def start(app):
        listening = bind("127.0.0.1", 0)
        port = listening.getsockname()[1]
        server = server_of(app, ServerSettings(), host="127.0.0.1", port=0, loop="asyncio")
        app.give_up = lambda: setattr(server, "should_exit", True)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        begun.append((server, thread))
        wait_until(lambda: server.started)
        return port, thread

    yield start
    for server, thread in begun:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()


def test_who_asks_meanwhile_hears_how_far_it_is(tmp_path, starts):
    progress, go = Progress(), threading.Event()

    def make():
        assert go.wait(60)
        return prepare(open_journal(tmp_path / "hsb.db", ServerSettings(), KEY), ServerSettings(), progress)

    app = Starting(make, progress)
    port, _ = starts(app)
    assert ask(port, "GET", "/healthz")[0] == 200
    progress.recovering(1, 3, 400, 10_000)
    status, headers, result = ask(port, "GET", "/readyz")
    assert status == 503 and headers["retry-after"] and (result["status"], result["doing"]) == ("starting", "recovering")
    assert result["policies"] == {"done": 1, "of": 3} and result["rows_of_the_next"] == {"done": 400, "of": 10_000}
    for method, path in (("POST", "/v1/policies/home/decisions"), ("GET", "/"), ("GET", "/v1/policies"), ("GET", "/metrics")):
        status, headers, result = ask(port, method, path, "{}" if method == "POST" else None)
        assert (
            status == 503
            and headers["retry-after"]
            and result["type"] == "/problems/starting"
            and "recovering" in result["detail"]
        )
    go.set()
    wait_until(lambda: ask(port, "GET", "/readyz")[0] == 200)
    assert ask(port, "POST", "/v1/policies", json.dumps({"name": "home", "arms": ["a"], "policy": QUICK}))[0] == 201


def test_where_it_cannot_start_it_ends_with_the_reason(starts):
    def make():
        raise FileError("it is damaged.")

    app = Starting(make, Progress())
    _, thread = starts(app)
    thread.join(60)
    assert not thread.is_alive() and str(app.error) == "it is damaged."


def test_recovery_says_how_far_it_is(tmp_path):
    local = Local(tmp_path / "hsb.db")
    for name in ("first", "second"):
        local.ask(Create(0, {"name": name, "arms": ["a", "b"], "policy": QUICK}, b"s" * 32))
    local.ask_all([Decide(k, "second", f"d{k}", 0.5) for k in range(500)])
    local.ask_all([Reward(k, f"d{k}", 1.0) for k in range(500)])
    messages = []
    recover(local.store, lambda *each: messages.append(each))
    local.close()
    assert messages[0] == (0, 2, 0, 0) and [each for each in messages if each[0] == 1] == [
        (1, 2, 0, 0),
        (1, 2, 0, 501),
        (1, 2, 200, 501),
        (1, 2, 400, 501),
    ]


@pytest.mark.long
def test_a_process_that_compiles_answers_and_can_be_stopped(tmp_path):
    """With nothing compiled: minutes of it on a slow machine, in which it is asked, and then told to end."""
    import os

    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "HSB_ENGINE": "numba", "HSB_ADMIN_KEY": KEY}
    line = command("serve", "--db", str(tmp_path / "hsb.db"), "--port", "0")
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            port = int(process.stdout.readline().partition("http://127.0.0.1:")[2].split()[0].split("/")[0])
            until = time.monotonic() + 300
            while not list((tmp_path / "cache").rglob("*.nbc")):  # it has begun to compile
                assert ask(port, "GET", "/readyz")[2]["doing"] == "compiling" and time.monotonic() < until
                time.sleep(0.05)
            assert ask(port, "GET", "/healthz")[0] == 200
            assert ask(port, "POST", "/v1/policies/home/decisions", "{}")[0] == 503
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0, process.stderr.read()
        finally:
            process.kill()


def test_a_damaged_journal_ends_the_process_with_one_line(tmp_path):
    path = tmp_path / "hsb.db"
    with Process(path) as service:
        service.make()
        for k in range(50):
            service.ask("POST", "/v1/policies/home/decisions", {"id": f"d{k}", "context": 0.5})
            service.ask("POST", f"/v1/decisions/d{k}/reward", {"reward": 1})
        service.stop()
    import sqlite3

    with sqlite3.connect(path) as file:
        file.execute("DELETE FROM stream WHERE seq = 20")
        file.execute("DELETE FROM snapshot")
    file.close()
    done = subprocess.run(command("serve", "--db", str(path), "--port", "0"), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "rows are missing" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
