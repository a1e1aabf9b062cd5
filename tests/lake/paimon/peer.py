"""Apache Paimon's own Python library, driven over pipes: it needs an older Arrow than we do, so an interpreter of its
own. One request a line on standard input, `{"do": …}`; one answer a line. Rows travel in Arrow files."""

import json
import sys

import pyarrow as pa
import pyarrow.ipc
from pypaimon import CatalogFactory, Schema


def load(path):
    with pa.OSFile(path) as source, pa.ipc.open_file(source) as file:
        return file.read_all()


def save(path, table):
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)


def create(catalog, name, rows, keys, partitions, options):
    catalog.create_database(name.split(".")[0], True)
    schema = Schema.from_pyarrow_schema(
        load(rows).schema, primary_keys=keys, partition_keys=partitions, options=options
    )
    catalog.create_table(name, schema, False)


def write(catalog, name, rows):
    builder = catalog.get_table(name).new_batch_write_builder()
    writer, commit = builder.new_write(), builder.new_commit()
    writer.write_arrow(load(rows))
    commit.commit(writer.prepare_commit())
    writer.close()
    commit.close()


def read(catalog, name, into, options):
    table = catalog.get_table(name)
    builder = (table.copy(options) if options else table).new_read_builder()
    save(into, builder.new_read().to_arrow(builder.new_scan().plan().splits()))


def alter(catalog, name, column, type):
    from pypaimon.schema.data_types import AtomicType
    from pypaimon.schema.schema_change import SchemaChange

    catalog.alter_table(name, [SchemaChange.add_column(column, AtomicType(type))], False)


def rename(catalog, name, column, new):
    from pypaimon.schema.schema_change import SchemaChange

    catalog.alter_table(name, [SchemaChange.rename_column(column, new)], False)


ACTIONS = {"create": create, "write": write, "read": read, "alter": alter, "rename": rename}

for line in sys.stdin:
    request = json.loads(line)
    action, warehouse = request.pop("do"), request.pop("warehouse")
    try:
        ACTIONS[action](CatalogFactory.create({"warehouse": warehouse}), **request)
        answer = {}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
