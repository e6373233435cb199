"""Erase a policy, and the contexts of one person, through a real socket."""

import json
import sqlite3

from support.serve.http_cases import running
from support.waiting import wait_until

from hsb.serve.checking import check
from hsb.serve.store.sqlite import SqliteReader


def counted(one, table, where="1"):
    with sqlite3.connect(f"file:{one.service.path}?mode=ro", uri=True) as file:
        result = file.execute(f"SELECT COUNT(*) FROM {table} WHERE {where}").fetchone()[0]
    file.close()
    return result


def test_purge(one, name):
    rows = [{"context": {"secret": f"Xyzzy{k}"}, "id": f"{name}-{k}"} for k in range(900)]
    assert one.post(f"/v1/policies/{name}/decisions/batch", {"decisions": rows}).status == 200
    given = [{"decision": row["id"], "reward": 1} for row in rows[:600]]
    one.post("/v1/rewards", {"rewards": given})
    one.post(f"/v1/policies/{name}/snapshots", headers={"Idempotency-Key": "p1"})
    id = one.service.core.policies[name].id
    assert one.ask("DELETE", f"/v1/policies/{name}?purge=maybe").status == 422
    response = one.ask("DELETE", f"/v1/policies/{name}?purge=true", headers={"If-Match": '"wrong"'})
    assert response.status == 412
    response = one.ask("DELETE", f"/v1/policies/{name}?purge=true")
    assert response.status == 202 and response.json == {"policy": name, "status": "erasing"}
    assert one.get(f"/v1/policies/{name}").status == 404 and one.ask("DELETE", f"/v1/policies/{name}?purge=true").status == 404
    assert one.post(f"/v1/decisions/{name}-700/reward", {"reward": 1}).status == 404
    assert one.make(name)["version"] == 1  # the name is free at once
    wait_until(lambda: not (counted(one, "purge", "NOT done")))
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


def test_it_goes_on_erasing_after_a_start(tmp_path):
    with running(tmp_path / "hsb.db") as one:
        one.make()
        one.post("/v1/policies/home/decisions/batch", {"decisions": [{"context": k} for k in range(50)]})
    with sqlite3.connect(tmp_path / "hsb.db") as file:
        file.execute("DELETE FROM policy")
        file.execute("INSERT INTO purge VALUES (1, 0, 0)")
    file.close()
    with running(tmp_path / "hsb.db", admin_key=one.key) as one:
        wait_until(lambda: not (counted(one, "decision")))
        assert one.get("/v1/policies").json == {"policies": []} and one.make()["version"] == 1


def test_forget_a_person(one, name):
    for k in range(60):
        one.post(
            f"/v1/policies/{name}/decisions", {"id": f"{name}-{k}", "context": {"user": {"id": k % 3}, "x": f"Plugh{k % 3}"}}
        )
        if k % 2:
            one.post(f"/v1/decisions/{name}-{k}/reward", {"reward": k % 4 == 1})
    url, digests = f"/v1/policies/{name}", one.get(f"/v1/policies/{name}?digest=true").json["digests"]
    response = one.ask("DELETE", f"{url}/decisions?field=user.id&value=1")
    assert response.status == 200 and response.json["forgotten"] == 20
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
