"""Reading a plan: what it reads, what it writes, and which columns are made of which."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

from msgspec import structs

from headwater.errors import Issue, IssueCode, Severity
from headwater.lineage.statement import StatementLineage, Status, settle_status
from headwater.lineage.trace import trace
from headwater.model.edges import InfluenceClass, Kind
from headwater.model.names import TableName
from headwater.model.relation import Write
from headwater.spark.agent.context import OpenLineageContext
from headwater.spark.agent.datasets import Behind, PlanDataset, PlanOutput
from headwater.spark.agent.jdbc import UNTOLD, join_edges, tables_of_query
from headwater.spark.agent.recorded import RecordedExecution
from headwater.spark.agent.visitors import visitor
from headwater.spark.agent.visitors.catalog import visitor_classes
from headwater.spark.plan import generators, leaves, relations, writes
from headwater.spark.plan.dump import dump_plan, read_dump
from headwater.spark.plan.lowering import PlanLowering
from headwater.spark.plan.node import Plan, PlanNode
from headwater.text import without_secrets

D = TypeVar("D", PlanDataset, PlanOutput)
OPERATORS = (relations, generators, leaves)  # their import registers how each operator is lowered


@dataclass(frozen=True)
class PlanLineage:
    """The findings in one plan.

    `statements` has one entry per output that takes part in column lineage, or a single one without a target for a
    plan that only reads. `issues` concern datasets and `notes` columns; `degraded` says why those are missing.
    """

    plan: Plan
    inputs: tuple[PlanDataset, ...] = ()
    outputs: tuple[PlanOutput, ...] = ()
    statements: tuple[StatementLineage, ...] = ()
    issues: tuple[Issue, ...] = ()
    notes: tuple[Issue, ...] = ()
    degraded: str | None = None

    @property
    def datasets(self) -> dict[TableName, PlanDataset]:
        """Every dataset by the name that lineage gives it."""
        outputs = {output.dataset.table: output.dataset for output in self.outputs}
        return outputs | {dataset.table: dataset for dataset in self.inputs}


class PlanReader:
    """Reads plans of one session with the visitors and builders that there are."""

    def __init__(self, context: OpenLineageContext) -> None:
        self.context = context
        visitors = [made(context) for made in visitor_classes()]
        self.input_builders = visitor.Spark3DatasetBuilderFactory.get_input_builders(context)
        self.output_builders = visitor.Spark3DatasetBuilderFactory.get_output_builders(context)
        inputs, outputs = (
            [visitor.NodesOfBuilder(each) for each in builders if each.nodes]
            for builders in (self.input_builders, self.output_builders)
        )
        self.input_visitors = [*(each for each in visitors if each.makes is PlanDataset), *inputs]
        self.output_visitors = [*(each for each in visitors if each.makes is PlanOutput), *outputs]
        self._inputs_at = visitor.candidates(self.input_visitors)
        self._outputs_at = visitor.candidates(self.output_visitors)

    def dump(self, plan: Any) -> Plan:
        """The nodes of a plan in the JVM, or of the analyzed one of an execution, there or written down."""
        options = self.context.options
        if isinstance(plan, RecordedExecution):
            return read_dump(*plan.analyzed().dump())
        assert self.context.spark_context is not None
        return dump_plan(
            self.context.spark_context, plan, most_characters=options.characters, time_limit=options.seconds
        )

    def read(
        self, plan: Plan, execution: Any = None, *, earlier: tuple[Plan, ...] = (), queries: bool = True
    ) -> PlanLineage:
        """Return what a plan reads and writes. `earlier` are plans whose rows it may take up.

        Without `queries` the columns of a plan that only reads are left out: no event has a place for them.
        """
        if plan.root.name in _LETS_GO:
            return PlanLineage(plan)
        found = _Found(self._inputs_at)
        outputs = self.outputs(plan, execution, found.issues)
        # the nodes that write, among them those that say nothing of what they write to
        nodes = list(plan.root.walk())
        writes = [node for node in nodes if any(each.is_defined_at(node) for each in self._outputs_at(node))]
        inputs = dict.fromkeys(found.at_every_node(plan.root, outputs, writes))
        inputs |= dict.fromkeys(_build(self.input_builders, plan.root, execution, found.issues))
        lineage = PlanLineage(plan, tuple(inputs), tuple(outputs), issues=tuple(found.issues))
        self.context.keep(lineage.datasets.values())
        if not self.context.options.columns or plan.truncated:
            return _without_columns(lineage, plan.reason if plan.truncated else "column lineage is switched off")
        if not outputs and not queries:
            inputs_below, _, doubts = _behind_queries(lineage.inputs, [])
            return dataclasses.replace(lineage, inputs=inputs_below, issues=(*lineage.issues, *doubts))
        return self._with_columns(lineage, found, earlier)

    def outputs(self, plan: Plan, execution: Any, issues: list[Issue] | None = None) -> list[PlanOutput]:
        """Return what a plan writes; asked again after the fact, versions are the new ones."""
        noted = [] if issues is None else issues
        found = [each for node in plan.root.walk() for each in _visit(self._outputs_at(node), node, noted)]
        return found + _build(self.output_builders, plan.root, execution, noted)

    def _with_columns(self, lineage: PlanLineage, found: "_Found", earlier: tuple[Plan, ...]) -> PlanLineage:
        options = self.context.options
        deadline = monotonic() + options.seconds
        try:
            lowering = PlanLowering(lineage.plan, found.tables, earlier=earlier, redacted=not options.literals)
            made = _writes(lowering, lineage)
            statements = [trace(each, source=lowering.places, deadline=deadline, places=True) for each in made]
        except RecursionError:
            return _without_columns(lineage, "an expression is nested too deeply")
        except _UNKNOWN_FORM as err:  # tables are known all the same
            return _without_columns(lineage, f"the plan has another form: {type(err).__name__}: {err}")
        kept = (each.query.notes for each in lineage.inputs if isinstance(each.query, Behind))
        issues, notes = lineage.issues, (*lowering.issues, *(note for each in kept for note in each))
        statements = [settle_status(_without_spans(each, (*issues, *notes))) for each in statements]
        changed = {each.dataset.table for each in lineage.outputs if each.node.name in _CHANGES}
        statements = [_as_change(each) if each.target in changed else each for each in statements]
        inputs, statements, doubts = _behind_queries(lineage.inputs, statements)
        issues = (*issues, *doubts)
        lineage = dataclasses.replace(lineage, inputs=inputs, issues=issues, notes=notes)
        if any(each.status is Status.TABLE_ONLY for each in statements):
            return dataclasses.replace(lineage, degraded="the plan takes too long to read")
        return dataclasses.replace(lineage, statements=tuple(statements))

    def rows_of(self, lineage: PlanLineage) -> Behind:
        """Return what is behind the rows of a plan, its columns by their places: for a plan that takes them up
        later."""
        root, found = lineage.plan.root, _Found(self._inputs_at)
        inputs = tuple(found.at_every_node(root, [], []))
        traced = []
        if lineage.degraded is None:
            places = [str(at) for at in range(len(root.output))]
            write = writes.lower_insert(
                PlanLowering(lineage.plan, found.tables), root, places, target=None, statement="SELECT"
            )
            traced = [trace(write, deadline=monotonic() + self.context.options.seconds)]
        inputs, traced, _ = _behind_queries(inputs, traced)
        edges = tuple(edge for each in traced for edge in each.edges)
        return Behind({each.table: each for each in inputs}, edges, (*lineage.issues, *lineage.notes))


# What comes of a node whose fields are not those we know: a Spark of another version, or one that somebody changed.
_UNKNOWN_FORM = (KeyError, IndexError, TypeError, ValueError, AttributeError, AssertionError)


def _writes(lowering: PlanLowering, lineage: PlanLineage) -> list[Write]:
    if not lineage.outputs:
        root = lineage.plan.root
        names_tables = any(child.name.startswith("Resolved") for child in root.children)
        is_command = root.name.endswith("Command") or names_tables
        return [writes.lower_query(lowering, root)] if root.output and not is_command else []
    return [write for output in lineage.outputs if (write := _write(lowering, output)) is not None]


def _write(lowering: PlanLowering, output: PlanOutput) -> Write | None:
    target, node = output.dataset.table, output.node
    row_level = _ROW_LEVEL.get(node.name)
    if row_level is not None:
        return row_level(lowering, node, target)
    if output.query is None:
        return None
    columns = output.columns or [column.name for column in output.query.output]
    copied = writes.lower_copied_update(lowering, output.query, target) if output.statement == "UPDATE" else None
    if copied is not None:
        return copied
    if node.name in _REWRITTEN:  # they carry columns of their own beside the table's
        columns = [name if not name.startswith("__") else "" for name in columns]
    write = writes.lower_insert(lowering, output.query, columns, target=target, statement=output.statement)
    return dataclasses.replace(write, assignments=tuple(each for each in write.assignments if each.column))


_ROW_LEVEL: dict[str, Callable[[PlanLowering, PlanNode, TableName], Write]] = {
    "MergeIntoTable": writes.lower_merge,
    "UpdateTable": writes.lower_update,
    "DeleteFromTable": writes.lower_delete,
    "MergeIntoCommand": writes.lower_merge,
    "UpdateCommand": writes.lower_update,
    "DeleteCommand": writes.lower_delete,
}


def _without_spans(lineage: StatementLineage, issues: tuple[Issue, ...]) -> StatementLineage:
    """The spans of a plan are its own affair; the text and the place that they stood for stay."""
    edges = tuple(structs.replace(edge, source_span=None, target_span=None) for edge in lineage.edges)
    return dataclasses.replace(lineage, edges=edges, issues=(*lineage.issues, *issues))


def _as_change(lineage: StatementLineage) -> StatementLineage:
    """MERGE, UPDATE and DELETE rewritten to a query: what stays as it is does not flow, and the rest decides rows."""
    edges = []
    decides = Kind.MERGE if lineage.statement_type == "MERGE" else Kind.FILTER
    for edge in lineage.edges:
        if edge.kind is Kind.IDENTITY and edge.source == edge.target:
            continue
        if edge.kind.influence is InfluenceClass.ROW:
            edge = structs.replace(edge, kind=decides)
        if edge not in edges:
            edges.append(edge)
    return dataclasses.replace(lineage, edges=tuple(edges))


def _behind_queries(
    inputs: tuple[PlanDataset, ...], statements: list[StatementLineage]
) -> tuple[tuple[PlanDataset, ...], list[StatementLineage], tuple[Issue, ...]]:
    """The same with JDBC queries replaced by the tables that they read, and what cannot be told of them."""
    shown: dict[PlanDataset, None] = {}
    doubts: dict[str, None] = {}
    for dataset in inputs:
        if dataset.query is None:
            shown[dataset] = None
            continue
        below = dataset.query if isinstance(dataset.query, Behind) else tables_of_query(dataset.query)
        if below is None:
            doubts["a query that is read over JDBC could not be understood: its tables are not known"] = None
            continue
        if below is dataset.query and below.tables and not below.edges:
            doubts["the columns of rows that were kept are not known"] = None
        shown |= dict.fromkeys(below.tables.values())
        statements = [join_edges(each, dataset.table, below.edges) for each in statements]
        edges = (edge for each in statements for edge in each.edges)
        doubts |= dict.fromkeys(edge.approximate for edge in edges if edge.approximate and UNTOLD in edge.approximate)
    return tuple(shown), statements, tuple(map(_warning, doubts))


def _warning(message: str) -> Issue:
    return Issue(IssueCode.APPROXIMATE_LINEAGE, Severity.WARNING, message)


def _without_columns(lineage: PlanLineage, why: str) -> PlanLineage:
    """The datasets of a plan, without the columns that `why` keeps from being known."""
    inputs, _, doubts = _behind_queries(lineage.inputs, [])
    return dataclasses.replace(lineage, inputs=inputs, issues=(*lineage.issues, *doubts), degraded=why)


def _visit(visitors: list[visitor.QueryPlanVisitor[Any, D]], node: PlanNode, issues: list[Issue]) -> list[D]:
    """Return what visitors make of a node; one that raises costs its own datasets only."""
    try:
        return visitor.PlanUtils.visit_node(visitors, node)
    except Exception as err:  # visitors reach into Spark's internals, and some are not ours
        issues.append(_warning(f"a visitor could not read `{node.name}`: {type(err).__name__}: {first_line(err)}"))
        return []


def _build(builders: list[visitor.DatasetBuilder[D]], plan: PlanNode, execution: Any, issues: list[Issue]) -> list[D]:
    """Ask builders for the datasets of an execution, except those that are asked node by node.

    A builder that raises costs its own datasets only.
    """
    made: list[D] = []
    for builder in builders:
        if not builder.nodes:
            try:
                made += builder.apply(plan, execution) if builder.is_defined_at(plan) else []
            except Exception as err:  # not ours
                name, said = type(builder).__name__, f"{type(err).__name__}: {first_line(err)}"
                issues.append(_warning(f"the builder `{name}` failed: {said}"))
    return made


def first_line(err: Exception) -> str:
    """The first line of what an error says; Java's say more than anyone wants to read."""
    cause = getattr(err, "java_exception", None)
    text = str(cause.toString() if cause is not None else err)
    return without_secrets((text.splitlines() or [""])[0])[:300]


