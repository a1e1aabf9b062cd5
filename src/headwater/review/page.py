"""A review as one HTML file: what changed in words, and the changed part before and after."""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape

from headwater.review.changes import Risk
from headwater.review.picture import picture_of
from headwater.review.review import Review
from headwater.review.told import TITLES, headline, how, place, reach_of, read_word, readers_of, sections, summary
from headwater.text import counted
from headwater.view.style import STYLE
from headwater.view.svg import to_svg

_STYLE = """
body { font-family: Helvetica, Arial, sans-serif; margin: 2em; max-width: 90em; color: #1f2933; background: #fff; }
table { border-collapse: collapse; } td { padding: .3em .8em; border-top: 1px solid #cdd5df; vertical-align: top; }
code { font-size: 90%; } .picture { overflow: auto; border: 1px solid #cdd5df; } .faint { color: #697586; }
@media (prefers-color-scheme: dark) { body { color: #e6e9ee; background: #14171c; } }
"""


def to_page(review: Review) -> str:
    """The page. It has no script and fetches nothing."""
    style = STYLE + _STYLE
    hashed = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{hashed}'; img-src data:"
    head = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        f"<title>Lineage of a change</title><style>{style}</style></head><body>",
    ]
    return "\n".join([*head, *_body(review), "</body></html>"])


def _body(review: Review) -> Iterator[str]:
    yield f"<h1>{escape(summary(review))}</h1>"
    yield f"<p>{escape(review.base)} → {escape(review.head)}</p>"
    if review.sides is not None and review.changes:
        for title, side in zip(("Before", "After"), review.sides):
            diagram, left = picture_of(review, [side])
            more = f" ({counted(left, 'changed table')} more are not drawn)" if left else ""
            drawn = to_svg(diagram, title=title, styled=False) if diagram.boxes else ""
            yield f'<h2>{title}{more}</h2><div class="picture">{drawn}</div>'
    for risk in Risk:
        rows = [each for each in review.changes if each.risk is risk]
        if rows:
            yield f"<h2>{escape(TITLES[risk])}</h2><table>"
            for change in rows:
                found = how(change)
                cells = [
                    f"<code>{escape(change.name)}</code><br>"
                    f'<span class="faint">{escape(place(change.file, change.line))}</span>',
                    escape(headline(change)),
                    " ⇒ ".join(f"<code>{escape(each)}</code>" for each in found or ()),
                    escape(f"{read_word(change)} {readers_of(change, review)}") if change.readers else "",
                    escape(f"reaches {reach_of(change)}") if change.reaches else "",
                ]
                yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
            yield "</table>"
    for title, lines in sections(review):
        yield f"<h2>{escape(title)}</h2><ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"
