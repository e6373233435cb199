"""OpenAPI 3.1, made from the endpoints and the types of their bodies; and /docs, a plain page of the same."""

import html
import re
from inspect import cleandoc
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
NAMES = {  # operation ids of handlers whose own names would be unclear
    "create": "create_policy", "change": "change_policy", "delete": "delete_policy", "policy": "get_policy",
    "policies": "list_policies", "put_state": "import_state", "one_candidate": "get_candidate",
    "candidates": "list_candidates", "promote": "promote_candidate", "decision": "get_decision",
    "decisions": "list_decisions", "forget": "forget_decisions", "probabilities": "get_probabilities", "rules": "get_rules",
    "certificate": "get_certificate", "stats": "get_stats", "rejections": "list_rejections", "journal": "read_journal",
    "export": "export_updates", "snapshot": "get_snapshot", "snapshots": "list_snapshots",
    "evaluation": "get_evaluation", "evaluations": "list_evaluations", "drop": "drop_evaluation",
    "make_key": "create_key", "keys": "list_keys", "limits": "get_limits", "audit_entries": "list_audit_entries", "healthz": "get_health",
    "readyz": "get_readiness", "metrics": "get_metrics", "flag": "evaluate_flag", "flags": "evaluate_flags",
    "openapi": "get_openapi", "docs": "get_docs",
}  # fmt: skip
IDS = {"id", "policy", "candidate", "evaluation"}
DESCRIPTIONS = {
    200: "Done",
    201: "Created",
    202: "Accepted; the work is done later",
    204: "Done; no body",
    304: "Not modified; the ETag covers settings, arms and candidates only",
    400: "The body is not JSON, or a header is present twice",
    401: "No valid key",
    403: "The key may not do this",
    404: "Not found",
    408: "The body came too slowly",
    409: "Conflict with what exists already",
    410: "The policy is archived, or the decision is closed: a reward is kept, but not learned",
    412: "The policy has not reached min_version, or has changed since If-Match",
    413: "The body is too large",
    415: "The body has the wrong media type",
    422: "Invalid request; detail and pointer give the reason",
    429: "Too many requests; Retry-After gives the seconds to wait",
    503: "Unavailable now; Retry-After gives the seconds to wait",
    507: "The disk is full; nothing was written",
}


def document(endpoints: list[Endpoint]) -> dict[str, Any]:
    """Return the OpenAPI description of these endpoints."""
    types = {endpoint.body_type for endpoint in endpoints if endpoint.decoder is not None} | {ProblemAnswer}
    types |= {_item_type(kind) for endpoint in endpoints for kind in endpoint.also.values()}
    types |= {
        kind for endpoint in endpoints for answer in endpoint.answers.values() for kind in _kinds(answer) if _is_named(kind)
    }
    ordered = sorted(types, key=lambda kind: kind.__name__)
    schemas, components = msgspec.json.schema_components(ordered, ref_template=REF)
    known = dict(zip(ordered, schemas, strict=True))
    for name in EITHER:
        components |= _either(name, components[name])
    for schema in components.values():
        if "description" in schema:
            schema["description"] = cleandoc(schema["description"])
        for field in schema.get("properties", {}).values():
            field.pop("default", None)  # generators treat a field with a default as always present
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        paths.setdefault(plain(endpoint.path), {})[endpoint.method.lower()] = _operation(endpoint, known)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hsb serve",
            "version": __version__,
            "description": "A service for contextual bandits. By default decisions and rewards are on disk before they are answered.",
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


def _item_type(kind: Any) -> Any:
    """Return the type of a list's items, or the type itself if it is not a list."""
    return kind.__args__[0] if hasattr(kind, "__args__") else kind


def plain(path: str) -> str:
    """Return a path in OpenAPI's form, without converters."""
    return PARAM.sub(r"{\1}", path)


