"""Data of views that are not in the journal, and who may see them."""

import pytest

pytest.importorskip("starlette")
pytest.importorskip("jinja2")
from support.serve import page_harness as harness
from support.serve.http_cases import running

from hsb.serve.core import Create


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    server = harness.Harness(tmp_path_factory.mktemp("page") / "hsb.db")
    harness.fill(server.local, "home", 50)
    server.local.ask(Create(1, {"name": "empty", "arms": ["a", "b"]}, b"e" * 32))
    yield server
    server.close()


def test_keys_see_their_policies_only(service):
    class Key:
        policies = frozenset({"empty"})

        def check(self, scope, policy):
            if policy not in (None, *self.policies):
                raise PermissionError

    inner = harness.app(service)

    async def app(scope, receive, send):
        scope["state"] = {"key": Key()}
        await inner(scope, receive, send)

    client = harness.Client(app, service.loop)
    assert [each["name"] for each in client.get("/policies.json").json()["policies"]] == ["empty"]
    assert client.get("/p/empty/arms").status_code == 200
    for path in ("/p/home/arms", "/p/home"):
        with pytest.raises(PermissionError):
            client.get(path)


def test_keys_are_shown_to_those_who_may_ask_for_them(tmp_path):
    with running(tmp_path / "hsb.db") as one:
        one.make()
        results = [("reader", ["read"], None), ("team", ["admin"], ["home"]), ("member", ["read"], ["home"])]
        keys = {}
        for name, scopes, policies in results:
            keys[name] = one.post("/v1/keys", {"name": name, "scopes": scopes, "policies": policies}).json["key"]
        one.get("/v1/nothing")  # a refusal that belongs to no policy

        def seen(key):
            known = one.get("/p/home/settings.json", key=key).json["keys"]
            elsewhere = one.get("/p/home/problems.json", key=key).json["elsewhere"]
            return known and [each["name"] for each in known], len(elsewhere)

        assert seen(one.key) == (["first", "reader", "team", "member"], 1)
        assert seen(keys["team"]) == (["team", "member"], 0)
        assert seen(keys["reader"]) == (None, 1) and seen(keys["member"]) == (None, 0)
        assert "Use a key with the scope admin to see the keys" in one.get("/p/home/settings", key=keys["reader"]).raw.decode()
