"""Endpoints: a function from a typed question to a typed answer.

`@endpoint("GET", "/api/v1/runs")` makes a function one. Its second parameter is a msgspec struct: its fields are the
query parameters (of a GET) or the JSON body (of a POST), checked before the function runs; its return annotation is
what the OpenAPI document says of the answer. Functions run in threads, and errors of ours become JSON with a status.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import anyio
import msgspec
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.errors import (
    EngineError,
    HeadwaterError,
    InputError,
    NotFoundError,
    SqlError,
    StorageError,
    TimeLimitError,
    UsageError,
)

log = logging.getLogger("headwater.server")

_STATUS: tuple[tuple[type[HeadwaterError], int], ...] = (
    (NotFoundError, 404),
    (UsageError, 400),
    (InputError, 400),
    (SqlError, 400),
    (TimeLimitError, 408),
    (EngineError, 422),
    (StorageError, 503),
)
_ENCODER = msgspec.json.Encoder(enc_hook=lambda value: str(value))


class NoQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The question of an endpoint that takes no parameters."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One operation of the API."""

    method: str
    path: str
    function: Callable[[Any, Any], Any]
    question: type[msgspec.Struct]
    answer: Any

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def about(self) -> str:
        return " ".join((self.function.__doc__ or "").split())


def endpoint(method: str, path: str) -> Callable[[Callable[[Any, Any], Any]], Endpoint]:
    """Make a function of a service and a question an endpoint."""

    def made(function: Callable[[Any, Any], Any]) -> Endpoint:
        hints = get_type_hints(function, include_extras=True)
        question = next(type for name, type in hints.items() if name not in ("service", "return"))
        return Endpoint(method, f"/api/v1{path}", function, question, hints["return"])

    return made


def route_of(endpoint: Endpoint, service: Any, *, seconds: float) -> Route:
    """The endpoint as Starlette serves it."""

    async def answer(request: Request) -> Response:
        return await answered(partial(_asked, endpoint, service, request), seconds=seconds)

    return Route(endpoint.path, answer, methods=[endpoint.method])


async def _asked(endpoint: Endpoint, service: Any, request: Request) -> Response:
    if endpoint.method == "GET":
        question = _from_query(endpoint.question, request)
    else:
        question = _from_body(endpoint.question, await request.body())
    result = await run_sync(endpoint.function, service, question, abandon_on_cancel=True)
    return result if isinstance(result, Response) else json_response(result)


async def answered(work: Callable[[], Awaitable[Response]], *, seconds: float) -> Response:
    """What some work answers, errors and lateness included."""
    try:
        with anyio.fail_after(seconds):
            return await work()
    except HeadwaterError as err:
        return error_response(err)
    except TimeoutError:
        return problem(503, "time-limit", f"this took longer than {seconds:g} seconds")
    except Exception:
        log.exception("A request failed.")
        return problem(500, "error", "something went wrong in the server; its log says what")


def json_response(value: Any, status: int = 200) -> Response:
    return Response(_ENCODER.encode(value), status, media_type="application/json")


def error_response(err: HeadwaterError) -> Response:
    """An error as the API says it."""
    status = next((number for kind, number in _STATUS if isinstance(err, kind)), 500)
    return problem(status, err.code, err.message, hint=err.hint, place=_place(err))


def _place(err: HeadwaterError) -> dict[str, int] | None:
    if err.span is None:
        return None
    return {"start": err.span.start, "end": err.span.end, "line": err.span.line, "column": err.span.column}


def problem(status: int, code: str, message: str, **more: Any) -> Response:
    """A refusal: what, in words and as a code, and perhaps what to do."""
    return json_response({"error": {"code": code, "message": message, **more}}, status)


def _from_query(kind: type[msgspec.Struct], request: Request) -> Any:
    """RAISES: UsageError."""
    several = {field.name: _is_list(field.type) for field in msgspec.structs.fields(kind)}
    given = request.query_params
    values = {name: given.getlist(name) if several.get(name) else given[name] for name in given}
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as err:
        raise UsageError(f"the question does not fit: {err}") from err


def _is_list(type: Any) -> bool:
    plain = get_args(type)[0] if get_origin(type) is Annotated else type
    return get_origin(plain) is list


def _from_body(kind: type[msgspec.Struct], body: bytes) -> Any:
    """RAISES: UsageError."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise UsageError(f"the question does not fit: {err}") from err
