"""What the tables of a soak should hold, computed without Headwater, and whether they do.

From the journals it knows what was intended and what was acknowledged; from the witness, in which order commits came;
from its own decoder, what the files say; from `ours.json`, what Headwater's reader says.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.soak.decoder import BrokenError, SpecTable
from tests.soak.stage import Stage, digest, read_journal
from tests.soak.witness import tables

KEYED = ("lake/db.keyed", "lake/db.sparked", "small/db.keyed", "s3/db.keyed")
APPENDED = ("lake/db.log", "lake/db.feed")
STATES = {"done", "refused", "left"}
Facts = dict[str, Any]


@dataclass
class Verdict:
    """What was found wrong, and how much was looked at."""

    broken: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def need(self, truth: object, what: str) -> None:
        self.counts["checks"] += 1
        if not truth:
            self.broken.append(what)


@dataclass
class Evidence:
    """The journals, put together."""

    commits: dict[tuple[str, str, str], Facts]  # (table, user, commit id) → the intention
    outcome: dict[tuple[str, str, str], Facts]  # … → what became of it
    reads: dict[str, list[Facts]]
    order: dict[str, dict[int, Facts]]  # table → snapshot id → what the witness saw
    by_actor: dict[str, list[Facts]]


def gather(stage: Stage) -> Evidence:
    found = Evidence({}, {}, defaultdict(list), defaultdict(dict), {})
    for path in sorted((stage.root / "journals").glob("*.ndjson")):
        lines = list(read_journal(path))
        found.by_actor[path.stem] = lines
        epoch = path.stem.rpartition("-")[2]
        if path.stem.startswith("cloud") and epoch.isdigit() and int(epoch) != stage.epoch:
            continue  # what moto held then is gone
        key: tuple[str, str, str] | None = None
        for line in lines:
            if line["kind"] == "snapshot":
                table, _, of = line["table"].partition("@")
                if of in ("", str(stage.epoch)):
                    found.order[table][line["id"]] = line
            elif line["kind"] == "read" and "digest" in line:
                found.reads[line["table"]].append(line)
            elif line["kind"] == "intend" and "user" in line:
                key = (line["table"], line["user"], str(line["turn"]))
                found.commits[key] = line
            elif line["kind"] in STATES and key is not None and key[2] == str(line["turn"]):
                found.outcome[key] = line
    return found


def check(stage: Stage) -> Verdict:
    """Look at everything; nothing may run meanwhile."""
    verdict, evidence = Verdict(), gather(stage)
    ours = json.loads((stage.root / "ours.json").read_text())
    for actor, lines in evidence.by_actor.items():
        for line in lines:
            if line["kind"] in ("crash", "broken"):
                verdict.broken.append(f"{actor}: {line['what']}")
    spec = dict(tables(stage))
    for name, table in spec.items():
        _guarded(verdict, name, lambda name=name, table=table: check_log(verdict, evidence, name, table))
        _guarded(verdict, name, lambda name=name, table=table: check_files(verdict, name, table))
    check_once(verdict, evidence)
    models = {name: list(replay(evidence, name)) for name in KEYED + APPENDED}
    for name, states in models.items():
        _guarded(
            verdict, name, lambda name=name, states=states: check_content(verdict, evidence, name, states, spec, ours)
        )
    _guarded(verdict, "rows", lambda: check_rows(verdict, evidence, spec["lake/db.rows"], ours))
    _guarded(verdict, "counter", lambda: check_counter(verdict, evidence, ours))
    _guarded(verdict, "totals", lambda: check_totals(verdict, evidence, models["lake/db.keyed"], ours))
    _guarded(verdict, "stream", lambda: check_stream(verdict, evidence, spec))
    _guarded(verdict, "graph", lambda: check_graph(verdict, evidence, spec, ours))
    return verdict


def _guarded(verdict: Verdict, name: str, look: Any) -> None:
    try:
        look()
    except (BrokenError, OSError, KeyError, ValueError, IndexError) as err:
        verdict.broken.append(f"{name}: {type(err).__name__}: {err}")


# ------------------------------------------------------------------------------------------------- the log


def check_log(verdict: Verdict, evidence: Evidence, name: str, table: SpecTable) -> None:
    """Ids have no gaps, times do not go back, and what is kept is what was seen."""
    seen = evidence.order[name]
    ids = sorted(seen)
    verdict.need(
        ids == list(range(1, len(ids) + 1)), f"{name}: the witness saw {len(ids)} snapshots, up to {ids[-1:]}"
    )
    times = [seen[id]["time"] for id in ids]
    verdict.need(times == sorted(times), f"{name}: the times of snapshots go back")
    kept = table.snapshot_ids()
    verdict.need(kept == list(range(kept[0], kept[-1] + 1)), f"{name}: the kept snapshots {kept} have gaps")
    verdict.need(kept[-1] == ids[-1], f"{name}: snapshot {ids[-1]} was seen, {kept[-1]} is the last")
    for id in kept:
        snapshot = table.snapshot(id)
        same = (snapshot["commitUser"], snapshot["commitId"]) == (seen[id]["user"], seen[id]["commit"])
        verdict.need(same, f"{name}: snapshot {id} has changed")
    for id in ids:
        for each in seen[id]["inputs"]:
            other = f"lake/{each['dataset'].rpartition('/')[2]}"
            if each.get("snapshotId") is not None and other in evidence.order:
                there = each["snapshotId"] in evidence.order[other]
                verdict.need(there, f"{name}@{id} was made from {other}@{each['snapshotId']}, which there never was")
                verdict.counts["origins"] += 1
    verdict.counts["snapshots"] += len(ids)


def check_files(verdict: Verdict, name: str, table: SpecTable) -> None:
    """Everything that a kept snapshot needs is there; nothing else is, after the clean-up."""
    wanted: set[str] = set()
    for id in table.snapshot_ids():
        wanted |= table.paths(table.snapshot(id))
    there = {*table.store.list(f"{table.folder}/data"), *table.store.list(f"{table.folder}/manifest")}
    there = {path for path in there if "/.unpublished-" not in path}
    verdict.need(wanted <= there, f"{name}: missing {sorted(wanted - there)[:5]}")
    verdict.need(there <= wanted, f"{name}: {len(there - wanted)} orphans, as {sorted(there - wanted)[:3]}")
    verdict.counts["files"] += len(there)


def check_once(verdict: Verdict, evidence: Evidence) -> None:
    """Acknowledged is there once, refused is not there, unknown is there once at the most."""
    landed: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for table, seen in evidence.order.items():
        for id, line in seen.items():
            landed[table, line["user"], line["commit"]].append(id)
    for key, intent in evidence.commits.items():
        ids, outcome = landed.get(key, []), evidence.outcome.get(key)
        state = outcome["kind"] if outcome else "unknown"
        verdict.counts[state] += 1
        verdict.need(len(ids) <= 1, f"{key} landed {len(ids)} times: {ids}")
        if state == "done":
            told = outcome.get("snapshot", ids[0] if ids else None) if outcome else None
            verdict.need(ids == [told], f"{key} was acknowledged as {told}, and landed as {ids}")
        if state == "refused":
            verdict.need(not ids, f"{key} was refused, and landed as {ids}: {outcome} {intent['turn']}")


# ---------------------------------------------------------------------------------------------- the contents


def replay(evidence: Evidence, name: str) -> Iterator[tuple[int, Any]]:
    """The contents after each snapshot: rows by key as values by field id, or a list of rows."""
    keyed: dict[int, dict[int, Any]] = {}
    plain: list[tuple[int, str, int, int]] = []
    for id in sorted(evidence.order[name]):
        line = evidence.order[name][id]
        intent = evidence.commits.get((name, line["user"], line["commit"]))
        if intent is not None and "rows" in intent:
            ids = intent["ids"]
            for row in intent["rows"]:
                keyed[row["k"]] = {ids[column]: value for column, value in row.items()}
            for key in intent["deletes"]:
                keyed.pop(key, None)
        elif intent is not None:
            turn = intent["turn"]
            plain += [(turn % 3, line["user"], turn, at) for at in range(intent["count"])]
        elif line["operation"] != "COMPACT":
            yield id, f"snapshot {id} of {name} was made by {line['user']}, who has no journal"
            return
        yield id, dict(keyed) if name in KEYED else list(plain)


def core(state: Any) -> list[dict[str, Any]]:
    """A state as readers note it."""
    if isinstance(state, dict):
        return [{"k": row[0], "w": row[1], "n": row[2]} for row in state.values()]
    return [dict(zip(("p", "w", "n", "i"), row)) for row in state]


def check_content(
    verdict: Verdict, evidence: Evidence, name: str, states: list[tuple[int, Any]], spec: Any, ours: Facts
) -> None:
    """What readers saw at each snapshot, what the files say now, and what our reader says now, is the model's."""
    for _, state in states:
        if isinstance(state, str):
            verdict.broken.append(state)
            return
    by_id = dict(states)
    digests: dict[int, str] = {}
    for read in evidence.reads[name]:
        id = read["snapshot"]
        verdict.need(id in by_id, f"{name}: somebody read snapshot {id}, which there never was")
        if id in by_id:
            digests.setdefault(id, digest(core(by_id[id])))
            verdict.need(
                read["digest"] == digests[id], f"{name}: what was read at snapshot {id} is not what was written"
            )
        verdict.counts["reads"] += 1
    last, table = states[-1], spec[name]
    snapshot = table.snapshot(last[0])
    if name in KEYED:
        schemas = table.schemas()
        fields = schemas[max(schemas)]["fields"]
        wanted = [{str(f["id"]): row.get(f["id"], f.get("defaultValue")) for f in fields} for row in last[1].values()]
        found = [{str(id): value for id, value in row.items()} for row in table.rows(snapshot, ("k",))]
    else:
        wanted = [dict(zip("0123", row)) for row in last[1]]
        found = [{str(id): value for id, value in row.items()} for row in table.rows(snapshot, ())]
    verdict.counts["rows"] += len(wanted)
    verdict.need(
        digest(found) == digest(wanted), f"{name}: the files do not hold what was written: {_apart(wanted, found)}"
    )
    reader = ours["tables"][name]
    verdict.need(
        digest(reader) == digest(wanted), f"{name}: our reader shows something else: {_apart(wanted, reader)}"
    )


