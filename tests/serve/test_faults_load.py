"""Too many clients, too slow ones, too much at once, and very much one after the other: real processes, bounded in time and size.

Times are reported and not asserted: the machine's cores are shared, by these clients too. What is asserted: answers, memory, queues.
"""

import asyncio
import contextlib
import json
import re
import threading
import time
from collections import Counter

import pytest
from support.serve.processes import KEY, Process, percentile, sound, timed
from support.serve.sizes import LEVEL, figures, size

resource = pytest.importorskip("resource")
pytestmark = [pytest.mark.long, pytest.mark.sized]
MOST_RSS = 600  # MiB, with 10,000 connections
WAITING = 4096


def raw(method, path, body=None, key=KEY):
    """A request as it is sent."""
    text = b"" if body is None else json.dumps(body).encode()
    head = [f"{method} {path} HTTP/1.1", "host: x", f"authorization: Bearer {key}", f"content-length: {len(text)}", "", ""]
    return "\r\n".join(head).encode() + text


async def answer(reader):
    """Status, headers and body of the next answer."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
    headers = dict(line.split(": ", 1) for line in head[1:] if line)
    return int(head[0].split()[1]), headers, await reader.readexactly(int(headers.get("content-length", 0)))


def room():
    """How many connections this process and one more can have: as many files as it may open, and 64 for others."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard - 264 if hard != resource.RLIM_INFINITY else 10**6


class Beside:
    """A loop in a thread of its own, with connections that are all closed at the end."""

    def __enter__(self):
        self.loop, self.writers = asyncio.new_event_loop(), []
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        return self

    def start(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    async def connect(self, port):
        for wait in (0.05, 0.2, 1.0, None):  # the queue of those who want in may be full for a moment
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                break
            except OSError:
                if wait is None:
                    raise
                await asyncio.sleep(wait)
        self.writers.append(writer)
        return reader, writer

    async def _close(self):
        for writer in self.writers:
            writer.transport.abort()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0.1)

    def __exit__(self, *_):
        self.start(self._close()).result(60)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(60)
        self.loop.close()


def test_slow_clients(tmp_path):
    """Headers and bodies, a byte a second: they are cut off in time, and the others do not notice."""
    count, seconds = min(size("slow clients"), room()), size("slow seconds")
    with Process(tmp_path / "hsb.db") as service, Beside() as beside:
        service.make()
        alone = timed(service, 200)
        ended, clients = [], []

        async def slow(k):
            reader, writer = await beside.connect(service.port)
            text = raw("POST", "/v1/policies/home/decisions", {"context": "x" * 100})
            offset = text.index(b"\r\n\r\n") + 4 if k % 2 else 5
            writer.write(text[:offset])
            with contextlib.suppress(OSError):
                for letter in text[offset : offset + seconds + 30]:
                    await asyncio.sleep(1.0)
                    writer.write(bytes([letter]))
                    if reader.at_eof():
                        break
            ended.append(k)

        async def all_of_them():
            for some in _parts(range(count), 100):
                clients.extend(asyncio.ensure_future(slow(k)) for k in some)
                await asyncio.sleep(0.05)

        beside.start(all_of_them()).result(60)
        until, among = time.monotonic() + seconds, []
        while time.monotonic() < until:
            among += timed(service, 20)
        rss, files = service.rss(), service.open_files()
        assert rss < MOST_RSS and service.ask("GET", "/readyz")[0] == 200
        if LEVEL != "small":  # a header has ten seconds, a body thirty
            assert len(ended) >= count // 2 - 1
        began = time.monotonic()
        service.process.terminate()  # with bodies on their way
        code, _ = service.wait()
        stopped = time.monotonic() - began
        assert code == 0 and stopped < 10
    sound(tmp_path / "hsb.db")
    p99 = {"p99_ms_alone": percentile(alone, 0.99), "p99_ms_among": percentile(among, 0.99)}
    figures("slow clients", clients=count, cut_off=len(ended), rss_mib=rss, files=files, stop_seconds=stopped, **p99)


def _parts(items, count):
    items = list(items)
    return [items[k : k + count] for k in range(0, len(items), count)]


