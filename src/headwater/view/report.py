"""A diagram as one HTML file: pan, zoom, search, and the way of every column, with nothing to fetch.
The page allows itself its own style and script by their hashes and nothing else, so that it may be put behind any
policy, and no name in it can become code."""

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files

import msgspec

from headwater.view.diagram import Diagram
from headwater.view.style import STYLE
from headwater.view.svg import to_svg


def to_page(diagram: Diagram, *, title: str = "Lineage") -> str:
    """The page of a diagram."""
    style = STYLE + _part("report.css")
    script = _part("report.js")
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:"
    lines = [[line.source.box, line.source.port, line.target.box, line.target.port] for line in diagram.lines]
    data = msgspec.json.encode(lines).decode().replace("<", "\\u003c")
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{style}</style></head><body>",
            f'<header><h1>{escape(title)}</h1><input type="search" placeholder="Find a table or column  ( / )"',
            ' aria-label="Find a table or column"><output></output>',
            '<button id="fit" title="Show all of it">Fit</button></header>',
            f"<main>{to_svg(diagram, title=title, styled=False)}</main>",
            f'<script type="application/json" id="lines">{data}</script>',
            f"<script>{script}</script></body></html>",
        ]
    )


def _part(name: str) -> str:
    return files("headwater.view").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
