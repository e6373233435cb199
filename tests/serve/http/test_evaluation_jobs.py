"""The queue of evaluations: its room, and what it shows of them."""

from types import SimpleNamespace

import pytest

from hsb.serve.http.evaluation_jobs import COLUMNS, Evaluations, describe_evaluation, rows
from hsb.serve.http.problem import HttpProblem
from hsb.serve.store.sqlite import SqliteStore


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(tmp_path / "hsb.db")
    yield store
    store.close()


def queue(most=2):
    service = SimpleNamespace(settings=SimpleNamespace(evaluations=most))
    service.evaluations = Evaluations(service)
    return service


def test_there_is_room_for_some():
    service = queue(2)
    service.evaluations.check_room()
    service.evaluations.running |= {"one": None, "two": None}
    with pytest.raises(HttpProblem, match="Too many evaluations are queued") as caught:
        service.evaluations.check_room()
    assert (caught.value.status, caught.value.kind, caught.value.retry) == (503, "busy", 30.0)


def test_they_are_listed_newest_first(store):
    insert = f"INSERT INTO evaluation ({COLUMNS}) VALUES (?, ?, '{{}}', 'done', NULL, ?, NULL)"
    table = [("e1", "home", 5), ("e2", "home", 7), ("e3", "other", 9), ("e4", "home", 6)]
    store.transact(lambda store: store.connection.executemany(insert, table) and None)
    assert [row[0] for row in rows(store, "home")] == ["e2", "e4", "e1"]
    assert [row[0] for row in rows(store, "home", "e4")] == ["e4"] and rows(store, "home", "e3") == []


@pytest.mark.parametrize("status", ["waiting", "running"])
def test_those_that_a_stop_ended_are_interrupted(status):
    service, row = queue(), ("e1", "home", '{"seed": 0}', status, None, 10**15, None)
    assert describe_evaluation(service, row)["status"] == "interrupted"
    service.evaluations.running["e1"] = None
    evaluation = describe_evaluation(service, row)
    assert evaluation["status"] == status and evaluation["request"] == {"seed": 0} and evaluation["ended"] is None


def test_results_and_errors_are_fields():
    done = ("e1", "home", "{}", "done", '{"result": {"updates": 3}}', 10**15, 10**15 + 10**6)
    evaluation = describe_evaluation(queue(), done)
    assert evaluation["result"] == {"updates": 3} and evaluation["status"] == "done" and evaluation["ended"] > evaluation["at"]
    failed = (*done[:3], "failed", '{"error": "No."}', *done[5:])
    assert describe_evaluation(queue(), failed)["error"] == "No."
