"""The files of the page."""

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.server.route import problem
from headwater.view.style import STYLE

_MEDIA = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "html": "text/html"}


def asset_routes() -> list[Route]:
    """The routes of what the page is made of."""

    async def style(request: Request) -> Response:
        return Response(STYLE, media_type="text/css", headers={"Cache-Control": "no-cache"})

    return [
        Route("/assets/picture.css", style, methods=["GET"]),
        Route("/assets/vendor/{vendored}", page),
        Route("/assets/{name}", page),
    ]


async def page(request: Request) -> Response:
    vendored = request.path_params.get("vendored")
    return asset(vendored, folder="vendor") if vendored else asset(request.path_params.get("name", "index.html"))


async def nowhere(request: Request, error: Exception) -> Response:
    """An address that there is not: programs are told in JSON, people by the page."""
    if request.url.path.startswith("/api/"):
        return problem(404, "not-found", "there is no such address; /api/v1/openapi.json has those there are")
    return asset("index.html", 404)


def asset(name: str, status: int = 200, *, folder: str = "") -> Response:
    """A file of the page. Names have no folders in them, so nothing outside can be named."""
    file = files("headwater.server").joinpath("page", folder, name)
    ending = name.rpartition(".")[2]
    if "/" in name or "\\" in name or name.startswith(".") or ending not in _MEDIA or not file.is_file():
        return problem(404, "not-found", "there is no such page")
    return Response(file.read_bytes(), status, media_type=_MEDIA[ending], headers={"Cache-Control": "no-cache"})