def _operation(endpoint: Endpoint, known: dict[Any, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": name_of(endpoint),
        "summary": cleandoc(endpoint.handler.__doc__ or ""),
        "tags": [endpoint.tag],
        "parameters": [_in_path(name) for name in PARAM.findall(endpoint.path)]
        + [
            _parameter("query", name, description, _schema(endpoint, name, description))
            for name, description in endpoint.query.items()
        ]
        + [_parameter("header", name, description, KEY) for name, description in headers(endpoint).items()],
        "responses": {str(status): _response(status, kind, known) for status, kind in sorted(answers(endpoint).items())},
    }
    if endpoint.need is None:
        operation["security"] = []
    else:
        operation["description"] = f"Needs a key with the scope {endpoint.need}."
    if endpoint.decoder is not None:
        operation["requestBody"] = {
            "required": not endpoint.optional,
            "content": {"application/json": {"schema": known[endpoint.body_type]}},
        }
        for media, kind in endpoint.also.items():
            one = known[_item_type(kind)]
            operation["requestBody"]["content"][media] = {
                "schema": one if kind is _item_type(kind) else {"type": "array", "items": one}
            }
    elif endpoint.body_type is bytes:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    return operation


def answers(endpoint: Endpoint) -> dict[int, Any]:
    """Return all statuses of an endpoint with their types: its own, and those common to all requests."""
    statuses: set[int] = {422}  # an unknown parameter
    if endpoint.need is not None:
        statuses |= {400, 401, 403, 429, 503}
    if "{" in endpoint.path:
        statuses.add(404)
    if headers(endpoint):
        statuses.add(409)
    if endpoint.body_type is not None:
        statuses |= {400, 408, 413, 415}
    return {**dict.fromkeys(statuses - endpoint.never, ProblemAnswer), **endpoint.answers}


def headers(endpoint: Endpoint) -> dict[str, str]:
    """Return the request headers that an endpoint honours, with descriptions."""
    return getattr(endpoint.handler, "headers", {})


def _either(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type with a reward or a loss as a choice of two: client generators make a model of each."""
    schemas: dict[str, Any] = {name: {"title": name, "description": schema["description"], "oneOf": []}}
    for required, other in (("reward", "loss"), ("loss", "reward")):
        one = f"{name}With{required.title()}"
        fields = {key: value for key, value in schema["properties"].items() if key != other}
        schemas[one] = schema | {"title": one, "properties": fields, "required": [*schema.get("required", []), required]}
        schemas[name]["oneOf"].append({"$ref": REF.format(name=one)})
    return schemas


def name_of(endpoint: Endpoint) -> str:
    """Return the operation id of an endpoint."""
    name = getattr(endpoint.handler, "__name__", "")
    return NAMES.get(name, name)


def _parameter(location: str, name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": location, "description": description, "schema": schema}


def _schema(endpoint: Endpoint, name: str, description: str) -> dict[str, Any]:
    """Return the schema of a query parameter; a description that begins with "true:" means a boolean."""
    if description.startswith("true:"):
        return {"type": "boolean"}
    if name == "limit":
        return {"type": "integer", "minimum": 1} | ({} if endpoint.path.endswith("/journal") else {"maximum": MOST})
    if name == "after":
        return {"type": "string"} if endpoint.path == "/v1/policies" else {"type": "integer", "minimum": 0, "maximum": 1 << 62}
    if name == "horizon":
        return {"type": "integer", "minimum": 1, "maximum": 1 << 53}
    return {"type": "string", "enum": ["dsjson", "parquet"]} if name == "format" else {"type": "string"}


def _kinds(answer: Any) -> tuple[Any, ...]:
    """Return the types that an answer may have, as a tuple."""
    return answer if isinstance(answer, tuple) else (answer,)


def _is_named(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _in_path(name: str) -> dict[str, Any]:
    schema = {"type": "string", "pattern": PATTERN} if name in IDS else {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _response(status: int, kind: Any, known: dict[Any, Any]) -> dict[str, Any]:
    response: dict[str, Any] = {"description": DESCRIPTIONS.get(status, "Answer")}
    if kind is None:
        return response
    if isinstance(kind, str):
        response["content"] = {kind: {"schema": {"type": "string"}}}
    elif kind is ProblemAnswer:
        response["content"] = {"application/problem+json": {"schema": known[kind]}}
    else:
        response["content"] = {"application/json": {"schema": _answer(kind, known)}}
    return response


def _answer(kind: Any, known: dict[Any, Any]) -> dict[str, Any]:
    if isinstance(kind, tuple):
        return {"anyOf": [known[each] for each in kind]}
    if _is_named(kind):
        return known[kind]  # type: ignore[no-any-return]
    return {"type": "object"} | ({} if kind is dict else {"additionalProperties": {"type": "number"}})


def make(endpoints: list[Endpoint]) -> tuple[Endpoint, Endpoint]:
    """Make the endpoints /openapi.json and /docs."""
    own: list[Endpoint] = []

    async def openapi(call: Call) -> Reply:
        """Get this description as OpenAPI."""
        return Reply(200, document([*endpoints, *own]))

    async def docs(call: Call) -> Reply:
        """Show all endpoints on a page."""
        return Reply(200, page([*endpoints, *own]), type=b"text/html; charset=utf-8")

    own += [
        Endpoint("GET", "/openapi.json", None, openapi, answers={200: dict}, tag="service"),
        Endpoint("GET", "/docs", None, docs, answers={200: "text/html"}, tag="service"),
    ]
    return own[0], own[1]


def page(endpoints: list[Endpoint]) -> bytes:
    """Return an HTML page of all endpoints, without scripts or anything from elsewhere."""
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>",
        "<title>hsb serve: the API</title><link rel='icon' href='/static/icon.svg'><link rel='stylesheet' href='/static/page.css'>",
        "<header><p class='home'><a href='/'>hsb</a></p></header><main><h1>hsb serve: the API</h1>",
        "<p>Every request except health checks needs a key: <code>Authorization: Bearer hsb_...</code>. ",
        "For programs: <a href='/openapi.json'>openapi.json</a>. ",
        "Errors are <code>application/problem+json</code>: detail states what is wrong and how to fix it, pointer names the field.</p>",
    ]
    for tag in dict.fromkeys(endpoint.tag for endpoint in endpoints):
        parts.append(f"<h2>{html.escape(tag)}</h2>")
        for endpoint in (other for other in endpoints if other.tag == tag):
            parts.append(f"<h3><code>{endpoint.method} {html.escape(plain(endpoint.path))}</code></h3>")
            parts.append(f"<p>{html.escape((endpoint.handler.__doc__ or '').strip())}")
            parts.append(f" Scope: {endpoint.need}.</p>" if endpoint.need else "</p>")
            parts += _lists(endpoint)
    return "".join(parts).encode()


def _lists(endpoint: Endpoint) -> list[str]:
    parts = []
    if endpoint.query:
        rows = "".join(
            f"<li><code>{name}</code>: {html.escape(description)}</li>" for name, description in endpoint.query.items()
        )
        parts.append(f"<p>Query parameters:</p><ul>{rows}</ul>")
    if endpoint.fields:
        parts.append(
            f"<p>Body: {html.escape((endpoint.body_type.__doc__ or '').strip())} Fields: <code>{', '.join(endpoint.fields)}</code>.</p>"
        )
    statuses = "".join(f"<li>{status} {html.escape(DESCRIPTIONS.get(status, ''))}</li>" for status in sorted(answers(endpoint)))
    parts.append(f"<details><summary>Answers</summary><ul>{statuses}</ul></details>")
    return parts