def _apart(wanted: list[Facts], found: list[Facts]) -> str:
    left, right = ({json.dumps(row, sort_keys=True) for row in rows} for rows in (wanted, found))
    missing, extra = sorted(left - right)[:2], sorted(right - left)[:2]
    return f"{len(wanted)} wanted, {len(found)} found; missing {missing}, unexpected {extra}"


def check_rows(verdict: Verdict, evidence: Evidence, table: SpecTable, ours: Facts) -> None:
    """Rows put one by one: the last acknowledged, or one put after it that was under way when the writer died."""
    allowed: dict[int, set[int | None]] = defaultdict(lambda: {None})
    turn: Facts | None = None
    for line in [*evidence.by_actor["rows0"], {"kind": "end"}]:
        if line["kind"] == "done" and turn is not None:
            for key, gone in turn["puts"]:
                allowed[key] = {None if gone else turn["turn"]}
            turn = None
        elif turn is not None:  # killed in the middle: any beginning of it may be there
            for key, gone in turn["puts"]:
                allowed[key] = allowed[key] | {None if gone else turn["turn"]}
            turn = None
        if line["kind"] == "intend":
            turn = line
    found = {row[0]: row[2] for row in table.rows(table.snapshot(table.snapshot_ids()[-1]), ("k",))}
    for key, values in allowed.items():
        verdict.need(found.get(key) in values, f"rows: key {key} is {found.get(key)}, not one of {values}")
    verdict.need(set(found) <= set(allowed), "rows: keys that nobody put")
    verdict.need({row["0"]: row["2"] for row in ours["tables"]["lake/db.rows"]} == found, "rows: our reader differs")


