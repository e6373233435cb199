"""Settings of a service: its limits are shown, and origins are in the form that browsers send."""

import pytest

import hsb
from hsb.serve.core.arms import MOST_ARMS
from hsb.serve.http.settings import SWITCHES, ServerSettings, origins


def test_limits_are_numbers_without_switches():
    limits = ServerSettings(body=2000, cors=("https://shop.example",)).describe()
    assert limits["body"] == 2000 and limits["arms"] == MOST_ARMS and not set(SWITCHES) & set(limits)
    assert all(type(value) in (int, float) and value > 0 for value in limits.values())
    assert set(ServerSettings._fields) - set(SWITCHES) <= set(limits)


def test_origins():
    texts = ["https://shop.example", "http://localhost:3000", "https://a-b.c.example:65535"]
    assert origins(texts) == tuple(texts) and origins([]) == ()


@pytest.mark.parametrize(
    "text", ["*", "", "null", "https://shop.example/", "https://Shop.example", "ftp://x", "https://x:123456", "https://x\n"]
)
def test_other_texts_are_no_origins(text):
    with pytest.raises(hsb.InputError, match=r"--cors must be an origin like https://shop\.example, without a path"):
        origins(["https://shop.example", text])
