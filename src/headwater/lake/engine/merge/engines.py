"""Merge engines: what becomes of several rows of one key.

- `deduplicate`: the newest row.
- `partial-update`: per column, the newest value that is not null.
- `aggregation`: per column, an aggregate of all values (`fields.<column>.aggregate-function`).
- `first-row`: the oldest row.

A delete ends a key in every engine; rows that come after it start from nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from headwater.errors import SchemaError
from headwater.lake.engine.keys import KeyCodec
from headwater.lake.engine.merge.aggregates import AGGREGATES
from headwater.model import types as dt
from headwater.model.schema import Field, Schema
from headwater.text import suggest


class MergeEngine(Enum):
    """The engines by the name of the table option."""

    DEDUPLICATE = "deduplicate"
    PARTIAL_UPDATE = "partial-update"
    AGGREGATION = "aggregation"
    FIRST_ROW = "first-row"


@dataclass(frozen=True, slots=True)
class MergeRule:
    """An engine and, for aggregation, the function of each column.
    A strict rule refuses a sum or product that does not fit its column, and names the key by its codec. Writes and
    compactions merge by one; reads do not, so that nothing which was written can make them fail."""

    engine: MergeEngine = MergeEngine.DEDUPLICATE
    functions: Mapping[str, str] = field(default_factory=dict)
    strict: KeyCodec | None = None

    @property
    def strict_functions(self) -> dict[str, str]:
        """The columns whose merged values can leave the range of their type, and their functions."""
        if self.engine is not MergeEngine.AGGREGATION:
            return {}
        return {column: name for column, name in self.functions.items() if name in ("sum", "product")}

    def as_strict(self, codec: KeyCodec) -> "MergeRule":
        """The rule of writes and compactions."""
        return replace(self, strict=codec) if self.engine is MergeEngine.AGGREGATION else self

    def function(self, column: str) -> str:
        """Return how the values of one column become one."""
        match self.engine:
            case MergeEngine.DEDUPLICATE:
                return "last"
            case MergeEngine.PARTIAL_UPDATE:
                return "last_non_null"
            case MergeEngine.FIRST_ROW:
                return "first"
            case MergeEngine.AGGREGATION:
                return self.functions.get(column, "last_non_null")


def merge_rule(schema: Schema, options: Mapping[str, str]) -> MergeRule:
    """The rule of a table from its options.
    RAISES: SchemaError for an engine, column or function that does not exist."""
    name = options.get("merge-engine", MergeEngine.DEDUPLICATE.value)
    engines = [engine.value for engine in MergeEngine]
    if name not in engines:
        hint = suggest(name, engines, f"there are: {', '.join(engines)}")
        raise SchemaError(f"there is no merge engine `{name}`", hint=hint)
    functions = {}
    for option, function in options.items():
        column = aggregated_column(option)
        if column is not None:
            schema.field(column)
            if column in schema.primary_keys:
                raise SchemaError(f"key column `{column}` cannot be aggregated")
            if function not in AGGREGATES:
                hint = suggest(function, AGGREGATES, f"there are: {', '.join(AGGREGATES)}")
                raise SchemaError(f"there is no aggregate function `{function}`", hint=hint)
            functions[column] = function
    return MergeRule(MergeEngine(name), functions)


def aggregated_column(option: str) -> str | None:
    """The column whose function an option names, None for another option."""
    if option.startswith("fields.") and option.endswith(".aggregate-function"):
        return option.removeprefix("fields.").removesuffix(".aggregate-function")
    return None


def can_aggregate(function: str, type: dt.DataType) -> bool:
    """Return whether a function works for all values of a type, in whatever steps rows are merged.
    A product of decimals with places is rounded at every step, and the result depends on the steps."""
    match function:
        case "sum":
            return type in dt.NUMBERS or isinstance(type, dt.Decimal)
        case "product":
            return type in dt.NUMBERS or (isinstance(type, dt.Decimal) and type.scale == 0)
        case "min" | "max":
            return isinstance(type, dt.Primitive | dt.Decimal)
        case "bool_or" | "bool_and":
            return type == dt.BOOLEAN
        case "listagg":
            return type == dt.STRING
        case "collect":
            return isinstance(type, dt.Array)
    return True


def check_new_rule(schema: Schema, before: Schema | None = None) -> None:
    """Hold the merge options of a new table, or of an altered one where they changed, to what works.
    RAISES: SchemaError naming column, type and function, and the functions that the type has."""
    rule = merge_rule(schema, schema.options)
    if before is None and not schema.primary_keys and rule.engine is not MergeEngine.DEDUPLICATE:
        raise SchemaError(f"merge engine `{rule.engine.value}` needs a primary key: rows are merged by it")
    known = {} if before is None else {each.id: _function_of(before, each) for each in before.fields}
    for each in schema.fields:
        function = rule.functions.get(each.name)
        if function is None or known.get(each.id) == (function, each.type):
            continue
        if rule.engine is not MergeEngine.AGGREGATION:
            raise SchemaError(
                f"column `{each.name}` has an aggregate function, and the table does not aggregate",
                hint="tables with the option 'merge-engine' = 'aggregation' do",
            )
        if not can_aggregate(function, each.type):
            working = [name for name in AGGREGATES if can_aggregate(name, each.type)]
            raise SchemaError(
                f"column `{each.name}` is {each.type}, which has no `{function}`", hint=f"it has {', '.join(working)}"
            )


def _function_of(schema: Schema, column: Field) -> tuple[str | None, dt.DataType]:
    return schema.options.get(f"fields.{column.name}.aggregate-function"), column.type
