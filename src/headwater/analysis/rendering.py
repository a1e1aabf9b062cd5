"""Jinja and dbt templates: rendered before analysis, with positions that still point at the template.
The template is cut into its tokens; each piece of plain text and each `{{ … }}` gets an invisible mark with its
place, the marked template is rendered, and the marks in the output say where every character came from. Text that the
template itself looks at (`set` blocks, filters, its own macros) has no marks."""

import re
from collections.abc import Callable
from typing import Any

from jinja2 import Template, TemplateError, TemplateSyntaxError

from headwater.analysis.sandbox import MOST_OUTPUT, Sandbox
from headwater.analysis.template import Rendered, TemplateOptions
from headwater.errors import Issue, IssueCode, Severity
from headwater.text import Source

_MARK = re.compile("\ue000([0-9]+),([0-9]+)\ue001|\ue002")


def render(source: Source, options: TemplateOptions | None = None) -> Rendered:
    """Render a template. One that cannot be rendered comes back empty, with an issue that says where and why."""
    options = options or TemplateOptions()
    environment = _Environment(source, options)
    try:
        return rendered_in(environment, source)
    except MemoryError:
        raise
    except Exception as err:  # a template is a program: it fails in every way that Python does
        return Rendered("", source, issues=(template_issue(err, source),))


def rendered_in(environment: Sandbox, source: Source, name: str | None = None) -> Rendered:
    """Render a template in an environment that has begun it. RAISES: everything that Python does."""
    code = environment.compile(_marked(environment, source.text), name=name, filename=source.name)
    marked = Template.from_code(environment, code, environment.make_globals(None)).render()
    if len(marked) > MOST_OUTPUT:
        raise TemplateError(f"the template makes more than {MOST_OUTPUT:,} characters")
    text, starts, places = _unmarked(marked)
    return Rendered(text, source, tuple(starts), tuple(places), tuple(environment.issues))


def _marked(environment: Sandbox, text: str) -> str:
    """The template with a mark before each piece of text and each `{{ … }}` whose output nothing in it looks at."""
    out: list[str] = []
    at = 0
    begin: int | None = None  # where the current `{{` stands in the template, and in `out`
    out_begin = depth = 0
    block: list[str] = []  # the words of the current `{% … %}`
    for _, kind, value in environment.lex(text):
        at = max(at, text.find(value, at))  # white space that the lexer stripped is skipped
        if kind == "data" and not depth:
            out.append(f"\ue000{at},{at + len(value)}\ue001{value}")
        else:
            if kind == "block_begin":
                block = []
            elif kind == "variable_begin":
                begin, out_begin = at, len(out)
            elif kind in ("name", "operator"):
                block.append(value)
            elif kind == "block_end":
                depth = max(0, depth + _captured(block))
            out.append(value)
            if kind == "variable_end" and begin is not None and not depth:
                end = at + len(value.rstrip())
                out.insert(out_begin, f"\ue000{begin},{end}\ue001\ue002")
                begin = None
        at += len(value)
    return "".join(out)


def _captured(block: list[str]) -> int:
    """1 for a tag that begins to collect output for the template itself, -1 for one that ends it, otherwise 0."""
    if not block:
        return 0
    if block[0] == "set":
        return 0 if "=" in block else 1
    return 1 if block[0] in _CAPTURES else -1 if block[0] in _CAPTURED else 0


_CAPTURES = frozenset({"macro", "call", "filter"})
_CAPTURED = frozenset({"endset", "endmacro", "endcall", "endfilter"})


def _unmarked(marked: str) -> tuple[str, list[int], list[tuple[int, int, bool]]]:
    pieces: list[str] = []
    starts: list[int] = []
    places: list[tuple[int, int, bool]] = []
    size = last = 0
    for mark in _MARK.finditer(marked):
        pieces.append(marked[last : mark.start()])
        size += len(pieces[-1])
        last = mark.end()
        if mark.group(1) is None:  # what follows was made by an expression: all of it has the expression's place
            places[-1] = (*places[-1][:2], False)
        else:
            starts.append(size)
            places.append((int(mark[1]), int(mark[2]), True))
    pieces.append(marked[last:])
    return "".join(pieces), starts, places


def template_issue(err: Exception, source: Source) -> Issue:
    """The issue of a template that cannot be rendered."""
    line = err.lineno if isinstance(err, TemplateSyntaxError) else 1
    return Issue(
        IssueCode.TEMPLATE_ERROR,
        Severity.ERROR,
        f"the template cannot be rendered: {err}",
        span=source.span_at(line, 1, len(source.line(min(line, len(source.line_starts))))),
        source_name=source.name,
        hint="pass variables with --var NAME=VALUE",
    )


class _Environment(Sandbox):
    """Jinja with dbt's functions, for one template."""

    def __init__(self, source: Source, options: TemplateOptions) -> None:
        super().__init__()
        self.begin(source)
        self.globals.update(_dbt_functions(source, options))
        self.globals.update(options.variables)


def _dbt_functions(source: Source, options: TemplateOptions) -> dict[str, Any]:
    """Return what a dbt model can call. `ref` and `this` name tables of the given schema, `source` its own."""

    def qualified(name: str) -> str:
        return f"{options.schema}.{name}" if options.schema else name

    def ref(*path: str, **version: object) -> str:
        return qualified(path[-1])

    def var(name: str, default: object = "") -> object:
        return options.variables.get(name, default)

    def nothing(*args: object, **kwargs: object) -> str:
        return ""

    stem = (source.name or "this").rsplit("/", 1)[-1].split(".")[0]
    functions: dict[str, Callable[..., Any] | str] = {
        "ref": ref,
        "source": lambda schema, table: f"{schema}.{table}",
        "var": var,
        "env_var": lambda name, default="": default,
        "config": nothing,
        "is_incremental": lambda: options.incremental,
        "this": qualified(stem),
        "log": nothing,
        "return": lambda value="": value,
    }
    return functions
