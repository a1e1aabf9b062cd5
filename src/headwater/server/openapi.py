"""The API, described for programs: an OpenAPI document that follows from the endpoints."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import msgspec

from headwater.server.answers import Received
from headwater.server.event_api import ENDPOINT
from headwater.server.route import Endpoint

_PROBLEM = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string", "description": "`headwater explain CODE` tells more"},
                "message": {"type": "string"},
                "hint": {"type": ["string", "null"]},
                "place": {"type": ["object", "null"], "description": "where in the given text"},
            },
        }
    },
}
_EVENT = {"type": "object", "description": "an OpenLineage RunEvent, JobEvent or DatasetEvent"}
_REFUSALS = {
    "400": "The question does not fit, or its SQL is wrong.",
    "401": "A token is needed.",
    "403": "The request came from another site.",
    "404": "There is nothing of that name, or no such moment.",
    "408": "It took too long.",
    "413": "The request is too large.",
    "415": "A body is sent as application/json.",
    "421": "The server was called by a name that is not its own.",
    "422": "The query engine could not do it.",
    "429": "Too many requests.",
    "503": "The store is away, or it took too long.",
}


def openapi_document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The document for some endpoints and the receiver of events."""
    answers = [*(each.answer for each in endpoints), Received]
    schemas, parts = msgspec.json.schema_components(answers, ref_template="#/components/schemas/{name}")
    paths: dict[str, Any] = {}
    for each, schema in zip(endpoints, schemas, strict=False):
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, schema)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Headwater",
            "version": version("headwater"),
            "description": "Lineage kept in a warehouse, the warehouse itself, and a receiver of OpenLineage events.",
        },
        "paths": paths | _receiver(schemas[-1]),
        "components": {
            "schemas": {**parts, "Problem": _PROBLEM, "Event": _EVENT},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(endpoint: Endpoint, answer: dict[str, Any]) -> dict[str, Any]:
    (_,), parts = msgspec.json.schema_components([endpoint.question], ref_template="#/components/schemas/{name}")
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.about,
        "responses": {"200": {"description": "The answer.", "content": {"application/json": {"schema": answer}}}}
        | _refusals(),
    }
    if endpoint.name == "picture":
        for kind in ("image/svg+xml", "text/html", "text/plain", "text/csv"):
            operation["responses"]["200"]["content"][kind] = {"schema": {"type": "string"}}
    asked = inlined(parts[endpoint.question.__name__], parts)
    if endpoint.method == "GET":
        required = asked.get("required", [])
        operation["parameters"] = [
            {"name": name, "in": "query", "required": name in required, "schema": schema}
            for name, schema in asked.get("properties", {}).items()
        ]
    else:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": asked}}}
    return operation


def inlined(schema: Any, parts: dict[str, Any]) -> Any:
    """A schema with what it refers to put in its place."""
    if isinstance(schema, list):
        return [inlined(each, parts) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return inlined(parts[schema["$ref"].rpartition("/")[2]], parts)
    return {name: inlined(value, parts) for name, value in schema.items()}


def _refusals() -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": about, "content": content} for status, about in _REFUSALS.items()}


def _receiver(received: dict[str, Any]) -> dict[str, Any]:
    event = {"$ref": "#/components/schemas/Event"}
    many = {"type": "array", "items": event}
    one_or_many = {"application/json": {"schema": {"anyOf": [event, many]}}}
    summary = {"description": "How many were kept.", "content": {"application/json": {"schema": received}}}
    kept = {"201": {"description": "The event is kept."}, "200": summary}

    def post(name: str, about: str, content: dict[str, Any]) -> dict[str, Any]:
        body = {"required": True, "content": content}
        return {"post": {"operationId": name, "summary": about, "requestBody": body, "responses": kept | _refusals()}}

    return {
        ENDPOINT: post("receive", "Take in an OpenLineage event, or an array of them.", one_or_many),
        f"{ENDPOINT}/batch": post("receive_batch", "Take in many OpenLineage events.", one_or_many),
    }
