"""Keys: what they may do, how often, how long; cookies; requests from other sites."""

import itertools
import json
import re
import sqlite3
import time
from types import SimpleNamespace

import pytest
from support.serve.http_cases import DECIDE, key, running
from support.waiting import wait_until

from hsb.errors import InputError
from hsb.serve.http import ServerSettings, Service, auth
from hsb.serve.http.keys import digest, generate_key
from hsb.serve.store import Full
from hsb.serve.store.sqlite import SqliteStore


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db") as result:
        result.make()
        result.make("other")
        yield result


def test_the_first_key_is_shown_once_and_kept_hashed(tmp_path):
    with running(tmp_path / "hsb.db") as first:
        text = first.key
        assert re.fullmatch(r"hsb_[A-Z2-7]{32}", text)
    with running(tmp_path / "hsb.db") as second:
        assert second.key is None and second.get("/v1/policies", key=text).status == 200
    for name in ("hsb.db", "hsb.db-wal"):
        if (tmp_path / name).exists():
            assert text.encode() not in (tmp_path / name).read_bytes()
    with sqlite3.connect(tmp_path / "hsb.db") as file:
        assert file.execute("SELECT hash FROM key").fetchall() == [(digest(text),)]
    file.close()


def test_the_first_key_can_be_set(tmp_path):
    text = generate_key()
    with running(tmp_path / "hsb.db", admin_key=text) as one:
        assert one.get("/v1/policies", key=text).status == 200 and one.service.keys.printed is None
    with pytest.raises(InputError, match="HSB_ADMIN_KEY"):
        Service(tmp_path / "other.db", admin_key="password")


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [("decide", {"decide"}), ("learn", {"learn"}), ("read", {"read"}), ("evaluate", {"evaluate"}), ("admin", None)],
)
def test_scopes(one, scope, allowed):
    text = key(one, scope)["key"]
    tries = {
        "decide": ("POST", DECIDE, {}),
        "learn": ("POST", "/v1/decisions/none/reward", {"reward": 1}),
        "read": ("GET", "/v1/policies/home", None),
        "evaluate": ("GET", "/v1/policies/home/evaluations", None),
        "admin": ("PATCH", "/v1/policies/home", {"floor": 0}),
    }
    for need, (method, path, body) in tries.items():
        status = one.ask(method, path, body, key=text).status
        assert (status != 403) == (allowed is None or need in allowed), (need, status)


def test_keys_of_some_policies(one):
    text = key(one, "decide", "learn", "read", policies=["home"])["key"]
    mine, theirs = one.post(DECIDE, {}).json["id"], one.post("/v1/policies/other/decisions", {}).json["id"]
    assert one.post(DECIDE, {}, key=text).status == 201
    assert one.post("/v1/policies/other/decisions", {}, key=text).status == 403
    assert one.post(f"/v1/decisions/{mine}/reward", {"reward": 1}, key=text).status == 200
    assert one.post(f"/v1/decisions/{theirs}/reward", {"reward": 1}, key=text).status == 403
    rows = one.post("/v1/rewards", {"rewards": [{"decision": each, "reward": 1} for each in (theirs, mine)]}, key=text).json[
        "rows"
    ]
    assert [row["status"] for row in rows] == [403, 200] and rows[0]["problem"]["type"].endswith("policy-not-allowed")
    assert one.post(f"/v1/decisions/{theirs}/void", key=text).status == 403
    assert [each["name"] for each in one.get("/v1/policies", key=text).json["policies"]] == ["home"]


def test_rate(one, monkeypatch):
    now = [1000.0]  # of the clock by which keys are limited
    monkeypatch.setattr(auth, "time", SimpleNamespace(monotonic=lambda: now[0], time_ns=time.time_ns))
    text = key(one, "decide", rate=5)["key"]
    results = [one.post(DECIDE, {}, key=text) for _ in range(12)]
    assert [each.status for each in results[:5]] == [201] * 5
    turned = [each for each in results if each.status == 429]
    assert turned and turned[0].headers["retry-after"] == "1" and "5 requests a second" in turned[0].json["detail"]
    now[0] += 0.5
    assert one.post(DECIDE, {}, key=text).status == 201


def test_expiry_and_end(one):
    short = key(one, "read", expires_in=1)
    assert one.get("/v1/policies", key=short["key"]).status == 200
    wait_until(lambda: one.get("/v1/policies", key=short["key"]).status == 401)
    ended = key(one, "read")
    assert one.ask("DELETE", f"/v1/keys/{ended['id']}").status == 204
    assert one.get("/v1/policies", key=ended["key"]).status == 401
    listed = {each["id"]: each for each in one.get("/v1/keys").json["keys"]}
    assert listed[ended["id"]]["ended"] and listed[short["id"]]["used"] and listed[1]["ended"] is None
    assert "hsb_" not in json.dumps(list(listed.values()))
    assert one.ask("DELETE", "/v1/keys/999").status == 404


