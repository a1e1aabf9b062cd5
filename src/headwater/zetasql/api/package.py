"""The `zetasql` package's own objects: options and a sample catalog for its `Analyzer`, and our engine beneath it.
This module imports the package's classes, which takes a second; nothing else in Headwater does."""

import threading
from typing import Any

from zetasql.api import CatalogBuilder, TableBuilder
from zetasql.core.exceptions import ServerError
from zetasql.core.local_service import ZetaSqlLocalService
from zetasql.types import LanguageOptions, SimpleCatalog, TypeKind, ZetaSQLBuiltinFunctionOptions, parse_proto

from headwater.zetasql.compiled import load_module
from headwater.zetasql.instance import Clock, ServiceError, WasmBackend
from headwater.zetasql.options import language_options

_INT, _STRING = TypeKind.TYPE_INT64, TypeKind.TYPE_STRING
_DOUBLE, _DATE, _TIMESTAMP = TypeKind.TYPE_DOUBLE, TypeKind.TYPE_DATE, TypeKind.TYPE_TIMESTAMP

_SAMPLE = {
    "wikipedia": {
        "title": _STRING,
        "id": _INT,
        "language": _STRING,
        "wp_namespace": _INT,
        "revision_id": _INT,
        "contributor_id": _INT,
        "contributor_username": _STRING,
        "timestamp": _INT,
        "comment": _STRING,
        "num_characters": _INT,
    },
    "shakespeare": {"word": _STRING, "word_count": _INT, "corpus": _STRING, "corpus_date": _INT},
    "orders": {
        "order_id": _INT,
        "customer_id": _INT,
        "product_id": _INT,
        "amount": _DOUBLE,
        "order_date": _DATE,
        "status": _STRING,
    },
    "customers": {"id": _INT, "name": _STRING, "email": _STRING, "country": _STRING, "created_at": _TIMESTAMP},
    "products": {"product_id": _INT, "name": _STRING, "category": _STRING, "price": _DOUBLE},
    "customer_summary": {
        "customer_id": _INT,
        "customer_name": _STRING,
        "total_amount": _DOUBLE,
        "order_count": _INT,
        "last_order_date": _DATE,
    },
}


def get_bigquery_language_options(dialect: str = "bigquery") -> LanguageOptions:
    """Return what GoogleSQL allows in BigQuery (or `spanner`), for the package's `AnalyzerOptions`."""
    return parse_proto(language_options(dialect))


def get_builtin_function_options() -> ZetaSQLBuiltinFunctionOptions:
    """The builtin functions that BigQuery has, for the package's `CatalogBuilder`."""
    return ZetaSQLBuiltinFunctionOptions(language_options=get_bigquery_language_options())


def create_sample_catalog() -> SimpleCatalog:
    """A catalog to try things with: BigQuery's public samples and a small shop.
    Each table is there by its name, and as `project.dataset.name`."""
    catalog = CatalogBuilder("sample").with_builtin_functions(get_builtin_function_options())
    for name, columns in _SAMPLE.items():
        place = "bigquery-public-data.samples" if name in ("wikipedia", "shakespeare") else "project.dataset"
        for full_name in (name, f"{place}.{name}"):
            table = TableBuilder(full_name)
            for column, kind in columns.items():
                table.add_column(column, kind)
            catalog.add_table(table.build())
    return catalog.build()


def share_engine() -> None:
    """Let the package's own API run on Headwater's engine, in this process, from now on.

    It then starts from the compiled module in the cache (half a second instead of half a minute), copies memory in
    one move, and may be used from several threads.
    """
    service = ZetaSqlLocalService.__new__(ZetaSqlLocalService)
    service.wasm_client = _Client()
    ZetaSqlLocalService._instance = service


class _Client:
    """The client that the package's service needs, over an instance of ours."""

    def __init__(self) -> None:
        engine, module = load_module()
        self._backend = WasmBackend(engine, module, Clock(engine))
        self._lock = threading.Lock()

    def call_grpc_func(self, func_name: str, request: Any, response_type: Any) -> Any:
        method = func_name.removeprefix("ZetaSqlLocalService_")
        try:
            with self._lock:
                answer = self._backend.call(method, request.SerializeToString())
        except ServiceError as err:
            raise ServerError(err.code, err.message, f"Code: {err.code}, Message: {err.message}") from err
        return response_type.FromString(answer)
