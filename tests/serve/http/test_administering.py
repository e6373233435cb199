"""What admins may want beside settings: requests that count once, erasing, forgetting, headers; through a real socket."""

import json
import sqlite3
import threading
import time

from support.serve.http_cases import running

from hsb.serve.checking import check
from hsb.serve.core.arithmetic import arithmetic
from hsb.serve.http import ServerSettings
from hsb.serve.store import Full
from hsb.serve.store.sqlite import SqliteReader


def keyed(name):
    return {"headers": {"Idempotency-Key": name}}


def counted(one, table, where="1"):
    with sqlite3.connect(f"file:{one.service.path}?mode=ro", uri=True) as file:
        found = file.execute(f"SELECT COUNT(*) FROM {table} WHERE {where}").fetchone()[0]
    file.close()
    return found


# -- Idempotency-Key ----------------------------------------------------------------------------------------------------


def test_a_request_that_is_sent_again_counts_once(one):
    body = {"name": "once", "arms": ["a"]}
    first = one.post("/v1/policies", body, **keyed("k1"))
    again = one.post("/v1/policies", body, **keyed('"k1"'))
    assert first.status == again.status == 201 and first.raw == again.raw and again.headers["idempotent-replayed"] == "true"
    assert again.headers["location"] == "/v1/policies/once" and "idempotent-replayed" not in first.headers
    assert one.post("/v1/policies", body).status == 409
    other = one.post("/v1/policies", body | {"arms": ["b"]}, **keyed("k1"))
    assert other.status == 422 and other.json["type"] == "/problems/idempotency-key"
    assert one.post("/v1/policies/once/snapshots", **keyed("k1")).status == 422
    for wrong in ("", "a b", "x" * 256):
        assert one.post("/v1/policies", body, **keyed(wrong)).status == 422


def test_a_key_is_shown_once(one):
    before = len(one.get("/v1/keys").json["keys"])
    made = [one.post("/v1/keys", {"name": "robot", "scopes": ["read"]}, **keyed("k2")).json for _ in range(3)]
    assert made[0]["key"].startswith("hsb_") and made[1]["key"] is None and made[1]["id"] == made[0]["id"]
    assert len(one.get("/v1/keys").json["keys"]) == before + 1
    assert made[0]["key"].encode() not in one.service.path.read_bytes()
    other = one.post("/v1/keys", {"name": "admin", "scopes": ["admin"]}).json["key"]
    theirs = one.post("/v1/keys", {"name": "robot", "scopes": ["read"]}, key=other, **keyed("k2"))
    assert theirs.status == 201 and theirs.json["key"] and theirs.json["id"] != made[0]["id"]  # another's name for a request


def test_what_failed_may_be_tried_again(one, name):
    wrong = one.post("/v1/policies", {"name": name, "arms": ["a"]}, **keyed("k3"))
    assert wrong.status == 409
    assert one.post("/v1/policies", {"name": f"{name}-2", "arms": ["a"]}, **keyed("k3")).status == 201


def test_a_request_that_was_cut_off_is_not_carried_out_again(one, name):
    made = one.post(f"/v1/policies/{name}/snapshots", **keyed("k4"))
    assert made.status == 201
    one.service.writer.also(
        lambda store: store.connection.execute("UPDATE once SET status = NULL WHERE name = 'k4'"), lambda *_: None
    )
    found = one.post(f"/v1/policies/{name}/snapshots", **keyed("k4"))
    assert found.status == 409 and found.json["type"] == "/problems/not-known"
    one.service.under_way.add((1, "k4"))
    found = one.post(f"/v1/policies/{name}/snapshots", **keyed("k4"))
    one.service.under_way.clear()
    assert found.status == 409 and found.json["type"] == "/problems/under-way" and found.headers["retry-after"] == "1"
    one.service.writer.also(lambda store: store.connection.execute("UPDATE once SET at = 0 WHERE name = 'k4'"), lambda *_: None)
    assert one.post(f"/v1/policies/{name}/snapshots", **keyed("k4")).status == 201  # a day later


def test_many_at_once(one):
    answers = []
    body = {"name": "rush", "arms": ["a"]}
    some = [threading.Thread(target=lambda: answers.append(one.post("/v1/policies", body, **keyed("k5")))) for _ in range(8)]
    for each in some:
        each.start()
    for each in some:
        each.join()
    assert {each.status for each in answers} <= {201, 409} and sum(each.status == 201 for each in answers) >= 1
    assert one.post("/v1/policies", body, **keyed("k5")).status == 201


# -- erasing ------------------------------------------------------------------------------------------------------------


