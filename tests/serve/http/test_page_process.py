"""The process that makes views of the page: what becomes of looks, decisions and rewards where it is slow, gone, or starts again."""

import os
import signal
import time

import pytest
from support.serve.http_cases import decide, running
from support.waiting import LIMIT

from hsb.serve.core import Create, Decide, Reward
from hsb.serve.http import ServerSettings
from hsb.serve.http.keys import generate_key
from hsb.serve.local import Local
from hsb.serve.page import working

UPDATES = 24_000


@pytest.mark.long
def test_a_process_that_hangs_holds_up_nothing_but_looks(tmp_path):
    with running(tmp_path / "hsb.db", ServerSettings(read_seconds=1.0)) as one:
        one.make()
        decisions = [decide(one, "home")["id"] for _ in range(2)]
        until = time.monotonic() + LIMIT
        while (first := one.get("/p/home/overview.json")).status != 200:  # its start may take longer than a look may
            assert first.status == 503 and first.headers["retry-after"] and time.monotonic() < until
        number = one.service.figures.process.pid
        os.kill(number, signal.SIGSTOP)
        try:
            looks = [one.get(path) for path in ("/p/home/overview", "/p/home/arms", "/policies.json")]
            assert [each.status for each in looks] == [503] * 3 and all("retry-after" in each.headers for each in looks)
            assert one.post(f"/v1/decisions/{decisions[0]}/reward", {"reward": 1}).status == 200
            assert one.get("/readyz").status == 200 and decide(one, "home")["id"]
        finally:
            os.kill(number, signal.SIGKILL)
        assert one.post(f"/v1/decisions/{decisions[1]}/reward", {"reward": 1}).status == 200
        until = time.monotonic() + LIMIT
        while (result := one.get("/p/home/overview.json")).status != 200:
            assert result.status == 503 and time.monotonic() < until
        assert result.json["updates"] == 2 and one.service.figures.process.pid != number


def test_a_fault_of_a_view_is_500_and_the_next_look_is_answered(tmp_path, capfd):
    with running(tmp_path / "hsb.db") as one:
        one.make()
        assert one.get("/p/home/overview").status == 200
        one.service.core.policies["home"].notes = object()  # no plain data: it cannot be sent
        assert one.get("/p/home/audit").status == 500
        one.service.core.policies["home"].notes = []
        assert one.get("/p/home/audit").status == 200


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "hsb.db"
    local = Local(path)
    local.ask(Create(0, {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}, "floor": 0.1}, b"s" * 32))
    for k in range(0, UPDATES, 1000):
        names = [f"d{k + j}" for j in range(1000)]
        local.ask_all([Decide(name, "home", name, 0.5) for name in names])
        local.ask_all([Reward(name, name, float(int(name[1:]) % 7 == 0)) for name in names])
    local.close()
    return path


@pytest.mark.long
def test_a_restarted_service_goes_on_with_what_was_read(journal):
    """After a restart looks get ahead, and the one after that has nothing left to read."""
    assert UPDATES > working.WORTH
    seen, key = [], generate_key()
    for _ in range(2):
        with running(journal, admin_key=key) as one:
            until = time.monotonic() + LIMIT
            while (result := one.get("/p/home/overview.json")).status != 200 or result.json["behind"]:
                assert time.monotonic() < until, result
                time.sleep(0.05)
            seen.append(result.json)
        assert len(list(journal.with_name("hsb.db-page").iterdir())) == 1
    assert seen[0]["rows"] == seen[1]["rows"] and seen[0]["updates"] == seen[1]["updates"] == UPDATES
