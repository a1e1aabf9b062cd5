"""The application that is watched: its run, its job, and what all events of it have in common."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pyspark import SparkContext

from headwater.events import facets as openlineage
from headwater.events.event import Job, new_run_id
from headwater.events.facet import Facets, by_key, plain_facet
from headwater.events.settings import several
from headwater.spark.agent.debug import surroundings
from headwater.spark.agent.options import AgentOptions
from headwater.text import without_secrets

_VERSION = version("headwater")
_LONGEST_PROGRAM = 100_000


@dataclass(frozen=True)
class Application:
    """One Spark application. Every run that the agent reports is a child of its run."""

    name: str
    options: AgentOptions
    run_id: str = field(default_factory=new_run_id)
    facets: Facets = field(default_factory=dict)  # of every run
    around: dict[str, Any] | None = None  # for the facet `debug`
    script: openlineage.SourceCodeLocationFacet | None = None
    program: openlineage.SourceCodeFacet | None = None

    @classmethod
    def of(cls, context: SparkContext, options: AgentOptions) -> "Application":
        """The application that a SparkContext belongs to."""
        conf = {str(name): str(value) for name, value in context.getConf().getAll()}
        about = {
            "name": str(context.appName),
            "id": str(context.applicationId),
            "user": str(context._jsc.sc().sparkUser()),
            "version": str(context.version),
            "ui": context.uiWebUrl,
        }
        made = cls.made(about, conf, options)
        around = surroundings(context, _VERSION) if options.debug else None
        facets = made.facets | _environment(options.environment)
        script = _script()
        program = _program(script.path) if script is not None and script.path and options.literals else None
        return replace(made, facets=facets, around=around, script=script, program=program)

    @classmethod
    def made(cls, about: Mapping[str, Any], conf: Mapping[str, str], options: AgentOptions) -> "Application":
        """The application that `about` tells of: its name, id, user, version and the address of its page."""
        engine = openlineage.ProcessingEngineFacet(
            name="spark", version=about["version"], openlineage_adapter_version=_VERSION
        )
        facets = by_key(engine)
        facets["spark_applicationDetails"] = plain_facet(_details(about, conf))
        facets["spark_properties"] = plain_facet({"properties": _properties(conf, options.properties)})
        return cls(options.job or about["name"], options, options.application_run or new_run_id(), facets)

    def job(self, suffix: str = "", *, kind: str, streaming: bool = False, facets: Facets | None = None) -> Job:
        """A job of this application; without a suffix, the application as a whole."""
        name = ".".join(part for part in (snake_case(self.name), suffix) if part)
        job_type = openlineage.JobTypeFacet(
            processing_type="STREAMING" if streaming else "BATCH", integration="SPARK", job_type=kind
        )
        shared = by_key(job_type, self._owners(), self._tags())
        return Job(namespace=self.options.namespace, name=name, facets=shared | (facets or {}))

    @property
    def whole(self) -> Job:
        """The job that is the application."""
        return self.job(kind="APPLICATION", facets=by_key(self.script))

    def parent(self) -> openlineage.ParentFacet:
        """The application as the parent of a run, with what started the application as the root."""
        run = openlineage.RunReference(run_id=self.run_id)
        job = openlineage.JobReference(namespace=self.options.namespace, name=snake_case(self.name))
        own = openlineage.Root(run=run, job=job)
        return openlineage.ParentFacet(run=run, job=job, root=self._root() or self._starter() or own)

    def grandparent(self) -> openlineage.ParentFacet | None:
        """Return what started the application, as its parent."""
        starter = self._starter()
        if starter is None:
            return None
        return openlineage.ParentFacet(run=starter.run, job=starter.job, root=self._root() or starter)

    def _starter(self) -> openlineage.Root | None:
        options = self.options
        return _reference(options.parent_run, options.parent_job, options.parent_namespace)

    def _root(self) -> openlineage.Root | None:
        return _reference(self.options.root_run, self.options.root_job, self.options.root_namespace)

    def _owners(self) -> openlineage.JobOwnershipFacet | None:
        given = [text.rpartition(":") for text in several(self.options.owners)]
        owners = tuple(openlineage.Owner(name=name, type=kind or None) for kind, _, name in given)
        return openlineage.JobOwnershipFacet(owners=owners) if owners else None

    def _tags(self) -> openlineage.JobTagsFacet | None:
        given = [text.partition("=") for text in several(self.options.tags)]
        tags = tuple(openlineage.Tag(key=key, value=value or "true", source="headwater") for key, _, value in given)
        return openlineage.JobTagsFacet(tags=tags) if tags else None


def _reference(run: str | None, job: str | None, namespace: str | None) -> openlineage.Root | None:
    """A run and its job; `job` is `namespace/name`, or the name where the namespace is known."""
    if run is None:
        return None
    if namespace is None:
        namespace, _, job = (job or "default/unknown").rpartition("/")
    return openlineage.Root(
        run=openlineage.RunReference(run_id=run),
        job=openlineage.JobReference(namespace=namespace or "default", name=job or "unknown"),
    )


def _environment(names: str) -> Facets:
    """The variables that were asked for by name, in the published form and in that of OpenLineage's agent."""
    found = {name: os.environ[name] for name in several(names) if name in os.environ}
    if not found:
        return {}
    each = tuple(openlineage.EnvironmentVariable(name=name, value=value) for name, value in found.items())
    plain = plain_facet({"environment-properties": found})
    return by_key(openlineage.EnvironmentFacet(environment_variables=each)) | {"environment-properties": plain}


