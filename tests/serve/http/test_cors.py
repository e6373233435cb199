"""Pages of other sites: none may ask, unless its origin was named; then for decisions alone, with a key that may do nothing else."""

import pytest
from support.serve.http_cases import running

from hsb.errors import InputError
from hsb.serve.http import ServerSettings
from hsb.serve.http.settings import origins

SHOP = {"Origin": "https://shop.example", "Sec-Fetch-Site": "cross-site"}
FLAGS = "/ofrep/v1/evaluate/flags"
ASKS = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    settings = ServerSettings(cors=origins(["https://shop.example"]))
    with running(tmp_path_factory.mktemp("http") / "hsb.db", settings) as result:
        result.make()
        yield result


def key(one, *scopes):
    return one.post("/v1/keys", {"name": "k", "scopes": list(scopes), "policies": ["home"]}).json["key"]


def test_a_page_of_a_named_site_decides(one):
    public = key(one, "decide")
    for path in (FLAGS, f"{FLAGS}/home", "/v1/policies/home/decisions", "/v1/decisions/d/activate"):
        before = one.ask("OPTIONS", path, key=None, headers=SHOP | ASKS)
        assert before.status == 204 and before.headers["access-control-allow-origin"] == SHOP["Origin"]
        assert "authorization" in before.headers["access-control-allow-headers"] and before.headers["vary"] == "Origin"
    response = one.post(f"{FLAGS}/home", {"context": {"targetingKey": "anna"}}, key=public, headers=SHOP)
    assert response.status == 200 and response.headers["access-control-allow-origin"] == SHOP["Origin"]
    assert "access-control-allow-credentials" not in response.headers  # no cookie counts
    assert one.post(f"{FLAGS}/nobody", {}, key=public, headers=SHOP).headers["access-control-allow-origin"] == SHOP["Origin"]


def test_only_with_a_key_that_may_decide_alone(one):
    """Everyone who sees the page has its key."""
    for scopes in (("decide", "learn"), ("admin",), ("decide", "read")):
        response = one.post(f"{FLAGS}/home", {}, key=key(one, *scopes), headers=SHOP)
        assert response.status == 403 and response.json["errorDetails"].startswith("Pages of other sites may only decide")
    public = key(one, "decide")
    assert one.post(f"{FLAGS}/home", {}, key=None, headers=SHOP).status == 401
    id = one.post("/v1/policies/home/decisions", {"context": 1}, key=public, headers=SHOP).json["id"]
    for method, path, body in (
        ("POST", f"/v1/decisions/{id}/reward", {"reward": 1}),
        ("POST", f"/v1/decisions/{id}/void", None),
        ("GET", "/v1/policies/home", None),
        ("POST", "/v1/keys", {"name": "x", "scopes": ["admin"]}),
    ):
        assert one.ask(method, path, body, headers=SHOP).status == 403, path  # not with the admin's key either
        assert one.ask("OPTIONS", path, key=None, headers=SHOP | ASKS).status == 405
    assert one.get(f"/v1/policies/home/decisions/{id}").json["state"] == "pending"


def test_no_other_site_may(one, tmp_path):
    public = key(one, "decide")
    for origin in (
        "https://evil.example",
        "https://shop.example.evil.example",
        "http://shop.example",
        "null",
        "https://SHOP.example",
    ):
        asked = {"Origin": origin}
        assert one.ask("OPTIONS", FLAGS, key=None, headers=asked | ASKS).status == 405
        assert "access-control-allow-origin" not in one.post(FLAGS, {}, key=public, headers=asked).headers
    with running(tmp_path / "hsb.db") as closed:
        closed.make()
        assert closed.ask("OPTIONS", FLAGS, key=None, headers=SHOP | ASKS).status == 405
        assert "access-control-allow-origin" not in closed.post(FLAGS, {}, headers=SHOP).headers
        assert closed.post(FLAGS, {}, headers=SHOP).status == 200  # a program may say what it likes


@pytest.mark.parametrize("origin", ["*", "shop.example", "https://shop.example/", "https://shop.example/path", ""])
def test_what_is_no_origin(origin):
    with pytest.raises(InputError, match="--cors must be an origin like"):
        origins([origin])
