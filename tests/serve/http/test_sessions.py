"""Cookies that stand for keys."""

from types import SimpleNamespace

import pytest

from hsb.serve.http import sessions


class FakeKey:
    """As much of a key as sessions look at."""

    ended = None
    expires = None


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(sessions, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_a_cookie_stands_for_its_key_until_it_is_closed(clock):
    open_ones, key = sessions.Sessions(), FakeKey()
    cookie, other = open_ones.open(key), open_ones.open(key)
    assert cookie != other and open_ones.find(cookie) is key and open_ones.find("nobody's") is None
    open_ones.close(cookie)
    assert open_ones.find(cookie) is None and open_ones.find(other) is key


def test_it_ends_after_some_hours(clock):
    open_ones = sessions.Sessions()
    cookie = open_ones.open(FakeKey())
    clock[0] += sessions.LONGEST - 1
    assert open_ones.find(cookie)
    clock[0] += 2
    assert open_ones.find(cookie) is None


def test_it_ends_with_its_key(clock):
    open_ones, key = sessions.Sessions(), FakeKey()
    cookie = open_ones.open(key)
    key.ended = 5
    assert open_ones.find(cookie) is None


def test_a_key_has_so_many_and_no_more(clock):
    open_ones, key = sessions.Sessions(), FakeKey()
    cookies = [open_ones.open(key) for _ in range(sessions.MOST + 3)]
    assert [open_ones.find(each) is key for each in cookies] == [False] * 3 + [True] * sessions.MOST


@pytest.mark.parametrize("secure", [True, False])
def test_the_cookie_is_not_for_scripts_nor_for_other_sites(secure):
    header = sessions.cookie_header("value", secure=secure)
    assert "HttpOnly" in header and "SameSite=Strict" in header and ("Secure" in header.split("; ")) == secure
