"""Endpoints: a function from a typed question to a typed answer.
`@endpoint("GET", "/api/v1/runs")` makes a function one. Its second parameter is a msgspec struct: its fields are the
query parameters (of a GET) or the JSON body (of a POST), checked before the function runs; its return annotation is
what the OpenAPI document says of the answer. Functions run in threads, and errors of ours become JSON with a
status."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import anyio
import msgspec
from anyio.to_thread import run_sync
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headwater import errors

log = logging.getLogger("headwater.server")

_STATUS: tuple[tuple[type[errors.HeadwaterError], int], ...] = (
    (errors.NotFoundError, 404),
    (errors.UsageError, 400),
    (errors.InputError, 400),
    (errors.SqlError, 400),
    (errors.TimeLimitError, 408),
    (errors.EngineError, 422),
    (errors.StorageError, 503),
)
_ENCODER = msgspec.json.Encoder(enc_hook=lambda value: str(value))


Moment = Annotated[
    str, Meta(max_length=100, description="the number of a state, a date or time, `2 days ago`, `@-1`")
]


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
    """RAISES: UsageError for a question that is none."""
    kind = endpoint.question
    try:
        if endpoint.method == "GET":
            given = request.query_params
            several = {field.name for field in msgspec.structs.fields(kind) if _is_list(field.type)}
            values = {name: given.getlist(name) if name in several else given[name] for name in given}
            question = msgspec.convert(values, kind, strict=False)
        else:
            question = msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise errors.UsageError(f"the question does not fit: {err}", hint=_fields_of(endpoint)) from err
    result = await run_sync(endpoint.function, service, question, abandon_on_cancel=True)
    return result if isinstance(result, Response) else json_response(result)


def _fields_of(endpoint: Endpoint) -> str:
    """Name the parameters of an endpoint, those without a default first."""
    fields = sorted(msgspec.structs.fields(endpoint.question), key=lambda field: not field.required)
    named = ", ".join(f"`{field.encode_name}`{'' if field.required else ' (optional)'}" for field in fields)
    return f"{endpoint.method} {endpoint.path} takes {named or 'no parameters'}"


async def answered(work: Callable[[], Awaitable[Response]], *, seconds: float) -> Response:
    """Return what some work answers, errors and lateness included."""
    try:
        with anyio.fail_after(seconds):
            return await work()
    except errors.HeadwaterError as err:
        return error_response(err)
    except TimeoutError:
        return problem(503, "time-limit", f"this took longer than {seconds:g} seconds")
    except Exception:
        log.exception("A request failed.")
        return problem(500, "error", "something went wrong in the server; its log says what")


def json_response(value: Any, status: int = 200) -> Response:
    return Response(to_json(value), status, media_type="application/json")


def to_json(value: Any) -> bytes:
    """A value as compact JSON; what JSON has no form for is text."""
    return _ENCODER.encode(value)


def error_response(err: errors.HeadwaterError) -> Response:
    """An error as the API says it."""
    status = next((number for kind, number in _STATUS if isinstance(err, kind)), 500)
    return json_response({"error": error_fields(err)}, status)


def error_fields(err: errors.HeadwaterError) -> dict[str, Any]:
    """The parts of an error that callers are told."""
    place = err.span and {name: getattr(err.span, name) for name in ("start", "end", "line", "column")}
    return {"code": err.code, "message": err.message, "hint": err.hint, "place": place}


def problem(status: int, code: str, message: str, **more: Any) -> Response:
    """A refusal: what, in words and as a code, and perhaps what to do."""
    return json_response({"error": {"code": code, "message": message, **more}}, status)


def _is_list(type: Any) -> bool:
    plain = get_args(type)[0] if get_origin(type) is Annotated else type
    return get_origin(plain) is list
