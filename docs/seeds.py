"""The page of the designs that Headwater was made from: each public name, format, option, command and example.

`docs/seeds.toml` is the registry. A row is [what the design names, where it lives, the test that runs it], and a
fourth part says why it differs, where it does. Where something lives is checked when the page is made:

    py:headwater.zetasql.ColumnEntity       it can be imported
    self:headwater.zetasql.Class.name       instances have it
    cmd:lineage                             a command
    opt:memtable.size                       an option of tables
    conf:sink                               an option of the agent
    doc:spec/wal.md|HWAL                    a page says so
    file:examples/demo.py                   a file
"""

import importlib
import inspect
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import click

from headwater.cli.main import headwater
from headwater.lake.engine.options import all_options
from headwater.spark.agent.options import AgentOptions

ROOT = Path(__file__).resolve().parent.parent
INTRO = """\
Headwater was made from five designs: a toolkit for the lineage of ZetaSQL (two texts), a table store, the handling of
schemas, and an agent for Spark. This page has every public name, format, option, command and example of theirs, where
it lives here, and the test that runs it. A test checks that each of them is there.
"""


@dataclass(frozen=True)
class Row:
    """One item of a design."""

    design: str
    part: str
    item: str
    where: str
    test: str
    why: str = ""


def rows() -> list[Row]:
    """Every row of the registry."""
    read = tomllib.loads((ROOT / "docs" / "seeds.toml").read_text(encoding="utf-8"))
    return [
        Row(design, part, *row) for design, parts in read.items() for part, listed in parts.items() for row in listed
    ]


def missing(row: Row) -> list[str]:
    """What of a row is not there: the place, the test."""
    found = [] if _is_there(row.where) else [f"{row.item}: there is no {row.where}"]
    return found + ([] if _is_test(row.test) else [f"{row.item}: there is no test {row.test}"])


def _is_there(where: str) -> bool:
    kind, _, name = where.partition(":")
    match kind:
        case "py":
            return _imported(name) is not None
        case "self":
            owner, _, attribute = name.rpartition(".")
            return f"self.{attribute}" in inspect.getsource(_imported(owner))
        case "cmd":
            return _command(name.split())
        case "opt":
            return any(option.name == name for option in all_options())
        case "conf":
            return any(field.name == name for field in fields(AgentOptions))
        case "doc":
            page, _, text = name.partition("|")
            return text in (ROOT / "docs" / page).read_text(encoding="utf-8")
        case "file":
            return (ROOT / name).exists()
    return False


def _imported(name: str) -> object:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part, None) or getattr(found, "__annotations__", {}).get(part)
        return found
    return None


def _command(words: list[str]) -> bool:
    command: click.Command | None = headwater
    for word in words:
        command = command.get_command(click.Context(command), word) if isinstance(command, click.Group) else None
    return command is not None


def _is_test(test: str) -> bool:
    path, _, name = test.partition("::")
    if not (ROOT / path).is_file():
        return False
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".sql"):
        return f"-- case: {name}\n" in text
    return re.search(rf"^(async )?def {name.split('[')[0]}\(", text, re.MULTILINE) is not None


def seeds_page(note: str) -> str:
    """The page."""
    found = rows()
    states = Counter((row.design, bool(row.why)) for row in found)
    lines = ["# The designs, item by item", note, INTRO, "| design | items | as designed | differs, and says why |"]
    lines.append("|---|---|---|---|")
    designs = list(dict.fromkeys(row.design for row in found))
    for design in designs:
        same, other = states[design, False], states[design, True]
        lines.append(f"| {design} | {same + other} | {same} | {other} |")
    same, other = (sum(states[design, differs] for design in designs) for differs in (False, True))
    lines.append(f"| **all** | **{same + other}** | **{same}** | **{other}** |")
    for design in designs:
        lines += ["", f"## {design}", *_parts([row for row in found if row.design == design])]
    return "\n".join(lines) + "\n"


def _parts(found: list[Row]) -> Iterator[str]:
    for part in dict.fromkeys(row.part for row in found):
        yield from ("", f"### {part}", "", "| item | where | test | differs |", "|---|---|---|---|")
        for row in found:
            if row.part == part:
                yield f"| {_cell(row.item)} | {_place(row.where)} | {_test(row.test)} | {row.why} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _place(where: str) -> str:
    kind, _, name = where.partition(":")
    match kind:
        case "cmd":
            return f"`headwater {name}`"
        case "doc":
            page, _, _ = name.partition("|")
            return f"[{page}]({page})"
        case _:
            return f"`{name}`"


def _test(test: str) -> str:
    path, _, name = test.partition("::")
    return f"`{path}`: {name.removeprefix('test_').replace('_', ' ')}"
