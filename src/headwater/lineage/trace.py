"""The door to the rules: from a lowered statement to its lineage."""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Protocol

from headwater.errors import Issue, IssueCode, Severity
from headwater.lineage.bindings import Bindings, Stored
from headwater.lineage.functions import Passing, rule_of
from headwater.lineage.sources import CODES, KINDS, Leaf, Sources, Way, add, add_as, strongest
from headwater.lineage.statement import RESULT, OutputColumn, SourceTable, StatementLineage, Status, settle_status
from headwater.lineage.values import OutOfTime, Path, ValueSources
from headwater.lineage.walk import subqueries_of
from headwater.model import relation as rel
from headwater.model.edges import ELEMENT, ColumnRef, Edge, Kind
from headwater.model.names import TableName
from headwater.text import Span


class SpanSource(Protocol):
    """The text that spans point into: a `Source`, or anything else that can show the text of an expression."""

    def excerpt(self, span: Span, /) -> str:
        """The text of an expression."""
        ...

    def place(self, span: Span, /) -> str | None:
        """Return where it was written."""
        ...


def trace(
    write: rel.Write,
    *,
    source: SpanSource | None = None,
    output: TableName | None = None,
    issues: Iterable[Issue] = (),
    deadline: float | None = None,
    places: bool = False,
) -> StatementLineage:
    """The lineage of a lowered statement.
    `source` gives the text of expressions, `output` names the target of a bare SELECT, `issues` are those the front
    end has found, `deadline` is the `time.monotonic()` at which to give up, `places` puts the place of expressions on
    edges (where they come from many texts). Never raises for the sake of the statement: one that is nested too deeply
    or takes too long comes back with its tables only and an issue."""
    if output is not None and write.target is None:
        write = dataclasses.replace(write, target=output)
    tracer = _Tracer(write, source, deadline, places)
    found = list(issues)
    status = Status.RESOLVED
    edges: tuple[Edge, ...] = ()
    try:
        edges = tuple(tracer.edges())
    except (OutOfTime, RecursionError) as stop:
        found.append(given_up(stop))
        status = Status.TABLE_ONLY
    return settle_status(
        StatementLineage(
            statement_type=write.statement_type,
            target=write.target,
            sources=tracer.source_tables(),
            columns=_output_columns(write.assignments),
            edges=edges,
            issues=tuple(found),
            status=status,
            span=write.span,
            target_span=write.target_span,
        )
    )


def given_up(stop: Exception) -> Issue:
    """The issue for a statement that could not be followed to its columns."""
    why = "takes too long to analyse" if isinstance(stop, OutOfTime) else "is nested too deeply to analyse"
    message = f"the statement {why}: only its tables are kept"
    return Issue(IssueCode.APPROXIMATE_LINEAGE, Severity.WARNING, message)


def _output_columns(assignments: tuple[rel.Assignment, ...]) -> tuple[OutputColumn, ...]:
    columns: dict[str, OutputColumn] = {}
    for assignment in assignments:
        if assignment.column != rel.WILDCARD:
            columns.setdefault(assignment.column, OutputColumn(assignment.column, assignment.target_span))
    return tuple(columns.values())


