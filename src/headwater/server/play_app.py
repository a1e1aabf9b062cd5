"""The page for SQL that is pasted, alone: it needs no warehouse, and none of the libraries that read one."""

from collections.abc import Collection
from importlib.metadata import version

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from headwater.lineage.schema import SchemaTable
from headwater.server import play_api
from headwater.server.assets import asset_routes, nowhere, page
from headwater.server.guard import Guard
from headwater.server.options import ServerOptions
from headwater.server.route import json_response, route_of


class NoTables:
    """Knows no table: what SQL reads is as its schema says."""

    def tables_named(self, words: Collection[str], known: str, at: str | None) -> tuple[SchemaTable, ...]:
        return ()


def create_play_app(options: ServerOptions) -> Guard:
    """The page and what it asks, as an ASGI application."""

    async def about(request: Request) -> Response:
        return json_response({"version": version("headwater"), "warehouse": "", "state": 0})

    async def to_play(request: Request) -> Response:
        return RedirectResponse("/play")

    endpoints = (play_api.dialects, play_api.analyze)
    routes = [
        *(route_of(each, NoTables(), seconds=options.limits.seconds) for each in endpoints),
        Route("/api/v1/about", about),
        Route("/healthz", PlainTextResponse("ok"), methods=["GET"]),
        *asset_routes(),
        Route("/", to_play),
        Route("/play", page),
    ]
    return Guard(Starlette(routes=routes, exception_handlers={404: nowhere}), options)
