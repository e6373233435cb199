"""What a hostile reader found: each of these went wrong once."""

import base64
import shutil
import socket
import sqlite3
import threading
import time
from urllib.parse import quote

import pytest
from support.serve.http_cases import running
from support.serve.slow_core import NOW, SPEC, Slow, updates, with_a_candidate
from support.waiting import LIMIT

from hsb.serve.checking import check
from hsb.serve.core import AddArm, Core, Create, Decide, Forget, Promote, Purge, Reward
from hsb.serve.http import ServerSettings
from hsb.serve.local import Local
from hsb.serve.store import Full, sqlite, start
from hsb.serve.store.erasing import about_person, erase_some
from hsb.serve.store.sqlite import SqliteStore

# -- the core and its journal ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_an_id_is_used_again_while_its_policy_is_being_erased(tmp_path):
    local = Local(tmp_path / "hsb.db")
    local.ask(Create(1, SPEC, b"s" * 32))
    for k in range(700):
        local.ask(Decide(f"d{k}", "home", f"v{k}", 0.5))
    for k in reversed(range(700)):  # so that a part has other decisions than updates
        local.ask(Reward(f"r{k}", f"v{k}", 1.0))
    local.ask(Purge("p", "home"))
    local.store.transact(erase_some)
    local.ask(Create(2, SPEC, b"t" * 32))
    assert local.ask(Decide("n", "home", "v0", 0.5)).status == "created"
    assert local.ask(Reward("nr", "v0", 1.0)).status == "learned" and not local.core.stopped
    local.close()


def test_a_receipt_of_arms_that_this_journal_does_not_have(tmp_path):
    first, copy = tmp_path / "hsb.db", tmp_path / "copy.db"
    local = Local(first)
    local.ask(Create(1, SPEC, b"s" * 32))
    local.close()
    shutil.copy(first, copy)
    local = Local(first)
    local.ask(AddArm("a", "home", "c"))
    receipt = local.ask(Decide("x", "home", "lost", 0.5, receipt=True)).body["receipt"]
    local.close()
    local = Local(copy)
    updates(local, 5)
    assert local.ask(Reward("r", "lost", 1.0, receipt=receipt)).status == "refused"
    local.close()
    local = Local(copy)  # it starts again
    assert check(local.store).sound
    local.close()


def test_receipts_of_a_time_that_was_undone(tmp_path):
    """A copy is made while the service runs, more is learned, and the copy takes its place: what was decided since then is refused, also when
    the journal has come as far again; what was decided before the first update that is lost is taken."""
    first, copy = tmp_path / "hsb.db", tmp_path / "copy.db"
    local = Local(first)
    local.ask(Create(1, SPEC, b"s" * 32))
    updates(local, 5)
    reader = local.store.reader()
    reader.backup(copy)
    reader.close()
    same = local.ask(Decide("s", "home", "same", 0.5, receipt=True)).body["receipt"]
    updates(local, 3, "lost")
    receipts = {
        "known": local.ask(Decide("k", "home", "known", 0.5, receipt=True)).body["receipt"]
    }  # by the process that is in the copy
    local.close()
    local = Local(first)
    updates(local, 3, "more")
    receipts["other"] = local.ask(Decide("o", "home", "other", 0.5, receipt=True)).body["receipt"]  # by one that is not
    local.close()
    local = Local(copy)
    for name, receipt in receipts.items():
        assert "the journal ends at 6" in local.ask(Reward("r", name, 1.0, receipt=receipt)).body["detail"]
    updates(local, 20, "again")
    for name, receipt in receipts.items():
        result = local.ask(Reward("r", name, 1.0, receipt=receipt))
        assert result.status == "refused" and "that this journal has lost" in result.body["detail"], name
    assert local.ask(Reward("r", "same", 1.0, receipt=same)).status == "learned"
    assert check(local.store).sound
    local.close()
    local = Local(first)  # the journal that they are of takes them, though other processes began since
    for name, receipt in receipts.items():
        assert local.ask(Reward("r", name, 1.0, receipt=receipt)).status == "learned"
    local.close()


def test_starts_are_remembered_but_not_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "STARTS", 3)
    for k in range(6):
        local = Local(tmp_path / "hsb.db")
        if k == 0:
            local.ask(Create(1, SPEC, b"s" * 32))
        updates(local, 2, f"r{k}-")
        processes = local.core.processes
        local.close()
    assert len(processes.before) == 3 and [each[1] for each in processes.before.values()] == [7, 9, 11]
    with sqlite3.connect(tmp_path / "hsb.db") as file:
        assert file.execute("SELECT COUNT(*) FROM start").fetchone() == (3,)
    file.close()


def test_a_start_on_a_full_disk_gives_no_receipts_in_advance(tmp_path, monkeypatch):
    local = Local(tmp_path / "hsb.db")
    local.ask(Create(1, SPEC | {"durability": "receipt"}, b"s" * 32))
    updates(local, 3)
    local.close()

    def full(self, work):
        raise Full("database or disk is full")

    monkeypatch.setattr(SqliteStore, "transact", full)
    slow = Slow(tmp_path / "hsb.db")
    assert slow.core.processes.now == "" and [each[1] for each in slow.core.processes.before.values()] == [4]
    assert slow.core.handle(Decide("d", "home", "d1", 0.5, fresh=True), NOW) == []  # it waits for the commit
    slow.store.close()
    monkeypatch.undo()
    slow = Slow(tmp_path / "hsb.db")
    (answer,) = slow.core.handle(Decide("d", "home", "d2", 0.5, fresh=True), NOW)  # where there is room it does not
    assert answer.status == "created" and answer.body["receipt"]
    slow.store.close()


