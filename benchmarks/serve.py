"""The service under load, beside a bare ASGI echo, with the same client in the same run: python benchmarks/serve.py.

Client and servers share the machine's cores, each server a process of its own. Rates are medians of rounds that take turns.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from bisect import bisect
from itertools import accumulate
from pathlib import Path

ECHO = """
import sys, uvicorn
async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": body})
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), http="httptools", log_level="error", access_log=False, server_header=False)
"""
SLOWER = """
import sys, time
from hsb.cli import main
from hsb.serve.store.sqlite import SqliteStore
seconds, real = float(sys.argv.pop(1)), SqliteStore.commit
def commit(self, batch):
    time.sleep(seconds)
    return real(self, batch)
SqliteStore.commit = commit
main()
"""
KEY = "hsb_" + "A" * 32
CONTEXT = {"age": 31, "country": "de", "device": "ios", "hour": 20}


class Client(asyncio.Protocol):
    """One connection: the next request leaves when the answer to the last one is there. Nothing of the answer is parsed but its length."""

    def __init__(self, requests, times, done):
        self.requests, self.times, self.done, self.buffer = requests, times, done, b""
        self.failed = 0

    def connection_made(self, transport):
        self.transport = transport
        self.next()

    def next(self):
        request = next(self.requests, None)
        if request is None:
            self.transport.close()
            self.done.set_result(self.failed)
            return
        self.began = time.perf_counter()
        self.transport.write(request)

    def data_received(self, data):
        self.buffer += data
        head, mark, rest = self.buffer.partition(b"\r\n\r\n")
        if not mark:
            return
        size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        if len(rest) < size:
            return
        self.times.append(time.perf_counter() - self.began)
        self.failed += not head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201", b"HTTP/1.1 202"))
        self.buffer = rest[size:]
        self.next()


class Paced(Client):
    """One connection that sends at times set beforehand; an answer's time counts from when its request was due, not from when it left."""

    def __init__(self, requests, times, done, due, period):
        super().__init__(requests, times, done)
        self.due, self.period = due, period

    def next(self):
        wait = self.due - time.perf_counter()
        if wait > 0:
            asyncio.get_running_loop().call_later(wait, self.send_due)
        else:
            self.send_due()

    def send_due(self):
        super().next()
        self.began, self.due = self.due, self.due + self.period


def requests(path, bodies):
    for body in bodies:
        raw = json.dumps(body).encode()
        head = [f"POST {path} HTTP/1.1", "host: x", f"authorization: Bearer {KEY}", f"content-length: {len(raw)}", "", ""]
        yield "\r\n".join(head).encode() + raw


def drive(port, path, bodies, connections, rate=None):
    """Requests a second, the times of all, and how many failed; `rate`: sent at so many a second, whatever comes back."""
    prepared = [list(requests(path, bodies[k::connections])) for k in range(connections)]

    async def run():
        loop, times = asyncio.get_running_loop(), []
        done = [loop.create_future() for _ in prepared]
        began = time.perf_counter()
        for k, (some, future) in enumerate(zip(prepared, done, strict=True)):
            given = (iter(some), times, future)
            if rate is not None:
                due = began + 0.2 + k / rate
                await loop.create_connection(lambda g=given, due=due: Paced(*g, due, connections / rate), "127.0.0.1", port)
            else:
                await loop.create_connection(lambda g=given: Client(*g), "127.0.0.1", port)
        failed = sum(await asyncio.gather(*done))
        return len(times) / (time.perf_counter() - began), times, failed

    try:
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(run())
    except ImportError:
        return asyncio.run(run())


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(port):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"nothing listens on {port}")


def fsync_seconds(folder, seconds=5.0):
    """What the disk takes by itself, with nobody else about: a page written at the end of a file and synced, again and again."""
    times = []
    with open(Path(folder) / "probe", "wb") as file:
        while sum(times) < seconds:
            file.write(b"x" * 4096)
            began = time.perf_counter()
            file.flush()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return times


def at_best(fsyncs, count=100_000):
    """What those would wait who come at any time and are answered when the fsync that begins after they came is done."""
    ends = list(accumulate(fsyncs))
    moments = (ends[-2] * k / count for k in range(count))
    return [ends[bisect(ends, moment) + 1] - moment for moment in moments]


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(share * len(times)))] * 1e3


