"""Write the pages that follow from the code and from kept results: errors, settings, commands, Python, performance,
the designs.

`--check` writes nothing and fails when a page on disk differs from what the code says.
"""

import dataclasses
import json
import sys
from pathlib import Path

import click
from api import api_page
from performance import measured_in_short, performance_page
from seeds import seeds_page

from headwater.cli.main import headwater
from headwater.config import PREFIX, Settings
from headwater.errors import IssueCode, error_classes, explanations
from headwater.graph.tables import ALL_TABLES, DATABASE
from headwater.lake.engine.options import USERS_OWN, all_options
from headwater.lineage.wire import json_schema

DOCS = Path(__file__).resolve().parent
NOTE = "<!-- Written by docs/generate.py from the code: change it there. -->\n"


def errors_page() -> str:
    known = explanations()
    lines = [
        "# Errors and issues",
        NOTE,
        "Every error carries a stable code; `headwater explain CODE` prints the same text in a terminal.",
        "An *error* ends the command with exit code 2. An *issue* stands beside the results and ends nothing.",
        "\n## Errors\n",
    ]
    for cls in error_classes():
        lines.append(f"### `{cls.code}`\n\n{known[cls.code]}\n\nPython: `headwater.errors.{cls.__name__}`\n")
    lines.append("## Issues\n")
    lines += [f"### `{code.name}`\n\n{code.explanation}\n" for code in IssueCode]
    return "\n".join(lines)


def config_page() -> str:
    lines = [
        "# Settings",
        NOTE,
        "A flag wins over a variable, a variable over the nearest `headwater.toml` upward from the working folder,"
        " the file over the default. Unknown names are refused. `harvest.target` is `target` below `[harvest]` in the"
        " file, and may be a list; in a variable, commas part several.\n",
        "| setting | variable | default | meaning |",
        "|---|---|---|---|",
    ]
    for field in dataclasses.fields(Settings):
        default = f"`{str(field.default).lower()}`" if field.default not in (None, ()) else ""
        choices = " or ".join(f"`{choice}`" for choice in field.metadata["choices"])
        doc = field.metadata["doc"] + (f" One of {choices}." if choices else "")
        doc += " *Variable only.*" if field.metadata["variable_only"] else ""
        name = field.name.replace("_", ".", 1) if isinstance(field.default, tuple) else field.name
        lines.append(f"| `{name}` | `{PREFIX}{field.name.upper()}` | {default} | {doc} |")
    return "\n".join(lines) + "\n"


def options_page() -> str:
    lines = [
        "# Options of tables",
        NOTE,
        "`CREATE TABLE … WITH ('name' = 'value')`, `ALTER TABLE … SET ('name' = 'value')`, `TBLPROPERTIES` on Spark,"
        " and `options=` of `Warehouse.create_table` take them. Other names are refused, except those that begin"
        f" with `{USERS_OWN}`: they are yours. Sizes may end with KB, MB or GB.\n",
        "| option | value | default | meaning | used by |",
        "|---|---|---|---|---|",
    ]
    for option in all_options():
        default = f"`{option.default}`" if option.default else ""
        lines.append(f"| `{option.name}` | {option.type} | {default} | {option.doc} | {option.used_by} |")
    return "\n".join(lines) + "\n"


COMPLETION = """\
`python -m headwater` is the same program. Exit codes: 0 done, 1 findings, 2 wrong usage, input or configuration.

Your shell completes commands, options and dialects after one line in its start-up file: `~/.bashrc`, `~/.zshrc`, or
`~/.config/fish/config.fish`.

<!-- not run: tests/cli/test_completion.py does it, in each of these shells that is there -->
```console
$ eval "$(headwater completion bash)"
$ eval "$(headwater completion zsh)"
$ headwater completion fish | source
```
"""


def cli_page() -> str:
    lines = ["# Commands", NOTE, COMPLETION, f"```text\n{_help(headwater, 'headwater')}```\n"]
    lines += _command_sections(headwater, "headwater")
    return "\n".join(lines)


def _command_sections(group: click.Group, path: str) -> list[str]:
    lines: list[str] = []
    context = click.Context(group, info_name=path)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        lines.append(f"## `{path} {name}`\n\n```text\n{_help(command, f'{path} {name}')}```\n")
        if isinstance(command, click.Group):
            lines += _command_sections(command, f"{path} {name}")
    return lines


def _help(command: click.Command, path: str) -> str:
    settings = {"max_content_width": 100, "terminal_width": 100, "help_option_names": ["-h", "--help"]}
    return command.get_help(click.Context(command, info_name=path, **settings)) + "\n"


def wire_schema() -> str:
    return json.dumps(json_schema(), indent=2) + "\n"


def graph_tables_page() -> str:
    lines = [
        "# Tables of the graph",
        NOTE,
        f"They are in the database `{DATABASE}` of a warehouse ([what they mean together](../concepts/graph.md)).",
    ]
    for spec in ALL_TABLES:
        lines += [f"\n## `{spec.full_name}`\n", f"{spec.about} Key: {', '.join(f'`{name}`' for name in spec.key)}.\n"]
        lines += ["| column | type | what it says |", "|---|---|---|"]
        lines += [f"| `{name}` | `{kind}` | {about} |" for name, kind, about in spec.columns]
    return "\n".join(lines) + "\n"


def readme() -> str:
    """The README with the numbers that were kept last."""
    before, mark, rest = (DOCS.parent / "README.md").read_text(encoding="utf-8").partition("<!-- measured -->\n")
    _, end, after = rest.partition("<!-- /measured -->")
    return before + mark + measured_in_short() + end + after


PAGES = {
    "../README.md": readme,
    "seeds.md": lambda: seeds_page(NOTE),
    "performance.md": lambda: performance_page(NOTE),
    "reference/python.md": lambda: api_page(NOTE),
    "errors.md": errors_page,
    "reference/config.md": config_page,
    "reference/options.md": options_page,
    "reference/cli.md": cli_page,
    "reference/graph-tables.md": graph_tables_page,
    "reference/lineage.schema.json": wire_schema,
}


def stale_pages() -> list[str]:
    """The pages on disk that differ from what the code says."""
    return [
        name
        for name, page in PAGES.items()
        if not (DOCS / name).is_file() or (DOCS / name).read_text(encoding="utf-8") != page()
    ]


def main() -> int:
    if "--check" in sys.argv[1:]:
        for name in stale_pages():
            print(
                f"{(DOCS / name).resolve().relative_to(DOCS.parent)} is out of date: run `make docs`", file=sys.stderr
            )
        return bool(stale_pages())
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
