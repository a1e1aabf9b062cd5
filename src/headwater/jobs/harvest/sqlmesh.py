"""SQLMesh projects: models with a header `MODEL (…)`, seeds and external models, read without SQLMesh.

Headers, audits and macros that stand as statements are blanked out, so that every other sign keeps its place; the
query of a model makes the table that its header names. A date that SQLMesh puts in is a string of the same length.
Other macros stay: a statement with one that cannot be read says so. Of a model in Python, its columns are read.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from headwater.analysis.texts import read_sql, read_text
from headwater.errors import InputError
from headwater.jobs.harvest.dbt.resources import seed_columns
from headwater.jobs.harvest.dbt.scripts import Found
from headwater.jobs.harvest.units import Script, is_query, pieces
from headwater.lineage.schema import ColumnSchema, SchemaTable
from headwater.model.names import parse_parts
from headwater.safe_yaml import read_yaml
from headwater.sql.dialects import canonical_dialect

_CONFIGS = ("config.yaml", "config.yml", "config.py")
_BEFORE = r"\A(?:\s|--[^\n]*\n|/\*.*?\*/)*"
_HEADER = re.compile(rf"{_BEFORE}(MODEL)\s*\(", re.DOTALL | re.IGNORECASE)
_DIALECT = re.compile(r"""["']?\bdialect["']?\s*[:=]\s*["'](\w+)["']""")
_DATE = re.compile(r"@\{?(?:start|end|execution)_(?:ds|date|ts|tstz|dt|dtntz|epoch|millis)\}?(?!\w)", re.IGNORECASE)
_MARKS = re.compile(r"\bJINJA_(?:QUERY_BEGIN|STATEMENT_BEGIN|END)\s*;", re.IGNORECASE)
_ASIDE = re.compile(r"\s*(?:AUDIT\s*\(|@\w+\s*\(|ON_VIRTUAL_UPDATE_(?:BEGIN|END)\b)", re.IGNORECASE)
_PROPERTY = re.compile(r"\s*(\w+)\s+(.*)", re.DOTALL)
_TOKENS = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|[(),]", re.DOTALL)


def is_sqlmesh(folder: Path) -> bool:
    """Return whether a folder is a SQLMesh project: it has a configuration, and models with headers."""
    models = folder / "models"
    if not models.is_dir() or not any((folder / name).is_file() for name in _CONFIGS):
        return False
    return any(_HEADER.match(file.read_text(encoding="utf-8", errors="replace")) for file in models.rglob("*.sql"))


def read_sqlmesh(folder: Path, dialect: str | None, takes: Callable[[Path], bool]) -> Found:
    """The models of a project as scripts, and the tables of its seeds and external models.

    RAISES: DialectError when the configuration or a model names a dialect that does not exist.
    """
    spoken = dialect or _default_dialect(folder)
    scripts: list[Script] = []
    tables: list[SchemaTable] = []
    warnings: list[str] = []
    for file in sorted(file for file in (folder / "models").rglob("*.sql") if takes(file)):
        try:
            text = read_sql(file, warnings.append)
        except InputError as err:
            warnings.append(f"{err}; it was left out")
            continue
        header = _HEADER.match(text)
        if header is None:
            scripts.append(Script(str(file), text, spoken, str(folder)))
            continue
        end, properties = _properties(text, header.end())
        name = properties.get("name") or ".".join(file.relative_to(folder / "models").with_suffix("").parts)
        seed = re.search(r"\bpath\s+'([^']+)'", properties.get("kind", "")) if _is_seed(properties) else None
        if seed is not None:
            place = seed[1].replace("$root", str(folder))
            tables.append(_table(name, dict.fromkeys(seed_columns(file.parent / place))))
        elif properties.get("enabled", "").lower() != "false":
            own = canonical_dialect(properties.get("dialect", "").strip("'\"") or spoken)
            scripts += _scripts(file, _blank(text, header.start(1), end), name, own, str(folder))
    for file in sorted(file for file in (folder / "models").rglob("*.py") if takes(file)):
        tables += _python_models(file, warnings)
    return Found(tuple(scripts), (*tables, *_external(folder, warnings)), tuple(warnings))


