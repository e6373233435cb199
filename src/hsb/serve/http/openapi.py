"""OpenAPI 3.1, from the endpoints and the types of their bodies; and /docs, a plain page of the same."""

import html
import re
from typing import Any

import msgspec

from ... import __version__
from .endpoint import Call, Endpoint, Reply
from .wire import PATTERN, ProblemAnswer

REF = "#/components/schemas/{name}"
PARAM = re.compile(r"{(\w+)(?::path)?}")
IDS = {"id", "policy", "candidate", "evaluation"}
WORDS = {
    200: "Done",
    201: "Made",
    202: "Taken on",
    204: "Done; there is nothing to say",
    304: "You have it: only settings, arms and candidates count for the ETag",
    400: "Not JSON",
    401: "No key, or none that is valid",
    403: "The key may not do this",
    404: "There is no such thing",
    408: "The body came too slowly",
    409: "It belongs to something else already",
    410: "Archived, or closed: a reward that comes now is kept and not learned",
    412: "The version is not reached, or the policy was changed since",
    413: "The body is too large",
    415: "The body is of another type",
    422: "It cannot be done as asked; detail and pointer say why",
    429: "Too many requests; Retry-After says when",
    503: "Not now; Retry-After says when",
    507: "The disk is full; nothing was written",
}


def document(endpoints: list[Endpoint]) -> dict[str, Any]:
    """The whole description."""
    types = {each.wanted for each in endpoints if each.decoder is not None} | {ProblemAnswer}
    types |= {kind.__args__[0] for each in endpoints for kind in each.also.values()}  # lists of something
    types |= {kind for each in endpoints for kind in each.answers.values() if isinstance(kind, type) and kind is not dict}
    ordered = sorted(types, key=lambda kind: kind.__name__)
    schemas, components = msgspec.json.schema_components(ordered, ref_template=REF)
    known = dict(zip(ordered, schemas, strict=True))
    paths: dict[str, Any] = {}
    for each in endpoints:
        paths.setdefault(plain(each.path), {})[each.method.lower()] = _operation(each, known)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hsb serve",
            "version": __version__,
            "description": "Decisions that are on disk before they are answered.",
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"key": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            },
        },
    }


def plain(path: str) -> str:
    """A path as OpenAPI writes it."""
    return PARAM.sub(r"{\1}", path)


def _operation(each: Endpoint, known: dict[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", each.method.lower() + plain(each.path)).strip("_"),
        "summary": (each.handler.__doc__ or "").strip(),
        "tags": [each.tag],
        "parameters": [_in_path(name) for name in PARAM.findall(each.path)]
        + [{"name": name, "in": "query", "description": says, "schema": _schema(says)} for name, says in each.query.items()]
        + [
            {"name": name, "in": "header", "description": says, "schema": {"type": "string"}}
            for name, says in headers(each).items()
        ],
        "responses": {str(status): _response(status, kind, known) for status, kind in sorted(answers(each).items())},
    }
    if each.need is None:
        found["security"] = []
    else:
        found["description"] = f"Needs a key that may {each.need}."
    if each.decoder is not None:
        found["requestBody"] = {"required": not each.optional, "content": {"application/json": {"schema": known[each.wanted]}}}
        for kind, rows in each.also.items():
            listed = {"type": "array", "items": known[rows.__args__[0]]}
            found["requestBody"]["content"][kind] = {"schema": listed}
    elif each.wanted is bytes:
        found["requestBody"] = {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    return found


def answers(each: Endpoint) -> dict[int, Any]:
    """All that an endpoint may answer: its own, and what every request may lead to."""
    found: set[int] = {422}  # an unknown parameter
    if each.need is not None:
        found |= {401, 403, 429, 503}
    if "{" in each.path:
        found.add(404)
    if headers(each):
        found.add(409)
    if each.wanted is not None:
        found |= {400, 408, 413, 415}
    return {**dict.fromkeys(found - each.never, ProblemAnswer), **each.answers}


def headers(each: Endpoint) -> dict[str, str]:
    """Headers that an endpoint minds, with what they mean."""
    return getattr(each.handler, "headers", {})


def _schema(says: str) -> dict[str, Any]:
    """Of a parameter: what says "true: ..." is true or false."""
    return {"type": "string", "enum": ["true", "false"]} if says.startswith("true:") else {"type": "string"}


def _in_path(name: str) -> dict[str, Any]:
    schema = {"type": "string", "pattern": PATTERN} if name in IDS else {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _response(status: int, kind: Any, known: dict[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"description": WORDS.get(status, "An answer")}
    if kind is None:
        return found
    if isinstance(kind, str):
        found["content"] = {kind: {"schema": {"type": "string"}}}
    elif kind is ProblemAnswer:
        found["content"] = {"application/problem+json": {"schema": known[kind]}}
    else:
        found["content"] = {"application/json": {"schema": {"type": "object"} if kind is dict else known[kind]}}
    return found


def make(endpoints: list[Endpoint]) -> tuple[Endpoint, Endpoint]:
    """The endpoints that describe the others."""
    own: list[Endpoint] = []

    async def openapi(call: Call) -> Reply:
        """This description."""
        return Reply(200, document([*endpoints, *own]))

    async def docs(call: Call) -> Reply:
        """A page of all this."""
        return Reply(200, page([*endpoints, *own]), type=b"text/html; charset=utf-8")

    own += [
        Endpoint("GET", "/openapi.json", None, openapi, answers={200: dict}, tag="service"),
        Endpoint("GET", "/docs", None, docs, answers={200: "text/html"}, tag="service"),
    ]
    return own[0], own[1]


def page(endpoints: list[Endpoint]) -> bytes:
    """A page without scripts or anything from elsewhere; the page's style is used where there is one."""
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>",
        "<title>hsb serve: the API</title><link rel='icon' href='/static/icon.svg'><link rel='stylesheet' href='/static/page.css'>",
        "<header><p class='home'><a href='/'>hsb</a></p></header><main><h1>hsb serve: the API</h1>",
        "<p>Every request but those of health needs a key: <code>Authorization: Bearer hsb_...</code>. ",
        "For programs: <a href='/openapi.json'>openapi.json</a>. ",
        "Errors are <code>application/problem+json</code>: detail says what to do, pointer where.</p>",
    ]
    for tag in dict.fromkeys(each.tag for each in endpoints):
        parts.append(f"<h2>{html.escape(tag)}</h2>")
        for each in (one for one in endpoints if one.tag == tag):
            parts.append(f"<h3><code>{each.method} {html.escape(plain(each.path))}</code></h3>")
            parts.append(f"<p>{html.escape((each.handler.__doc__ or '').strip())}")
            parts.append(f" Needs: {each.need}.</p>" if each.need else "</p>")
            parts += _lists(each)
    return "".join(parts).encode()


def _lists(each: Endpoint) -> list[str]:
    found = []
    if each.query:
        rows = "".join(f"<li><code>{name}</code>: {html.escape(says)}</li>" for name, says in each.query.items())
        found.append(f"<p>After the '?':</p><ul>{rows}</ul>")
    if each.fields:
        found.append(
            f"<p>Body: {html.escape((each.wanted.__doc__ or '').strip())} Fields: <code>{', '.join(each.fields)}</code>.</p>"
        )
    said = "".join(f"<li>{status} {html.escape(WORDS.get(status, ''))}</li>" for status in sorted(answers(each)))
    found.append(f"<details><summary>Answers</summary><ul>{said}</ul></details>")
    return found
