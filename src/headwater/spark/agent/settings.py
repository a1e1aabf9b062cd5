"""OpenLineage's settings as settings of the agent, so that a job needs no others when it changes agents.

`docs/guides/coming-from-openlineage.md` lists every setting that there is. Those of Headwater are stronger.
"""

import logging
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from headwater.events import facets as openlineage
from headwater.events.facet import by_key
from headwater.events.rewrite import TRIMMERS, Resolver, Rewrite, java_pattern
from headwater.events.settings import Tree, at, is_true, leaves, several

log = logging.getLogger("headwater.spark")

_OFF = ("debug", "spark_unknown", "spark.logicalPlan")  # facets that OpenLineage leaves out unless they are asked for


@dataclass(frozen=True)
class AgentSettings:
    """The requests of OpenLineage's settings to the agent."""

    options: dict[str, str] = field(default_factory=dict)  # of `AgentOptions`
    rewrite: Rewrite = field(default_factory=Rewrite)
    transport: Tree | None = None
    disabled: bool = False
    unheard: tuple[str, ...] = ()  # why which setting has no effect


def agent_settings(tree: Tree) -> AgentSettings:
    """The settings of an agent from OpenLineage's. RAISES: ConfigError for patterns that cannot be read."""
    if not tree:
        return AgentSettings()
    transport = tree.get("transport")
    return AgentSettings(
        options={name: value for name, value in _options(tree) if value},
        rewrite=_rewrite(tree),
        transport=transport if isinstance(transport, dict) else None,
        disabled=is_true(tree.get("disabled")),
        unheard=tuple(_unheard(tree)),
    )


# ------------------------------------------------------------------------------------------------------ options


def _options(tree: Tree) -> Iterator[tuple[str, str]]:
    yield "namespace", _text(tree.get("namespace"))
    yield "job", _text(tree.get("appName"))
    yield "application_run", _run_id(tree.get("applicationRunId"), "applicationRunId")
    yield from _parents(tree)
    for name, path in _PLAIN.items():
        yield name, _text(at(tree, path))
    variables = at(tree, "facets.custom_environment_variables") or at(tree, "facets.variables")
    variables = variables or at(tree, "facets.environment_variables") or at(tree, "facets.environmentVariables")
    yield "environment", ",".join(several(variables))
    yield "allowed", ",".join(several(at(tree, "filter.allowedSparkNodes")))
    yield "denied", ",".join(several(at(tree, "filter.deniedSparkNodes")))
    yield "rdds", "false" if is_true(at(tree, "filter.rddEventsDisabled")) else ""
    yield "columns", "false" if "columnLineage" in _disabled(tree) else ""
    yield "seconds", _seconds(tree)
    disabled = {each.rpartition(".")[2] for each in several(at(tree, "dataset.disabledTrimmers"))}
    yield "trimmers", ",".join(sorted(TRIMMERS - disabled))
    if at(tree, "circuitBreaker.type") in ("simpleMemory", "javaRuntime"):
        yield "memory", _text(at(tree, "circuitBreaker.memoryThreshold", 20))
    if "debug" not in _disabled(tree):
        yield "debug", "always"
    elif is_true(at(tree, "debug.smart")):
        yield "debug", "output-missing" if at(tree, "debug.smartMode") == "output-missing" else "any-missing"


_PLAIN = {
    "properties": "capturedProperties",
    "dataset_in_job": "jobName.appendDatasetName",
    "queue": "circuitBreaker.queueSize",
    "flush_seconds": "circuitBreaker.shutdownTimeoutSeconds",
    "debug_kilobytes": "debug.payloadSizeLimitInKilobytes",
}


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _parents(tree: Tree) -> Iterator[tuple[str, str]]:
    """Yield what started the application, and what started that; `context` says both as a facet of a parent does."""
    given = dict(tree)
    try:
        context = msgspec.json.decode(_text(tree.get("context")) or "{}", type=dict).get("parent")
        given |= {"parentRunId": context["run"]["runId"], "parentJobName": context["job"]["name"]} if context else {}
        given |= {"parentJobNamespace": context["job"]["namespace"]} if context else {}
        if context and (root := context.get("root")):
            given |= {"rootParentRunId": root["run"]["runId"], "rootParentJobName": root["job"]["name"]}
            given["rootParentJobNamespace"] = root["job"]["namespace"]
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError):
        log.warning("spark.openlineage.context is not a parent in JSON; it is left out.")
    for ours, theirs in (("parent", "parent"), ("root", "rootParent")):
        yield f"{ours}_run", _run_id(given.get(f"{theirs}RunId"), f"{theirs}RunId")
        yield f"{ours}_job", _text(given.get(f"{theirs}JobName"))
        yield f"{ours}_namespace", _text(given.get(f"{theirs}JobNamespace"))


def _run_id(value: object, name: str) -> str:
    try:
        return "" if not value else str(uuid.UUID(str(value)))
    except ValueError:
        log.warning("OpenLineage's setting `%s` is not a UUID; it is left out.", name)
        return ""


def _seconds(tree: Tree) -> str:
    """The time for one plan: what a circuit breaker allows, or the part of it for datasets."""
    limit = at(tree, "circuitBreaker.timeoutInSeconds")
    part = at(tree, "timeout.buildDatasetsTimePercentage") or at(tree, "timeout.facetsBuildingTimePercentage") or 100
    try:
        return "" if limit is None else str(float(limit) * float(part) / 100)
    except ValueError:
        return _text(limit)  # refused by the option, with its name


# ------------------------------------------------------------------------------------------------------ rewriting