@dataclass
class _Found:
    """The datasets that input visitors have found, node by node."""

    visitors_at: Callable[[PlanNode], list[visitor.QueryPlanVisitor[Any, PlanDataset]]]
    issues: list[Issue] = field(default_factory=list)
    _by_node: dict[int, list[PlanDataset]] = field(default_factory=dict)

    def at(self, node: PlanNode) -> list[PlanDataset]:
        """The datasets of one node; visited once."""
        if id(node) not in self._by_node:
            self._by_node[id(node)] = _visit(self.visitors_at(node), node, self.issues)
        return self._by_node[id(node)]

    def at_every_node(self, plan: PlanNode, outputs: list[PlanOutput], writes: list[PlanNode]) -> list[PlanDataset]:
        """The datasets that a plan reads: all that are found, but for the tables that `writes` only write to."""
        commands = [*writes, *(output.node for output in outputs)]
        named = {id(command): {id(each) for each in _targets(command)} for command in commands}
        rewritten = {each.dataset.name for each in outputs if each.node.name in _REWRITTEN}
        nodes = plan.walk(lambda above, below: id(below) not in named.get(id(above), ()))
        found = [dataset for node in nodes if not node.name.startswith("Resolved") for dataset in self.at(node)]
        return [dataset for dataset in found if dataset.name not in rewritten]

    def tables(self, node: PlanNode) -> tuple[TableName, ...]:
        """The same as the tables that lineage knows."""
        return tuple(dataset.table for dataset in self.at(node))


_REWRITTEN = frozenset({"ReplaceData", "WriteDelta", "InsertOnlyMerge"})
_CHANGES = _REWRITTEN | {"MergeIntoTable", "MergeIntoCommand"}
_LETS_GO = frozenset({"UncacheTable"})  # names a table without reading it


def _targets(command: PlanNode) -> Iterator[PlanNode]:
    """The nodes directly below a command by which it names what it writes to."""
    fields = map(command.get, ("table", "originalTable", "relation", "logicalRelation", "name"))
    yield from (value for value in fields if isinstance(value, PlanNode))
    if command.name in _ROW_LEVEL:
        target = command.get("target")
        yield target if isinstance(target, PlanNode) else command.children[0]
    yield from (child for child in command.children if child.name.startswith("Resolved"))
