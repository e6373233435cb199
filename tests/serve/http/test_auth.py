"""Who sent a request: keys, cookies, the origin of a page."""

import pytest
from support.serve.http_cases import DECIDE, answers, connected, key, running

from hsb.serve.http import ServerSettings


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db") as result:
        result.make()
        result.make("other")
        yield result


def test_no_key(one):
    for given in (None, "", "hsb_" + "A" * 32, "x" * 5000, one.key[:-1], one.key.lower()):
        response = one.get("/v1/policies", key=given)
        assert response.status == 401 and response.headers["www-authenticate"] == "Bearer", given
    assert one.get("/v1/policies", key=None, headers={"X-API-Key": one.key}).status == 200
    assert one.get("/v1/policies", key=None, headers={"Authorization": f"bearer {one.key}"}).status == 200
    assert one.get("/v1/policies", key=None, headers={"Authorization": f"Basic {one.key}"}).status == 401


def test_cookies(one):
    text = key(one, "read", "admin")["key"]
    assert one.post("/v1/session", {"key": "wrong"}, key=None, headers={"Content-Type": "application/json"}).status == 401
    entered = one.post("/v1/session", {"key": text}, key=None, headers={"Content-Type": "application/json"})
    answer = entered.headers["set-cookie"]
    assert entered.status == 204 and "HttpOnly" in answer and "SameSite=Strict" in answer
    cookie = {"Cookie": answer.partition(";")[0]}
    assert one.get("/v1/policies", key=None, headers=cookie).status == 200
    here = {"Origin": f"http://127.0.0.1:{one.port}"}
    assert one.ask("PATCH", "/v1/policies/home", {"floor": 0}, key=None, headers=cookie | here).status == 200
    for elsewhere in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}, here | {"Sec-Fetch-Site": "cross-site"}):
        response = one.ask("PATCH", "/v1/policies/home", {"floor": 0.5}, key=None, headers=cookie | elsewhere)
        assert response.status == 403 and response.json["type"] == "/problems/origin", elsewhere
    assert one.get("/v1/policies/home").json["floor"] == 0
    assert one.ask("DELETE", "/v1/session", key=None, headers=cookie).status == 204
    assert one.get("/v1/policies", key=None, headers=cookie).status == 401


def test_without_keys(tmp_path):
    with running(tmp_path / "hsb.db", ServerSettings(auth=False)) as one:
        assert one.key is None
        one.make()
        assert one.post(DECIDE, {}).status == 201
        assert one.post(DECIDE, {}, headers={"Origin": "http://evil.example"}).status == 403
        assert one.get("/v1/policies", headers={"Host": "evil.example"}).status == 403  # a name that was bound anew
        assert one.get("/v1/policies", headers={"Host": f"localhost:{one.port}"}).status == 200


@pytest.mark.parametrize("name", ["Host", "X-API-Key", "Authorization", "Origin"])
def test_headers_that_are_there_twice(one, name):
    """Who asks, and from where, is not to be guessed: a proxy may have looked at the other one."""
    usual = {"Host": b"x", "X-API-Key": one.key.encode(), "Authorization": b"Bearer " + one.key.encode(), "Origin": b"http://x"}
    with connected(one) as link:
        lines = b"".join(b"%s: %s\r\n" % (name.encode(), each) for each in (usual[name], usual[name]))
        more = b"" if name == "Host" else b"Host: x\r\n"
        more += b"" if name in ("X-API-Key", "Authorization") else b"X-API-Key: %s\r\n" % one.key.encode()
        link.sendall(b"GET /v1/policies HTTP/1.1\r\n" + more + lines + b"\r\n")
        assert answers(link) == ["400"]


def test_no_header_makes_a_request_come_from_elsewhere(tmp_path):
    """Without keys, a site whose name leads to 127.0.0.1 is kept out by its Host, whatever its script adds."""
    with running(tmp_path / "hsb.db", ServerSettings(auth=False)) as one:
        one.make()
        page = {
            "Host": f"evil.example:{one.port}",
            "Origin": f"http://evil.example:{one.port}",
            "Sec-Fetch-Site": "same-origin",
        }
        for more in ({}, {"X-Forwarded-For": "8.8.8.8"}, {"X-Forwarded-For": "8.8.8.8", "X-Forwarded-Proto": "https"}):
            assert one.get("/v1/policies", headers=page | more).status == 403
            assert one.get("/metrics", headers=page | more).status == 403
            assert one.get("/p/home/overview", headers=page | more).status == 403
            assert one.post("/v1/keys", {"name": "mine", "scopes": ["admin"]}, headers=page | more).status == 403
            assert one.ask("DELETE", "/v1/policies/home?purge=true", headers=page | more).status == 403
        assert one.get("/v1/policies/home").status == 200
