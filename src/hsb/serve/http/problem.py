"""Problems as in RFC 9457: application/problem+json, with the library's error messages."""

import json
import re
from ast import literal_eval
from typing import Any

from ...errors import quoted

TITLES = {
    400: "Unreadable request",
    401: "No valid key",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Body too slow",
    409: "Conflict",
    410: "Gone",
    412: "Precondition failed",
    413: "Too large",
    415: "Wrong media type",
    422: "Invalid request",
    429: "Too many requests",
    500: "Service fault",
    503: "Unavailable now",
    507: "Disk full",
}
TYPES = {  # of problem, by the status of the core's answer
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
    r"(?P<message>Feature (?P<name>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\") has had .* or )declare it: features=.*$", re.S
)
AT = re.compile(r"^(?P<message>.*?)(?: - at `(?P<key>key in )?\$(?P<path>.*)`)?$", re.S)
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
    """A problem that becomes the answer to a request."""

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
        """Return the problem as plain data."""
        title = TITLES.get(self.status, "Problem")
        body: dict[str, Any] = {"type": f"/problems/{self.kind}", "title": title, "status": self.status, "detail": self.detail}
        for name, value in (("instance", instance), ("pointer", self.pointer), ("request_id", request_id)):
            if value is not None:
                body[name] = value
        return body | self.more


def of_answer(status: int, word: str, body: dict[str, Any], request: Any = None) -> HttpProblem:
    """Return the problem for an answer of the core with this status; `request` is the body, for the pointer."""
    detail = over_http(str(body.get("detail", "")))
    more = {name: value for name, value in body.items() if name not in ("detail", "closed") and value is not None}
    kind, pointer = TYPES.get(word, word), None
    if word == "refused":
        pointer = pointer_of(detail, request)
        kind = "unknown-arm" if detail.startswith("Unknown arm") else kind
    retry = 1.0 if status in (503, 507) else None
    return HttpProblem(status, kind, detail, pointer=pointer, retry=retry, more=more)


def over_http(detail: str) -> str:
    """Return a message of the library with its fix in JSON instead of Python.

    >>> print(over_http("Feature 'x' has had text; given 2. Give text, or declare it: features=hsb.Features(...), with the others."))
    Feature 'x' has had text; given 2. Give text, or make a policy that declares all features: "policy": {"features": {"x": "category", ...}}.
    """
    match = DECLARE.match(detail)
    if match is None:
        return detail
    name = json.dumps(literal_eval(match["name"]))
    return f'{match["message"]}make a policy that declares all features: "policy": {{"features": {{{name}: "category", ...}}}}.'


def pointer_of(detail: str, request: Any = None) -> str | None:
    """Return the JSON pointer to the field that a message is about; None if the message names none.

    >>> pointer_of("feedback.wait must be a duration of at most 400 days"), pointer_of("Two policies cannot share a name.")
    ('/feedback/wait', None)
    """
    if detail.startswith("Unknown arm") and " in available" in detail:
        available = getattr(request, "available", None) or []
        for index, arm in enumerate(available):
            if detail.startswith(f"Unknown arm {quoted(arm)} in"):
                return f"/available/{index}"
        return "/available"
    if detail.startswith("With ramp"):
        return "/baseline"
    path = PATH.match(detail)
    return "/" + path[1].replace(".", "/") if path else None


def misfit(error: Exception, fields: tuple[str, ...]) -> HttpProblem:
    """Return the problem of a body that msgspec rejects; `fields` are those that the body may have."""
    match = AT.match(str(error))
    message, path = (match["message"], match["path"] or "") if match else (str(error), "")
    pointer = "".join(f"/{name or index or '-'}" for name, index in STEP.findall(path))
    unknown = re.match(r"Object contains unknown field `(.*)`", message, re.S)
    if unknown:
        known = f" Its fields are {', '.join(fields)}." if not pointer and fields else ""
        return HttpProblem(
            422,
            "unknown-field",
            f"The body has an unknown field {quoted(unknown[1])}.{known}",
            pointer=f"{pointer}/{unknown[1]}",
        )
    missing = re.match(r"Object missing required field `(.*)`", message, re.S)
    if missing:
        return HttpProblem(
            422, "missing-field", f"The field {quoted(missing[1])} is missing. Add it.", pointer=f"{pointer}/{missing[1]}"
        )
    return HttpProblem(422, "misfit", _wrong(message, pointer), pointer=pointer or None)


def _wrong(message: str, pointer: str) -> str:
    """Return which type is needed and which was given, from a message of msgspec.

    >>> _wrong("Expected `bool | float`, got `str`", "/rewards/0/reward")
    'reward must be true or false or a number; given text.'
    >>> _wrong("Expected `object`, got `array`", "")
    'The body must be an object; given a list.'
    """
    match, (*_, name) = WRONG.fullmatch(message), pointer.split("/")
    if match is None:
        return f"{message}."
    needed, received = (" or ".join(KINDS.get(kind, kind) for kind in part.split(" | ")) for part in match.groups())
    what = "The body" if not name else name if name[0].isalpha() else "Each of them"  # an item of a list has no name
    return f"{what} must be {needed}; given {received}."