def test_idle_connections(tmp_path):
    """Connections that asked something once and are kept."""
    count = min(size("idle connections"), room())
    with Process(tmp_path / "hsb.db") as service, Beside() as beside:
        service.make()
        alone, empty = timed(service, 200), service.rss()

        async def idle():
            reader, writer = await beside.connect(service.port)
            writer.write(raw("GET", "/healthz"))
            return (await answer(reader))[0]

        async def all_of_them():
            results = []
            for some in _parts(range(count), 200):
                results += await asyncio.gather(*(idle() for _ in some))
            return results

        assert set(beside.start(all_of_them()).result(300)) == {200}
        among, rss, files = timed(service, 200), service.rss(), service.open_files()
        assert rss < MOST_RSS and files > count
        began = time.monotonic()
        service.process.terminate()
        code, _ = service.wait()
        stopped = time.monotonic() - began
        assert code == 0 and stopped < 10
    sound(tmp_path / "hsb.db")
    p99 = {"p99_ms_alone": percentile(alone, 0.99), "p99_ms_among": percentile(among, 0.99)}
    figures("idle connections", connections=count, rss_mib_before=empty, rss_mib=rss, stop_seconds=stopped, **p99)


def test_more_connections_than_files(tmp_path):
    """Where a process may open few files, those that are too many are told so, and the journal still has its own."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))  # noqa: E731
    with Process(tmp_path / "hsb.db", limits=limit) as service, Beside() as beside:
        service.make()

        async def come(line):
            reader, writer = await beside.connect(service.port)
            writer.write(line)
            return reader, writer

        async def told(reader):
            try:
                return (await asyncio.wait_for(answer(reader), 30))[0]
            except (OSError, asyncio.IncompleteReadError):
                return 0

        async def one_after_the_other():
            lines, statuses = [], []
            for _ in range(400):
                lines.append(await come(raw("GET", "/healthz")))
                statuses.append(await told(lines[-1][0]))
            return statuses

        async def all_at_once():
            busy = []
            for _ in range(400):
                reader, _ = await come(raw("GET", "/healthz")[:-2])  # a header that is not complete
                busy.append(asyncio.ensure_future(told(reader)))
                await asyncio.sleep(0)
            return await asyncio.gather(*busy)

        assert set(beside.start(one_after_the_other()).result(120)) == {200}  # those that ask nothing make room
        result = beside.start(all_at_once()).result(240)
        assert result.count(503) >= 100 and result.count(200) == 0, {status: result.count(status) for status in set(result)}
        service.close()  # its own connection was quiet, and made room
        timed(service, 50)
        rows = [{"context": k} for k in range(1000)]  # what is written needs files beside
        assert service.ask("POST", "/v1/policies/home/decisions/batch", {"decisions": rows})[0] == 200
        assert service.ask("GET", "/v1/policies/home/decisions?limit=10")[0] == 200
        service.stop()
    sound(tmp_path / "hsb.db")


BATCH = raw("POST", "/v1/policies/home/decisions/batch", {"decisions": [{"context": 0.5}] * 1000})
SINGLE = raw("POST", "/v1/policies/home/decisions", {"context": 0.5})


class Crowd:
    """Clients that ask again as soon as they are answered; what they are told, by status, and how long the queue was."""

    def __init__(self, service, beside, limited):
        self.service, self.beside, self.told, self.strange, self.queue = service, beside, Counter(), [], [0]
        self.few = raw("POST", "/v1/policies/home/decisions", {"context": 0.5}, key=limited)

    async def ask(self, line, text, until):
        reader, writer = line
        while time.monotonic() < until:
            writer.write(text)
            status, headers, body = await answer(reader)
            if status == 200:
                self.told.update(row["status"] for row in json.loads(body)["rows"])
                continue
            self.told[status] += 1
            if status != 201 and "retry-after" not in headers:
                self.strange.append((status, headers))
            await asyncio.sleep(0.05)

    async def watch(self, line, until):
        reader, writer = line
        while time.monotonic() < until:
            writer.write(raw("GET", "/metrics"))
            self.queue.append(int(float(re.search(rb"^hsb_queue ([\d.]+)", (await answer(reader))[2], re.M)[1])))
            await asyncio.sleep(0.05)

    async def come(self, seconds):
        work = [BATCH] * 48 + [SINGLE] * 300 + [self.few] * 10
        first, *lines = await asyncio.gather(*(self.beside.connect(self.service.port) for _ in range(1 + len(work))))
        until = time.monotonic() + seconds  # all are there by then, however busy the machine is
        await asyncio.gather(self.watch(first, until), *(self.ask(*each, until) for each in zip(lines, work, strict=True)))


@pytest.mark.parametrize("turn", range(size("overloads")))
def test_overload(turn, tmp_path):
    """Ten times as much as it can write: the queue is bounded, what is too much is told to come again, and afterwards all is as before."""
    seconds = size("overload seconds")
    with Process(tmp_path / "hsb.db") as service, Beside() as beside:
        service.make()
        before = timed(service, 200)
        limited = service.ask("POST", "/v1/keys", {"name": "k", "scopes": ["decide"], "rate": 5})[1]["key"]
        crowd = Crowd(service, beside, limited)
        beside.start(crowd.come(seconds)).result(seconds + 120)
        first, after, rss = timed(service, 1), timed(service, 200), service.rss()
        service.stop()
    told = crowd.told
    assert not crowd.strange and set(told) == {201, 429, 503}, (crowd.strange[:3], told)
    assert max(crowd.queue) <= WAITING and rss < MOST_RSS
    report = sound(tmp_path / "hsb.db")
    assert report.decisions == told[201] + len(before) + len(after) + len(first) == report.pending
    figures(
        "overload", seconds=seconds, asked=told.total(), answers={str(k): n for k, n in sorted(told.items())}, rss_mib=rss,
        longest_queue=max(crowd.queue), first_answer_afterwards_ms=round(first[0] * 1e3, 1),
        p99_ms_before=percentile(before, 0.99), p99_ms_after=percentile(after, 0.99),
    )  # fmt: skip


def test_memory_is_flat(tmp_path):
    """Decisions in batches, every other one rewarded: memory does not grow with what was served."""
    total, seen = size("decisions for memory"), []
    with Process(tmp_path / "hsb.db") as service:
        service.make()
        began = time.monotonic()
        for first in range(0, total, 1000):
            rows = [{"id": f"d{first + k}", "context": {"x": k / 1000, "y": str(k % 7)}} for k in range(1000)]
            status, result = service.ask("POST", "/v1/policies/home/decisions/batch", {"decisions": rows})
            assert status == 200 and all(row["status"] == 201 for row in result["rows"])
            some = [{"decision": row["id"], "reward": k % 2} for k, row in enumerate(rows[::2])]
            status, result = service.ask("POST", "/v1/rewards", {"rewards": some})
            assert status == 200 and all(row["status"] in (200, 202) for row in result["rows"])
            seen.append((first + 1000, service.rss()))
        seconds, files = time.monotonic() - began, service.open_files()
        wal = (tmp_path / "hsb.db-wal").stat().st_size / 2**20
        lines = service.stop()
    half = [each for each in seen if each[0] > total / 2]
    slope = _slope(half) * 2**20  # bytes a decision
    assert half[-1][1] - half[0][1] < (16 if total >= 10**6 else 64) and seen[-1][1] < MOST_RSS
    assert files < 64 and wal <= 80 and not any(line["level"] == "error" for line in lines)
    report = sound(tmp_path / "hsb.db")
    assert report.decisions == total and report.updates == total // 2
    figures(
        "memory", decisions=total, updates=report.updates, seconds=round(seconds, 1), rss_mib_first=seen[0][1], rss_mib_half=half[0][1],
        rss_mib_last=seen[-1][1], bytes_a_decision_in_the_second_half=round(slope, 2), wal_mib=round(wal, 1),
    )  # fmt: skip


def _slope(points):
    """Least squares."""
    count = len(points)
    x, y = sum(each[0] for each in points) / count, sum(each[1] for each in points) / count
    return sum((a - x) * (b - y) for a, b in points) / max(1.0, sum((a - x) ** 2 for a, _ in points))