def _scripts(file: Path, text: str, name: str, dialect: str, root: str) -> Iterator[Script]:
    """A model with the statements before its query; what comes after the query is a script of its own."""
    text = _DATE.sub(lambda match: f"'{'0' * (len(match[0]) - 2)}'", text)
    text = _MARKS.sub(lambda match: " " * len(match[0]), text)
    ranges = list(pieces(text))
    audit = next((start for start, end in ranges if re.match(r"AUDIT\s*\(", text[start:end], re.IGNORECASE)), None)
    if audit is not None:  # audits and their queries stand at the end
        text = _blank(text, audit, len(text))
    for start, end in ranges:
        if _ASIDE.match(text, start, end):
            text = _blank(text, start, end)
    queries = [(start, end) for start, end in pieces(text) if is_query(text, start, end)]
    if not queries:
        yield Script(str(file), text, dialect, root)
        return
    after = queries[0][1]
    yield Script(str(file), text[:after], dialect, root, makes=name)
    if any(pieces(text[after:])):
        yield Script(f"{file}:after", _blank(text, 0, after), dialect, root)


def _python_models(file: Path, warnings: list[str]) -> Iterator[SchemaTable]:
    """The tables that `@model("db.table", columns={…})` names. The code is not run."""
    try:
        tree = ast.parse(read_text(file))
    except (InputError, SyntaxError, ValueError) as err:
        warnings.append(f"{file} was left out: {err}")
        return
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    for call in (each for node in functions for each in node.decorator_list if isinstance(each, ast.Call)):
        if ast.unparse(call.func).rpartition(".")[2] == "model" and call.args:
            written = next((each.value for each in call.keywords if each.arg == "columns"), None)
            try:
                name, columns = ast.literal_eval(call.args[0]), ast.literal_eval(written) if written else {}
            except ValueError:
                continue
            yield _table(str(name), columns if isinstance(columns, dict) else {})


def _is_seed(properties: dict[str, str]) -> bool:
    return properties.get("kind", "").upper().startswith("SEED")


def _properties(text: str, start: int) -> tuple[int, dict[str, str]]:
    """The end of a header, and what it says: name, kind, dialect and so on, each with the text behind it."""
    depth, begin, end, found = 1, start, len(text), list[str]()
    for match in _TOKENS.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0 or (depth == 1 and match[0] == ","):
            found.append(re.sub(r"--[^\n]*|/\*.*?\*/", " ", text[begin : match.start()], flags=re.DOTALL))
            begin = match.end()
        if depth == 0:
            behind = re.compile(r"\s*;?").match(text, match.end())
            end = behind.end() if behind is not None else match.end()
            break
    pairs = (_PROPERTY.match(each) for each in found)
    return end, {pair[1].lower(): pair[2].strip() for pair in pairs if pair is not None}


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def _default_dialect(folder: Path) -> str | None:
    for name in _CONFIGS:
        if (folder / name).is_file():
            found = _DIALECT.search(read_text(folder / name)) or re.search(
                r"^\s+dialect:\s*(\w+)", read_text(folder / name), re.MULTILINE
            )
            if found is not None:
                return canonical_dialect(found[1])
    return None


def _external(folder: Path, warnings: list[str]) -> Iterator[SchemaTable]:
    files = [folder / name for name in ("external_models.yaml", "external_models.yml", "schema.yaml")]
    for file in [*files, *sorted((folder / "external_models").rglob("*.y*ml"))]:
        try:
            entries = read_yaml(read_text(file)) if file.is_file() else []
        except InputError as err:
            warnings.append(f"{file} was left out: {err}")
            continue
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and entry.get("name"):
                yield _table(str(entry["name"]), entry.get("columns") or {})


def _table(name: str, columns: dict[str, Any]) -> SchemaTable:
    *before, last = parse_parts(name)
    catalog, schema = [None, None, *before][-2:]
    described = tuple(
        ColumnSchema(name=column, data_type=str(type) if type else None) for column, type in columns.items()
    )
    return SchemaTable(name=last, schema=schema, catalog=catalog, columns=described, complete=bool(described))