class _Tracer:
    """One statement being traced."""

    def __init__(self, write: rel.Write, source: SpanSource | None, deadline: float | None, places: bool) -> None:
        self.write = write
        self.source = source
        self.places = places
        self.bindings = Bindings()
        self.values = ValueSources(self.bindings, deadline)
        self.target = write.target or RESULT
        self.texts: dict[Span, str] = {}
        if write.target_scan is not None:
            self.bindings.bind_scan(write.target_scan, source=False)
        self.scopes = [self.bindings.bind(relation) for relation in write.relations]

    # --------------------------------------------------------------------------------------------- edges

    def edges(self) -> Iterator[Edge]:
        targets: dict[tuple[str, Path], dict[Leaf, list[tuple[int, Way, rel.Assignment]]]] = {}
        for assignment in self.write.assignments:
            for path, sources in self._leaves(assignment.expression, assignment.path):
                into = targets.setdefault((assignment.column, path), {})
                for (leaf, code), way in strongest(sources).items():
                    into.setdefault(leaf, []).append((code, way, assignment))
        for (column, path), leaves in targets.items():
            target = ColumnRef(self.target, None if column == rel.WILDCARD else column, path)
            for leaf, uses in leaves.items():
                yield from self._column_edges(leaf, target, uses)
        yield from self._row_edges()

    def _column_edges(
        self, leaf: Leaf, target: ColumnRef, uses: list[tuple[int, Way, rel.Assignment]]
    ) -> Iterator[Edge]:
        """One edge for each kind; where clauses of a MERGE set a column in different ways, one for each of these."""
        done: set[tuple[int, str | None]] = set()
        for code, (masking, doubt, span), assignment in uses:
            written = self._expression_span(assignment)
            text = self._text(written)
            way = (code, None if KINDS[code] is Kind.IDENTITY else text)
            if way in done:
                continue
            done.add(way)
            yield Edge(
                leaf.ref,
                target,
                KINDS[code],
                expression=text,
                source_span=span,
                target_span=assignment.target_span,
                masking=masking,
                approximate=doubt,
                place=self._written_at(written),
            )

    def _row_edges(self) -> Iterator[Edge]:
        whole = ColumnRef(self.target, None)
        found: dict[tuple[Leaf, int], tuple[Way, Span | None]] = {}
        conditions = [(each.kind, each.expression, each.span) for each in self.write.influences]
        for scope in self.scopes:
            conditions.extend(self.bindings.conditions(scope))
        for kind, expression, span in conditions:
            sources: Sources = {}
            add_as(sources, self.values.of(expression), CODES[kind])
            for key, way in sources.items():
                found.setdefault(key, (way, span))
        for (leaf, code), ((_, doubt, place), span) in found.items():
            yield Edge(
                leaf.ref,
                whole,
                KINDS[code],
                expression=self._text(span),
                source_span=place,
                target_span=span,
                approximate=doubt,
                place=self._written_at(span),
            )

    def _leaves(self, expression: rel.Expression, path: Path) -> Iterator[tuple[Path, Sources]]:
        """The parts of an output: one per field of a struct that is built here, else the whole.
        What is inside an array is told apart only if every item is built the same way."""
        pending: list[tuple[rel.Expression, Path]] = [(expression, path)]
        whole: dict[Path, Sources] = {}
        while pending:
            part, place = pending.pop()
            built = self._built_struct(part, place)
            if built is None:
                for inside in self._gathered(part) or [()]:
                    add(whole.setdefault((*place, *inside), {}), self.values.of(part, inside))
            else:
                struct, inner, rest = built
                pending.extend((value, (*inner, name)) for name, value in reversed(struct.fields))
                if rest:  # what decides about the struct as a whole: the filters of the subquery that makes it
                    add(whole.setdefault(inner, {}), rest)
        yield from whole.items()

    def _built_struct(self, expression: rel.Expression, path: Path) -> tuple[rel.MakeStruct, Path, Sources] | None:
        rest: Sources = {}
        for _ in range(1000):  # a chain of names; a longer one is not worth following
            if isinstance(expression, rel.MakeStruct) and expression.fields:
                return expression, path, rest
            if isinstance(expression, rel.Ref):
                below = self.bindings.definitions.get(expression.column)
                if below is None or isinstance(below, Stored):
                    return None
                self.values.seen.add(expression.column)
                expression = below
            elif isinstance(expression, rel.Subquery) and expression.column is not None:
                if expression.kind is rel.SubqueryKind.ARRAY:
                    path = (*path, ELEMENT)
                elif expression.kind is not rel.SubqueryKind.SCALAR:
                    return None
                add(rest, self.values.rows_of(expression))
                expression = rel.Ref(expression.column)
            else:
                return None
        return None

    def _gathered(self, expression: rel.Expression) -> list[Path]:
        """The fields of the elements of an array that an aggregate gathers: ARRAY_AGG(STRUCT(…)); else none."""
        call = self.bindings.followed(expression)
        if not isinstance(call, rel.Call) or not call.args or rule_of(call.function).passing is not Passing.ELEMENTS:
            return []
        fields: list[Path] = []
        pending: list[tuple[rel.Expression, Path]] = [(call.args[0], (ELEMENT,))]
        while pending:
            part, path = pending.pop()
            struct = self.bindings.followed(part)
            if isinstance(struct, rel.MakeStruct) and struct.fields:
                pending.extend((value, (*path, name)) for name, value in reversed(struct.fields))
            elif len(path) > 1:
                fields.append(path)
        return fields

    # --------------------------------------------------------------------------------------------- texts

    def _expression_span(self, assignment: rel.Assignment) -> Span | None:
        """The span of the expression that made a value: through plain names, to where it was computed."""
        span, expression, steps = assignment.span, assignment.expression, 0
        while isinstance(expression, rel.Ref) and steps < 1000:
            below = self.bindings.definitions.get(expression.column)
            if below is None or isinstance(below, Stored):
                break
            span = self.bindings.spans.get(expression.column) or span
            expression, steps = below, steps + 1
        return span

    def _text(self, span: Span | None) -> str | None:
        """The text of an expression: one string, however many edges share it."""
        if self.source is None or span is None:
            return None
        if span not in self.texts:
            self.texts[span] = self.source.excerpt(span)
        return self.texts[span]

    def _written_at(self, span: Span | None) -> str | None:
        return self.source.place(span) if self.places and self.source is not None and span is not None else None

    # ------------------------------------------------------------------------------------------- sources

    def source_tables(self) -> tuple[SourceTable, ...]:
        """Every table that is read, in the order of the text; also where no output depends on it."""
        self._bind_unseen()
        tables: dict[TableName, SourceTable] = {}
        for scan in sorted(self.bindings.scans, key=lambda scan: scan.span.start if scan.span else -1):
            if scan is self.write.target_scan:
                continue
            known = tables.get(scan.table)
            spans = (*(known.spans if known else ()), *([scan.span] if scan.span else ()))
            resolution = (
                scan.resolution if known is None or known.resolution is rel.Resolution.UNKNOWN else known.resolution
            )
            doubt = scan.approximate if known is None else known.approximate or scan.approximate
            tables[scan.table] = SourceTable(scan.table, resolution, spans, doubt)
        return tuple(tables.values())

    def _bind_unseen(self) -> None:
        """Bind the subqueries inside columns that nothing depended on, for the sake of the tables they read."""
        for scope in list(self.bindings.cte_scopes.values()):
            for _, condition, _ in scope.conditions:
                for subquery in subqueries_of(condition):
                    self.values.rows_scope(subquery)
        done: set[int] = set()
        while True:
            definitions = self.bindings.definitions
            todo = [id for id in definitions if id not in done and id not in self.values.seen]
            if not todo:
                return
            done.update(todo)
            for id in todo:
                definition = definitions[id]
                if not isinstance(definition, Stored):
                    for subquery in subqueries_of(definition):
                        self.values.rows_scope(subquery)
