"""The options of an agent. A setting is given to `observe`, or as `spark.headwater.NAME` in Spark's configuration."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from headwater.errors import ConfigError
from headwater.events.rewrite import TRIMMERS
from headwater.events.settings import several
from headwater.text import nearest

PREFIX = "spark.headwater."


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """The settings of an agent, with their defaults."""

    namespace: str = "default"  # of jobs
    job: str | None = None  # name of the application's job; default: the application's name
    parent_run: str | None = None  # run id of what started this application
    parent_job: str | None = None  # namespace/name of its job
    parent_namespace: str | None = None  # of its job, when `parent_job` is the name alone
    root_run: str | None = None  # run id of what started all of it; default: the parent
    root_job: str | None = None
    root_namespace: str | None = None
    application_run: str | None = None  # run id of this application; default: a fresh one
    trimmers: str = ""  # that leave off folders of dates at the end of paths: `all`, or OpenLineage's by name
    dataset_in_job: bool = True  # names of jobs end with the dataset that is written
    columns: bool = True  # column lineage; False: datasets only
    literals: bool = False  # show literal values in expressions and SQL, and the text of the program
    sql: bool = True  # the SQL text on jobs
    reads: bool = True  # report queries that only read (collect, show)
    commands: bool = True  # report commands that change a dataset but write no rows (DDL)
    temporary: bool = False  # report temporary views and caches as datasets
    rdds: bool = True  # report jobs on RDDs
    allowed: str = ""  # plans to report whatever else is said, by the class of their root
    denied: str = ""  # plans not to report
    start_events: bool = True  # report the start of a run, too
    queue: int = 1000  # executions that may wait; more are lost, and counted
    seconds: float = 5.0  # for the columns of one plan; then its datasets only
    characters: int = 4_000_000  # of one dumped plan; then its datasets only
    memory: int = 0  # percent of the JVM's memory; when less is free, executions are skipped
    failures: int = 20  # in a row, after which the agent rests
    rest: float = 60.0  # seconds
    flush_seconds: float = 10.0  # at stop and at exit
    owners: str = ""  # of jobs: `team:data, person:ada`
    tags: str = ""  # of jobs: `tier=gold, domain=sales`
    environment: str = ""  # environment variables to report, by name
    properties: str = "spark.master,spark.app.name"  # settings of Spark to report, by name
    debug: str = ""  # a facet for finding errors: always, any-missing, output-missing
    debug_kilobytes: int = 100

    @property
    def trimmed(self) -> frozenset[str]:
        """The trimmers by name. RAISES: ConfigError for one that does not exist."""
        given = frozenset(several(self.trimmers))
        unknown = given - TRIMMERS - {"all"}
        if unknown:
            raise ConfigError(f"there is no trimmer `{min(unknown)}`", hint=f"all, {', '.join(sorted(TRIMMERS))}")
        return TRIMMERS if "all" in given else given


def read_options(
    get: Callable[[str], str | None], others: Mapping[str, str] | None = None, **given: object
) -> AgentOptions:
    """Options from keyword arguments, else from Spark's configuration, else `others`, else the defaults.

    RAISES: ConfigError for one that does not exist or has a value it cannot have.
    """
    fields = {each.name: each for each in dataclasses.fields(AgentOptions)}
    for name in given:
        if name not in fields:
            close = nearest(name, fields)
            raise ConfigError(
                f"the agent has no option `{name}`",
                hint=f"did you mean `{close}`?" if close else f"options: {', '.join(fields)}",
            )
    values: dict[str, object] = {}
    for name, each in fields.items():
        value = given.get(name)
        if value is None:
            value = get(PREFIX + name)
        if value is None and others is not None:
            value = others.get(name)
        if value is not None:
            values[name] = _typed(name, value, each.default)
    return AgentOptions(**values)  # type: ignore[arg-type]


def _typed(name: str, value: object, default: object) -> object:
    try:
        if isinstance(default, bool):
            return value if isinstance(value, bool) else _TRUTH[str(value).lower()]
        if isinstance(default, int | float):
            return type(default)(str(value))
        return str(value)
    except (ValueError, KeyError, TypeError) as err:
        raise ConfigError(f"the agent's option `{name}` cannot be `{value}`") from err


_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