def test_purge(one, name):
    rows = [{"context": {"secret": f"Xyzzy{k}"}, "id": f"{name}-{k}"} for k in range(900)]
    assert one.post(f"/v1/policies/{name}/decisions/batch", {"decisions": rows}).status == 200
    given = [{"decision": row["id"], "reward": 1} for row in rows[:600]]
    one.post("/v1/rewards", {"rewards": given})
    one.post(f"/v1/policies/{name}/snapshots", **keyed("p1"))
    id = one.service.core.policies[name].id
    assert one.ask("DELETE", f"/v1/policies/{name}?purge=maybe").status == 422
    found = one.ask("DELETE", f"/v1/policies/{name}?purge=true", headers={"If-Match": '"wrong"'})
    assert found.status == 412
    found = one.ask("DELETE", f"/v1/policies/{name}?purge=true")
    assert found.status == 202 and found.json == {"policy": name, "status": "erasing"}
    assert one.get(f"/v1/policies/{name}").status == 404 and one.ask("DELETE", f"/v1/policies/{name}?purge=true").status == 404
    assert one.post(f"/v1/decisions/{name}-700/reward", {"reward": 1}).status == 404
    assert one.make(name)["version"] == 1  # the name is free at once
    until = time.monotonic() + 20
    while counted(one, "purge", "NOT done"):
        assert time.monotonic() < until
        time.sleep(0.01)
    for table in ("decision", "stream", "snapshot", "pending"):
        assert counted(one, table, f"policy = {id}") == 0, table
    assert counted(one, "reward", f"decision LIKE '{name}-%'") == counted(one, "once", "name = 'p1'") == 0
    assert one.service.core.policies[name].id > id  # numbers are not used again
    assert [each["what"] for each in one.get(f"/v1/audit?policy={name}").json["audit_entries"]] == ["Create", "Purge"]
    assert one.post(f"/v1/policies/{name}/decisions", {"id": f"{name}-1"}).status == 201
    with sqlite3.connect(one.service.path) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    assert b"Xyzzy" not in one.service.path.read_bytes()
    assert check(SqliteReader(one.service.path)).sound


def test_who_did_it_is_written_before_the_answer(one, name, monkeypatch, capsys):
    beside = one.service.writer.store.beside

    def slow(work):
        time.sleep(0.2)
        return beside(work)

    monkeypatch.setattr(one.service.writer.store, "beside", slow)
    assert one.ask("PATCH", f"/v1/policies/{name}", {"floor": 0.1}).status == 200
    assert counted(one, "audit_entry", f"policy = '{name}' AND what = 'Change'") == 1

    def full(work):
        raise Full("database or disk is full")

    monkeypatch.setattr(one.service.writer.store, "beside", full)
    capsys.readouterr()
    assert one.ask("PATCH", f"/v1/policies/{name}", {"floor": 0.2}).json["floor"] == 0.2  # what was done stands
    said = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (line,) = [each for each in said if each["event"] == "audit entry could not be written"]
    assert (line["what"], line["policy"]) == ("Change", name)


def test_it_goes_on_erasing_after_a_start(tmp_path):
    with running(tmp_path / "hsb.db") as one:
        one.make()
        one.post("/v1/policies/home/decisions/batch", {"decisions": [{"context": k} for k in range(50)]})
    with sqlite3.connect(tmp_path / "hsb.db") as file:
        file.execute("DELETE FROM policy")
        file.execute("INSERT INTO purge VALUES (1, 0, 0)")
    file.close()
    with running(tmp_path / "hsb.db", admin_key=one.key) as one:
        until = time.monotonic() + 20
        while counted(one, "decision"):
            assert time.monotonic() < until
            time.sleep(0.01)
        assert one.get("/v1/policies").json == {"policies": []} and one.make()["version"] == 1


def test_forget_a_person(one, name):
    for k in range(60):
        one.post(
            f"/v1/policies/{name}/decisions", {"id": f"{name}-{k}", "context": {"user": {"id": k % 3}, "x": f"Plugh{k % 3}"}}
        )
        if k % 2:
            one.post(f"/v1/decisions/{name}-{k}/reward", {"reward": k % 4 == 1})
    url, digests = f"/v1/policies/{name}", one.get(f"/v1/policies/{name}?digest=true").json["digests"]
    found = one.ask("DELETE", f"{url}/decisions?field=user.id&value=1")
    assert found.status == 200 and found.json["forgotten"] == 20
    assert one.ask("DELETE", f"{url}/decisions?field=user.id&value=1").json["forgotten"] == 0
    assert one.ask("DELETE", f"{url}/decisions?id={name}-0").json["forgotten"] == 1
    for wrong in (
        "",
        "?field=x",
        "?value=1",
        "?id=a&field=x&value=1",
        "?field=&value=1",
        "?who=me",
        "?field=%00&value=1",
        "?field=%22&value=1",
    ):
        assert one.ask("DELETE", f"{url}/decisions{wrong}").status == 422, wrong
    assert one.ask("DELETE", "/v1/policies/nobody/decisions?id=x").status == 404
    assert one.ask("DELETE", f"{url}/decisions?field=%27..x&value=1").json["forgotten"] == 0
    shown = one.get(f"{url}/decisions/{name}-1").json
    assert shown["context"] is None and shown["forgotten"] and shown["state"] == "learned" and shown["rewards"]
    assert one.get(f"{url}/decisions/{name}-1?recompute=true").status == 410
    assert one.get(f"{url}/decisions/{name}-4").json["state"] == "forgotten"
    late = one.post(f"/v1/decisions/{name}-4/reward", {"reward": 1})
    assert late.status == 410 and "forgotten" in late.json["detail"]
    assert one.get(f"{url}?digest=true").json["digests"] == digests  # what was learned stays
    lines = [json.loads(line) for line in one.get(f"{url}/export").raw.splitlines()]
    assert len(lines) == 20 and b"Plugh1" not in one.get(f"{url}/journal").raw
    for k in range(60, 70):
        one.post(f"{url}/decisions", {"id": f"{name}-{k}", "context": {"x": "y"}})
        one.post(f"/v1/decisions/{name}-{k}/reward", {"reward": 1})
    report = check(SqliteReader(one.service.path))
    assert report.sound and report.forgotten == 21 and report.not_replayable > 0 and "forgotten" in str(report)
    assert report.digests[name] == one.get(f"{url}?digest=true").json["digests"][""]
    assert "Plugh" not in json.dumps(one.get("/v1/audit").json)


