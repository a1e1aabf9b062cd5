"""The plan of a harvest: the settings that its units share, and the units of a dialect, ready to be settled."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from headwater.analysis.engines import Engine, open_front_end
from headwater.analysis.schemas import SchemaLike, import_schema, with_tables
from headwater.analysis.template import TemplateOptions
from headwater.jobs.harvest.order import in_order, tables_read
from headwater.jobs.harvest.sources import Estate
from headwater.jobs.harvest.unit_analysis import GOOGLE, HarvestSetting, Outcome
from headwater.jobs.harvest.units import Script, cut_units, with_preludes
from headwater.jobs.harvest.waves import Waves
from headwater.lineage.schema import SchemaMetadata, SchemaTable
from headwater.zetasql.provider import TableProvider


@dataclass(frozen=True)
class HarvestOptions:
    """The settings of a harvest: everything but the texts and where lineage is kept."""

    schema: SchemaLike = None
    engine: Engine = "auto"
    tables: TableProvider | None = None  # asked for tables of GoogleSQL that the schema does not have
    template: TemplateOptions = field(default_factory=TemplateOptions)
    master: str | None = None  # of Spark; None: as is best
    spark: bool = True  # False: this process does everything
    progress: Callable[["Progress"], None] = lambda progress: None
    gone: tuple[str, ...] = ()  # datasets that the schema had before, and has no more
    warn: Callable[[str], None] | None = None  # told of schema files that cannot be read; without it, they are errors


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a harvest."""

    scripts: int
    units: int  # to analyse, as far as is known now
    done: int  # units
    statements: int  # in those
    wave: int
    findings: int  # errors and warnings


def setting_of(estate: Estate, options: HarvestOptions) -> HarvestSetting:
    """Return what all units of an estate are analysed with. RAISES: DialectError, SchemaError, InputError."""
    dialects = dict.fromkeys(script.dialect for script in estate.scripts) or dict.fromkeys(estate.dialects)
    given = {dialect: import_schema(options.schema, dialect, warn=options.warn) for dialect in dialects}
    schemas = {dialect: with_tables(schema, estate.tables) for dialect, schema in given.items()}
    for dialect in set(schemas) & set(GOOGLE):
        schemas[dialect] = with_tables(schemas[dialect], _asked(estate, dialect, schemas[dialect], options.tables))
    return HarvestSetting(schemas, options.engine, options.template)


def _asked(
    estate: Estate, dialect: str | None, schema: SchemaMetadata, tables: TableProvider | None
) -> Iterator[SchemaTable]:
    """The tables that scripts read and the schema does not have, as whoever is asked knows them."""
    if tables is None:
        return
    known = {tuple(map(str.lower, table.parts)) for table in schema.tables}
    for name in tables_read([script for script in estate.scripts if script.dialect == dialect]):
        found = tables.table(name) if tuple(map(str.lower, name.parts)) not in known else None
        if found is not None:
            yield found


def waves_of(
    scripts: Sequence[Script], dialect: str | None, setting: HarvestSetting, known: Mapping[str, Outcome]
) -> Waves:
    """The units of the scripts of one dialect, those with the same mark as a known outcome being known already."""
    ordered = in_order([script for script in scripts if script.dialect == dialect])
    units = with_preludes([unit for script in ordered for unit in cut_units(script)])
    waves = Waves(units, setting.schemas[dialect], open_front_end(dialect, "sqlglot")[1])
    for index, unit in enumerate(units):
        outcome = known.get(unit.id)
        if outcome is not None and outcome.fingerprint == setting.mark(unit):
            waves.outcomes[index] = outcome
    return waves
