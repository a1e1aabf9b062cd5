"""Texts with the catalog at hand."""

from collections import Counter
from weakref import WeakKeyDictionary

import pytest

from headwater import analyze
from headwater.analysis.analyze import Request, analyze_sources
from headwater.analysis.schema_files import schema_of_ddl
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.script import analyze_script
from headwater.lineage.slices import Hashes, Slice, WatchedResolver
from headwater.text import Source
from headwater.zetasql import reader
from headwater.zetasql.builtins import BUILTIN_FOLDERS
from headwater.zetasql.engine import ZetaSqlEngine, default_engine
from headwater.zetasql.frontend import GoogleSqlFrontEnd
from headwater.zetasql.messages import options, service
from headwater.zetasql.options import language_options


def kept_columns():
    kept = [each for by_dialect in reader._kept.values() for each in by_dialect.values()]
    return sum(len(entry.columns) for each in kept for entry in each.entries.values())


def test_tables_that_nobody_asks_for_again_do_not_pile_up(monkeypatch):
    """Each text has a table of its own, of a hundred columns: registering all of them each time would cost more."""
    monkeypatch.setattr(reader, "_kept", WeakKeyDictionary())  # what earlier tests left was of use to them
    names = ", ".join(f"c{number} INT64" for number in range(100))
    for number in range(15):
        text = f"CREATE TABLE pile.t{number} ({names}); SELECT c1, c99 FROM pile.t{number}"
        result = analyze_sources([Source(text)], Request(dialect="bigquery"))
        assert not result.issues
    assert kept_columns() <= reader._WORTH_KEEPING + 100


class Counted:
    """A backend that counts the requests to it."""

    def __init__(self, backend):
        self.backend, self.calls = backend, Counter()

    def call(self, method, request):
        self.calls[method] += 1
        return self.backend.call(method, request)


@pytest.fixture
def backend():
    return Counted(default_engine()._new_backend())


def estate(count):
    """Texts, each over a table of its own, with the schema in which all of them are."""
    tables = ";".join(f"CREATE TABLE d.t{number} (c{number} INT64)" for number in range(count))
    schema = schema_of_ddl([Source(tables)], "bigquery")
    return schema, [f"SELECT c{number} FROM d.t{number}" for number in range(count)]


def lowered(front_end, texts, schema):
    found = []
    for text in texts:
        source = Source(text)
        resolver = WatchedResolver(schema, "bigquery", Slice())
        lineages = list(analyze_script(source, front_end, resolver))
        found.append((lineages, resolver.sight(Hashes())))
    return found


def test_texts_that_were_foreseen_are_resolved_at_once(backend):
    schema, texts = estate(25)
    front_end = GoogleSqlFrontEnd(engine=ZetaSqlEngine(lambda: backend))
    front_end.foresee((text, SchemaResolver(schema, dialect="bigquery")) for text in texts)
    results = lowered(front_end, texts, schema)
    assert [str(lineage.edges[0].source) for (lineage,), _ in results] == [f"d.t{at}.c{at}" for at in range(25)]
    assert backend.calls["RegisterCatalog"] == 1
    assert backend.calls["Analyze"] == len(texts)


def test_what_a_text_sees_does_not_depend_on_what_was_foreseen(backend):
    """`t1` is in the catalog too when `t12` is resolved; its name is the beginning of the other's."""
    schema, texts = estate(25)
    front_end = GoogleSqlFrontEnd(engine=ZetaSqlEngine(lambda: backend))
    front_end.foresee((text, SchemaResolver(schema, dialect="bigquery")) for text in texts)
    _, sight = lowered(front_end, texts[12:13], schema)[0]
    assert {key for key, _ in sight.layers[0]} == {("d", "t12")}


def test_what_was_foreseen_wrongly_is_looked_up(backend):
    schema, texts = estate(3)
    other = schema_of_ddl([Source("CREATE TABLE d.t1 (other INT64)")], "bigquery")
    front_end = GoogleSqlFrontEnd(engine=ZetaSqlEngine(lambda: backend))
    front_end.foresee([("SELECT 1 FROM d.t1", SchemaResolver(other, dialect="bigquery")), ("SELEC", None)])
    results = lowered(front_end, texts, schema)
    assert [str(lineage.edges[0].source) for (lineage,), _ in results] == ["d.t0.c0", "d.t1.c1", "d.t2.c2"]


@pytest.mark.parametrize("dialect", ["bigquery", "spanner"])
def test_folders_of_zetasql_are_all_listed(dialect):
    request = options.ZetaSQLBuiltinFunctionOptionsProto(language_options=language_options(dialect))
    answer = default_engine().call("GetBuiltinFunctions", request, service.GetBuiltinFunctionsResponse)
    assert {each.name_path[0] for each in answer.function if len(each.name_path) > 1} == BUILTIN_FOLDERS


def test_names_in_a_folder_of_zetasql_do_not_end_the_engine():
    """Lineage of a table in a dataset that is called as one of ZetaSQL's folders is by name."""
    schema = {"net.hosts": {"x": "STRING"}}
    result = analyze("SELECT x AS y, NET.HOST(x) AS h FROM net.hosts", "bigquery", schema=schema)
    assert [(str(edge.source), edge.target.column) for edge in result.edges] == [
        ("net.hosts.x", "y"),
        ("net.hosts.x", "h"),
    ]
    assert not [issue for issue in result.issues if "stopped" in issue.message]
