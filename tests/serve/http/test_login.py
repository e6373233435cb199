"""The login form and its cookies."""

import pytest
from support.serve.http_cases import entered, running

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def here(one):
    return {"Origin": f"http://127.0.0.1:{one.port}", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db") as result:
        result.make()
        result.make("other")
        yield result


def test_the_login_form(one):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert b"<form" in one.get("/login?next=/docs", key=None).raw
    entered = one.post("/login?next=/docs", raw=f"key={one.key}", key=None, headers=form)
    assert entered.status == 303 and entered.headers["location"] == "/docs" and "HttpOnly" in entered.headers["set-cookie"]
    assert one.post("/login?next=//evil.example", raw=f"key={one.key}", key=None, headers=form).headers["location"] == "/"
    wrong = one.post("/login", raw="key=hsb_x", key=None, headers=form)
    assert wrong.status == 401 and "set-cookie" not in wrong.headers


def test_forms_of_other_sites(one):
    """Nobody is signed in or out by another site's page."""
    cookie = entered(one, one.key)[1]
    for elsewhere in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        response = one.post("/login", raw=f"key={one.key}", key=None, headers=FORM | elsewhere)
        assert response.status == 403 and "set-cookie" not in response.headers and b"other sites" in response.raw
        response = one.post("/logout", raw="", key=None, headers=FORM | cookie | elsewhere)
        assert response.status == 403 and "set-cookie" not in response.headers
    assert one.get("/v1/policies", key=None, headers=cookie).status == 200
    assert one.post("/login", raw=f"key={one.key}", key=None, headers=FORM | here(one)).status == 303
    assert one.post("/logout", raw="", key=None, headers=FORM | cookie | here(one)).status == 303


def test_a_form_through_a_proxy_that_changes_the_host_says_what_to_set(one):
    """nginx sends the address that it passes to, unless it is told."""
    cookie, proxied = entered(one, one.key)[1], {"Origin": "https://hsb.example.com", "Sec-Fetch-Site": "same-origin"}
    response = one.post("/p/home/settings", raw="do=snapshot", key=None, headers=FORM | cookie | proxied)
    assert (
        response.status == 403
        and "proxy_set_header Host" in response.json["detail"]
        and "hsb.example.com" in response.json["detail"]
    )
    response = one.post("/login", raw=f"key={one.key}", key=None, headers=FORM | proxied)
    assert response.status == 403 and b"proxy_set_header Host" in response.raw
    told = proxied | {"Host": "hsb.example.com", "X-Forwarded-Proto": "https"}
    assert one.post("/p/home/settings", raw="do=snapshot", key=None, headers=FORM | cookie | told).status == 303
    response = one.post("/login", raw=f"key={one.key}", key=None, headers=FORM | told)
    assert response.status == 303 and "Secure" in response.headers["set-cookie"]
