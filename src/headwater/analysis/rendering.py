"""Jinja and dbt templates: rendered before analysis, with positions that still point at the template.

The template is cut into its tokens; each piece of plain text and each `{{ … }}` gets an invisible mark with its
place, the marked template is rendered, and the marks in the output say where every character came from. Rendering is
sandboxed: a template can neither reach into Python objects nor read files. What a template calls and we do not know
(a macro of a package, say) renders as a call of the same name, so that the statement around it can still be read.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError, Undefined
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from headwater.analysis.template import Rendered, TemplateOptions
from headwater.errors import Issue, IssueCode, Severity
from headwater.text import Source

_MARK = re.compile("\ue000([0-9]+),([0-9]+)\ue001|\ue002")
_MOST_STEPS = 1_000_000  # of all `range` loops together
_MOST_OUTPUT = 20_000_000  # characters; a template that makes more is a bomb


def render(source: Source, options: TemplateOptions | None = None) -> Rendered:
    """Render a template. One that cannot be rendered comes back empty, with an issue that says where and why."""
    options = options or TemplateOptions()
    environment = _Environment(source, options)
    try:
        marked = environment.from_string(_marked(environment, source.text)).render()
        plain = environment.from_string(source.text).render()
    except MemoryError:
        raise
    except Exception as err:  # a template is a program: it fails in every way that Python does
        return Rendered("", source, issues=(_template_issue(err, source),))
    if len(plain) > _MOST_OUTPUT:
        reason = TemplateError(f"the template makes more than {_MOST_OUTPUT:,} characters")
        return Rendered("", source, issues=(_template_issue(reason, source),))
    text, starts, places = _unmarked(marked)
    if text != plain:  # the template looks at its own output (`set` blocks, filters): only lines can be told
        starts, places = _line_places(plain, source)
    return Rendered(plain, source, tuple(starts), tuple(places), tuple(environment.issues))


def _marked(environment: "_Environment", text: str) -> str:
    """The template with a mark before each piece of text and around each `{{ … }}`."""
    out: list[str] = []
    at = 0
    begin: int | None = None  # where the current `{{` stands in the template, and in `out`
    out_begin = 0
    for _, kind, value in environment.lex(text):
        at = max(at, text.find(value, at))  # white space that the lexer stripped is skipped
        if kind == "data":
            out.append(f"\ue000{at},{at + len(value)}\ue001{value}")
        else:
            if kind == "variable_begin":
                begin, out_begin = at, len(out)
            out.append(value)
            if kind == "variable_end" and begin is not None:
                end = at + len(value.rstrip())
                out.insert(out_begin, f"\ue000{begin},{end}\ue001\ue002")
                begin = None
        at += len(value)
    return "".join(out)


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


def _line_places(plain: str, source: Source) -> tuple[list[int], list[tuple[int, int, bool]]]:
    """Place each line of the output on the next line of the template that reads the same, or near the last one."""
    starts, places = [0], [(0, len(source.text), False)]
    numbers: dict[str, list[int]] = {}
    for number in range(1, len(source.line_starts) + 1):
        numbers.setdefault(source.line(number).strip(), []).append(number)
    at = last = 0
    for line in plain.split("\n"):
        same = [number for number in numbers.get(line.strip(), ()) if number > last] if line.strip() else []
        if same:
            last = same[0]
            start = source.line_starts[last - 1] + source.line(last).index(line.strip())
            starts.append(at + line.index(line.strip()))
            places.append((start, start + len(line.strip()), True))
        at += len(line) + 1
    return starts, places


def _template_issue(err: Exception, source: Source) -> Issue:
    line = err.lineno if isinstance(err, TemplateSyntaxError) else 1
    return Issue(
        IssueCode.TEMPLATE_ERROR,
        Severity.ERROR,
        f"the template cannot be rendered: {err}",
        span=source.span_at(line, 1, len(source.line(min(line, len(source.line_starts))))),
        source_name=source.name,
        hint="pass variables with --var NAME=VALUE",
    )


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja with dbt's functions, for one template."""

    intercepted_binops = frozenset(["*", "**"])

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Multiply and raise within reason: `'a' * 10 ** 10` is a bomb, not a template."""
        sizes = [len(side) if hasattr(side, "__len__") else abs(side) for side in (left, right)]
        if sizes[1] > 64 if operator == "**" else sizes[0] * sizes[1] > _MOST_OUTPUT and not _numbers(left, right):
            raise TemplateError(f"`{operator}` of such large operands")
        return super().call_binop(context, operator, left, right)

    def __init__(self, source: Source, options: TemplateOptions) -> None:
        super().__init__(
            undefined=self._undefined_class(),
            autoescape=False,
            keep_trailing_newline=True,
            extensions=["jinja2.ext.do"],
        )
        self.source = source
        self.issues: list[Issue] = []
        self.missed: set[str] = set()
        self.globals.update(_dbt_functions(source, options))
        self.globals["range"] = self._bounded_range
        self.steps = 0
        self.globals.update(options.variables)

    def _undefined_class(self) -> type[Undefined]:
        environment = self

        class Missing(Undefined):
            """A name nobody defined: it renders as itself, and what it is called with is forgotten."""

            def _path(self) -> str:
                return str(self._undefined_name or "missing")

            def __str__(self) -> str:
                environment.miss(self._path())
                return self._path()

            def __getattr__(self, name: str) -> "Missing":
                if name.startswith("__"):
                    raise AttributeError(name)
                return type(self)(name=f"{self._path()}.{name}")

            def __getitem__(self, name: object) -> "Missing":  # type: ignore[override]
                return type(self)(name=f"{self._path()}.{name}")

            def __call__(self, *args: object, **kwargs: object) -> str:  # type: ignore[override]
                environment.miss(self._path())
                return f"{self._path().rsplit('.', 1)[-1]}()"

        return Missing

    def _bounded_range(self, *bounds: int) -> Iterator[int]:
        for number in range(*bounds):
            self.steps += 1
            if self.steps > _MOST_STEPS:
                raise TemplateError(f"its loops take more than {_MOST_STEPS:,} steps")
            yield number

    def miss(self, name: str) -> None:
        """Note, once per name, that a template asked for something we do not know."""
        if name in self.missed:
            return
        self.missed.add(name)
        at = max(0, self.source.text.find(name))
        self.issues.append(
            Issue(
                IssueCode.APPROXIMATE_LINEAGE,
                Severity.WARNING,
                f"the template uses `{name}`, which is not defined here",
                span=self.source.span(at, at + len(name)),
                source_name=self.source.name,
                hint=f"pass it with --var {name}=… if it is a variable; the bodies of macros are not known",
            )
        )


def _numbers(*values: object) -> bool:
    return all(isinstance(value, int | float) for value in values)


def _dbt_functions(source: Source, options: TemplateOptions) -> dict[str, Any]:
    """What a dbt model can call. `ref` and `this` name tables of the given schema, `source` its own."""

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
