"""Plans as Databricks has them, in the form of our dump: tables of Unity Catalog, `dbfs:/` paths, its own commands.

Nobody ran them there: they are written by hand after the names of classes that its runtime is known to use. Photon
shows in physical plans only, which lineage does not read; there its scans carry no metrics that we know.
"""

import json

from headwater.spark.agent.replay import replayed_lines

RUN = "0190b5f0-0000-7000-8000-000000000001"
COLUMNS = {"orders": ["id", "amount", "shop"], "changes": ["id", "amount"], "totals": ["shop", "total"]}


def relation(table: str, first: int) -> dict:
    """A table of Delta Lake; its columns have the ids from `first` on."""
    parts = ["main", "sales", table]
    columns = [[name, "bigint"] for name in COLUMNS[table]]
    place = f"dbfs:/user/hive/warehouse/sales.db/{table}"
    index = "TahoeLogFileIndexWithCloudFetch"
    files = {"kind": "HadoopFsRelation", "paths": [place], "format": "DeltaParquetFileFormat", "index": index}
    catalog = {"table": parts, "type": "MANAGED", "provider": "delta", "location": place, "schema": columns}
    fields = {"relation": files, "catalogTable": catalog}
    output = [[first + at, *column] for at, column in enumerate(columns)]
    return {"class": "LogicalRelation", "children": [], "fields": fields, "output": output}


def live(version: int) -> dict:
    """A relation of Delta Lake in the JVM, as far as it is asked."""
    index = {"class": "TahoeLogFileIndexWithCloudFetch", "getSnapshot": {"class": "Snapshot", "version": version}}
    return {"class": "LogicalRelation", "relation": {"class": "HadoopFsRelation", "location": index}}


def node(name: str, children: tuple[int, ...] = (), **fields: object) -> dict:
    return {"class": name, "children": list(children), "fields": fields}


def completed(*nodes: dict) -> dict:
    """The last event of a run whose plan has these nodes, the root first."""
    outputs = {str(at): each.pop("output") for at, each in enumerate(nodes) if "output" in each}
    plan = {"nodes": list(nodes), "outputs": outputs, "texts": [], "truncated": False}
    nothing_set = {"class": "RuntimeConfig", "get": {"by": {}}}
    beside = {
        "plan": plan,
        "live": {number: live(7) for number in outputs},
        "session": {"class": "SparkSession", "sessionUUID": "s", "conf": nothing_set},
    }
    application = {"name": "job", "id": "app-1", "user": "u", "version": "4.0", "run": RUN, "time": 1, "conf": {}}
    start = {"kind": "start", "id": 1, "root": 1, "time": 2, **beside}
    end = {"kind": "end", "id": 1, "root": 1, "time": 3, "measures": [], **beside}
    said = {"application": application, "run": RUN, "happenings": [start, end]}
    events = [json.loads(line) for line in replayed_lines(json.dumps(said).encode())]
    assert [each["eventType"] for each in events] == ["START", "COMPLETE"]
    return events[-1]


def lineage_of(event: dict) -> dict[str, set[tuple[str, str, str]]]:
    """The columns that each column of the output is made of, and how."""
    (output,) = event["outputs"]
    found: dict[str, set[tuple[str, str, str]]] = {}
    for name, made in output["facets"]["columnLineage"]["fields"].items():
        ways = [(each, way) for each in made["inputFields"] for way in each["transformations"]]
        found[name] = {(each["name"], each["field"], way["subtype"]) for each, way in ways}
    return found


def test_an_append_to_a_table_of_unity_catalog():
    total = ["=", 21, "total", ["AggregateExpression", "sum", ["Sum", "sum", 2]]]
    event = completed(
        node("AppendData", (2,), table={"plan": 1}, query={"plan": 2}),
        relation("totals", 11),
        node("Aggregate", (3,), groupingExpressions=[3], aggregateExpressions=[3, total])
        | {"output": [[3, "shop", "bigint"], [21, "total", "bigint"]]},
        relation("orders", 1),
    )
    (read,), (written,) = event["inputs"], event["outputs"]
    assert (read["namespace"], read["name"]) == ("dbfs", "/user/hive/warehouse/sales.db/orders")
    assert (written["namespace"], written["name"]) == ("dbfs", "/user/hive/warehouse/sales.db/totals")
    link = {"namespace": "main", "name": "sales.orders", "type": "TABLE"}
    assert [{name: each[name] for name in link} for each in read["facets"]["symlinks"]["identifiers"]] == [link]
    assert read["facets"]["version"]["datasetVersion"] == "7"
    assert read["facets"]["catalog"]["name"] == "main"
    place = "/user/hive/warehouse/sales.db/orders"
    made = lineage_of(event)
    assert (place, "shop", "IDENTITY") in made["shop"]
    assert (place, "amount", "AGGREGATION") in made["total"]


def test_a_merge_by_its_own_command():
    clause = ["DeltaMergeIntoMatchedUpdateClause", "clause", ["DeltaMergeAction", "action", 12, {"path": ["amount"]}]]
    event = completed(
        node(
            "MergeIntoCommandEdge",
            source={"plan": 1},
            target={"plan": 2},
            condition=["EqualTo", "=", 1, 11],
            matchedClauses=[clause],
        ),
        relation("changes", 11),
        relation("orders", 1),
    )
    assert [each["name"].rpartition("/")[2] for each in event["outputs"]] == ["orders"]
    assert [each["name"].rpartition("/")[2] for each in event["inputs"]] == ["changes"]
    assert ("/user/hive/warehouse/sales.db/changes", "amount", "IDENTITY") in lineage_of(event)["amount"]
