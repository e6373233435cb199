"""The page's forms become requests to the core, or say what is wrong."""

import asyncio
from types import SimpleNamespace

import pytest

pytest.importorskip("starlette")

from starlette.requests import Request

from hsb.serve.core import AddArm, AddCandidate, Archive, Change
from hsb.serve.page import forms

SERVED = SimpleNamespace(name="home")


def sent(*parts):
    """Return the fields of a form that arrives in parts."""
    queue = [{"type": "http.request", "body": part, "more_body": k < len(parts) - 1} for k, part in enumerate(parts)]

    async def receive():
        return queue.pop(0)

    return asyncio.run(forms.read(Request({"type": "http", "method": "POST", "headers": []}, receive)))


def test_fields_are_read_in_parts():
    assert sent(b"do=add-arm&arm=a", b"+b%C3%BC&empty=") == {"do": "add-arm", "arm": "a bü", "empty": ""}


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"a=" + b"x" * forms.MOST, "more than 65,536 bytes"),
        (b"\xff\xfe", "not one of the page's forms"),
        (b"&".join(b"f%d=1" % k for k in range(51)), "not one of the page's forms"),
    ],
)
def test_other_bodies_are_refused(raw, words):
    with pytest.raises(ValueError, match=words):
        sent(raw)


def test_settings_are_shares_and_durations():
    form = {"floor": "12.5", "baseline": "", "wait": " PT1H ", "default_reward": "", "aggregate": "sum"}
    kind, (changes,) = forms.FORMS["settings"]["change"](SERVED, form)
    assert kind is Change and changes == {
        "floor": 0.125,
        "baseline": None,
        "feedback": {"aggregate": "sum", "wait": "PT1H", "default_reward": None},
    }
    _, (changes,) = forms.FORMS["settings"]["change"](SERVED, {"wait": "90", "default_reward": "0"})
    assert changes["feedback"] == {"wait": 90.0, "default_reward": 0.0} and changes["floor"] == 0.0
    assert forms.FORMS["candidates"]["ramp"](SERVED, {"ramp": "50", "baseline": "a"}) == (
        Change,
        ({"ramp": 0.5, "baseline": "a"},),
    )


@pytest.mark.parametrize(
    ("form", "words"),
    [({"floor": "much"}, "The floor must be a number; given 'much'"), ({"wait": "1H"}, "The wait must be a number"),
     ({"default_reward": "x"}, "The default reward must be a number")],
)  # fmt: skip
def test_what_is_no_number_is_named(form, words):
    with pytest.raises(ValueError, match=words):
        forms.FORMS["settings"]["change"](SERVED, form)


def test_arms_candidates_and_the_end():
    assert forms.FORMS["settings"]["add-arm"](SERVED, {"arm": "d"}) == (AddArm, ("d",))
    kind, (name, spec) = forms.FORMS["candidates"]["add"](SERVED, {"name": "new", "kind": "Exp3", "settings": '{"a": 1}'})
    assert (kind, name, spec) == (AddCandidate, "new", {"kind": "Exp3", "a": 1})
    assert forms.FORMS["settings"]["archive"](SERVED, {"name": "home"}) == (Archive, ())
    with pytest.raises(ValueError, match="To archive the policy, type its name"):
        forms.FORMS["settings"]["archive"](SERVED, {"name": "Home"})
