"""The application: the endpoints, the page, and the guard before them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from threading import Thread
from typing import Protocol
from urllib.parse import parse_qs

from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from headwater.server import graph_api, home_api, lake_api, play_api, record_api
from headwater.server.answers import About
from headwater.server.assets import asset, asset_routes, nowhere, page
from headwater.server.event_api import event_routes
from headwater.server.guard import LOGIN, Guard
from headwater.server.openapi import openapi_document
from headwater.server.options import ServerOptions
from headwater.server.route import Endpoint, NoQuestion, endpoint, json_response, problem, route_of
from headwater.server.serve import serve_app
from headwater.server.service import Service

_PLACES = ("/", "/map", "/graph", "/tables", "/why", "/runs", "/issues", "/sql", "/play")


@endpoint("GET", "/about")
def about(service: Service, question: NoQuestion) -> About:
    """The server, its warehouse, and the latest state of the graph (0: there is none)."""
    return {"version": version("headwater"), "warehouse": service.warehouse.url, "state": service.latest()}


def endpoints() -> list[Endpoint]:
    """Every endpoint of the API, in the order of the document."""
    modules = (graph_api, home_api, record_api, lake_api, play_api)
    found = [each for module in modules for each in vars(module).values() if isinstance(each, Endpoint)]
    return [about, *dict.fromkeys(found)]


class Beside(Protocol):
    """Something that runs as long as the server does."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


def create_app(options: ServerOptions, *beside: Beside) -> Guard:
    """The server as an ASGI application, and what is to run beside it."""
    service = Service(options)
    known = endpoints()

    async def live(request: Request) -> Response:
        if service.live.is_full:
            return problem(503, "usage", "too many pages are open")
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(service.live.stream(), media_type="text/event-stream", headers=headers)

    async def login(request: Request) -> Response:
        if request.method == "GET":
            return asset("login.html")
        given = parse_qs((await request.body()).decode("latin-1")).get("token", [""])[0]
        return guard.welcome(request.scope, "/") if guard.is_token(given) else asset("login.html", 401)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        parts: tuple[Beside, ...] = (service.intake, service.sql, *beside)
        for each in parts:
            await run_sync(each.start)
        Thread(target=service.warm, daemon=True).start()
        yield
        service.live.close()
        for each in reversed(parts):
            await run_sync(each.stop)

    routes = [
        *(route_of(each, service, seconds=options.limits.seconds) for each in known),
        *event_routes(service),
        Route("/api/v1/live", live),
        Route("/api/v1/openapi.json", json_response(openapi_document(known)), methods=["GET"]),
        Route("/healthz", PlainTextResponse("ok"), methods=["GET"]),
        Route(LOGIN, login, methods=["GET", "POST"]),
        *asset_routes(),
        *(Route(place, page) for place in _PLACES),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: nowhere})
    guard = Guard(app, options)
    guard.ending = service.live.close
    return guard


def serve(
    options: ServerOptions, *beside: Beside, started: Callable[[ServerOptions], None] = lambda options: None
) -> None:
    """Serve the page and the API until interrupted; `started` is told where, once the address is taken.
    RAISES: UsageError when the address is not to be had, NotWritableError."""
    serve_app(lambda: create_app(options, *beside), options, started)
