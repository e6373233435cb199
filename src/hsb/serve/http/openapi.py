"""OpenAPI 3.1, from the endpoints and the types of their bodies; and /docs, a plain page of the same."""

import html
import re
from typing import Any

import msgspec

from ... import __version__
from .endpoint import Call, Endpoint, Reply
from .idempotency import FORM
from .reading import MOST
from .wire import PATTERN, ProblemAnswer

REF = "#/components/schemas/{name}"
PARAM = re.compile(r"{(\w+)(?::text)?}")
KEY = {"type": "string", "pattern": f"^{FORM.pattern}$"}
EITHER = ("RewardBody", "RewardItem", "EventData")  # reward or loss
NAMES = {  # of handlers that are called otherwise outside
    "create": "create_policy", "change": "change_policy", "delete": "delete_policy", "policy": "get_policy",
    "policies": "list_policies", "put_state": "import_state", "one_candidate": "get_candidate",
    "candidates": "list_candidates", "promote": "promote_candidate", "decision": "get_decision",
    "decisions": "list_decisions", "forget": "forget_decisions", "probabilities": "get_probabilities", "rules": "get_rules",
    "certificate": "get_certificate", "stats": "get_stats", "problems": "list_problems", "journal": "read_journal",
    "export": "export_updates", "snapshot": "get_snapshot", "snapshots": "list_snapshots",
    "evaluation": "get_evaluation", "evaluations": "list_evaluations", "drop": "drop_evaluation",
    "make_key": "create_key", "keys": "list_keys", "limits": "get_limits", "audit_entries": "list_audit_entries", "healthz": "get_health",
    "readyz": "get_readiness", "metrics": "get_metrics", "flag": "evaluate_flag", "flags": "evaluate_flags",
    "openapi": "get_openapi", "docs": "get_docs",
}  # fmt: skip
IDS = {"id", "policy", "candidate", "evaluation"}
WORDS = {
    200: "Done",
    201: "Made",
    202: "Taken on",
    204: "Done; there is nothing to say",
    304: "You have it: only settings, arms and candidates count for the ETag",
    400: "Not JSON, or a header that is there twice",
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
    types |= {_of(kind) for each in endpoints for kind in each.also.values()}
    types |= {kind for each in endpoints for given in each.answers.values() for kind in _kinds(given) if _is_named(kind)}
    ordered = sorted(types, key=lambda kind: kind.__name__)
    schemas, components = msgspec.json.schema_components(ordered, ref_template=REF)
    known = dict(zip(ordered, schemas, strict=True))
    for name in EITHER:
        components |= _either(name, components[name])
    for schema in components.values():
        for field in schema.get("properties", {}).values():
            field.pop("default", None)  # generators take what has a default for what is always there
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


def _of(kind: Any) -> Any:
    """The type of what a list holds, or of what is no list."""
    return kind.__args__[0] if hasattr(kind, "__args__") else kind


def plain(path: str) -> str:
    """A path as OpenAPI writes it."""
    return PARAM.sub(r"{\1}", path)


def _operation(each: Endpoint, known: dict[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": name_of(each),
        "summary": (each.handler.__doc__ or "").strip(),
        "tags": [each.tag],
        "parameters": [_in_path(name) for name in PARAM.findall(each.path)]
        + [_given("query", name, says, _schema(each, name, says)) for name, says in each.query.items()]
        + [_given("header", name, says, KEY) for name, says in headers(each).items()],
        "responses": {str(status): _response(status, kind, known) for status, kind in sorted(answers(each).items())},
    }
    if each.need is None:
        found["security"] = []
    else:
        found["description"] = f"Needs a key that may {each.need}."
    if each.decoder is not None:
        found["requestBody"] = {"required": not each.optional, "content": {"application/json": {"schema": known[each.wanted]}}}
        for media, kind in each.also.items():
            one = known[_of(kind)]
            found["requestBody"]["content"][media] = {"schema": one if kind is _of(kind) else {"type": "array", "items": one}}
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
        found |= {400, 401, 403, 429, 503}
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


def _either(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A type with a reward or a loss, as one of two types, each whole: generators of clients make a model of each."""
    found: dict[str, Any] = {name: {"title": name, "description": schema["description"], "oneOf": []}}
    for given, other in (("reward", "loss"), ("loss", "reward")):
        one = f"{name}With{given.title()}"
        fields = {key: value for key, value in schema["properties"].items() if key != other}
        found[one] = schema | {"title": one, "properties": fields, "required": [*schema.get("required", []), given]}
        found[name]["oneOf"].append({"$ref": REF.format(name=one)})
    return found


def name_of(each: Endpoint) -> str:
    """What a person would call an operation."""
    name = getattr(each.handler, "__name__", "")
    return NAMES.get(name, name)


def _given(where: str, name: str, says: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": where, "description": says, "schema": schema}


def _schema(each: Endpoint, name: str, says: str) -> dict[str, Any]:
    """Of a parameter: what says "true: ..." is true or false."""
    if says.startswith("true:"):
        return {"type": "boolean"}
    if name == "limit":
        return {"type": "integer", "minimum": 1} | ({} if each.path.endswith("/journal") else {"maximum": MOST})
    if name == "after":
        return {"type": "string"} if each.path == "/v1/policies" else {"type": "integer", "minimum": 0, "maximum": 1 << 62}
    if name == "horizon":
        return {"type": "integer", "minimum": 1, "maximum": 1 << 53}
    return {"type": "string", "enum": ["dsjson", "parquet"]} if name == "format" else {"type": "string"}


def _kinds(given: Any) -> tuple[Any, ...]:
    """The types that an answer may have."""
    return given if isinstance(given, tuple) else (given,)


def _is_named(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


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
        found["content"] = {"application/json": {"schema": _answer(kind, known)}}
    return found


def _answer(kind: Any, known: dict[Any, Any]) -> dict[str, Any]:
    if isinstance(kind, tuple):
        return {"anyOf": [known[each] for each in kind]}
    if _is_named(kind):
        return known[kind]  # type: ignore[no-any-return]
    return {"type": "object"} | ({} if kind is dict else {"additionalProperties": {"type": "number"}})


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
