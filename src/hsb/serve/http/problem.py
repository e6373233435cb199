"""What went wrong, as RFC 9457 has it: application/problem+json, with hsb's own sentences."""

import json
import re
from ast import literal_eval
from typing import Any

from ...errors import quoted

TITLES = {
    400: "Not a request that can be read",
    401: "No key",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict",
    410: "Gone",
    412: "Version not reached",
    413: "Too large",
    415: "Not a type that is read here",
    422: "Cannot be done",
    429: "Too many requests",
    500: "A fault of the service",
    503: "Not now",
    507: "Disk full",
}
WORDS = {  # of the core's answers
    "forbidden": "policy-not-allowed",
    "unknown": "not-found",
    "conflict": "conflict",
    "late": "feedback-closed",
    "gone": "archived",
    "behind": "version-not-reached",
    "refused": "refused",
    "overloaded": "overloaded",
    "away": "journal-away",
    "full": "disk-full",
}
PATH = re.compile(r"^([a-z_]+(?:\.[a-z_]+)*)(?=:| must| is missing)")
DECLARE = re.compile(
    r"(?P<said>Feature (?P<name>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\") has had .* or )declare it: features=.*$", re.S
)
AT = re.compile(r"^(?P<said>.*?)(?: - at `(?P<key>key in )?\$(?P<where>.*)`)?$", re.S)
WRONG = re.compile(r"Expected `([a-z| ]+)`, got `([a-z]+)`")
KINDS = {  # of JSON, as msgspec calls them
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]|\[\.\.\.\]")


class HttpProblem(Exception):
    """An answer that is no success."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        pointer: str | None = None,
        retry: float | None = None,
        more: dict[str, Any] | None = None,
        headers: list[tuple[bytes, bytes]] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail, self.pointer, self.retry = status, kind, detail, pointer, retry
        self.more, self.headers = more or {}, headers or []

    def body(self, instance: str | None, request_id: str | None) -> dict[str, Any]:
        """As JSON has it."""
        title = TITLES.get(self.status, "HttpProblem")
        found: dict[str, Any] = {"type": f"/problems/{self.kind}", "title": title, "status": self.status, "detail": self.detail}
        for name, value in (("instance", instance), ("pointer", self.pointer), ("request_id", request_id)):
            if value is not None:
                found[name] = value
        return found | self.more


def of_answer(status: int, word: str, body: dict[str, Any], asked: Any = None) -> HttpProblem:
    """The problem that an answer of the core is."""
    detail = over_http(str(body.get("detail", "")))
    more = {name: value for name, value in body.items() if name not in ("detail", "closed") and value is not None}
    kind, pointer = WORDS.get(word, word), None
    if word == "refused":
        pointer = pointer_of(detail, asked)
        kind = "unknown-arm" if detail.startswith("Unknown arm") else kind
    retry = 1.0 if status in (503, 507) else None
    return HttpProblem(status, kind, detail, pointer=pointer, retry=retry, more=more)


def over_http(detail: str) -> str:
    """A sentence of the library, with what to do as JSON has it.

    >>> print(over_http("Feature 'x' has had text; given 2. Give text, or declare it: features=hsb.Features(...), with the others."))
    Feature 'x' has had text; given 2. Give text, or make a policy that declares all features: "policy": {"features": {"x": "category", ...}}.
    """
    found = DECLARE.match(detail)
    if found is None:
        return detail
    name = json.dumps(literal_eval(found["name"]))
    return f'{found["said"]}make a policy that declares all features: "policy": {{"features": {{{name}: "category", ...}}}}.'


def pointer_of(detail: str, asked: Any = None) -> str | None:
    """Where in what was asked the rejection is, as far as the sentence says.

    >>> pointer_of("feedback.wait must be a duration of at most 400 days"), pointer_of("Two policies cannot share a name.")
    ('/feedback/wait', None)
    """
    if detail.startswith("Unknown arm") and " in available" in detail:
        available = getattr(asked, "available", None) or []
        for place, arm in enumerate(available):
            if detail.startswith(f"Unknown arm {quoted(arm)} in"):
                return f"/available/{place}"
        return "/available"
    if detail.startswith("With ramp"):
        return "/baseline"
    found = PATH.match(detail)
    return "/" + found[1].replace(".", "/") if found else None


def misfit(error: Exception, fields: tuple[str, ...]) -> HttpProblem:
    """What msgspec says of a body that is JSON and not what is wanted."""
    found = AT.match(str(error))
    said, where = (found["said"], found["where"] or "") if found else (str(error), "")
    pointer = "".join(f"/{name or place or '-'}" for name, place in STEP.findall(where))
    unknown = re.match(r"Object contains unknown field `(.*)`", said, re.S)
    if unknown:
        here = f" There are {', '.join(fields)}." if not pointer and fields else ""
        return HttpProblem(
            422, "unknown-field", f"There is no field {quoted(unknown[1])} here.{here}", pointer=f"{pointer}/{unknown[1]}"
        )
    missing = re.match(r"Object missing required field `(.*)`", said, re.S)
    if missing:
        return HttpProblem(
            422, "missing-field", f"The field {quoted(missing[1])} is missing.", pointer=f"{pointer}/{missing[1]}"
        )
    return HttpProblem(422, "misfit", _wrong(said, pointer), pointer=pointer or None)


def _wrong(said: str, pointer: str) -> str:
    """Which type is wanted, and which was given.

    >>> _wrong("Expected `bool | float`, got `str`", "/rewards/0/reward")
    'reward must be true or false or a number; given text.'
    >>> _wrong("Expected `object`, got `array`", "")
    'The body must be an object; given a list.'
    """
    found, (*_, name) = WRONG.fullmatch(said), pointer.split("/")
    if found is None:
        return f"{said}."
    wanted, given = (" or ".join(KINDS.get(each, each) for each in part.split(" | ")) for part in found.groups())
    what = "The body" if not name else name if name[0].isalpha() else "Each of them"  # a place in a list has no name
    return f"{what} must be {wanted}; given {given}."