def test_the_last_admin_stays(tmp_path):
    with running(tmp_path / "hsb.db") as one:
        assert one.ask("DELETE", "/v1/keys/1").status == 409
        second = key(one, "admin")
        assert one.ask("DELETE", "/v1/keys/1").status == 204 and one.get("/v1/keys").status == 401
        assert one.get("/v1/keys", key=second["key"]).status == 200
        one.key = second["key"]
        one.make()
        short = key(one, "admin", expires_in=1)
        key(one, "admin", policies=["home"])  # neither is an admin of all policies, for long
        while one.get("/v1/limits", key=short["key"]).status == 200:
            time.sleep(0.05)
        assert one.ask("DELETE", f"/v1/keys/{second['id']}").status == 409


def full_disk(monkeypatch, only=None):
    """Let transactions beside the journal, or only the one of that number, find the disk full when they are committed."""
    usual, count = SqliteStore.transact, itertools.count(1)

    def transact(self, work):
        if only not in (None, next(count)):
            return usual(self, work)
        self.connection.execute("BEGIN IMMEDIATE")
        work(self)
        self.connection.execute("ROLLBACK")
        raise Full("database or disk is full")

    monkeypatch.setattr(SqliteStore, "transact", transact)


def test_keys_on_a_full_disk(tmp_path, monkeypatch):
    """What was not written is not so: a key that could not be ended can be ended later, and stays ended."""
    with running(tmp_path / "hsb.db") as one:
        one.service.keys.last_tidy = time.time_ns() // 1000  # when keys were used is not written meanwhile
        there = key(one, "read")
        with monkeypatch.context() as now:
            full_disk(now)
            assert one.ask("DELETE", f"/v1/keys/{there['id']}").status == 507
            assert one.post("/v1/keys", {"name": "k", "scopes": ["admin"]}).status == 507
        assert one.get("/v1/limits", key=there["key"]).status == 200 and len(one.get("/v1/keys").json["keys"]) == 2
        assert one.ask("DELETE", f"/v1/keys/{there['id']}").status == 204
        same = {"headers": {"Idempotency-Key": "k-1"}}
        with monkeypatch.context() as now:
            full_disk(now, only=2)  # the first writes the name of the request down
            assert one.post("/v1/keys", {"name": "k", "scopes": ["read"]}, **same).status == 507
        assert one.post("/v1/keys", {"name": "k", "scopes": ["read"]}, **same).status == 201
    with running(tmp_path / "hsb.db") as one:
        assert one.get("/v1/limits", key=there["key"]).status == 401


def test_no_secret_in_a_log_line(tmp_path, capfd):
    with running(tmp_path / "hsb.db", ServerSettings(access_log=True)) as one:
        one.make()
        one.post(DECIDE, {"context": {"name": "Ada-Lovelace"}})
        one.get("/v1/policies", key=generate_key())
        text = one.key
    err = capfd.readouterr().err
    lines = [json.loads(line) for line in err.splitlines()]
    assert [line["status"] for line in lines if line["event"] == "request"] == [201, 201, 401]
    assert text not in err and "hsb_" not in err and "Ada" not in err


def test_a_key_ends_with_the_policy_that_it_is_for(tmp_path):
    with running(tmp_path / "hsb.db") as one:
        for name in ("gone", "stays"):
            one.make(name)
        alone = key(one, "read", "decide", policies=["gone"])["key"]
        both = key(one, "read", policies=["gone", "stays"])["key"]
        cookie = (
            one.post("/v1/session", {"key": alone}, key=None, headers={"Content-Type": "application/json"})
            .headers["set-cookie"]
            .split(";")[0]
        )
        assert one.get("/v1/policies/gone", key=alone).status == one.get("/v1/policies/gone", key=both).status == 200
        assert one.ask("DELETE", "/v1/policies/gone?purge=true").status == 202
        one.make("gone")  # another one of that name

        def asked():
            statuses = [one.get("/v1/policies/gone", key=each).status for each in (alone, both)]
            return [*statuses, one.get("/v1/policies/stays", key=both).status]

        assert asked() == [401, 403, 200]
        assert one.get("/v1/policies/gone", key=None, headers={"Cookie": cookie}).status == 401
        shown = [(each["policies"], each["ended"] is None) for each in one.get("/v1/keys").json["keys"]]
        assert shown == [(None, True), ([], False), (["stays"], True)]
        admin = one.key
    with running(tmp_path / "hsb.db") as one:
        one.key = admin
        assert asked() == [401, 403, 200]
