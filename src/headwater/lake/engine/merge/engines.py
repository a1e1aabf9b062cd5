"""Merge engines: what becomes of several rows of one key.

- `deduplicate`: the newest row.
- `partial-update`: per column, the newest value that is not null.
- `aggregation`: per column, an aggregate of all values (`fields.<column>.aggregate-function`).
- `first-row`: the oldest row.

A delete ends a key in every engine; rows that come after it start from nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from headwater.errors import SchemaError
from headwater.lake.engine.merge.aggregates import AGGREGATES
from headwater.model.schema import Schema
from headwater.text import nearest


class MergeEngine(Enum):
    """The engines by the name of the table option."""

    DEDUPLICATE = "deduplicate"
    PARTIAL_UPDATE = "partial-update"
    AGGREGATION = "aggregation"
    FIRST_ROW = "first-row"


@dataclass(frozen=True, slots=True)
class MergeRule:
    """An engine and, for aggregation, the function of each column."""

    engine: MergeEngine = MergeEngine.DEDUPLICATE
    functions: Mapping[str, str] = field(default_factory=dict)

    def function(self, column: str) -> str:
        """How the values of one column become one."""
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

    RAISES: SchemaError for an engine, column or function that does not exist.
    """
    name = options.get("merge-engine", MergeEngine.DEDUPLICATE.value)
    engines = [engine.value for engine in MergeEngine]
    if name not in engines:
        raise SchemaError(f"there is no merge engine `{name}`", hint=_suggest(name, engines))
    functions = {}
    for option, function in options.items():
        if option.startswith("fields.") and option.endswith(".aggregate-function"):
            column = option.removeprefix("fields.").removesuffix(".aggregate-function")
            schema.field(column)
            if column in schema.primary_keys:
                raise SchemaError(f"key column `{column}` cannot be aggregated")
            if function not in AGGREGATES:
                raise SchemaError(f"there is no aggregate function `{function}`", hint=_suggest(function, AGGREGATES))
            functions[column] = function
    return MergeRule(MergeEngine(name), functions)


def _suggest(word: str, known: list[str] | tuple[str, ...]) -> str:
    close = nearest(word, known)
    return f"did you mean `{close}`?" if close else f"there are: {', '.join(known)}"
