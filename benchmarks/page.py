"""What looks at the page cost those who decide and reward: python benchmarks/page.py.

A journal of 10^6 decisions, half of them rewarded, behind a real `hsb serve`. Single decisions and rewards come at a rate that is set
beforehand; in turns nobody looks, and ten viewers have the page open, as its script does: each asks for its view again every five seconds. The
figures are percentiles of a request's time from when it was due, of all rounds together, and the ratio of the second to the first; and the
median of that ratio over pairs of rounds, which says more where others use the machine.
`--begin` begins looking when nothing was read of the journal yet: meanwhile the process beside the service reads all of it.
"""

import argparse
import asyncio
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from serve import CONTEXT, KEY, Paced, cpu, free_port, percentile, requests, resident, wait_for

from hsb.serve.core import Create, Decide, Reward
from hsb.serve.local import Local

VIEWS = ["/p/bench/overview", "/p/bench/arms", "/p/bench/feedback", "/p/bench/audit", "/policies.json"]
ROWS = 1000  # of a batch


def fill(path, decisions, kind):
    """A journal with so many decisions, every second rewarded; in batches, without a network."""
    local = Local(path)
    spec = {"name": "bench", "arms": ["a", "b", "c"], "policy": {"kind": kind}, "floor": 0.1}
    local.ask(Create(0, spec, b"bench" * 8))
    for first in range(0, decisions, ROWS):
        rows = range(first, first + ROWS)
        local.ask_all([Decide(k, "bench", f"old{k}", CONTEXT | {"age": k % 60, "hour": k % 24}) for k in rows])
        local.ask_all([Reward(k, f"old{k}", float(k % 7 == 0)) for k in rows if k % 2])
    local.close()


def get(port, path):
    asked = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"authorization": f"Bearer {KEY}"})
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


class Viewers:
    """Browsers that have a view open, in a process of their own: what sends requests at set times must not wait for them."""

    def __init__(self, port, count, every):
        self.given, self.process, self.looks = [str(port), str(count), str(every)], None, []

    def __enter__(self):
        line = [sys.executable, __file__, "viewers", *self.given]
        self.process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.looks = json.loads(self.process.communicate("")[0])


def view(port, count, every):
    """Look until stdin ends; the status and the seconds of each look on stdout."""
    over, looks = threading.Event(), []
    if hasattr(os, "nice"):
        os.nice(19)  # browsers are elsewhere

    def look(k):
        path, wait = VIEWS[k % len(VIEWS)], every * k / count
        while not over.wait(wait):
            began = time.perf_counter()
            status, _ = get(port, path + ("" if path.endswith("json") else "?fragment"))
            looks.append((status, time.perf_counter() - began))
            wait = every

    threads = [threading.Thread(target=look, args=(k,), daemon=True) for k in range(count)]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    over.set()
    for thread in threads:
        thread.join()
    print(json.dumps(looks))


def traffic(port, name, serial, rate, seconds):
    """Times of decisions and of rewards, each at half the rate, and how many failed. Rewards are for decisions of the round before."""
    count = int(rate * seconds / 2)
    decisions = list(
        requests("/v1/policies/bench/decisions", [{"id": f"{name}{serial}-{k}", "context": CONTEXT} for k in range(count)])
    )
    rewards = [next(requests(f"/v1/decisions/{name}{serial - 1}-{k}/reward", [{"reward": k % 2}])) for k in range(count)]

    async def run():
        loop, times, done = asyncio.get_running_loop(), ([], []), []
        began = time.perf_counter() + 0.2
        for which, some in enumerate((decisions, rewards if serial else [])):
            for k in range(8):
                done.append(loop.create_future())
                due, period = began + (2 * k + which) / rate, 16 / rate
                given = iter(some[k::8]), times[which], done[-1], due, period
                await loop.create_connection(lambda given=given: Paced(*given), "127.0.0.1", port)
        return times, sum(await asyncio.gather(*done))

    return asyncio.run(run())


def behind(port):
    status, raw = get(port, "/p/bench/overview.json")
    return json.loads(raw)["behind"] if status == 200 else None


def measured(port, given, pid):
    """Figures of rounds with and without viewers, in turns."""
    found = {name: {"decision": [], "reward": [], "spent": 0.0} for name in ("without", "with")}
    failed, serial, seen, waits = 0, 0, {}, []
    traffic(port, "r", serial, given.rate, given.seconds)  # so that the first round has decisions to reward
    for _, name in itertools.product(range(given.rounds), ("without", "with")):
        serial, viewers = serial + 1, Viewers(port, given.viewers if name == "with" else 0, given.every)
        before = cpu(pid)
        with viewers:
            times, wrong = traffic(port, "r", serial, given.rate, given.seconds)
        found[name]["spent"] += cpu(pid) - before
        for what, some in zip(("decision", "reward"), times, strict=True):
            found[name][what].append(some)
        failed, waits = failed + wrong, waits + [seconds for _, seconds in viewers.looks]
        for status, _ in viewers.looks:
            seen[status] = seen.get(status, 0) + 1
    said = {"failed": failed, "looks": seen, "median_look_ms": 1e3 * statistics.median(waits) if waits else None}
    for what, share in itertools.product(("decision", "reward"), (0.5, 0.99)):
        both = {name: percentile(list(itertools.chain(*found[name][what])), share) for name in found}
        mark, rounds = f"{what}_p{100 * share:.0f}", zip(found["without"][what], found["with"][what], strict=True)
        ratios = [percentile(viewed, share) / percentile(alone, share) for alone, viewed in rounds]
        said |= {
            f"{mark}_ms": both["without"],
            f"{mark}_viewed_ms": both["with"],
            f"{mark}_ratio": both["with"] / both["without"],
        }
        said |= {f"{mark}_median_ratio_of_rounds": statistics.median(ratios)}
    asked = sum(len(some) for some in itertools.chain(*(found["with"][what] for what in ("decision", "reward"))))
    return said | {f"cpu_us_{name}": 1e6 * found[name]["spent"] / asked for name in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--db", type=Path, help="keep the journal here, and use it if it is there")
    parser.add_argument("--kind", default="Exp3")
    parser.add_argument("--viewers", type=int, default=10)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between a viewer's looks")
    parser.add_argument("--rate", type=float, default=200.0, help="requests a second, decisions and rewards")
    parser.add_argument("--seconds", type=float, default=10.0, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--begin", action="store_true", help="look at once, when nothing is read yet")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        db = given.db or Path(folder) / "bench.db"
        began = time.perf_counter()
        if not db.exists():
            fill(db, given.decisions, given.kind)
        said, port = {"filled_seconds": time.perf_counter() - began}, free_port()
        env = os.environ | {"HSB_ADMIN_KEY": KEY}
        command = [sys.executable, "-m", "hsb", "serve", "--db", str(db), "--port", str(port)]
        service = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(port)
            while get(port, "/readyz")[0] != 200:
                time.sleep(0.1)
            began = time.perf_counter()
            while not given.begin and behind(port) != 0:
                time.sleep(0.5)
            said["read_seconds"] = time.perf_counter() - began
            said |= measured(port, given, service.pid) | {"rss_mib": resident(service.pid), "behind": behind(port)}
        finally:
            service.terminate()
            service.wait()
    print(json.dumps({name: round(value, 3) if isinstance(value, float) else value for name, value in said.items()}, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["viewers"]:
        view(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    else:
        main()