def resident(pid):
    try:
        text = Path(f"/proc/{pid}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0]) / 1024
    except (OSError, IndexError, ValueError):
        return float("nan")


def cpu(pid):
    """Seconds of processor time that a process took so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return float("nan")


def commits(port):
    """Commits so far, and their seconds."""
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(asked, timeout=10) as answer:
        lines = dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if not line.startswith("#"))
    return float(lines["hsb_commit_seconds_count"]), float(lines["hsb_commit_seconds_sum"])


def at_half_load(given, ports, rate):
    """Times of single decisions that come at half the rate that can be had, in milliseconds and in commits of that time; the echo's beside."""
    (echo_port, port), bodies = ports, [{"context": CONTEXT, "id": f"h{k}"} for k in range(given.requests)]
    _, bare, _ = drive(echo_port, "/", bodies, given.connections, rate / 2)
    before = commits(port)
    _, times, failed = drive(port, "/v1/policies/bench/decisions", bodies, given.connections, rate / 2)
    count, seconds = (now - then for now, then in zip(commits(port), before, strict=True))
    commit = 1e3 * seconds / count
    half = {"half_p50_ms": percentile(times, 0.5), "half_p99_ms": percentile(times, 0.99), "half_commit_ms": commit}
    half["half_echo_p99_ms"] = percentile(bare, 0.99)
    return half | {"half_p99_in_commits": half["half_p99_ms"] / commit, "half_failed": failed}


def measure(given, ports, pids):
    (echo_port, port), (echo_pid, pid) = ports, pids
    spent = {"echo": 0.0, "single": 0.0, "batch": 0.0}
    rounds = {"echo": [], "single": [], "reward": [], "batch": []}
    times, failures, serial = [], 0, 0
    for _ in range(given.rounds):
        single = [{"context": CONTEXT, "id": f"s{serial + k}"} for k in range(given.requests)]
        rewards = [(f"s{serial + k}", {"reward": k % 2}) for k in range(given.requests)]
        rows = [[{"context": CONTEXT, "id": f"b{serial + j * 1000 + k}"} for k in range(1000)] for j in range(given.batches)]
        serial += max(given.requests, given.batches * 1000)
        before = cpu(echo_pid)
        rounds["echo"].append(drive(echo_port, "/", single, given.connections)[0])
        spent["echo"] += cpu(echo_pid) - before
        before = cpu(pid)
        rate, took, failed = drive(port, "/v1/policies/bench/decisions", single, given.connections)
        rounds["single"].append(rate)
        spent["single"] += cpu(pid) - before
        times += took
        failures += failed
        batches = [
            {"rewards": [{"decision": name, **body} for name, body in rewards[k : k + 1000]]}
            for k in range(0, len(rewards), 1000)
        ]
        rate, _, failed = drive(port, "/v1/rewards", batches, 2)
        rounds["reward"].append(rate * len(rewards) / len(batches))
        failures += failed
        before = cpu(pid)
        rate, _, failed = drive(port, "/v1/policies/bench/decisions/batch", [{"decisions": some} for some in rows], 4)
        rounds["batch"].append(rate * 1000)
        spent["batch"] += cpu(pid) - before
        failures += failed
    found = {name: statistics.median(each) for name, each in rounds.items()}
    found |= {"p50_ms": percentile(times, 0.5), "p99_ms": percentile(times, 0.99), "failed": failures, "rss_mib": resident(pid)}
    each = {"echo": given.requests, "single": given.requests, "batch": given.batches * 1000}
    found |= {f"cpu_us_{name}": 1e6 * spent[name] / each[name] / given.rounds for name in spent}
    found |= at_half_load(given, ports, found["single"])
    return found | {"single_of_echo": found["single"] / found["echo"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=6000)
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--kind", default="HSB")
    parser.add_argument(
        "--slower", type=float, default=0.0, help="milliseconds that each commit takes longer, as on another disk"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        ports, fsync = (free_port(), free_port()), fsync_seconds(folder)
        db = str(Path(folder) / "bench.db")
        env = os.environ | {"HSB_ADMIN_KEY": KEY}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        echo = subprocess.Popen([sys.executable, "-c", ECHO, str(ports[0])], **quiet)
        command = ["-c", SLOWER, str(given.slower / 1e3)] if given.slower else ["-m", "hsb"]
        service = subprocess.Popen([sys.executable, *command, "serve", "--db", db, "--port", str(ports[1])], env=env, **quiet)
        try:
            for port in ports:
                wait_for(port)
            spec = {"name": "bench", "arms": ["a", "b", "c"], "policy": {"kind": given.kind}}
            drive(ports[1], "/v1/policies", [spec], 1)
            drive(ports[1], "/v1/policies/bench/decisions", [{"context": CONTEXT, "id": f"w{k}"} for k in range(500)], 8)
            found = measure(given, ports, (echo.pid, service.pid))
        finally:
            for process in (echo, service):
                process.terminate()
                process.wait()
    found |= {"fsync_p50_ms": percentile(fsync, 0.5), "fsync_max_ms": max(fsync) * 1e3}
    found["at_best_p99_ms"] = percentile(at_best(fsync), 0.99)
    print(json.dumps({name: round(value, 3) for name, value in found.items()}, indent=1))


if __name__ == "__main__":
    main()
