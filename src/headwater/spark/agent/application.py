"""The application that is watched: its run, its job, and what all events of it have in common."""

import os
import sys
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from pyspark import SparkContext

from headwater.events import facets as openlineage
from headwater.events.event import Job, new_run_id
from headwater.spark.agent.options import AgentOptions

_VERSION = version("headwater")


@dataclass(frozen=True)
class Application:
    """One Spark application. Every run that the agent reports is a child of its run."""

    name: str
    id: str
    spark_version: str
    master: str
    user: str
    options: AgentOptions
    run_id: str = field(default_factory=new_run_id)

    @classmethod
    def of(cls, context: SparkContext, options: AgentOptions) -> "Application":
        """The application that a SparkContext belongs to."""
        name = str(options.job or context.appName)
        user = str(context._jsc.sc().sparkUser())
        return cls(name, str(context.applicationId), str(context.version), str(context.master), user, options)

    def job(
        self, suffix: str = "", *, kind: str, streaming: bool = False, facets: openlineage.Facets | None = None
    ) -> Job:
        """A job of this application; without a suffix, the application as a whole."""
        name = ".".join(part for part in (snake_case(self.name), suffix) if part)
        job_type = openlineage.JobTypeFacet(
            processing_type="STREAMING" if streaming else "BATCH", integration="SPARK", job_type=kind
        )
        shared = openlineage.by_key(job_type, self._owners(), self._tags())
        return Job(namespace=self.options.namespace, name=name, facets=shared | (facets or {}))

    @property
    def whole(self) -> Job:
        """The job that is the application."""
        return self.job(kind="APPLICATION", facets=openlineage.by_key(_script()))

    def run_facets(self) -> openlineage.Facets:
        """What is said of every run."""
        engine = openlineage.ProcessingEngineFacet(
            name="spark", version=self.spark_version, openlineage_adapter_version=_VERSION
        )
        details = openlineage.CustomFacet(values={"applicationId": self.id, "master": self.master, "user": self.user})
        return openlineage.by_key(engine, _environment(self.options.environment)) | {"headwater_spark": details}

    def parent(self) -> openlineage.ParentFacet:
        """The application as the parent of a run, with what started the application as the root."""
        run = openlineage.RunReference(run_id=self.run_id)
        job = openlineage.JobReference(namespace=self.options.namespace, name=snake_case(self.name))
        return openlineage.ParentFacet(run=run, job=job, root=self._root() or openlineage.Root(run=run, job=job))

    def grandparent(self) -> openlineage.ParentFacet | None:
        """What started the application, as its parent."""
        root = self._root()
        return None if root is None else openlineage.ParentFacet(run=root.run, job=root.job, root=root)

    def _root(self) -> openlineage.Root | None:
        if self.options.parent_run is None:
            return None
        namespace, _, name = (self.options.parent_job or "default/unknown").rpartition("/")
        return openlineage.Root(
            run=openlineage.RunReference(run_id=self.options.parent_run),
            job=openlineage.JobReference(namespace=namespace or "default", name=name),
        )

    def _owners(self) -> openlineage.JobOwnershipFacet | None:
        given = [text.rpartition(":") for text in _parts(self.options.owners)]
        owners = tuple(openlineage.Owner(name=name, type=kind or None) for kind, _, name in given)
        return openlineage.JobOwnershipFacet(owners=owners) if owners else None

    def _tags(self) -> openlineage.JobTagsFacet | None:
        given = [text.partition("=") for text in _parts(self.options.tags)]
        tags = tuple(openlineage.Tag(key=key, value=value or "true", source="headwater") for key, _, value in given)
        return openlineage.JobTagsFacet(tags=tags) if tags else None


def _environment(names: str) -> openlineage.EnvironmentFacet | None:
    """The variables that were asked for by name; none are reported unasked."""
    found = [
        openlineage.EnvironmentVariable(name=name, value=os.environ[name])
        for name in _parts(names)
        if name in os.environ
    ]
    return openlineage.EnvironmentFacet(environment_variables=tuple(found)) if found else None


def _script() -> openlineage.SourceCodeLocationFacet | None:
    path = Path(sys.argv[0]) if sys.argv and sys.argv[0] else None
    if path is None or path.suffix != ".py" or not path.is_file():
        return None
    return openlineage.SourceCodeLocationFacet(type="file", url=path.resolve().as_uri(), path=str(path))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


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