# -- headers ------------------------------------------------------------------------------------------------------------


def test_etags(one, name):
    url = f"/v1/policies/{name}"
    tag = one.get(url).headers["etag"]
    for same in (tag, "*", f'"x", {tag}', f"W/{tag}"):
        found = one.get(url, headers={"If-None-Match": same})
        assert found.status == 304 and found.raw == b"" and found.headers["etag"] == tag
    assert one.get(url, headers={"If-None-Match": '"x"'}).status == 200
    assert one.ask("PATCH", url, {"floor": 0.1}, headers={"If-Match": '"x"'}).status == 412
    found = one.ask("PATCH", url, {"floor": 0.1}, headers={"If-Match": f'"x", {tag}'})
    assert found.status == 200 and found.headers["etag"] != tag
    assert one.ask("PATCH", url, {"floor": 0.2}, headers={"If-Match": tag}).status == 412
    assert one.get(url, headers={"If-None-Match": tag}).status == 200


def test_lists_lead_on(one, name):
    for k in range(5):
        one.post(f"/v1/policies/{name}/decisions", {"context": k})
        one.ask("PATCH", f"/v1/policies/{name}", {"floor": k / 10})
    for path, what, whole in (
        (f"/v1/policies/{name}/decisions?limit=2&newest=true", "decisions", 5),
        (f"/v1/audit?limit=2&policy={name}", "audit_entries", 6),
    ):
        rows = []
        while path is not None:
            found = one.get(path)
            rows += found.json[what]
            link = found.headers.get("link")
            assert link is None or link.endswith('; rel="next"')
            path = None if link is None else link[1 : link.index(">")]
        assert len(rows) == whole == len({json.dumps(row) for row in rows})


def test_min_version_waits(one, name):
    url = f"/v1/policies/{name}/decisions"
    before = time.monotonic()
    found = one.post(url, {"context": 1, "min_version": 5})
    assert found.status == 412 and found.json["type"] == "/problems/version-not-reached" and found.json["version"] == 1
    assert 0.15 < time.monotonic() - before < 5
    threading.Timer(0.02, lambda: one.ask("PATCH", f"/v1/policies/{name}", {"floor": 0.1})).start()
    found = one.post(url, {"context": 1, "min_version": 2})
    assert found.status == 201 and found.json["version"] == 2


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
    until = time.monotonic() + 5
    said = ""
    while "request" not in said and time.monotonic() < until:
        said += capfd.readouterr().err
    one.service.settings = one.service.settings._replace(access_log=False)
    assert f'"id": "mine", "trace": "{both}"' in said


def test_rates_are_said(one, name):
    key = one.post("/v1/keys", {"name": "slow", "scopes": ["read"], "rate": 0.5}).json["key"]
    assert one.get(f"/v1/policies/{name}", key=key).status == 200
    found = one.get(f"/v1/policies/{name}", key=key)
    assert found.status == 429 and int(found.headers["retry-after"]) in (1, 2)
    assert found.headers["ratelimit-policy"] == '"key";q=1;w=2' and found.headers["ratelimit"].startswith('"key";r=0;t=')


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
        said = capfd.readouterr().err
        assert '"event": "recovery"' in said and "made by arithmetic 0123456789abcdef" in said
        page = one.get("/p/home/audit.json").json
        assert page["arithmetic"] == arithmetic() and "0123456789abcdef" in page["notes"][0]
        assert "made by arithmetic 0123456789abcdef" in one.get("/p/home/audit").raw.decode()


def test_rules_have_a_limit_of_time(tmp_path):
    with running(tmp_path / "hsb.db", ServerSettings(read_seconds=0.05)) as one:
        one.make(policy={"kind": "HSB"})
        made = one.post("/v1/policies/home/decisions", {"context": {"x": 1}}).json
        one.post(f"/v1/decisions/{made['id']}/reward", {"reward": 1})
        found = one.get("/v1/policies/home/rules")
        assert found.status == 503 and found.headers["retry-after"] == "60" and "took longer" in found.json["detail"]
