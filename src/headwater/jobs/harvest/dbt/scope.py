"""The names that dbt gives to templates, beside macros."""

import hashlib
import json
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
from jinja2 import TemplateError

from headwater.jobs.harvest.dbt.columns import columns_of
from headwater.jobs.harvest.dbt.macros import Returned
from headwater.jobs.harvest.dbt.project import environment
from headwater.jobs.harvest.dbt.values import MODULES, START, DbtColumn, Nothing, Relation, written

if TYPE_CHECKING:
    from headwater.jobs.harvest.dbt.renderer import Renderer

_TYPES = {"string": "string", "timestamp": "timestamp", "float": "float", "integer": "int", "boolean": "boolean"}


class _Live(dict[str, Any]):
    """Names of which some are worked out when they are asked for."""

    def __init__(self, values: Mapping[str, Any], renderer: "Renderer") -> None:
        super().__init__(values)
        self._renderer = renderer

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in _LIVE

    def __getitem__(self, key: str) -> Any:
        return _LIVE[key](self._renderer) if key in _LIVE else super().__getitem__(key)


def _graph(renderer: "Renderer") -> dict[str, Any]:
    nodes = {}
    for id, node in renderer.resources.nodes.items():
        relation = renderer.relation(node)
        place = {"schema": relation.schema, "database": relation.database, "alias": relation.identifier}
        nodes[id] = renderer.described(node) | place | {"relation_name": str(relation)}
    package = renderer.project.root.name
    own = {"resource_type": "source", "package_name": package}
    sources = {
        f"source.{package}.{each.source}.{each.name}": own
        | {key: getattr(each, key) for key in ("name", "schema", "database", "identifier")}
        | {"source_name": each.source}
        for each in renderer.resources.sources.values()
    }
    return {"nodes": nodes, "sources": sources, "exposures": {}, "metrics": {}, "groups": {}}


def _this(renderer: "Renderer") -> Any:
    node = renderer.work.node
    return renderer.relation(node) if node is not None else Relation(None, None, "this", renderer.dialect)


def _model(renderer: "Renderer") -> Any:
    node = renderer.work.node
    if node is None:
        return {}
    relation = renderer.relation(node)
    place = {"schema": relation.schema, "database": relation.database, "alias": relation.identifier}
    return renderer.described(node) | place


_LIVE = {
    "execute": lambda renderer: not renderer.work.parsing,
    "this": _this,
    "model": _model,
    "graph": _graph,
}


class _Config:
    """`config(…)` and what it has: the configuration of the node that is being rendered."""

    def __init__(self, renderer: "Renderer") -> None:
        self._renderer = renderer

    def __call__(self, values: Mapping[str, Any] | None = None, **more: Any) -> str:
        return self._renderer.configure({**(values or {}), **more})

    def get(self, name: str, default: Any = None, **more: Any) -> Any:
        node = self._renderer.work.node
        found = self._renderer.config(node).get(name) if node is not None else None
        return default if found is None else found

    require = get

    def meta_get(self, name: str, default: Any = None, **more: Any) -> Any:
        return (self.get("meta") or {}).get(name, default)

    def set(self, name: str, value: Any) -> str:
        return ""

    def persist_relation_docs(self) -> bool:
        return False

    persist_column_docs = persist_relation_docs


class _Variables:
    """`var(…)`: of the command, of the project for a package, of the project, of the package."""

    def __init__(self, renderer: "Renderer") -> None:
        self._renderer = renderer

    def _find(self, name: str) -> tuple[bool, Any]:
        renderer = self._renderer
        if name in renderer.variables:
            return True, renderer.variables[name]
        root, packages = renderer.project.root, renderer.project.packages
        package = renderer.work.node.package if renderer.work.node is not None else root.name
        for owner in (root, packages.get(package, root), *packages.values()):
            level = owner.settings.get("vars") or {}
            for where in (level.get(package), level, *(level.get(each) for each in packages)):
                if isinstance(where, dict) and name in where:
                    return True, renderer.text(where[name], package)
        return False, None

    def __call__(self, name: str, default: Any = ...) -> Any:
        found, value = self._find(name)
        if found or default is not ...:
            value = value if found else default
            return True if value is False and self._renderer.work.switched_on else value
        return self._renderer.environment.undefined(name=name)

    def has_var(self, name: str) -> bool:
        return self._find(name)[0]


class _Adapter:
    """`adapter`: what can be said of a database that is not there."""

    def __init__(self, renderer: "Renderer") -> None:
        self._renderer = renderer
        self.behavior = Nothing()

    def dispatch(self, macro_name: str, macro_namespace: str | None = None, packages: Any = None) -> Any:
        node = self._renderer.work.node
        package = node.package if node is not None else ""
        return self._renderer.environment.dispatch(macro_name, macro_namespace, package)

    def quote(self, name: Any) -> str:
        return written(str(name), self._renderer.dialect)

    def quote_as_configured(self, name: Any, kind: str = "identifier") -> str:
        return self.quote(name)

    def type(self) -> str:
        return self._renderer.project.target.type

    def get_columns_in_relation(self, relation: Any) -> list[DbtColumn]:
        return columns_of(self._renderer, relation)

    def get_relation(self, database: Any = None, schema: Any = None, identifier: Any = None) -> Relation | None:
        for node in self._renderer.resources.nodes.values():
            made = self._renderer.relation(node)
            if str(identifier).lower() == str(made.identifier).lower() and str(schema or "") in (
                "",
                made.schema or "",
            ):
                return made
        return None

    def get_missing_columns(self, *relations: Any) -> list[Any]:
        return []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self._renderer.environment.doubt(f"the template asks the database: `adapter.{name}`", f"adapter.{name}")
        return Nothing()