def _turns(evidence: Evidence, table: str) -> tuple[int, int]:
    """How many turns of SQL were acknowledged, and how many more may have happened."""
    done = open = 0
    for actor in ("sql0", "sql1"):
        last: Facts | None = None
        for line in evidence.by_actor.get(actor, []):
            if line["kind"] == "intend":
                open += last is not None
                last = line if line["table"] == table else None
            elif line["kind"] in ("done", "refused"):
                done += last is not None and line["kind"] == "done"
                last = None
        open += last is not None
    return done, open


def check_counter(verdict: Verdict, evidence: Evidence, ours: Facts) -> None:
    """No update is lost."""
    updates = sum(line["operation"] == "UPDATE" for line in evidence.order["lake/db.counter"].values())
    done, open = _turns(evidence, "lake/db.counter")
    (row,) = ours["tables"]["lake/db.counter"]
    verdict.need(row["2"] == updates, f"counter: {updates} updates came to {row['2']}")
    verdict.need(done <= updates <= done + open, f"counter: {done} acknowledged, {open} unknown, {updates} landed")
    verdict.counts["updates"] += updates


def check_totals(verdict: Verdict, evidence: Evidence, states: list[tuple[int, Any]], ours: Facts) -> None:
    """A snapshot's origin is true: its numbers are those of the very snapshot it says it was made from."""
    by_id = dict(states)
    wanted: Counter[tuple[int, int | None]] = Counter()
    for id, line in evidence.order["lake/db.totals"].items():
        if line["operation"] == "INSERT":
            (pinned,) = [each.get("snapshotId") for each in line["inputs"] if each["dataset"].endswith("db.keyed")]
            state = by_id.get(pinned, {})
            wanted[len(state), sum(row[2] for row in state.values()) if state else None] += 1
            verdict.need(pinned is None or pinned in by_id, f"totals@{id} was made from keyed@{pinned}")
    found = Counter((row["1"], row["2"]) for row in ours["tables"]["lake/db.totals"])
    verdict.need(wanted == found, f"totals: origins say {wanted - found}, rows say {found - wanted}")
    done, open = _turns(evidence, "lake/db.totals")
    verdict.need(
        done <= found.total() <= done + open, f"totals: {done} acknowledged, {open} unknown, {found.total()} landed"
    )
    turns = Counter(row["0"] for row in ours["tables"]["lake/db.totals"])
    verdict.need(max(turns.values(), default=1) == 1, "totals: a turn is there twice")
    verdict.counts["statements"] += found.total()