def _rewrite(tree: Tree) -> Rewrite:
    pattern, limit = at(tree, "dataset.removePath.pattern"), at(tree, "columnLineage.schemaSizeLimit")
    return Rewrite(
        without=_disabled(tree) - ({"debug"} if is_true(at(tree, "debug.smart")) else set()),
        dropped=tuple(_dropped(tree.get("filters"))),
        resolvers=tuple(_resolvers(at(tree, "dataset.namespaceResolvers") or {})),
        remove=None if pattern is None else java_pattern(str(pattern), "dataset.removePath.pattern"),
        dataset_lineage=str(at(tree, "columnLineage.datasetLineageEnabled")).lower() != "false",
        descriptions=str(at(tree, "columnLineage.descriptionsEnabled")).lower() != "false",
        most_columns=None if limit is None else int(limit),
        job_facets=by_key(_owners(tree), _tags(tree, "job", openlineage.JobTagsFacet)),
        run_facets=by_key(_tags(tree, "run", openlineage.RunTagsFacet)),
    )


def _disabled(tree: Tree) -> frozenset[str]:
    """The facets that are left out, by key."""
    found = {*_OFF, *several(at(tree, "facets.disabled"))}
    for path, value in leaves(tree.get("facets") or {}):
        name = path.removesuffix(".disabled")
        if name != path:
            found = found | {name} if is_true(value) else found - {name}
    return frozenset(found)


def _dropped(filters: object) -> Iterator[re.Pattern[str]]:
    """The filters of the Python client: jobs by name."""
    for each in filters if isinstance(filters, list) else []:
        if each.get("type") == "exact":
            yield re.compile(re.escape(str(each.get("match"))))
        elif each.get("regex"):
            yield java_pattern(str(each["regex"]), "filters.regex")


def _resolvers(given: Mapping[str, Any]) -> Iterator[Resolver]:
    for name, each in given.items():
        scheme = _text(each.get("schema")) or None
        where = f"dataset.namespaceResolvers.{name}.regex"
        match each.get("type"):
            case "hostList":
                for host in several(each.get("hosts")):
                    yield Resolver(re.compile(re.escape(host), re.IGNORECASE), name, scheme=scheme)
            case "pattern":
                pattern = java_pattern(_text(each.get("regex") or each.get("hosts")), where)
                yield Resolver(pattern, name, scheme=scheme)
            case "patternGroup":
                pattern = java_pattern(_text(each.get("regex")), where)
                yield Resolver(pattern, None, _text(each.get("matchingGroup")), scheme)


def _owners(tree: Tree) -> openlineage.JobOwnershipFacet | None:
    given = at(tree, "job.owners") or {}
    owners = tuple(openlineage.Owner(name=str(name), type=kind) for kind, name in given.items())
    return openlineage.JobOwnershipFacet(owners=owners) if owners else None


def _tags(tree: Tree, kind: str, facet: Callable[..., Any]) -> Any:
    """Tags as `key:value:source`, several after one another with semicolons; those of the Python client by name."""
    given = at(tree, f"{kind}.tags") or at(tree, f"{kind}s.tags") or []
    texts = given if isinstance(given, list) else re.split(r"(?<!\\);", str(given))
    tags = [tag for text in texts if (tag := _tag(str(text)))]
    named = at(tree, f"tags.{kind}") or {}
    tags += [openlineage.Tag(key=key, value=str(value), source="USER") for key, value in named.items()]
    return facet(tags=tuple({tag.key: tag for tag in tags}.values())) if tags else None


def _tag(text: str) -> openlineage.Tag | None:
    parts = [part.replace("\\:", ":").replace("\\;", ";").strip() for part in re.split(r"(?<!\\):", text)][:3]
    if not all(parts):
        return None
    key, value, source = [*parts, "true", "CONFIG"][: len(parts)] + ["", "true", "CONFIG"][len(parts) :]
    return openlineage.Tag(key=key, value=value, source=source)


# ---------------------------------------------------------------------------------------------- without effect

_KEY_STORE = "key stores of Java cannot be read here; certificates of servers are checked by the system's store"
_WITHOUT_EFFECT = {
    r"transport(\..*)?\.sslContext\..*": _KEY_STORE,
    r"circuitBreaker\.gcCpuThreshold": "the agent's work is done in Python; the JVM only writes plans as text",
    r"circuitBreaker\.(threadCount|blockingTimeInSeconds|valuesReturned)": "no job ever waits for the agent's thread",
    r"circuitBreaker\.circuitCheckIntervalInMillis": "memory is looked at before each execution",
    r"transport(\..*)?\.(retry\..*|verify)": "events are tried again, and certificates checked, always",
    r"debug\.metricsDisabled": "the facet has no metrics",
    r"metrics\..*": "numbers of the agent are in `Agent.counts` and in the log",
    r"dataset\.extraTrimmers": "classes of Java do not run here; use `dataset.removePath.pattern`",
    r"testExtensionProvider": "it is for OpenLineage's own tests",
    r"vendors\..*": "reports of Iceberg are read from what it keeps; to leave them out, disable their facets",
    r"debug\.logPlanAsJson": "plans hold literal values",
}


def _unheard(tree: Tree) -> Iterator[str]:
    for path, _ in leaves(tree):
        why = next((why for pattern, why in _WITHOUT_EFFECT.items() if re.fullmatch(pattern, path)), None)
        if why is not None:
            yield f"{path}: {why}"
    if at(tree, "facets.spark.logicalPlan.disabled") is not None and "spark.logicalPlan" not in _disabled(tree):
        yield "facets.spark.logicalPlan.disabled: plans hold literal values; `facets.debug` shows their nodes"
