"""The receiver of OpenLineage events: `POST /api/v1/lineage`, one or many.
An event is checked, kept on disk, and only then acknowledged (201); the graph has it a moment later. What is not an
event is refused with the reason (400), and nothing of it is kept; of many, the good ones are kept."""

import asyncio
import zlib
from collections.abc import Sequence
from functools import partial

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.errors import EventError, InputError
from headwater.events import decode
from headwater.graph.facts import Facts
from headwater.graph.observed import expanded, observe
from headwater.server.answers import Received
from headwater.server.route import answered, json_response, problem
from headwater.server.service import Service

ENDPOINT = "/api/v1/lineage"
_RAW = msgspec.json.Decoder(list[msgspec.Raw])
_MOST_FAILURES = 100  # that an answer names


def event_routes(service: Service) -> list[Route]:
    """The two addresses that events are posted to."""

    async def receive(request: Request) -> Response:
        return await answered(partial(_receive, service, request), seconds=service.options.limits.seconds)

    return [Route(path, receive, methods=["POST"]) for path in (ENDPOINT, f"{ENDPOINT}/batch")]


async def _receive(service: Service, request: Request) -> Response:
    body = _plain(await request.body(), request.headers.get("content-encoding", ""), service.options.limits.body)
    many = body.lstrip()[:1] == b"["
    try:
        parts = [bytes(each) for each in _RAW.decode(body)] if many else [body]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise EventError(f"this is not JSON: {err}") from err
    lines, failures = _checked(parts)  # what a listener of Spark wrote down becomes events here
    if failures and not many:
        return problem(400, "bad-event", failures[0][1])
    if lines:
        await asyncio.wrap_future(service.intake.keep(b"\n".join(lines) + b"\n"))  # they are on disk
    if not many and not request.url.path.endswith("/batch"):
        return Response(status_code=201)
    return json_response(_summary(len(parts), failures))


def _plain(body: bytes, encoding: str, most: int) -> bytes:
    """A body as it was before it was compressed. RAISES: InputError."""
    if encoding in ("", "identity"):
        return body
    if encoding != "gzip":
        raise InputError(f"events may be sent plain or with gzip, not with {encoding[:40]!r}")
    reader = zlib.decompressobj(wbits=31)
    try:
        plain = reader.decompress(body, most)
    except zlib.error as err:
        raise InputError("the body is not gzip") from err
    if reader.unconsumed_tail or not reader.eof:
        raise InputError(f"the body is cut short, or larger than {most:,} bytes")
    return plain


def _checked(parts: Sequence[bytes]) -> tuple[list[bytes], list[tuple[int, str]]]:
    """The events as lines of a journal, and what is wrong with the others."""
    lines: list[bytes] = []
    failures: list[tuple[int, str]] = []
    for number, part in enumerate(parts):
        try:
            for line in expanded(part):
                observe(Facts(), decode(line))
                lines.append(line.replace(b"\n", b" ").replace(b"\r", b" "))  # white space: JSON text has it escaped
        except EventError as error:
            failures.append((number, error.message))
    return lines, failures


def _summary(received: int, failures: list[tuple[int, str]]) -> Received:
    failed = len(failures)
    return {
        "status": "success" if not failed else "partial_success" if failed < received else "failure",
        "summary": {
            "received": received,
            "successful": received - failed,
            "failed": failed,
            "retriable": 0,
            "non_retriable": failed,
        },
        "failed_events": [
            {"index": number, "reason": reason, "retriable": False} for number, reason in failures[:_MOST_FAILURES]
        ],
    }
