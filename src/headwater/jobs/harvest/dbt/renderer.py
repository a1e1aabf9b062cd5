"""Models rendered as `dbt compile` does, but for what only a database could tell."""

import ast
import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jinja2 import TemplateError

from headwater.analysis.rendering import rendered_in, template_issue
from headwater.analysis.template import Rendered
from headwater.errors import Issue
from headwater.jobs.harvest.dbt.macros import MacroEnvironment, Returned
from headwater.jobs.harvest.dbt.project import DbtProject
from headwater.jobs.harvest.dbt.resources import DbtNode, Resources
from headwater.jobs.harvest.dbt.scope import scope_of
from headwater.jobs.harvest.dbt.values import Relation
from headwater.text import Source

_CALLS = re.compile(r"""\b(?:dbt\.)?(ref|source)\(\s*['"]([^'"]+)['"]\s*(?:,\s*['"]([^'"]+)['"])?""")
_DEPTH = 3000  # of calls: macros call macros, and a model may ask for the columns of another


@dataclass
class RenderedModel:
    """The text of a rendered node, and the text of a run that adds rows, where that differs."""

    full: Rendered
    incremental: Rendered | None = None
    reads: dict[Relation, None] = field(default_factory=dict)  # in order
    failure: Issue | None = None

    @property
    def issues(self) -> tuple[Issue, ...]:
        more = self.incremental.issues if self.incremental is not None else ()
        known = {issue.message for issue in self.full.issues}
        return (*self.full.issues, *(issue for issue in more if issue.message not in known))


@dataclass
class _Work:
    """The node that is being rendered now."""

    node: DbtNode | None = None
    incremental: bool = False
    asked: bool = False  # for whether the run is incremental
    parsing: bool = False  # for the configuration alone
    switched_on: bool = False  # the node is off: variables that are false count as true
    reads: dict[Relation, None] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)


class _Configured(Exception):
    """The configuration is known, and nothing else was asked for."""


