"""The service: overload, full disks, a journal that is lost, stops."""

import asyncio
import http.client
import json
import sqlite3
import threading
import time

import pytest
from support.serve.http_cases import DECIDE, Running, running
from support.waiting import LIMIT, wait_until

from hsb.serve.http import ServerSettings
from hsb.serve.http.service import Service

SMALL = ServerSettings(header_seconds=1.0, body_seconds=1.0, connections=40, body=2000, batch_body=20_000, rows=50, numbers=20)


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db", SMALL) as result:
        result.make()
        yield result


def test_overload(tmp_path):
    """With room for 20, of 200 that come while the disk stands still most are turned away at once, the rest served after."""
    with running(tmp_path / "hsb.db", ServerSettings(waiting=20)) as one:
        one.make()
        gate, commit = threading.Event(), one.service.store.commit
        one.service.store.commit = lambda batch: (gate.wait(LIMIT), commit(batch))[1]
        results = []

        def client(k):
            connection = http.client.HTTPConnection("127.0.0.1", one.port, timeout=LIMIT)
            connection.request("POST", DECIDE, json.dumps({"id": f"d{k}"}), {"Authorization": f"Bearer {one.key}"})
            answer = connection.getresponse()
            answer.read()
            results.append((answer.status, answer.headers["retry-after"]))
            connection.close()

        threads = [threading.Thread(target=client, args=(k,)) for k in range(200)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(results) >= 100)
        assert set(results) == {(503, "1")}
        assert len(one.service.core.waiting) == 20
        gate.set()
        for thread in threads:
            thread.join()
        statuses = [status for status, _ in results]
        assert set(statuses) == {201, 503} and 20 <= statuses.count(201) <= 60
        assert one.post(DECIDE, {}).status == 201  # as before


def test_a_full_disk(tmp_path):
    with running(tmp_path / "hsb.db") as one:
        one.make()
        ((most,),) = one.service.store.rows("PRAGMA page_count")
        one.service.writer.also(lambda store: None, lambda *_: None)
        one.service.store.connection.execute(f"PRAGMA max_page_count = {most}").fetchall()
        statuses = {one.post(DECIDE, {"context": "x" * 2000}).status for _ in range(40)}
        assert statuses == {201, 507}
        full = one.post(DECIDE, {"context": "x" * 20_000})
        assert full.status == 507 and full.headers["retry-after"] == "1" and "disk is full" in full.json["detail"]
        assert one.post("/v1/keys", {"name": "n" * 90, "scopes": ["read"]}).status in (201, 507)
        one.service.store.connection.execute("PRAGMA max_page_count = 1000000").fetchall()
        assert one.post(DECIDE, {"context": 1}).status == 201


def test_a_journal_that_is_lost(tmp_path, monkeypatch):
    """A commit fails: 503 with Retry-After, never 401, and the process ends with 70."""
    ended = []
    monkeypatch.setattr("os._exit", ended.append)
    with running(tmp_path / "hsb.db") as one:
        one.make()

        def fail(batch):
            raise sqlite3.OperationalError("disk I/O error")

        monkeypatch.setattr(one.service.store, "facts", fail)
        response = one.post(DECIDE, {})
        assert response.status == 503 and response.headers["retry-after"] == "1"
        again = one.post(DECIDE, {})
        assert again.status == 503 and one.get("/readyz", key=None).status == 503
        wait_until(lambda: ended)
        assert ended == [70]
        one.service.store.broken = False  # so that it can be closed


def test_two_services_on_one_file(one):
    with pytest.raises(ValueError, match="in use by another process"):
        Service(one.service.path)


def test_a_stop_waits_for_no_read(tmp_path):
    """A query under way when the service stops is ended: it might take two minutes, and a stop takes far less."""
    one = Running(tmp_path / "hsb.db")
    begun = threading.Event()

    def endless(reader):
        begun.set()
        return reader.rows("WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT COUNT(*) FROM n")

    work = asyncio.run_coroutine_threadsafe(one.service.readers.scan(endless), one.service.loop)
    assert begun.wait(LIMIT)
    began = time.monotonic()
    one.stop()
    assert time.monotonic() - began < LIMIT / 2
    work.cancel()
