"""Jinja in a sandbox: a template reaches no file and no Python object, and every loop of it comes to an end.
A name that nobody defined renders as itself, and a call of it as a call with the same arguments, so that the
statement around it can still be read. Each such name is an issue."""

from collections.abc import Iterable, Iterator
from typing import Any

from jinja2 import TemplateError, Undefined, nodes, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

from headwater.errors import Issue, IssueCode, Severity
from headwater.text import Source

MOST_OUTPUT = 20_000_000  # characters; a template that makes more is a bomb
_MOST_STEPS = 1_000_000  # of all loops of a template together


class Sandbox(SandboxedEnvironment):
    """Jinja for templates that nobody here wrote. One template is rendered at a time."""

    intercepted_binops = frozenset(["*", "**", "+"])

    def __init__(self) -> None:
        super().__init__(
            undefined=self._missing_class(),
            autoescape=False,
            keep_trailing_newline=True,
            extensions=["jinja2.ext.do"],
        )
        self.filters |= {"_bounded": self._bounded, "_joined": self._joined}
        self.globals["range"] = self._range
        self.begin(Source(""))

    def begin(self, source: Source) -> None:
        """Begin a template: its steps are counted anew, and it has no issues yet."""
        self.source = source
        self.issues: list[Issue] = []
        self.missed: set[str] = set()
        self._steps = 0

    def step(self, count: int = 1) -> None:
        """Count steps. RAISES: TemplateError when there are too many."""
        self._steps += count
        if self._steps > _MOST_STEPS:
            raise TemplateError(f"its loops take more than {_MOST_STEPS:,} steps")

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        __self.step()
        return super().call(__context, __obj, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Multiply, raise and add within reason: `'a' * 10 ** 10` is a bomb, not a template."""
        if operator != "+" or hasattr(left, "__len__"):
            sizes = [_size(left), _size(right)]
            size = sum(sizes) if operator == "+" else sizes[0] * sizes[1]
            if sizes[1] > 64 if operator == "**" else size > MOST_OUTPUT and not _numbers(left, right):
                raise TemplateError(f"`{operator}` of such large operands")
        return super().call_binop(context, operator, left, right)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """The tree of a template, in which loops count their steps and `~` its characters."""
        tree = super()._parse(source, name, filename)
        for loop in list(tree.find_all(nodes.For)):
            loop.iter = nodes.Filter(loop.iter, "_bounded", [], [], None, None, lineno=loop.lineno)
        for each in list(tree.find_all(nodes.Concat)):
            for at, part in enumerate(each.nodes):
                each.nodes[at] = nodes.Filter(part, "_joined", [], [], None, None, lineno=each.lineno)
        return tree

    @pass_context
    def _bounded(self, context: Context, items: Iterable[Any]) -> Iterator[Any]:
        for item in () if items is None else items:
            self.step()
            yield item

    @pass_context
    def _joined(self, context: Context, part: Any) -> str:
        text = str(part)
        self.step(len(text) // 10_000)
        return text

    def _range(self, *bounds: int) -> range:
        numbers = range(*bounds)
        self.step(len(numbers) // 100)
        return numbers

    def _missing_class(self) -> type[Undefined]:
        environment = self

        class Missing(Undefined):
            """A name nobody defined: it renders as itself, and a call of it as a call."""

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
                return f"{self._path().rsplit('.', 1)[-1]}({', '.join(_texts([*args, *kwargs.values()]))})"

        return Missing

    def miss(self, name: str) -> None:
        """Note, once per name, that a template asked for something we do not know."""
        hint = f"pass it with --var {name}=… if it is a variable; the bodies of macros are not known"
        self.doubt(f"the template uses `{name}`, which is not defined here", name, hint)

    def doubt(self, message: str, name: str, hint: str | None = None) -> None:
        """Note, once per message, why what a template makes is not certain. The name says where in the template."""
        if message in self.missed:
            return
        self.missed.add(message)
        at = max(0, self.source.text.find(name))
        span = self.source.span(at, min(at + len(name), len(self.source.text)))
        code = IssueCode.APPROXIMATE_LINEAGE
        self.issues.append(Issue(code, Severity.WARNING, message, span, source_name=self.source.name, hint=hint))


def _texts(values: Iterable[object]) -> Iterator[str]:
    """The arguments of a call of something unknown, those that can be arguments in SQL."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from _texts(value)
        elif value is not None and not isinstance(value, dict | bool) and str(value).strip():
            yield str(value)


def _size(value: Any) -> float:
    return len(value) if hasattr(value, "__len__") else abs(value) if isinstance(value, int | float) else 0


def _numbers(*values: object) -> bool:
    return all(isinstance(value, int | float) for value in values)