class Renderer:
    """Renders the nodes of a project, each once."""

    def __init__(self, project: DbtProject, resources: Resources, variables: Mapping[str, Any], dialect: str) -> None:
        self.project = project
        self.resources = resources
        self.variables = variables
        self.dialect = dialect
        self.work = _Work()
        self.environment = MacroEnvironment(project)
        self.environment.scope = scope_of(self)
        self.environment.filters |= _FILTERS
        self.columns: dict[str, dict[str, str | None]] = {}  # of nodes, as far as somebody asked for them
        self._texts: dict[tuple[str, str], Any] = {}
        self._made: dict[str, RenderedModel] = {}
        self._configs: dict[str, dict[str, Any]] = {}
        self._relations: dict[str, Relation] = {}

    def render(self, node: DbtNode) -> RenderedModel:
        """Render a node. One that cannot be rendered gets a failure and the names that it seems to read."""
        if node.unique_id not in self._made:
            with _deep():
                self._made[node.unique_id] = self._render(node)
        return self._made[node.unique_id]

    def _render(self, node: DbtNode) -> RenderedModel:
        source = Source(node.text, str(node.path))
        config = self.config(node)
        full, work, failure = self._once(node, source, incremental=False)
        made = RenderedModel(full, reads=work.reads, failure=failure)
        if work.asked and failure is None and config.get("materialized") == "incremental":
            more, again, failure = self._once(node, source, incremental=True)
            made.reads |= again.reads
            if failure is not None:
                made.full = Rendered(full.text, source, full.starts, full.places, (*full.issues, failure))
            elif more.text.split() != full.text.split():
                made.incremental = more
        if made.failure is None and not _COMMENTS.sub("", full.text).strip(" \t\r\n;"):
            made.failure = template_issue(TemplateError("it renders to nothing"), source)
        if made.failure is not None:
            made.reads |= dict.fromkeys(self.named_in(node.text))
        return made

    def _once(self, node: DbtNode, source: Source, *, incremental: bool) -> tuple[Rendered, _Work, Issue | None]:
        work = _Work(node, incremental, switched_on=self.config(node).get("enabled") is False)
        with self._working(work, source):
            try:
                return rendered_in(self.environment, source, node.package), work, None
            except MemoryError:
                raise
            except Exception as err:  # a template is a program: it fails in every way that Python does
                issues = tuple(self.environment.issues)
                return Rendered("", source, issues=issues), work, template_issue(err, source)

    def named_in(self, text: str) -> Iterator[Relation]:
        """The models and sources that a text names, whether or not they are asked for when it runs."""
        for kind, first, second in _CALLS.findall(text):
            if kind == "source" and second:
                yield self.source(first, second)
            elif kind == "ref" and (found := self.resources.find(second or first)) is not None:
                yield self.relation(found)

    def text(self, value: Any, package: str) -> Any:
        """A setting in which an expression may stand."""
        if not isinstance(value, str) or "{" not in value:
            return value
        if (value, package) not in self._texts:
            self._texts[value, package] = self._text(value, package)
        return self._texts[value, package]

    def _text(self, value: str, package: str) -> Any:
        with self._working(_Work(self.work.node, parsing=True), Source(value)):
            try:
                made = self.environment.template(value, f"{package}/").render().strip()
            except Returned as returned:
                made = returned.value
            except Exception:  # a setting that needs a database, say
                return None
        return {"true": True, "false": False, "none": None, "": None}.get(str(made).lower(), made)

    def config(self, node: DbtNode) -> dict[str, Any]:
        """The configuration of a node: that of its folders, its declaration, and its own text."""
        if node.unique_id in self._configs:
            return self._configs[node.unique_id]
        config = {"materialized": "view", "enabled": True}
        if node.kind != "model":
            config["materialized"] = node.kind
        config |= {key: self.text(value, node.package) for key, value in node.config.items()}
        self._configs[node.unique_id] = config
        if "config" in node.text and not node.is_python:
            work = _Work(node, parsing=True)
            with self._working(work, Source(node.text, str(node.path))), contextlib.suppress(Exception):
                self.environment.template(node.text, f"{node.package}/{node.path}").render()
            config |= work.config
        return config

    def configure(self, values: Mapping[str, Any]) -> str:
        """Take the configuration that a node gives itself. RAISES: _Configured when nothing else was asked for."""
        if self.work.parsing:
            self.work.config |= values
            raise _Configured
        return ""

    def know(self, node: DbtNode, config: Mapping[str, Any], relation: Relation) -> None:
        """Take from dbt what it knows of a node."""
        self._configs[node.unique_id] = {"materialized": "view", "enabled": True, **config}
        self._relations[node.unique_id] = relation

    def relation(self, node: DbtNode) -> Relation:
        """The table that a node makes."""
        known = self._relations.get(node.unique_id)
        if known is not None:
            return known
        config = self.config(node)
        target = self.project.target
        described = self.described(node)
        schema = config.get("target_schema") or self._named("schema", config.get("schema"), described)
        database = config.get("target_database") or self._named(
            "database", config.get("database") or config.get("project") or config.get("catalog"), described
        )
        alias = self._named("alias", config.get("alias"), described) or node.name
        if not target.schema and str(schema).startswith("_"):  # without a profile, a schema of its own stands alone
            schema = str(schema).lstrip("_")
        type = "view" if config["materialized"] in ("view", "ephemeral") else "table"
        made = Relation(database or None, schema or None, alias, self.dialect, type, node)
        self._relations[node.unique_id] = made
        return made

    def _named(self, part: str, custom: Any, described: Mapping[str, Any]) -> str:
        """A part of a name as the project's `generate_…_name` makes it."""
        name = f"generate_{part}_name"
        with self._working(_Work(parsing=True), Source("")), contextlib.suppress(Exception):
            macro = self.environment.lookup(name, self.project.root.name)
            return str(macro(custom if custom is None else str(custom), described)).strip()
        return str(custom or getattr(self.project.target, part, ""))

    def described(self, node: DbtNode) -> dict[str, Any]:
        """A node as templates see it."""
        config = self.config(node)
        return {
            "name": node.name,
            "alias": config.get("alias") or node.name,
            "resource_type": node.kind,
            "package_name": node.package,
            "unique_id": node.unique_id,
            "path": str(node.path),
            "original_file_path": str(node.path),
            "fqn": [node.package, *node.steps],
            "config": config,
            "tags": config.get("tags") or [],
            "meta": config.get("meta") or {},
            "schema": config.get("schema") or self.project.target.schema,
            "database": config.get("database") or self.project.target.database,
            "description": node.properties.get("description") or "",
            "columns": {name: {"name": name, "data_type": type} for name, type in node.columns().items()},
            "version": node.version,
            "depends_on": {"nodes": [], "macros": []},
            "raw_code": node.text,
        }

    def source(self, group: str, name: str) -> Relation:
        """The table that `source` means: as it is declared, or as it is called."""
        found = self.resources.sources.get((group, name))
        package = self.project.root.name
        if found is None:
            return Relation(None, group, name, self.dialect, "table")
        database = self.text(found.database, package) or self.project.target.database or None
        schema = self.text(found.schema, package) or group
        identifier = self.text(found.identifier, package) or name
        return Relation(database, str(schema), str(identifier), self.dialect, "table", found)

    def source_as_read(self, group: str, name: str) -> Relation:
        """The table that models read by `source`, which a macro of the project may replace."""
        with self._working(_Work(parsing=True), Source("")), contextlib.suppress(Exception):
            found = self.environment.lookup("source", self.project.root.name)(group, name)
            if isinstance(found, Relation):
                return found
        return self.source(group, name)

    def read(self, relation: Relation) -> Relation:
        """Note that the node being rendered reads a relation."""
        self.work.reads[relation] = None
        return relation

    @contextlib.contextmanager
    def _working(self, work: _Work, source: Source) -> Iterator[None]:
        """Render something else for now: what was being rendered goes on afterwards as it was."""
        environment = self.environment
        before, kept = self.work, {name: environment.__dict__[name] for name in _KEPT}
        self.work = work
        environment.begin(source)
        try:
            yield
        finally:
            self.work = before
            environment.__dict__.update(kept)


_KEPT = ("source", "issues", "missed", "_steps")
_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


@contextlib.contextmanager
def _deep() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _native(value: Any) -> Any:
    try:
        return ast.literal_eval(value) if isinstance(value, str) else value
    except (ValueError, SyntaxError):
        return {"true": True, "false": False, "none": None}.get(value.lower(), value)


_FILTERS: dict[str, Callable[..., Any]] = {
    "as_bool": _native,
    "as_number": _native,
    "as_native": _native,
    "as_text": lambda value: "" if value is None else str(value),
}
