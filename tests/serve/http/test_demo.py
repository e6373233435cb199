"""The demo: its visitors, and a service that has it."""

import asyncio

import pytest
from support.serve.processes import Process
from support.waiting import wait_until

from hsb.serve.checking import check
from hsb.serve.core import Answer, Decide
from hsb.serve.http import demo
from hsb.serve.store.sqlite import SqliteReader


def test_the_demo_goes_on_with_an_arm_that_was_added(monkeypatch):
    monkeypatch.setattr(demo, "PAUSE", 0.0)
    asked = []

    class Shop:
        async def ask(self, kind, *given):
            asked.append(kind)
            if len(asked) == 20:
                raise asyncio.CancelledError
            return Answer(None, "created", {"id": given[1], "arm": "new"} if len(asked) < 10 else {"detail": "archived"})

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(demo.keep_busy(Shop()))
    assert asked == [Decide] * 20


@pytest.mark.long
def test_the_demo_is_busy(tmp_path):
    service = Process(tmp_path / "demo.db", "--demo")
    status, result = service.ask("GET", "/v1/policies/demo-shop")
    assert status == 200 and result["synthetic"] and result["updates"] >= 3000
    days = service.ask("GET", "/v1/policies/demo-shop/stats?bucket=1d")[1]["buckets"]
    assert 7 <= len(days) <= 9
    wait_until(lambda: service.ask("GET", "/v1/policies/demo-shop")[1]["pending"] > result["pending"])
    service.stop()
    reader = SqliteReader(tmp_path / "demo.db")
    assert check(reader).sound
    reader.close()