class _Ref:
    """`ref(…)`, which knows the project as well: macros reach it as `builtins.ref.config`."""

    def __init__(self, find: Callable[..., Relation], config: Any) -> None:
        self._find = find
        self.config = config

    def __call__(self, *args: Any, **kwargs: Any) -> Relation:
        return self._find(*args, **kwargs)


def _functions(renderer: "Renderer") -> dict[str, Any]:
    packages = renderer.project.packages

    def find(first: str, second: str | None = None, *, v: Any = None, version: Any = None) -> Relation:
        name, package = (first, None) if second is None else (second, first)
        node = renderer.resources.find(name, package, v if v is not None else version)
        if node is None:
            renderer.environment.doubt(f"there is no model `{name}` in the project or its packages", name)
            return renderer.read(Relation(None, None, str(name), renderer.dialect))
        return renderer.read(renderer.relation(node))

    ref = _Ref(find, SimpleNamespace(dependencies={name: each.settings for name, each in packages.items()}))

    def source(group: str, name: str) -> Relation:
        return renderer.read(renderer.source(group, name))

    def is_incremental() -> bool:
        renderer.work.asked = True
        return renderer.work.incremental

    def ask(*args: Any, caller: Any = None, **kwargs: Any) -> Nothing:
        if caller is not None:
            caller()
        message = "the template runs a query, and there is no database: it gives no rows"
        renderer.environment.doubt(message, "run_query")
        return Nothing()

    def env_var(name: str, default: Any = None) -> Any:
        found = environment(name, renderer.variables, default)
        return renderer.environment.undefined(name=name) if found is None else found

    own = {"ref": ref, "source": source, "config": _Config(renderer)}
    found = {"is_incremental": is_incremental, "run_query": ask, "env_var": env_var, "builtins": own}
    return {**own, **found, "statement": lambda *args, **kwargs: _nothing(ask(*args, **kwargs))}


def _return(value: Any = "") -> None:
    raise Returned(value)


def _nothing(*args: Any, **kwargs: Any) -> str:
    return ""


def _fail(message: Any = "", *args: Any, **kwargs: Any) -> None:
    raise TemplateError(f"it stops: {' '.join(str(message).split())}")


def _or_default(decode: Callable[[Any], Any]) -> Callable[..., Any]:
    def decoded(text: Any, default: Any = None) -> Any:
        try:
            return decode(text)
        except (ValueError, TypeError, msgspec.MsgspecError):
            return default

    return decoded


def _plain_functions() -> dict[str, Any]:
    """Functions that need nothing of the project."""
    raising = {
        f"raise_{name}": _fail
        for name in ("compiler_error", "not_implemented", "fail_fast_error", "parsing_error", "database_error")
    }
    silent = ("log", "print", "debug", "write", "doc", "store_result", "store_raw_result")
    return {
        **dict.fromkeys(silent, _nothing),
        "return": _return,
        "load_result": lambda name: Nothing(),
        "load_relation": lambda relation: relation,
        "exceptions": SimpleNamespace(**raising, warn=_nothing, column_type_missing=_nothing, missing_config=_fail),
        "modules": MODULES,
        "run_started_at": START,
        "invocation_id": "00000000-0000-0000-0000-000000000000",
        "flags": SimpleNamespace(FULL_REFRESH=False, WHICH="compile", STORE_FAILURES=False, EMPTY=False),
        "selected_resources": [],
        "invocation_args_dict": {},
        "dbt_version": "1.10.0",
        "tojson": lambda value, default=None, sort_keys=False: json.dumps(value, sort_keys=sort_keys, default=str),
        "fromjson": _or_default(json.loads),
        "fromyaml": _or_default(msgspec.yaml.decode),
        "toyaml": lambda value, **more: msgspec.yaml.encode(value).decode(),
        "set": _or_default(set),
        "set_strict": set,
        "zip": lambda *lists, default=None: list(zip(*lists)),
        "zip_strict": lambda *lists: list(zip(*lists)),
        "local_md5": lambda value: hashlib.md5(str(value).encode(), usedforsecurity=False).hexdigest(),
        "try_or_compiler_error": lambda message, function, *args, **kwargs: function(*args, **kwargs),
    }


def scope_of(renderer: "Renderer") -> dict[str, Any]:
    """Every name for a renderer."""
    project, dialect = renderer.project, renderer.dialect

    def create(database: Any = None, schema: Any = None, identifier: Any = None, **more: Any) -> Relation:
        known = _Adapter(renderer).get_relation(database, schema, identifier) if identifier else None
        made = Relation(database or None, schema or None, identifier or None, dialect)
        return made if known is None else made.replace_path(origin=known.origin)

    def translate_type(name: str) -> str:
        known = _TYPES.get(str(name).lower())
        return str(name) if known is None else str(renderer.environment.macro_of("dbt", f"type_{known}")())

    column = SimpleNamespace(
        translate_type=translate_type,
        numeric_type=lambda name, precision, scale: f"{name}({precision},{scale})",
        string_type=lambda size=256: f"varchar({size})",
        create=lambda name, type: DbtColumn(name, type, dialect),
    )
    return _Live(
        {
            **_plain_functions(),
            **_functions(renderer),
            "var": _Variables(renderer),
            "adapter": _Adapter(renderer),
            "api": SimpleNamespace(Relation=SimpleNamespace(create=create), Column=column),
            "target": project.target.as_dict(),
            "project_name": project.root.name,
        },
        renderer,
    )
