"""A service to view the page: the core and its journal in one thread, with synthetic traffic.

`python tests/support/serve/page_harness.py 8799` serves it, with a day of traffic.
"""

import asyncio
import json
import math
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette

from hsb.problems import Banners
from hsb.serve.core import AddCandidate, Answer, Create, Decide, Now, Reward
from hsb.serve.local import Local, clock
from hsb.serve.page import routes
from hsb.serve.page.looking import answer as view_of
from hsb.serve.page.sheets import TallyCache
from hsb.serve.store.sqlite import SqliteReader

ARMS = ["spring sale", "free shipping", "new arrivals", "members' club", "gift card"]
HOUR = 3_600_000_000

KEY = {"id": 1, "name": "first", "scopes": ["admin"], "rate": None, "policies": None, "expires": None, "created": 1}
KEY |= {"used": 1_790_000_000_000_000, "ended": None}
ONE = {
    "at": 1_790_000_000_000_000,
    "detail": "Unknown arm 'd' in available.",
    "pointer": "/available/0",
    "request_id": "ab12-1",
}
REJECTION = {"kind": "unknown-arm", "status": 422, "count": 3, "first": [ONE], "last": [ONE]}


class Harness:
    """The part of a service that the page needs."""

    def __init__(self, path: Path) -> None:
        self.local = Local(path)
        self.core = self.local.core
        self.synthetic, self.path = (lambda name: True), Path("harness.db")
        self.settings = SimpleNamespace(describe=lambda: {"body": 65_536, "rate": 1000.0})
        self.keys = SimpleNamespace(by_hash={"x": SimpleNamespace(describe=lambda: KEY)})
        self.rejections = SimpleNamespace(of=lambda policy: [REJECTION] if policy == "home" else [])
        self.evaluated: list[dict[str, Any]] = []
        self.audit_entries: list[dict[str, Any]] = []
        self.reader, self.cache = SqliteReader(path), TallyCache()
        self.lock, self.loop = asyncio.Lock(), asyncio.new_event_loop()

    async def change(self, kind: Any, *given: Any) -> Answer:
        return self.local.ask(kind(object(), *given))

    @property
    def readers(self) -> Any:
        return SimpleNamespace(quick=self.read, scan=self.read)

    async def read(self, function: Any, *given: Any) -> Any:
        async with self.lock:
            return function(self.reader, *given)

    async def view(self, look: Any) -> bytes:
        async with self.lock:
            return view_of(self.reader, self.cache, look)

    def spawn(self, work: Any) -> Any:
        return asyncio.ensure_future(work)

    async def evaluate(self, policy: str, asked: dict[str, Any]) -> str:
        at = "2026-11-16T09:00:00+00:00"
        self.evaluated.insert(0, {"id": str(len(self.evaluated)), "status": "waiting", "request": asked, "at": at})
        return self.evaluated[0]["id"]

    async def evaluations_of(self, policy: str) -> list[dict[str, Any]]:
        return self.evaluated

    async def audit_entries_of(self, policy: str) -> list[dict[str, Any]]:
        return self.audit_entries

    async def note(self, key: Any, what: str, policy: str, detail: dict[str, Any]) -> None:
        self.audit_entries.insert(0, {"at": clock().wall, "who": "harness", "what": what, "detail": json.dumps(detail)})

    def client(self) -> "Client":
        return Client(app(self), self.loop)

    def close(self) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
            self.loop.run_until_complete(asyncio.wait([task]))
        self.loop.close()
        self.reader.close()
        self.local.close()


def visitors(rounds: int, seed: int) -> Any:
    """Return contexts as JSON, and the losses of every arm."""
    table, losses, _ = Banners().sample(rounds, seed=seed)
    names = table.dtype.names
    for row, loss in zip(table, losses, strict=True):
        yield {k: v for k, v in zip(names, row.item(), strict=True) if not (isinstance(v, float) and math.isnan(v))}, loss


def fill(
    local: Local,
    name: str,
    rounds: int,
    *,
    seed: int = 0,
    hours: float = 24.0,
    unanswered: int = 50,
    more: bool = False,
    **spec: Any,
) -> None:
    """Add a policy and `rounds` decisions spread over the last hours; every `unanswered`-th gets no reward."""
    now = clock()
    start = now.wall - int(hours * HOUR)
    step = int(hours * HOUR) // rounds

    def at(k: int) -> Now:
        return Now(start + k * step, now.mono - (rounds - k) * step)

    if not more:
        local.ask(Create(0, {"name": name, "arms": ARMS, **spec}, bytes([seed]) * 32), at(0))
    people = list(visitors(rounds, seed))
    for first in range(0, rounds, 50):
        part = range(first, min(first + 50, rounds))
        made = local.ask_all([Decide(k, name, f"{name}-{seed}-{k}", people[k][0]) for k in part], at(part[-1]))
        rewards = []
        for k, answer in zip(part, made, strict=True):
            if k % unanswered and answer.status == "created":
                arms = local.core.policies[name].arms
                rewards.append(Reward(k, f"{name}-{seed}-{k}", 1.0 - float(people[k][1][arms.index(answer.body["arm"]) % 5])))
        local.ask_all(rewards, at(part[-1]))


def app(harness: Harness) -> Starlette:
    return Starlette(routes=routes(harness))


class Answered:
    """An answer of the application."""

    def __init__(self, status_code: int, headers: dict[str, str], body: bytes) -> None:
        self.status_code, self.headers, self.body = status_code, headers, body

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """A client of an application, without a network."""

    def __init__(self, application: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.application, self.loop = application, loop

    def get(self, path: str, params: dict[str, str] | None = None) -> Answered:
        return self.loop.run_until_complete(self._ask("GET", path + ("?" + urlencode(params) if params else ""), b""))

    def post(self, path: str, form: dict[str, str]) -> Answered:
        return self.loop.run_until_complete(self._ask("POST", path, urlencode(form).encode()))

    async def _ask(self, method: str, address: str, body: bytes) -> Answered:
        path, _, query = address.partition("?")
        headers = [(b"host", b"testserver"), (b"content-type", b"application/x-www-form-urlencoded")]
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
        }
        scope |= {
            "headers": headers,
            "scheme": "http",
            "server": ("testserver", 80),
            "client": ("127.0.0.1", 1),
            "root_path": "",
        }
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.application(scope, receive, send)
        named = {key.decode(): value.decode() for key, value in sent[0]["headers"]}
        return Answered(sent[0]["status"], named, b"".join(each.get("body", b"") for each in sent[1:]))


if __name__ == "__main__":
    import uvicorn

    folder = tempfile.mkdtemp()
    made = Harness(Path(folder) / "hsb.db")
    fill(made.local, "home", int(sys.argv[2]) if len(sys.argv) > 2 else 8000, baseline="spring sale", floor=0.1)
    made.local.ask(AddCandidate(1, "home", "one-rate", {"kind": "Exp3", "learning_rate": 0.01}))
    fill(made.local, "home", 800, seed=5, hours=0.5, more=True)
    fill(made.local, "checkout", 400, seed=3, hours=1.0)
    made.local.ask(Create(1, {"name": "empty", "arms": ["a", "b"]}, b"e" * 32))
    uvicorn.run(app(made), port=int(sys.argv[1]), log_level="warning")
