"""Turn the page's forms into requests to the core."""

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from starlette.requests import Request

from ..core import AddArm, AddCandidate, Archive, Change, DropCandidate, Promote, RemoveArm, Served, TakeSnapshot
from .candidates import spec

MOST = 65_536  # bytes of a form


class CoreRequest(NamedTuple):
    """A request to the core: its kind, and its arguments after the policy's name."""

    kind: Any
    arguments: tuple[Any, ...]


async def read(request: Request) -> dict[str, str]:
    """Read the fields of a form. Raises ValueError if it is too large or malformed."""
    raw = b""
    async for part in request.stream():
        raw += part
        if len(raw) > MOST:
            raise ValueError(f"The form has more than {MOST:,} bytes. Shorten its fields.")
    try:
        return dict(parse_qsl(raw.decode("utf-8"), keep_blank_values=True, max_num_fields=50))
    except ValueError:
        raise ValueError("The request is not one of the page's forms. Reload the page and send the form again.") from None


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number; given {text[:40]!r}.") from None


def _ramp(served: Served, form: dict[str, str]) -> CoreRequest:
    changes: dict[str, Any] = {"ramp": _number(form.get("ramp", ""), "The share of traffic") / 100.0}
    if form.get("baseline"):
        changes["baseline"] = form["baseline"]
    return CoreRequest(Change, (changes,))


def _change(served: Served, form: dict[str, str]) -> CoreRequest:
    feedback: dict[str, Any] = {name: form[name] for name in ("aggregate", "learn") if form.get(name)}
    if form.get("wait"):
        wait = form["wait"].strip()
        feedback["wait"] = wait if wait.startswith("P") else _number(wait, "The wait")
    text = form.get("default_reward", "").strip()
    feedback["default_reward"] = _number(text, "The default reward") if text else None
    changes = {
        "floor": _number(form.get("floor", "0"), "The floor") / 100.0,
        "baseline": form.get("baseline") or None,
        "feedback": feedback,
    }
    return CoreRequest(Change, (changes,))


def _archive(served: Served, form: dict[str, str]) -> CoreRequest:
    if form.get("name", "") != served.name:
        raise ValueError("To archive the policy, type its name. An archived policy makes no more decisions.")
    return CoreRequest(Archive, ())


FORMS: dict[str, dict[str, Callable[[Served, dict[str, str]], CoreRequest]]] = {
    "candidates": {
        "add": lambda served, form: CoreRequest(
            AddCandidate, (form.get("name", ""), spec(form.get("kind", "HSB"), form.get("settings", "")))
        ),
        "promote": lambda served, form: CoreRequest(Promote, (form.get("name", ""),)),
        "drop": lambda served, form: CoreRequest(DropCandidate, (form.get("name", ""),)),
        "ramp": _ramp,
    },
    "settings": {
        "change": _change,
        "add-arm": lambda served, form: CoreRequest(AddArm, (form.get("arm", ""),)),
        "remove-arm": lambda served, form: CoreRequest(RemoveArm, (form.get("arm", ""),)),
        "snapshot": lambda served, form: CoreRequest(TakeSnapshot, ()),
        "archive": _archive,
    },
}
"""By section and by the value of the form's button."""
