"""Plain English in the code: docstrings that say what a thing is or does, messages in one style, names given once."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILES = sorted(ROOT.glob("src/headwater/**/*.py"))
TREES = {str(file.relative_to(ROOT)): ast.parse(file.read_text()) for file in FILES}
RELATIVE = {"What", "Who", "Which", "Whether", "How", "Where", "When", "Whatever", "Whoever"}
OURS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def documented():
    for file, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, OURS) and (text := ast.get_docstring(node)):
                yield file, getattr(node, "name", "module"), text


def messages():
    """The text of every error that is made where it is raised; names of others in it are `{}`."""
    for file, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Error"):
                for given in [*node.args[:1], *(each.value for each in node.keywords if each.arg == "hint")]:
                    parts = given.values if isinstance(given, ast.JoinedStr) else [given]
                    text = "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in parts)
                    yield f"{file}:{node.lineno}", text


def test_no_docstring_opens_with_a_relative_clause():
    found = list(documented())
    assert len(found) > 2000
    assert [(file, name) for file, name, text in found if text.split()[0] in RELATIVE] == []


def test_a_message_has_no_full_stop():
    found = list(messages())
    assert len(found) > 300
    assert [(place, text) for place, text in found if text.endswith(".") and not text.endswith("…")] == []


def test_a_message_begins_in_lower_case_unless_with_a_name():
    names = (
        "Spark",
        "BigQuery",
        "Headwater",
        "Paimon",
        "DuckDB",
        "OpenLineage",
        "ZetaSQL",
        "Python",
        "Java",
        "Arrow",
        "Parquet",
    )
    capital = [(place, text) for place, text in messages() if text[:1].isupper() and text[1:2].islower()]
    assert [each for each in capital if not each[1].startswith(names)] == []


def test_a_class_name_is_given_once():
    named = defaultdict(set)
    for file, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                named[node.name].add(file)
    assert {name: files for name, files in named.items() if len(files) > 1} == {}