_SECRET = re.compile(r"secret|password|passwd|token|credential|access[._]?key|api[._]?key", re.IGNORECASE)


def _properties(conf: Mapping[str, str], names: str) -> dict[str, str]:
    """The settings of Spark that were asked for by name; what looks like a secret is not shown."""
    found = {name: conf[name] for name in several(names) if name in conf}
    return {name: "***" if _SECRET.search(name) else without_secrets(value) for name, value in found.items()}


def _details(about: Mapping[str, Any], conf: Mapping[str, str]) -> dict[str, str]:
    """The application as OpenLineage's agent describes it, with the addresses where it can be looked at."""
    id = about["id"]
    proxy = conf.get("spark.org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter.param.PROXY_URI_BASES")
    if proxy is None and conf.get("spark.ui.reverseProxy") == "true" and "spark.ui.reverseProxyUrl" in conf:
        proxy = f"{conf['spark.ui.reverseProxyUrl'].rstrip('/')}/proxy/{quote(id)}"
    history = conf.get("spark.yarn.historyServer.address")
    if history is not None:
        history = history if history.startswith("http") else f"http://{history}"
        history = f"{history.rstrip('/')}/history/{quote(id)}"
    found = {
        "master": conf.get("spark.master", ""),
        "appName": about["name"],
        "applicationId": id,
        "deployMode": conf.get("spark.submit.deployMode", "client"),
        "userName": about["user"],
        "driverHost": conf.get("spark.driver.host"),
        "uiWebUrl": about.get("ui"),
        "proxyUrl": proxy,
        "historyUrl": history,
    }
    return {name: value for name, value in found.items() if value is not None}


def _script() -> openlineage.SourceCodeLocationFacet | None:
    path = Path(sys.argv[0]) if sys.argv and sys.argv[0] else None
    if path is None or path.suffix != ".py" or not path.is_file():
        return None
    return openlineage.SourceCodeLocationFacet(type="file", url=path.resolve().as_uri(), path=str(path))


def _program(path: str) -> openlineage.SourceCodeFacet | None:
    """The text of the program: its literals are in it, so it is told only where they may be."""
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError):
        return None
    return openlineage.SourceCodeFacet(language="PYTHON", source_code=text) if len(text) <= _LONGEST_PROGRAM else None


@lru_cache(1024)
def snake_case(text: str) -> str:
    """A name as jobs have it.

    >>> snake_case("InsertIntoHadoopFsRelationCommand"), snake_case("My App (daily)")
    ('insert_into_hadoop_fs_relation_command', 'my_app_daily')
    """
    out = ""
    for at, sign in enumerate(text):
        if sign.isupper() and at and (text[at - 1].islower() or text[at - 1].isdigit()):
            out += "_"
        out += sign.lower() if sign.isalnum() else "_"
    return "_".join(part for part in out.split("_") if part)
