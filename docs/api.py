"""The page of the Python API: the public names, with their signatures and docstrings as they are in the code."""

import importlib
import inspect
import re
from functools import cached_property

PARTS = {
    "headwater": ("analyze", "import_schema", "AnalyzeResult", "connect", "Warehouse", "Table"),
    "headwater.query": ("Session", "Result"),
    "headwater.spark": ("connect", "observe", "lineage", "explain_lineage"),
    "headwater.graph": ("GraphStore", "LineageGraph", "Answer", "diff_states", "diff_facts", "drift", "stale", "why"),
    "headwater.jobs.harvest.harvest": ("harvest", "HarvestOptions"),
    "headwater.lineage.readings": ("Reading", "ColumnLineage", "TableLineage"),
    "headwater.model.edges": ("Edge", "Kind", "ColumnRef"),
    "headwater.lake.paimon": ("publish", "import_paimon"),
    "headwater.zetasql": (
        *("ColumnLineageExtractor", "ParentColumnFinder", "ExpressionParentFinder", "TableLineageExtractor"),
        *("extract_table_lineage", "LineageFormatter", "BigQueryTables", "share_engine"),
    ),
}
INTRO = """\
The names below are public; `import headwater` itself imports nothing heavy, each name does when it is first used.
Errors are [`headwater.errors`](../errors.md), `HeadwaterError` the base of all. The package carries its types.
"""

_RUN_THERE = "<!-- not run: the tests run it where it stands, in the code -->\n"


def api_page(note: str) -> str:
    lines = ["# Python", note, INTRO]
    for module, names in PARTS.items():
        lines.append(f"## `{module}`\n")
        for name in names:
            lines += _entry(getattr(importlib.import_module(module), name), name)
    return "\n".join(lines)


def _entry(thing: object, name: str) -> list[str]:
    lines = [f"### `{name}`\n", *_signature(thing, name), *_prose(thing)]
    if inspect.isclass(thing):
        methods = [(each, found) for each, found in vars(thing).items() if _is_public(each, found)]
        lines += [f"- `{each}{_parameters(found)}`: {_first(found)}" for each, found in methods]
        lines += [""] if methods else []
    return lines


def _is_public(name: str, thing: object) -> bool:
    bare = thing.__func__ if isinstance(thing, staticmethod | classmethod) else thing
    return not name.startswith("_") and (inspect.isfunction(bare) or isinstance(bare, property | cached_property))


def _signature(thing: object, name: str) -> list[str]:
    text = _parameters(thing)
    return [f"```text\n{name}{text}\n```\n"] if text and text != "()" else []


def _parameters(thing: object) -> str:
    if isinstance(thing, property | cached_property):
        return ""
    bare = thing.__func__ if isinstance(thing, staticmethod | classmethod) else thing
    try:
        signature = inspect.signature(bare)
    except (TypeError, ValueError):
        return ""
    hidden = [each for each in signature.parameters.values() if each.name not in ("self", "cls")]
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in hidden]
    return re.sub(r"<[^<>]*(<lambda>)? at 0x\w+>|<factory>", "…", str(inspect.Signature(plain)))


def _prose(thing: object) -> list[str]:
    """A docstring as Markdown: doctests become blocks."""
    text = inspect.getdoc(thing) or ""
    parts = re.split(r"((?:^>>> .*\n?)(?:^(?!\s*$).*\n?)*)", text, flags=re.MULTILINE)
    return [
        f"{_RUN_THERE}```python\n{part.rstrip()}\n```\n" if part.startswith(">>>") else f"{part.strip()}\n"
        for part in parts
        if part.strip()
    ]


def _first(thing: object) -> str:
    """The first sentence of a docstring."""
    return re.split(r"(?<=\.)\s|\n\n", " ".join((inspect.getdoc(thing) or "").split("\n")))[0]
