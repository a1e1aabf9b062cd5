"""Many processes on one table: each commits, notes what was acknowledged, and the sum is compared.

Run by hand for more than the tests do: `python tests/lake/tables/writers.py LOCATION PROCESSES COMMITS`.
"""

import json
import subprocess
import sys
import time

from headwater import Warehouse
from headwater.errors import CommitConflictError

TABLE = "w.t"


def begin(location, options=None):
    warehouse = Warehouse(location, options)
    warehouse.create_database("w")
    columns = {"k": "BIGINT", "turn": "BIGINT", "writer": "BIGINT"}
    return warehouse.create_table(TABLE, columns, primary_key="k", options={"bucket": "2"})


def write(location, me, commits, options):
    """Each commit writes a row of its own and the shared row 0, and prints what was acknowledged."""
    table = Warehouse(location, options).table(TABLE)
    for turn in range(commits):
        row = (1 + me * 1_000_000 + turn, turn, me)
        snapshot = table.write([row, (0, turn, me)], commit_user=f"writer-{me}", commit_id=str(turn))
        print(json.dumps([snapshot.snapshot_id, *row]), flush=True)
        if me == 0 and turn % 10 == 9:
            try:
                table.compact(full=turn % 20 == 19)
            except CommitConflictError as err:  # others were faster, again and again: nothing is lost
                print(err, file=sys.stderr)


def start(location, me, commits, options=None):
    command = [sys.executable, __file__, str(location), str(me), str(commits), json.dumps(options or {})]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def run(table, location, processes, commits, options=None):
    """Run the writers, read all the while, and hold the outcome against what was acknowledged; returns numbers."""
    begun = time.perf_counter()
    writers = [start(location, me, commits, options) for me in range(processes)]
    reads, least = 0, 0
    while any(writer.poll() is None for writer in writers):
        rows = table.to_arrow().to_pylist()
        assert len({row["k"] for row in rows}) == len(rows)
        assert len(rows) >= least, "a commit that was seen is gone"
        whole = {row["k"] for row in rows}
        for writer in range(processes):  # commits of one writer land in order, and each as a whole
            mine = sorted(k for k in whole if k > writer * 1_000_000 and k <= (writer + 1) * 1_000_000)
            assert mine == [1 + writer * 1_000_000 + turn for turn in range(len(mine))]
        reads, least = reads + 1, len(rows)
        time.sleep(0.05)
    seconds = time.perf_counter() - begun
    acknowledged = [json.loads(line) for writer in writers for line in writer.stdout.read().splitlines()]
    assert [writer.returncode for writer in writers] == [0] * processes
    for writer in writers:
        writer.stdout.close()
    check(table, acknowledged, processes * commits)
    return {"commits": len(acknowledged), "seconds": round(seconds, 1), "reads": reads}


def check(table, acknowledged, wanted):
    assert len(acknowledged) == wanted
    rows = {row["k"]: (row["turn"], row["writer"]) for row in table.to_arrow().to_pylist()}
    shared = rows.pop(0)
    assert rows == {k: (turn, me) for _, k, turn, me in acknowledged}
    ids = [id for id, *_ in acknowledged]
    assert len(set(ids)) == len(ids)
    last = max(acknowledged)
    assert shared == (last[2], last[3]), "the last commit wins"
    by_id = {id: (turn, me) for id, _, turn, me in acknowledged}
    for id in sorted(by_id)[:: max(1, len(by_id) // 20)]:  # and every snapshot shows its own commit on top
        assert tuple(table.get(0, at=id).values[1:]) == by_id[id]
    assert table.remove_orphans(older_than=-10).files == ()
    table.expire_snapshots(keep_max=1)
    assert table.remove_orphans(older_than=-10).files == ()
    assert {row["k"] for row in table.to_arrow().to_pylist()} == {0, *rows}


if __name__ == "__main__":
    if len(sys.argv) == 5:
        write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4]) or None)
    else:
        print(run(begin(sys.argv[1]), sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