def test_forgetting_waits_for_candidates_that_read(tmp_path):
    slow = with_a_candidate(tmp_path / "hsb.db")
    assert slow.ask(Forget("f", "home", ["o5"])).status == "overloaded"
    slow.read()
    assert slow.ask(Forget("g", "home", ["o5"])).status == "done"
    slow.ask(Promote("p", "home", "new"))
    before = slow.core.policies["home"].digests()
    assert Core(**start(slow.store, NOW)).policies["home"].digests() == before
    assert check(slow.store).sound
    slow.store.close()


def test_a_name_with_dots_is_found(tmp_path):
    local = Local(tmp_path / "hsb.db")
    local.ask(Create(1, SPEC, b"s" * 32))
    local.ask(Decide("d", "home", "o1", {"user.id": 42}))
    local.ask(Decide("e", "home", "o2", {"user": {"id": 42}}))
    local.ask(Decide("f", "home", "o3", {"user.id": 43}))
    assert sorted(about_person(local.store, 1, '$."user"."id"', "42", 0)[0]) == ["o1", "o2"]
    local.close()


# -- over HTTP ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db") as result:
        for name in ("home", "home2", "other"):
            result.make(name)
        yield result


def test_a_key_for_some_policies_makes_none_for_others(one):
    team = one.post("/v1/keys", {"name": "team", "scopes": ["admin"], "policies": ["home"]}).json["key"]
    for policies in (None, ["other"], ["home", "other"]):
        response = one.post("/v1/keys", {"name": "more", "scopes": ["admin"], "policies": policies}, key=team)
        assert response.status == 403, response
    assert one.post("/v1/keys", {"name": "same", "scopes": ["decide"], "policies": ["home"]}, key=team).status == 201
    assert one.get("/v1/audit?policy=other", key=team).status == 403
    assert all(each["policies"] == ["home"] for each in one.get("/v1/keys", key=team).json["keys"])


def test_a_limited_key_cannot_overtake_a_commit(one):
    limited = one.post("/v1/keys", {"name": "l", "scopes": ["learn"], "policies": ["home2"], "rate": 1e6}).json["key"]
    got = []
    for k in range(20):
        decide = threading.Thread(target=one.post, args=("/v1/policies/other/decisions", {"id": f"s{k}", "context": 0.5}))
        decide.start()
        time.sleep(0.0005 * (k % 5))
        got.append(one.post(f"/v1/decisions/s{k}/reward", {"reward": 0}, key=limited).status)
        decide.join()
    assert set(got) <= {403, 404}, got


def test_of_two_changes_with_one_tag_one_is_made(one):
    for k in range(6):
        tag, got = one.get("/v1/policies/home2").headers["etag"], []

        def change(value, tag=tag, got=got):
            got.append(one.ask("PATCH", "/v1/policies/home2", {"floor": value}, headers={"If-Match": tag}).status)

        both = [threading.Thread(target=change, args=((2 * k + j + 3) / 100,)) for j in range(2)]
        for each in both:
            each.start()
        for each in both:
            each.join()
        assert sorted(got) == [200, 412]


def test_an_arm_that_several_add_at_once(one):
    for k in range(6):
        got = []
        some = [
            threading.Thread(target=lambda k=k, got=got: got.append(one.ask("PUT", f"/v1/policies/other/arms/n{k}").status))
            for _ in range(6)
        ]
        for each in some:
            each.start()
        for each in some:
            each.join()
        assert sorted(got) == [200] * 5 + [201], got


def test_a_receipt_of_nonsense(one):
    bad = "hsb1." + base64.urlsafe_b64encode(b'["d", 1e999]').decode().rstrip("=") + ".AAAA"
    assert one.post("/v1/decisions/x/reward", {"reward": 1, "receipt": bad}).status == 422


def test_headers_end(one):
    with socket.create_connection(("127.0.0.1", one.port), timeout=LIMIT) as link:
        link.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        sent = 0
        try:
            while sent < 50 << 20:
                link.sendall(b"X: " + b"a" * 60_000 + b"\r\n")
                sent += 60_000
        except OSError:  # it was cut off
            pass
        assert sent < 20 << 20


def test_other_names_for_this_machine(tmp_path):
    with running(tmp_path / "hsb.db", ServerSettings(auth=False)) as open_to_all:
        for host, wanted in (
            ("localhost:1", 200),
            ("127.0.0.1", 200),
            ("localhost.evil.example", 403),
            ("127.0.0.1.evil.example", 403),
        ):
            assert open_to_all.get("/v1/policies", key=None, headers={"Host": host}).status == wanted, host


PEOPLE = [
    ({"straße": "müll"}, "straße", "müll"),
    ({"user": {"имя": "Анна"}}, "user.имя", "Анна"),
    ({"user.имя": "Ольга"}, "user.имя", "Ольга"),
    ({"user": 2**63 + 5}, "user", str(2**63 + 5)),
    ({"id": {"n": 2**64 - 1}}, "id.n", str(2**64 - 1)),
    ({"id.n": -(2**70)}, "id.n", str(-(2**70))),
    ({"tester": True}, "tester", "true"),
]


def test_people_are_found_by_any_name_and_number(one):
    one.make("people")
    for k, (context, _, _) in enumerate(PEOPLE):
        assert one.post("/v1/policies/people/decisions", {"id": f"p{k}", "context": context}).status == 201
    for _, field, value in [*PEOPLE, ("", "user", "null"), ("", "none", "null"), ("", "user", "1,1")]:
        response = one.ask("DELETE", f"/v1/policies/people/decisions?field={quote(field)}&value={quote(value)}")
        assert response.json["forgotten"] == (value not in ("null", "1,1")), (field, value)
    assert all(each["context"] is None for each in one.get("/v1/policies/people/decisions").json["decisions"])