def check_stream(verdict: Verdict, evidence: Evidence, spec: dict[str, SpecTable]) -> None:
    """The stream has carried every row once."""
    feed, drain = ([] for _ in range(2))
    for rows, name in ((feed, "lake/db.feed"), (drain, "lake/db.drain")):
        table = spec.get(name)
        if table is not None and table.snapshot_ids():
            rows += [
                {str(id): value for id, value in row.items()}
                for row in table.rows(table.snapshot(table.snapshot_ids()[-1]), ())
            ]
    verdict.need(digest(feed) == digest(drain), f"stream: {_apart(feed, drain)}")
    verdict.counts["streamed"] += len(drain)
    batches = [
        int(line["commit"])
        for _, line in sorted(evidence.order["lake/db.drain"].items())
        if line["user"].startswith("stream-")
    ]
    verdict.need(batches == sorted(set(batches)), f"stream: batches came as {batches}")


def check_graph(verdict: Verdict, evidence: Evidence, spec: dict[str, SpecTable], ours: Facts) -> None:
    """Every acknowledged event is in the graph, by files and reader; lineage is that of a fresh harvest."""
    acknowledged: set[str] = set()
    turn: Facts | None = None
    for line in evidence.by_actor["client"]:
        if line["kind"] == "intend":
            turn = line
        elif line["kind"] == "done" and turn is not None:
            acknowledged |= set(turn["runs"])
    if acknowledged:
        table = spec["lake/lineage.runs"]
        found = {row[0] for row in table.rows(table.snapshot(table.snapshot_ids()[-1]), ("run",))}
        verdict.need(acknowledged <= found, f"graph: {len(acknowledged - found)} acknowledged events are not there")
        verdict.need(acknowledged <= set(ours["runs"]), "graph: our reader misses acknowledged events")
    verdict.counts["events"] += len(acknowledged)
    for name, rows in ours["graph"].items():
        verdict.need(
            rows == ours["fresh"][name],
            f"graph: {name} differs from a fresh harvest: {_apart(ours['fresh'][name], rows)}",
        )
