"""Real processes killed and stopped under load; and with faults planted, to see that this is noticed."""

import http.client
import random
import signal
import sqlite3
import time

import pytest
from support.serve.processes import Clients, Process, sound
from support.serve.sizes import LEVEL, figures, size
from support.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.sized]
PROCESSES = 25  # of one journal


def killed(path, kills, seed, fault=None):
    """As many kill -9 under load, the journal looked through after each; seconds of each start, and what was answered."""
    rng, clients, starts = random.Random(seed), Clients(seed), []
    for _ in range(kills):
        with Process(path, fault=fault) as service:
            starts.append(service.seconds)
            try:
                service.make()
                before = len(clients.said)
                clients.load(service)
                wait_until(lambda: len(clients.said) > before + 20 or service.process.poll() is not None)  # noqa: B023
                time.sleep(0.6 * rng.random())
            except (AssertionError, OSError, http.client.HTTPException):
                service.process.wait(20)  # it is ending, or this says that it is not
            assert service.process.poll() is None, f"it ended by itself: {service.errors.read_text()}"
            service.kill()
        clients.end()
        sound(path, clients)
    return starts, clients


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
@pytest.mark.parametrize("part", range(2))
def test_killed_under_load(part, tmp_path):
    kills, starts, answers, last = (size("kills") + part) // 2, [], 0, None
    for k, first in enumerate(range(0, kills, PROCESSES)):
        last = tmp_path / str(k) / "hsb.db"
        last.parent.mkdir()
        times, clients = killed(last, min(PROCESSES, kills - first), seed=100 * part + k)
        starts, answers = starts + times, answers + len(clients.said)
        assert clients.statuses.keys() <= {200, 201, 202, 410}  # it was not away before it was gone
    report = sound(last, by_command=True)
    assert answers > 20 * kills and report.decisions and report.updates
    starts.sort()
    figures(
        "kill -9 under load",
        kills=kills,
        acknowledged=answers,
        lost=0,
        start_median=starts[len(starts) // 2],
        start_longest=starts[-1],
    )


@pytest.mark.parametrize("part", range(2))
def test_stopped_under_load(part, tmp_path):
    path, rng, clients, slowest, stops = (
        tmp_path / "hsb.db",
        random.Random(part),
        Clients(part),
        0.0,
        (size("stops") + part) // 2,
    )
    for _ in range(stops):
        service = Process(path)
        service.make()
        service.ask("GET", "/healthz")  # a connection that is kept and not used
        clients.load(service)
        time.sleep(0.2 + 0.4 * rng.random())
        began = time.monotonic()
        service.process.terminate()
        code, lines = service.wait()
        slowest = max(slowest, time.monotonic() - began)
        clients.end()
        assert code == 0 and slowest < 10
        assert not path.with_name("hsb.db-wal").exists()  # all is in the file
        assert (
            lines[0]["event"] == "start" and lines[-1]["event"] == "end" and not any(line["level"] == "error" for line in lines)
        )
        sound(path, clients)
    assert not stops or len(clients.said) > 10 * stops
    figures("SIGTERM under load", stops=stops, acknowledged=len(clients.said), lost=0, slowest_seconds=slowest)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("answer_before_commit", "acknowledged and lost"),
        ("pending_row_stays", "must be pending, learned once or closed"),
        ("reward_learned_twice", "ended by itself"),  # the table refuses it
    ][: 1 if LEVEL == "small" else 3],
)
def test_faults_are_noticed(fault, words, tmp_path):
    with pytest.raises((AssertionError, OSError), match=words):
        killed(tmp_path / "hsb.db", 12, seed=1, fault=fault)


def test_what_goes_wrong_in_the_fold_is_answered_and_ends_the_process(tmp_path):
    """A row of another process, as two of them on one file wrote: rewards are 503 and the process ends with 70, instead of waiting for ever."""
    path = tmp_path / "hsb.db"
    with Process(path) as service:
        service.make(home={"arms": ["a", "b"], "policy": {"kind": "Exp3"}})
        status, outcome = service.ask("POST", "/v1/policies/home/decisions", {"context": 0.5})
        assert status == 201
        with sqlite3.connect(path, isolation_level=None) as other:
            other.execute("INSERT INTO stream VALUES (1, 2, 4, NULL, NULL, 0, '{\"floor\": 0.1}', NULL, 0)")
            other.execute("UPDATE policy SET head = 2 WHERE id = 1")
        other.close()
        status, result = service.ask("POST", f"/v1/decisions/{outcome['id']}/reward", {"reward": 1})
        assert status == 503 and "stopping" in result["detail"]
        assert service.process.wait(60) == 70 and "rows are missing" in service.errors.read_text()
    with Process(path) as service:  # it was on disk
        status, result = service.ask("POST", f"/v1/decisions/{outcome['id']}/reward", {"reward": 1})
        assert (status, result["status"]) == (200, "duplicate")
