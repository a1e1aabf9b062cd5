"""The protobuf messages of ZetaSQL: the one place that knows where the `zetasql` package keeps them. Its Python
classes over these messages (`zetasql.types`, `zetasql.api`) are not imported: they take a second to load."""

from contextlib import suppress

from zetasql.wasi._pb2.zetasql.local_service import local_service_pb2 as service
from zetasql.wasi._pb2.zetasql.parser import ast_enums_pb2 as ast_enums
from zetasql.wasi._pb2.zetasql.parser import parse_tree_pb2 as parse_tree
from zetasql.wasi._pb2.zetasql.proto import function_pb2 as function
from zetasql.wasi._pb2.zetasql.proto import options_pb2 as options
from zetasql.wasi._pb2.zetasql.proto import simple_catalog_pb2 as catalog
from zetasql.wasi._pb2.zetasql.public import function_pb2 as function_enums
from zetasql.wasi._pb2.zetasql.public import options_pb2 as language
from zetasql.wasi._pb2.zetasql.public import simple_table_pb2 as table
from zetasql.wasi._pb2.zetasql.public import type_pb2 as types
from zetasql.wasi._pb2.zetasql.resolved_ast import resolved_ast_enums_pb2 as enums
from zetasql.wasi._pb2.zetasql.resolved_ast import resolved_ast_pb2 as resolved

with suppress(ImportError, AttributeError):
    # protobuf refuses messages nested deeper than 100, as a chain of 24 operands is; there is no public switch
    from google._upb import _message

    _message.SetAllowOversizeProtos(True)

__all__ = [
    "ast_enums",
    "catalog",
    "enums",
    "function",
    "function_enums",
    "language",
    "options",
    "parse_tree",
    "resolved",
    "service",
    "table",
    "types",
]
