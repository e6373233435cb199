"""Real `hsb serve` processes: starting them, sending requests and load, and checking their journals."""

import http.client
import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")

from hsb.serve.checking import check
from hsb.serve.http.keys import generate_key
from hsb.serve.store.sqlite import SqliteReader
from support.waiting import LIMIT

KEY = generate_key()
HERE = Path(__file__).parent
ARMS = ["a", "b", "c"]
POLICIES = {
    "home": {"arms": ARMS, "policy": {"kind": "Exp3"}, "floor": 0.1},
    "late": {"arms": ARMS, "policy": {"kind": "Exp3"}, "feedback": {"wait": 0.3, "default_reward": 0, "aggregate": "sum"}},
}
USUAL = {200, 201, 202, 410}  # 410: the deadline was first
AWAY = {429, 503, 507}  # while a fault lasts, each with Retry-After


def command(*arguments, clock=None, fault=None):
    """Return the command line of `hsb`."""
    if clock is None and fault is None:
        return [sys.executable, "-m", "hsb", *arguments]
    return [sys.executable, str(HERE / "started.py"), str(clock or ""), fault or "", *arguments]


class Process:
    """A service in a separate process. `before` is put before the command; `limits` is called in the process before it."""

    def __init__(self, path, *more, clock=None, fault=None, before=(), env=None, limits=None):
        began = time.monotonic()
        line = [*before, *command("serve", "--db", str(path), "--port", "0", *more, clock=clock, fault=fault)]
        self.errors = Path(f"{path}.{random.getrandbits(48):x}.err")  # a file: a pipe that nobody reads fills
        self.errors.parent.mkdir(exist_ok=True)
        with self.errors.open("w") as errors:
            given = os.environ | {"HSB_ADMIN_KEY": KEY} | (env or {})
            self.process = subprocess.Popen(
                line, stdout=subprocess.PIPE, stderr=errors, text=True, env=given, preexec_fn=limits
            )
        self.local, self.port = threading.local(), 0
        try:
            self._begin()
        except BaseException:
            self.kill()
            raise
        self.seconds = time.monotonic() - began

    def _begin(self):
        answer = self.process.stdout.readline()
        assert "http://127.0.0.1:" in answer, (answer, self.process.wait(LIMIT), self.errors.read_text())
        self.port = int(answer.partition("http://127.0.0.1:")[2].split()[0].split("/")[0])
        while not self.answers():
            assert self.process.poll() is None, (answer, self.process.poll(), self.errors.read_text())
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def answers(self):
        try:
            return self.ask("GET", "/readyz")[1]["status"] != "starting"
        except (OSError, http.client.HTTPException):
            return False

    def ask(self, method, path, body=None, key=KEY):
        """Return status and body of the answer. Each thread has one connection, which is reopened if it was closed."""
        status, _, result = self.ask_whole(method, path, body, key)
        return status, result

    def ask_whole(self, method, path, body=None, key=KEY):
        connection = getattr(self.local, "connection", None)
        if connection is None:
            connection = self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"Authorization": f"Bearer {key}"})
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        headers = {name.lower(): value for name, value in answer.getheaders()}
        is_json = "json" in headers.get("content-type", "")
        return answer.status, headers, json.loads(text) if text and is_json else text.decode()

    def close(self):
        """Close this thread's connection."""
        if getattr(self.local, "connection", None) is not None:
            self.local.connection.close()
            self.local.connection = None

    def make(self, **policies):
        for name, spec in (policies or POLICIES).items():
            status, result = self.ask("POST", "/v1/policies", {"name": name} | spec)
            assert status in (201, 409), result

    def rss(self):
        """Return the memory in use in mebibytes."""
        result = subprocess.run(["ps", "-o", "rss=", "-p", str(self.process.pid)], capture_output=True, text=True)
        return int(result.stdout) / 1024

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def wait(self, seconds=30):
        """Wait until the process ends; return its exit status and the lines of its log."""
        try:
            code = self.process.wait(seconds)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.close()
        text = self.errors.read_text()
        assert KEY not in text
        return code, [json.loads(line) for line in text.splitlines()]

    def stop(self):
        """Stop the process normally; return the lines of its log."""
        self.process.terminate()
        code, lines = self.wait()
        assert code == 0, lines
        return lines

    def kill(self):
        """Kill the process as a power cut would, except that the kernel keeps its caches."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.close()


class Clients:
    """Threads that decide and reward without a pause, note the answers, and repeat requests without an answer."""

    def __init__(self, seed=0, count=6):
        self.said, self.statuses, self.unsure, self.strange = [], {}, [[] for _ in range(count)], []
        self.seed, self.threads, self.ended = seed, [], False

    def load(self, service):
        """Start the threads; they end with the service, or with `end`."""
        self.ended, self.seed = False, self.seed + 1
        self.threads = [
            threading.Thread(target=self._client, args=(service, k, random.Random(1000 * self.seed + k)), daemon=True)
            for k in range(len(self.unsure))
        ]
        for thread in self.threads:
            thread.start()

    def end(self):
        """Stop the threads, if the service has not; all have ended when this returns."""
        self.ended = True
        for thread in self.threads:
            thread.join(LIMIT)
            assert not thread.is_alive()

    def _client(self, service, number, rng):
        unsure, count = self.unsure[number], 0
        try:
            while not self.ended:
                if not unsure:
                    count += 1
                    unsure.append(self._next(f"{self.seed}-{number}-{count}", rng))
                if self._told(service, *unsure[0]):
                    unsure.pop(0)
        except (OSError, http.client.HTTPException):
            pass  # it is gone
        finally:
            service.close()

    def _next(self, name, rng):
        """Return the next request: a decision, a reward, a repeated one, now and then a snapshot."""
        known = [each for each in self.said[-200:] if each[0] == "decision"]
        what = rng.random()
        if what < 0.55 or not known:
            policy = rng.choice(list(POLICIES))
            return "decision", policy, f"/v1/policies/{policy}/decisions", {"id": name, "context": rng.random()}
        if what > 0.995:
            return "snapshot", "home", "/v1/policies/home/snapshots", None
        _, id, *_ = rng.choice(known)
        return "reward", id, f"/v1/decisions/{id}/reward", {"reward": len(id) % 2}

    def _told(self, service, what, about, path, body):
        """Send a request and note the answer; return False if it must be repeated."""
        status, headers, result = service.ask_whole("POST", path, body)
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if status in AWAY:
            if "retry-after" not in headers:
                self.strange.append((status, headers, result))
            time.sleep(0.01)
            return False
        if status not in USUAL:
            self.strange.append((status, headers, result))
        elif what == "decision":
            self.said.append(("decision", result["id"], about, result["arm"], result["propensity"]))
        elif what == "reward" and status != 410:
            self.said.append(("reward", about, body["reward"]))
        return True


def sound(path, clients=None, by_command=False):
    """Check I1 to I4 and I6: nothing acknowledged is missing, nothing is learned twice, journal consistent, answers as documented."""
    reader = SqliteReader(path)
    try:
        report = check(reader)
        assert report.sound, str(report)
        if clients is not None:
            assert not clients.strange, clients.strange[:3]
            _all_there(reader, clients.said)
    finally:
        reader.close()
    if by_command:
        done = subprocess.run(command("journal", "check", str(path)), capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.endswith("sound.\n"), (done.stdout, done.stderr)
    return report


def _all_there(reader, said):
    names = {row.id: row.name for row in reader.policies()}
    decisions = {row.id: (name, ARMS[row.arm], row.propensity) for id, name in names.items() for row in reader.decisions(id)}
    rewards = {row.decision: row.value for id in names for row in reader.rewards(id) if not row.late}
    updates = [row.decision for id in names for row, _ in reader.entries(id) if row.kind == 1]
    pending = {row.decision for id in names for row in reader.pending(id)}
    assert len(updates) == len(set(updates)), "learned twice"
    closed = set(updates) | pending
    for what, id, *more in said:
        if what == "decision":
            assert decisions.get(id) == tuple(more), f"acknowledged and lost: decision {id}"
        else:
            assert rewards.get(id) == more[0] and id in closed, f"acknowledged and lost: the reward of {id}"


def percentile(times, share):
    """Return a percentile in milliseconds."""
    return round(sorted(times)[min(len(times) - 1, int(share * len(times)))] * 1e3, 2)


def timed(service, count):
    """Return the time of single decisions, one after the other, in seconds."""
    times = []
    for k in range(count):
        began = time.perf_counter()
        status, result = service.ask("POST", "/v1/policies/home/decisions", {"context": k / 100})
        times.append(time.perf_counter() - began)
        assert status == 201, result
    return times
