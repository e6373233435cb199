"""Real `hsb serve` processes: killed under load, stopped under load, two on one file, starts that are refused."""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("uvicorn")

from hsb.serve.checking import check
from hsb.serve.http.keys import fresh
from hsb.serve.store.sqlite import SqliteReader

KILLS = max(3, int(os.environ.get("HSB_ATTACK", "0")) // 80)
KEY = fresh()


class Process:
    """A service in a process of its own."""

    def __init__(self, path, *more):
        self.began = time.monotonic()
        command = [sys.executable, "-m", "hsb", "serve", "--db", str(path), "--port", "0", *more]
        env = os.environ | {"HSB_ADMIN_KEY": KEY, "HSB_QUIET": "1"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        line = self.process.stdout.readline()
        assert "http://127.0.0.1:" in line, (line, self.process.communicate()[1])
        self.port = int(line.partition("http://127.0.0.1:")[2].split()[0].split("/")[0])
        while not self.answers():
            assert self.process.poll() is None
            time.sleep(0.01)
        self.seconds = time.monotonic() - self.began

    def answers(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            return self.ask(connection, "GET", "/readyz")[0] == 200
        except OSError:
            return False
        finally:
            connection.close()

    def ask(self, connection, method, path, body=None):
        raw = None if body is None else json.dumps(body)
        connection.request(method, path, raw, {"Authorization": f"Bearer {KEY}"})
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else {}

    def wait(self):
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err


def load(service, said, seed):
    """Decide and reward until the service is gone; note what was answered."""
    connection, k = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10), 0
    try:
        while True:
            name, k = f"{service.process.pid}-{seed}-{k}", k + 1
            status, made = service.ask(connection, "POST", "/v1/policies/home/decisions", {"context": k / 1000, "id": name})
            if status == 201:
                said.append(("decision", made["id"], made["arm"], made["propensity"]))
            if status == 201 and k % 2:
                status, _ = service.ask(connection, "POST", f"/v1/decisions/{name}/reward", {"reward": k % 3 / 2})
                if status in (200, 202):
                    said.append(("reward", name, k % 3 / 2, None))
    except (OSError, http.client.HTTPException):
        pass
    finally:
        connection.close()


def under_load(service, said, clients=6):
    threads = [threading.Thread(target=load, args=(service, said, seed)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    return threads


def sound(path, said):
    """Nothing acknowledged is missing, and all of the journal follows."""
    reader = SqliteReader(path)
    report = check(reader)
    assert report.sound, str(report)
    arms = ["a", "b", "c"]
    decisions = {row.id: (arms[row.arm], row.propensity) for row in reader.decisions(1)}
    rewards = {row.decision: row.value for row in reader.rewards(1)}
    reader.close()
    for what, name, *more in said:
        if what == "decision":
            assert decisions[name] == tuple(more)
        else:
            assert rewards[name] == more[0]
    return report


def make(service):
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)
    spec = {"name": "home", "arms": ["a", "b", "c"], "policy": {"kind": "Exp3"}, "floor": 0.1}
    assert service.ask(connection, "POST", "/v1/policies", spec)[0] in (201, 409)
    connection.close()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_killed_under_load(tmp_path):
    path, rng, said = tmp_path / "hsb.db", random.Random(0), []
    for _ in range(KILLS):
        service = Process(path)
        make(service)
        threads = under_load(service, said)
        time.sleep(0.2 + rng.random() * 0.5)
        service.process.kill()
        for thread in threads:
            thread.join()
        service.wait()
    report = sound(path, said)
    assert len(said) > 20 * KILLS and report.decisions >= sum(each[0] == "decision" for each in said)
    done = subprocess.run([sys.executable, "-m", "hsb", "journal", "check", str(path)], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("sound.\n")


def test_stopped_under_load(tmp_path):
    path, said = tmp_path / "hsb.db", []
    service = Process(path)
    make(service)
    threads = under_load(service, said)
    idle = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)  # a connection that is kept and not used
    service.ask(idle, "GET", "/healthz")
    time.sleep(0.5)
    began = time.monotonic()
    service.process.send_signal(signal.SIGTERM)
    code, _, err = service.wait()
    assert code == 0 and time.monotonic() - began < 10
    for thread in threads:
        thread.join()
    idle.close()
    assert not (tmp_path / "hsb.db-wal").exists()  # all is in the file
    lines = [json.loads(line) for line in err.splitlines()]
    assert lines[0]["event"] == "start" and lines[-1]["event"] == "end" and not any(line["level"] == "error" for line in lines)
    assert len(said) > 20 and KEY not in err
    sound(path, said)


def test_it_goes_on_where_it_was(tmp_path):
    path = tmp_path / "hsb.db"
    first = Process(path)
    make(first)
    connection = http.client.HTTPConnection("127.0.0.1", first.port, timeout=10)
    made = first.ask(connection, "POST", "/v1/policies/home/decisions", {"context": 1, "id": "one"})[1]
    connection.close()
    second = subprocess.run(
        [sys.executable, "-m", "hsb", "serve", "--db", str(path), "--port", "0"], capture_output=True, text=True, timeout=60
    )
    assert second.returncode == 2 and f"in use by another process, number {first.process.pid}" in second.stderr
    taken = subprocess.run(
        [sys.executable, "-m", "hsb", "serve", "--db", str(tmp_path / "b.db"), "--port", str(first.port)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert taken.returncode == 2 and "in use" in taken.stderr
    first.process.terminate()
    first.wait()
    again = Process(path)
    connection = http.client.HTTPConnection("127.0.0.1", again.port, timeout=10)
    assert again.ask(connection, "POST", "/v1/policies/home/decisions", {"context": 1, "id": "one"}) == (200, made)
    assert again.ask(connection, "POST", "/v1/decisions/one/reward", {"reward": 1})[0] == 200
    connection.close()
    again.process.terminate()
    assert again.wait()[0] == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--no-auth", "--host", "0.0.0.0"], "--public"),
        (["--db", "no/such/folder/hsb.db"], "folder"),
        (["--port", "70000"], "port"),
    ],
)
def test_starts_that_are_refused(tmp_path, options, said):
    done = subprocess.run(
        [sys.executable, "-m", "hsb", "serve", "--port", "0", *options],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
    )
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "hsb.db").exists()


def test_the_demo_is_busy(tmp_path):
    service = Process(tmp_path / "demo.db", "--demo")
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)
    status, found = service.ask(connection, "GET", "/v1/policies/demo-shop")
    assert status == 200 and found["synthetic"] and found["lessons"] >= 3000
    days = service.ask(connection, "GET", "/v1/policies/demo-shop/stats?bucket=1d")[1]["buckets"]
    assert 7 <= len(days) <= 9
    until, before = time.monotonic() + 20, found["pending"]
    while service.ask(connection, "GET", "/v1/policies/demo-shop")[1]["pending"] <= before:
        assert time.monotonic() < until
        time.sleep(0.05)
    connection.close()
    service.process.terminate()
    assert service.wait()[0] == 0
    reader = SqliteReader(tmp_path / "demo.db")
    assert check(reader).sound
    reader.close()
