"""What an attacker may send over HTTP, each of which went wrong once: trailers, kept connections, upgrades, headers that are there twice."""

import json
from contextlib import ExitStack

import pytest
from support.attack.http_storms import tried
from support.serve.http_cases import answers, connected, entered, running

from hsb.serve.http import ServerSettings

FEW = 8  # connections
CHUNKED = (
    b"POST /v1/policies/home/decisions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n"
)


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db") as result:
        result.make()
        yield result


def closed(link):
    """Is it closed by the other side, whatever it said before?"""
    try:
        while link.recv(65536):
            pass
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize("how", ["short", "long"])
def test_trailers_end(one, how):
    """A megabyte of them is not read, be they many or one."""
    part = b"".join(b"a%d: b\r\n" % k for k in range(8000)) if how == "short" else b"y" * 65536
    with connected(one) as link:
        link.sendall(CHUNKED + b"\r\n2\r\n{}\r\n0\r\n" + (b"" if how == "short" else b"x: "))
        sent = 0
        try:
            while sent < 50 << 20:
                link.sendall(part)
                sent += len(part)
        except OSError:  # it was cut off
            pass
        assert sent < 20 << 20


def test_trailers_are_no_headers(one):
    """Neither a key nor what a proxy has said comes in a trailer; what is in front counts."""
    body = b'{"context": {"x": 1}}'
    for first, wanted in ((b"", "401"), (b"X-API-Key: wrong\r\n", "401"), (b"X-API-Key: " + one.key.encode() + b"\r\n", "201")):
        with connected(one) as link:
            trailer = b"X-API-Key: " + (one.key.encode() if wanted == "401" else b"wrong") + b"\r\n"
            link.sendall(CHUNKED + first + b"\r\n%x\r\n%s\r\n0\r\n%s\r\n" % (len(body), body, trailer))
            assert answers(link) == [wanted]


def test_small_chunks_are_no_trailers(one):
    """A body in many chunks of a byte each is taken: what stands between its bytes is more than a header may have."""
    body = json.dumps({"context": {"x": "y" * 40_000}}).encode()
    with connected(one) as link:
        head = CHUNKED + b"X-API-Key: " + one.key.encode() + b"\r\n\r\n"
        link.sendall(head + b"".join(b"1\r\n%c\r\n" % each for each in body) + b"0\r\n\r\n")
        assert answers(link) == ["201"]


