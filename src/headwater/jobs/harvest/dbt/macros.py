"""Macros: found by package and name as dbt finds them, compiled when they are first called."""

from collections.abc import Callable, Iterator
from typing import Any

from jinja2 import Template, TemplateError
from jinja2.runtime import Context
from jinja2.utils import missing

from headwater.analysis.sandbox import Sandbox
from headwater.jobs.harvest.dbt.project import DbtProject, Macro

BUILTIN = "dbt"


class Returned(Exception):
    """Carries the value that a macro gives by `return`: any value, not only text."""

    def __init__(self, value: Any) -> None:
        self.value = value


class MacroCall:
    """A macro as templates call it."""

    def __init__(self, macro: Macro, environment: "MacroEnvironment") -> None:
        self.macro = macro
        self._environment = environment
        self._body: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._body is None:
            template = self._environment.template(self.macro.text, f"{self.macro.package}/{self.macro.path}")
            context = template.new_context()
            for _ in template.root_render_func(context):
                pass
            self._body = context.vars[self.macro.name]
        try:
            return self._body(*args, **kwargs)
        except Returned as returned:
            return returned.value

    def __str__(self) -> str:
        return f"macro {self.macro.name}"


class Namespace(dict[str, Any]):
    """The macros of a package, by name."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, name: str) -> Any:
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        return found


class _Names(Context):
    """The names a template sees: its own, those of the project, Jinja's."""

    def resolve_or_missing(self, key: str) -> Any:
        if key in self.vars:
            return self.vars[key]
        assert isinstance(self.environment, MacroEnvironment)
        found = self.environment.lookup(key, (self.name or "").partition("/")[0])
        return self.parent.get(key, missing) if found is missing else found


class MacroEnvironment(Sandbox):
    """Jinja with the macros of a project and its packages."""

    context_class = _Names

    def __init__(self, project: DbtProject) -> None:
        super().__init__()
        self.project = project
        self.scope: dict[str, Any] = {}  # what is neither a macro nor of Jinja
        self._calls: dict[tuple[str, str], MacroCall | None] = {}
        self._spaces: dict[str, Namespace] = {}

    def template(self, text: str, name: str) -> Template:
        """Compile a template; its name begins with its package."""
        code = self.compile(text, name=name, filename=name)
        return Template.from_code(self, code, self.make_globals(None), None)

    def lookup(self, key: str, package: str) -> Any:
        """Return the macro, value or package that a name means in a package."""
        found = None if key in _OURS else self.macro(key, package)
        if found is not None:
            return found
        if key in self.scope:
            return self.scope[key]
        if key in self.project.macros:
            return self._spaces.setdefault(key, Namespace(lambda name: self.macro_of(key, name)))
        return self.macro_of(BUILTIN, key) or missing

    def macro(self, name: str, package: str) -> Any:
        """The macro that a name without a package means in a package."""
        for each in dict.fromkeys((package, self.project.root.name)):
            if each != BUILTIN and (found := self.macro_of(each, name)) is not None:
                return found
        return None

    def macro_of(self, package: str, name: str) -> Any:
        """The macro of a package; one that is only there for kinds of databases is dispatched."""
        key = package, name
        if key not in self._calls:
            macro = self.project.macros.get(package, {}).get(name)
            self._calls[key] = MacroCall(macro, self) if macro is not None else None
        found = self._calls[key]
        if found is None and package in _DISPATCHED and f"default__{name}" in self.project.macros.get(package, {}):
            return self.dispatch(name, package)
        return found

    def dispatch(self, name: str, namespace: str | None = None, package: str = "") -> Any:
        """The macro for the kind of database the project runs on.

        RAISES: TemplateError when there is none.
        """
        if "." in name:
            namespace, _, name = name.rpartition(".")
        for each in self._searched(namespace, package):
            for prefix in self.project.target.prefixes:
                if (found := self.macro_of(each, f"{prefix}__{name}")) is not None:
                    return found
        raise TemplateError(f"no macro is there for `{name}`" + (f" of `{namespace}`" if namespace else ""))

    def _searched(self, namespace: str | None, package: str) -> Iterator[str]:
        if namespace is None:
            yield from dict.fromkeys(each for each in (package, self.project.root.name) if each)
            yield BUILTIN
        else:
            yield from self.project.search_order(namespace)
            yield from () if namespace in self.project.search_order(namespace) else (namespace,)


_OURS = frozenset({"is_incremental", "config", "this", "run_query", "statement", "return", "var", "env_var", "log"})
"""Names that a project's macros do not replace: what these say decides what we analyse."""
_DISPATCHED = frozenset({"dbt", "dbt_utils", "dbt_date"})
