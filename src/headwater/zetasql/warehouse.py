"""The schemas of BigQuery's own tables, through its client library, google-cloud-bigquery."""

from typing import Any

from headwater.errors import EngineError
from headwater.extras import need
from headwater.lineage.bigquery import table_of_bigquery
from headwater.lineage.schema import SchemaTable
from headwater.model.names import TableName


class BigQueryTables:
    """The tables of BigQuery, each asked for once.

    `client` is a `google.cloud.bigquery.Client`; without one, the default project and credentials are used. A table
    that does not exist, or that may not be seen, is unknown; when BigQuery cannot be asked at all, an error says so.

    RAISES: MissingDependencyError without that library, EngineError without credentials.
    """

    def __init__(self, client: Any = None, *, dataset: str | None = None) -> None:
        library = need("google.cloud.bigquery")
        self._errors = need("google.api_core.exceptions")
        signing = need("google.auth.exceptions")
        try:
            self.client = library.Client() if client is None else client
        except (signing.GoogleAuthError, OSError) as err:  # OSError: no project is known
            raise EngineError(
                f"BigQuery does not know who asks: {str(err).splitlines()[0]}",
                hint="`gcloud auth application-default login`, or GOOGLE_APPLICATION_CREDENTIALS and a project",
            ) from err
        self.dataset = dataset
        self._known: dict[TableName, SchemaTable | None] = {}

    def table(self, name: TableName) -> SchemaTable | None:
        """The table of that name, with the project and dataset of this provider where the name has none."""
        if name not in self._known:
            self._known[name] = self._ask(name)
        return self._known[name]

    def _ask(self, name: TableName) -> SchemaTable | None:
        parts = name.parts
        if len(parts) == 1 and self.dataset:
            parts = (self.dataset, *parts)
        if len(parts) == 2:
            parts = (self.client.project, *parts)
        if len(parts) != 3:
            return None
        try:
            found = self.client.get_table(".".join(parts)).to_api_repr()
        except (self._errors.NotFound, self._errors.Forbidden):
            return None
        except self._errors.GoogleAPICallError as err:
            raise EngineError(f"BigQuery could not be asked for `{name}`: {err.message}") from err
        # under the name by which it was asked for: that is how the text will refer to it
        table = table_of_bigquery(found)
        return SchemaTable(catalog=name.catalog, schema=name.schema, name=name.name, columns=table.columns)
