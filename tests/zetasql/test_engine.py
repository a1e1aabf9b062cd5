"""The engine on the real ZetaSQL: threads, processes, crashes and limits."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.effort import first_then_slow

from headwater.errors import EngineCrashError, TimeLimitError
from headwater.zetasql import messages
from headwater.zetasql.engine import RegisteredCatalog, ZetaSqlEngine, default_engine, wasm_engine
from headwater.zetasql.instance import ServiceError
from headwater.zetasql.options import analyzer_bytes, language_bytes, language_options


def catalog_of(columns: int = 4, name: str = "t") -> RegisteredCatalog:
    content = messages.catalog.SimpleCatalogProto(name="test")
    content.builtin_function_options.language_options.CopyFrom(language_options())
    table = content.table.add(name=name)
    for at in range(columns):
        table.column.add(name=f"c{at}").type.type_kind = messages.types.TYPE_INT64
    return RegisteredCatalog((name, columns), content.SerializeToString())


def broken_catalog() -> RegisteredCatalog:
    """A table function that ZetaSQL refuses with a failed CHECK, which ends the instance."""
    content = messages.catalog.SimpleCatalogProto(name="broken")
    content.builtin_function_options.language_options.CopyFrom(language_options())
    tvf = content.custom_tvf.add(name_path=["bad"])
    tvf.type = messages.function_enums.FunctionEnums.FORWARD_INPUT_SCHEMA_TO_OUTPUT_SCHEMA_TVF
    tvf.signature.return_type.kind = messages.function_enums.ARG_TYPE_RELATION
    tvf.signature.argument.add(kind=messages.function_enums.ARG_TYPE_FIXED).type.type_kind = messages.types.TYPE_INT64
    return RegisteredCatalog("broken", content.SerializeToString())


def output_names(engine: ZetaSqlEngine, sql: str, catalog: RegisteredCatalog) -> list[str]:
    statement = engine.analyze(sql, analyzer_bytes(), catalog).resolved_query_stmt_node
    return [column.name for column in statement.output_column_list]


def test_analyses_a_statement() -> None:
    assert output_names(default_engine(), "SELECT c1 + c2 AS total FROM t", catalog_of()) == ["total"]


def test_a_refusal_has_code_line_and_column() -> None:
    with pytest.raises(ServiceError, match=r"Unrecognized name: nope \[at 2:1\]") as caught:
        default_engine().analyze("SELECT\nnope FROM t", analyzer_bytes(), catalog_of())
    assert caught.value.code == 3


def test_table_names_are_given_as_written() -> None:
    sql = "WITH c AS (SELECT 1) SELECT * FROM c, `a-b.ds.t`, p.ds.u, my-proj.ds.w AS x, x.items"
    names = default_engine().table_names(sql, language_bytes())
    assert sorted(names) == [("a-b.ds.t",), ("my-proj", "ds", "w"), ("p", "ds", "u")]


def test_more_catalogs_than_a_session_keeps() -> None:
    engine = default_engine()
    catalogs = [catalog_of(2, f"t{number}") for number in range(12)]
    for _ in range(2):
        for number, catalog in enumerate(catalogs):
            assert output_names(engine, f"SELECT c1 FROM t{number}", catalog) == ["c1"]


def test_threads_at_the_same_time() -> None:
    engine = default_engine()

    def work(number: int) -> list[str]:
        return output_names(engine, f"SELECT c1 AS a{number}, c2 FROM t WHERE c3 > {number}", catalog_of())

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(40))) == [[f"a{number}", "c2"] for number in range(40)]


def _names_in_child(sql: str) -> list[str]:
    return output_names(default_engine(), sql, catalog_of())


_POOL_SCRIPT = """
import multiprocessing, sys
from headwater.zetasql.engine import RegisteredCatalog, default_engine
from headwater.zetasql.options import analyzer_bytes

def name(number):
    sql = f"SELECT 1 AS a{number}"
    statement = default_engine().analyze(sql, analyzer_bytes(), RegisteredCatalog("", b""))
    return statement.resolved_query_stmt_node.output_column_list[0].name

if __name__ == "__main__":
    first = name(0)
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(first, *pool.map(name, [1, 2]), name(3))
"""


@pytest.mark.parametrize("method", first_then_slow(["fork", "spawn", "forkserver"]))
def test_processes_started_after_use(method: str, tmp_path: Path) -> None:
    script = tmp_path / "pool.py"
    script.write_text(_POOL_SCRIPT)
    run = subprocess.run(
        [sys.executable, str(script), method], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.split() == ["a0", "a1", "a2", "a3"]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_a_thread_is_analysing() -> None:
    engine = default_engine()
    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(
            engine.analyze, "SELECT " + "+".join(["c1"] * 200) + " FROM t", analyzer_bytes(), catalog_of()
        )
        child = os.fork()
        if child == 0:
            os._exit(0 if _names_in_child("SELECT c1 FROM t") == ["c1"] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        busy.result()


def test_a_crash_is_reported_and_the_next_statement_works() -> None:
    engine = default_engine()
    with pytest.raises(EngineCrashError, match="ZetaSQL stopped"):
        engine.analyze("SELECT 1", analyzer_bytes(), broken_catalog())
    assert output_names(engine, "SELECT c1 FROM t", catalog_of()) == ["c1"]


def test_a_backend_that_crashes_once_is_replaced_unnoticed() -> None:
    made: list[int] = []

    class Fragile:
        """Crashes on the second request of the first instance; answers everything else from the real engine."""

        def __init__(self) -> None:
            made.append(1)
            self.first, self.calls = len(made) == 1, 0

        def call(self, method: str, request: bytes) -> bytes:
            self.calls += 1
            if self.first and self.calls == 2:
                raise EngineCrashError("poisoned")
            return default_engine()._run(lambda session: session.backend.call(method, request))

    engine = ZetaSqlEngine(Fragile, sessions=1)
    assert output_names(engine, "SELECT c1 FROM t", catalog_of()) == ["c1"]
    assert len(made) == 2


def test_a_statement_that_takes_too_long_is_stopped() -> None:
    engine = wasm_engine(seconds=1.0)
    with pytest.raises(TimeLimitError, match="1 s"):
        engine.analyze("SELECT " + "+".join(["c1"] * 500) + " FROM t", analyzer_bytes(), catalog_of())
    assert output_names(engine, "SELECT c1 FROM t", catalog_of()) == ["c1"]


def test_chains_longer_than_protobuf_allows_by_default() -> None:
    engine = default_engine()
    assert output_names(engine, "SELECT " + "+".join(["c1"] * 60) + " AS x FROM t", catalog_of()) == ["x"]


def test_the_packages_heavy_modules_stay_out() -> None:
    code = (
        "import sys; from headwater.zetasql.engine import default_engine; default_engine()\n"
        "print([m for m in ('zetasql.types', 'zetasql.core', 'zetasql.api', 'grpc') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