def test_kept_connections_make_room(tmp_path):
    """As many as there may be are kept after an answer; another is answered all the same, and the one that was quiet longest is closed."""
    many = []
    with running(tmp_path / "hsb.db", ServerSettings(connections=FEW)) as one, ExitStack() as stack:
        for _ in range(FEW):
            link = stack.enter_context(connected(one))
            many.append(link)
            link.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert answers(link) == ["200"]
        for index in range(3):
            with connected(one) as late:
                late.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                assert answers(late) == ["200"] and closed(late)
            if index == 0:
                assert closed(many[0])
        many[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answers(many[-1]) == ["200"]


def test_after_an_upgrade_the_connection_is_closed(one):
    """The parser reads nothing after it, so that a proxy must not send the next request there."""
    with connected(one) as link:
        link.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: something\r\n\r\n")
        data = b""
        while part := link.recv(65536):
            data += part
        assert data.startswith(b"HTTP/1.1 200") and b"connection: close" in data.lower()


# -- what a page of another site may do, and what a key may ------------------------------------------------------------------


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def test_sessions_of_one_key_do_not_end_those_of_another(one):
    """A key that opens more than it may loses its own oldest, and asks no more often than it may."""
    admin = entered(one, one.key)[1]
    many = one.post("/v1/keys", {"name": "many", "scopes": ["read"], "rate": 100_000}).json["key"]
    first = entered(one, many)[1]
    last = [entered(one, many)[1] for _ in range(110)][-1]
    assert [one.get("/v1/policies", key=None, headers=each).status for each in (admin, first, last)] == [200, 401, 200]
    assert len(one.service.sessions.open_ones) <= 110
    slow = one.post("/v1/keys", {"name": "slow", "scopes": ["read"], "rate": 0.01}).json["key"]
    status, cookie = entered(one, slow)
    assert status == 204 and entered(one, slow)[0] == 429
    assert one.post("/login", raw=f"key={slow}", key=None, headers=FORM).status == 429
    for path in ("/", "/p/home/overview", "/p/home/overview.json", "/policies.json"):
        assert one.get(path, key=None, headers=cookie).status == 429 and one.get(path, key=slow).status == 429, path


def test_ended_keys_leave_no_sessions(one):
    for _ in range(3):
        response = one.post("/v1/keys", {"name": "short", "scopes": ["read"]}).json
        entered(one, response["key"])
        assert one.ask("DELETE", f"/v1/keys/{response['id']}").status == 204
    assert entered(one, one.key)[0] == 204
    assert all(not key.ended for key in one.service.sessions.by_key)


def test_who_did_what_is_for_admins(one):
    """As /v1/audit: a key that may read sees the rows of the stream, not who asked for them."""
    response = one.post("/v1/keys", {"name": "looker", "scopes": ["read"]}).json["key"]
    assert one.get("/v1/audit", key=response).status == 403
    seen, all_of_it = (one.get("/p/home/audit.json", key=key).json for key in (response, one.key))
    assert seen["audit_entries"] is None and all_of_it["audit_entries"] and seen["actions"] == all_of_it["actions"]
    assert b"Who did what" not in one.get("/p/home/audit", key=response).raw


# -- names and contexts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [".", ".."])
def test_steps_of_a_path_are_no_names(one, name):
    """curl, browsers and proxies leave them out of an address."""
    assert one.post("/v1/policies", {"name": name, "arms": ["a"]}).status == 422
    assert one.post("/v1/policies/home/decisions", {"id": name, "context": 1}).status == 422
    assert one.post("/v1/policies", {"name": "dots", "arms": ["a", name]}).status == 422
    assert one.post("/v1/policies/home/decisions", {"id": "...", "context": 1}).status in (200, 201)


def test_arms_of_several_lines(one):
    """An arm that is a text of several lines comes and goes like others."""
    for arm in ("two%0Alines", "ends%0A", "%0A", "a%2Fb", "%2E.%2Fx"):
        assert one.ask("PUT", f"/v1/policies/home/arms/{arm}").status == 201, arm
        assert one.ask("DELETE", f"/v1/policies/home/arms/{arm}").status == 204, arm
    assert one.get("/v1/policies/home").json["arms"] == ["a", "b", "c"]


@pytest.mark.parametrize("how", ["lists", "objects", "both"])
def test_contexts_however_deep(one, how):
    """No depth is a fault of the service: what is too deep is refused."""
    begin, end = {"lists": ("[", "]"), "objects": ('{"a":', "}"), "both": ('[{"a":', "}]")}[how]
    for depth in (2, 30, 40, 480, 500, 900, 970, 975, 980, 1000, 1020, 2000, 6000):
        body = f'{{"context": {begin * depth}1{end * depth}}}'
        response = one.post("/v1/policies/home/decisions", raw=body)
        assert response.status in ((201, 422) if depth < 32 else (400, 422)), (depth, response)
    for depth in (400, 900, 975):
        deep = begin * depth + "1" + end * depth
        asked = f'{{"name": "x", "arms": ["a"], "policy": {{"kind": "SExp3", "structure": {{"kind": "OneOf", "structures": {deep}}}}}}}'
        assert one.post("/v1/policies", raw=asked).status in (400, 422)
        nested = '{"kind": "OneOf", "structures": [' * depth + "]}" * depth
        asked = f'{{"name": "x", "arms": ["a"], "policy": {{"kind": "SExp3", "structure": {nested}}}}}'
        assert one.post("/v1/policies", raw=asked).status in (400, 422)


def test_requests_that_nobody_sends(tmp_path):
    """Raw bytes and hostile JSON to every door: others are answered, the journal is sound. `make test-attack` sends more."""
    result = tried(tmp_path / "hsb.db", 150)
    assert result.keys() & {400, 422} and result.total() > 20
