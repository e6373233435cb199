"""What admins may want beside settings: audit entries, traces, rates, snapshots; through a real socket."""

import json
import sqlite3
import threading
import time

import pytest
from support.serve.http_cases import running
from support.waiting import LIMIT

from hsb.serve.checking import check
from hsb.serve.core.arithmetic import arithmetic
from hsb.serve.store import Full
from hsb.serve.store.sqlite import SqliteReader


def counted(one, table, where="1"):
    with sqlite3.connect(f"file:{one.service.path}?mode=ro", uri=True) as file:
        result = file.execute(f"SELECT COUNT(*) FROM {table} WHERE {where}").fetchone()[0]
    file.close()
    return result


def test_who_did_it_is_written_before_the_answer(one, name, monkeypatch, capsys):
    transact = one.service.writer.store.transact

    def slow(work):
        time.sleep(0.2)
        return transact(work)

    monkeypatch.setattr(one.service.writer.store, "transact", slow)
    assert one.ask("PATCH", f"/v1/policies/{name}", {"floor": 0.1}).status == 200
    assert counted(one, "audit_entry", f"policy = '{name}' AND what = 'Change'") == 1

    def full(work):
        raise Full("database or disk is full")

    monkeypatch.setattr(one.service.writer.store, "transact", full)
    capsys.readouterr()
    assert one.ask("PATCH", f"/v1/policies/{name}", {"floor": 0.2}).json["floor"] == 0.2  # what was done stands
    messages = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (line,) = [each for each in messages if each["event"] == "audit entry could not be written"]
    assert (line["what"], line["policy"]) == ("Change", name)


# -- headers ------------------------------------------------------------------------------------------------------------


def test_traces(one, name, capfd):
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    url, both = f"/v1/policies/{name}", "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
    assert one.get(url, headers={"Traceparent": trace}).headers["x-request-id"] == both
    assert one.get(url, headers={"Traceparent": trace, "X-Request-Id": "mine"}).headers["x-request-id"] == "mine"
    assert one.get("/v1/policies/nobody", headers={"Traceparent": trace}).json["request_id"] == both
    for wrong in (
        "ff" + trace[2:],
        trace.upper(),
        trace[:-3],
        trace.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0" * 32),
        "x",
    ):
        assert both not in one.get(url, headers={"Traceparent": wrong}).headers["x-request-id"]
    one.service.settings = one.service.settings._replace(access_log=True)
    one.get(url, headers={"Traceparent": trace, "X-Request-Id": "mine"})
    until = time.monotonic() + LIMIT
    text = ""
    while "request" not in text and time.monotonic() < until:
        text += capfd.readouterr().err
    one.service.settings = one.service.settings._replace(access_log=False)
    assert f'"id": "mine", "trace": "{both}"' in text


def test_rates_are_said(one, name):
    key = one.post("/v1/keys", {"name": "slow", "scopes": ["read"], "rate": 0.5}).json["key"]
    assert one.get(f"/v1/policies/{name}", key=key).status == 200
    response = one.get(f"/v1/policies/{name}", key=key)
    assert response.status == 429 and int(response.headers["retry-after"]) in (1, 2)
    assert response.headers["ratelimit-policy"] == '"key";q=1;w=2' and response.headers["ratelimit"].startswith('"key";r=0;t=')


# -- snapshots ----------------------------------------------------------------------------------------------------------


def test_a_snapshot_is_of_the_version_that_it_names(one, name):
    """It is packed beside the loop, while updates go on."""
    ids = [one.post(f"/v1/policies/{name}/decisions", {"context": k}).json["id"] for k in range(40)]
    some = []
    worker = threading.Thread(target=lambda: some.extend(one.post(f"/v1/policies/{name}/snapshots") for _ in range(3)))
    worker.start()
    for id in ids:
        one.post(f"/v1/decisions/{id}/reward", {"reward": 1})
    worker.join()
    assert {each.status for each in some} == {201}
    for each in some:
        assert one.get(each.headers["location"]).status == 200
    assert check(SqliteReader(one.service.path)).sound


@pytest.mark.long
def test_other_arithmetic_is_said(tmp_path, capfd):
    with running(tmp_path / "hsb.db") as one:
        one.make()
        one.post("/v1/policies/home/snapshots")
        assert arithmetic() in one.get("/p/home/audit").raw.decode() and not one.service.core.policies["home"].notes
    capfd.readouterr()
    with running(tmp_path / "hsb.db", admin_key=one.key):
        assert "arithmetic" not in capfd.readouterr().err  # the control
    with sqlite3.connect(tmp_path / "hsb.db") as file:
        ((about,),) = file.execute("SELECT about FROM snapshot").fetchall()
        file.execute("UPDATE snapshot SET about = ?", (json.dumps(json.loads(about) | {"arithmetic": "0123456789abcdef"}),))
    file.close()
    with running(tmp_path / "hsb.db", admin_key=one.key) as one:
        answer = capfd.readouterr().err
        assert '"event": "recovery"' in answer and "made with arithmetic 0123456789abcdef" in answer
        page = one.get("/p/home/audit.json").json
        assert page["arithmetic"] == arithmetic() and "0123456789abcdef" in page["notes"][0]
        assert "made with arithmetic 0123456789abcdef" in one.get("/p/home/audit").raw.decode()
