"""Pictures and the page: how long a layout takes and how many lines cross, against dagre; how quick the page is in a
real browser; how many events a server takes in."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from _report import Report, arguments, cpu_seconds

from headwater.graph import GraphChange, GraphStore
from headwater.graph.facts import Facts, add_edge
from headwater.graph.tables import COLUMNS as COLUMNS_TABLE
from headwater.graph.tables import DATASETS
from headwater.model.edges import ColumnRef, Edge, Kind
from headwater.model.names import TableName
from headwater.view.diagram import Box, Diagram, End, Line, Port
from headwater.view.layout import box_size, lay_out, port_offset

COLUMNS = 8
CLIENTS = 8
DAGRE = """
const dagre = require("@dagrejs/dagre");
const input = JSON.parse(require("fs").readFileSync(0));
const graph = new dagre.graphlib.Graph();
graph.setGraph({rankdir: "LR", nodesep: 22, ranksep: 90});
graph.setDefaultEdgeLabel(() => ({}));
for (const [id, width, height] of input.nodes) graph.setNode(id, {width, height});
for (const [source, target, weight] of input.edges) graph.setEdge(source, target, {weight});
const start = process.cpuUsage();
dagre.layout(graph);
const used = process.cpuUsage(start);
const places = Object.fromEntries(graph.nodes().map((id) => {
  const node = graph.node(id);
  return [id, [node.x - node.width / 2, node.y - node.height / 2]];
}));
console.log(JSON.stringify({places, seconds: (used.user + used.system) / 1e6}));
"""


def estate(tables: int, *, local: bool, seed: int) -> Diagram:
    """Tables with columns, each made of one to three before it: of those just before it, or of any."""
    chance = random.Random(seed)
    ports = tuple(Port(f"c{number}", f"column_{number}") for number in range(COLUMNS))
    boxes = [Box(f"t{number}", f"shop.table_{number}", ports) for number in range(tables)]
    lines = []
    for number in range(max(2, tables // 20), tables):
        first = max(0, number - 12) if local else 0
        for parent in chance.sample(range(first, number), min(number - first, chance.choice((1, 1, 2)))):
            for _ in range(chance.choice((3, 4, 5))):
                source, target = chance.choice(ports).id, chance.choice(ports).id
                lines.append(Line(End(f"t{parent}", source), End(f"t{number}", target)))
    return Diagram(tuple(boxes), tuple(lines))


def crossings(diagram: Diagram, places: dict[str, tuple[float, float]]) -> int:
    """How many pairs of lines cross, each drawn straight from row to row."""
    boxes = {box.id: (box, box_size(box)[0]) for box in diagram.boxes}
    ends = []
    for line in diagram.lines:
        (source, width), (target, _) = boxes[line.source.box], boxes[line.target.box]
        (x0, y0), (x1, y1) = places[source.id], places[target.id]
        ends.append(
            (x0 + width, y0 + port_offset(source, line.source.port), x1, y1 + port_offset(target, line.target.port))
        )
    a = np.array(ends)
    count = 0
    for at in range(len(a) - 1):
        one, others = a[at], a[at + 1 :]
        d1 = _side(one[0], one[1], one[2], one[3], others[:, 0], others[:, 1])
        d2 = _side(one[0], one[1], one[2], one[3], others[:, 2], others[:, 3])
        d3 = _side(others[:, 0], others[:, 1], others[:, 2], others[:, 3], one[0], one[1])
        d4 = _side(others[:, 0], others[:, 1], others[:, 2], others[:, 3], one[2], one[3])
        count += int(np.count_nonzero((d1 * d2 < 0) & (d3 * d4 < 0)))
    return count


def _side(x0, y0, x1, y1, x, y):
    return np.sign((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0))


def dagre(diagram: Diagram, folder: Path) -> tuple[dict[str, tuple[float, float]], float] | None:
    """dagre's places and CPU seconds, None where there is no node."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return None
    if not (folder / "node_modules").exists():
        command = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(folder), "@dagrejs/dagre"]
        if subprocess.run(command, capture_output=True).returncode:
            return None
    weights: dict[tuple[str, str], int] = {}
    for line in diagram.lines:
        pair = (line.source.box, line.target.box)
        weights[pair] = weights.get(pair, 0) + 1
    nodes = [(box.id, *box_size(box)) for box in diagram.boxes]
    question = json.dumps({"nodes": nodes, "edges": [(*pair, many) for pair, many in weights.items()]})
    run = subprocess.run(
        ["node", "-e", DAGRE], input=question, capture_output=True, text=True, cwd=folder, check=True
    )
    answer = json.loads(run.stdout)
    return {name: tuple(place) for name, place in answer["places"].items()}, answer["seconds"]


def compare_layouts(report: Report, rows: list, *, quick: bool) -> None:
    sizes = (50, 100) if quick else (50, 100, 200, 500)
    ours_all = theirs_all = 0
    with tempfile.TemporaryDirectory() as folder:
        for tables in sizes:
            for local in (False, True):
                drawn = estate(tables, local=local, seed=tables)
                layout = lay_out(drawn)
                seconds = cpu_seconds(lambda drawn=drawn: lay_out(drawn))
                ours = crossings(drawn, {name: (place.x, place.y) for name, place in layout.places.items()})
                peer = dagre(drawn, Path(folder))
                name = f"layout, {tables} tables, {len(drawn.lines)} lines, {'local' if local else 'random'}"
                if peer is None:
                    rows.append((name, f"{seconds * 1000:.0f} ms", f"{ours:,} crossings", "no node: dagre not run"))
                    continue
                places, theirs_seconds = peer
                theirs = crossings(drawn, places)
                ours_all, theirs_all = ours_all + ours, theirs_all + theirs
                told = f"dagre {theirs_seconds * 1000:.0f} ms, {theirs:,} crossings"
                rows.append((name, f"{seconds * 1000:.0f} ms", f"{ours:,} crossings", told))
    if theirs_all:
        report.ratios["crossings of dagre / ours"] = theirs_all / max(1, ours_all)
        report.floor("crossings of dagre / ours", theirs_all / max(1, ours_all), 1.0)
    large = estate(1_000, local=True, seed=1)
    seconds = cpu_seconds(lambda: lay_out(large))
    rows.append((f"layout, 1000 tables, {len(large.lines)} lines", f"{seconds * 1000:.0f} ms", "", ""))
    report.floor("layout of 1000 tables, ms", seconds * 1000, 100, most=True)


# ---------------------------------------------------------------------------------------------------- the page


def fill(lake: str, tables: int) -> None:
    """A graph of some tables, and one more beside them."""
    facts = Facts()
    drawn = estate(tables, local=True, seed=7)
    chained = [Line(End(f"t{number}", "c1"), End(f"t{number + 1}", "c1")) for number in range(0, tables - 1, 2)]
    for line in (*drawn.lines, *chained):
        ends = [ColumnRef(TableName.of("db", end.box), end.port) for end in (line.source, line.target)]
        add_edge(facts, Edge(*ends, Kind.IDENTITY), "s")
    last = ColumnRef(TableName.of("db", f"t{tables - 1}"), "c0")
    add_edge(facts, Edge(last, ColumnRef(TableName.of("other", "extra"), "c0"), Kind.IDENTITY), "s")
    GraphStore(lake).apply(GraphChange(facts, record={"kind": "harvest"}))


@contextmanager
def serving(lake: str):
    command = [sys.executable, "-m", "headwater", "serve", "--port", "0", "--warehouse", lake]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            url = next(word for word in server.stderr.readline().split() if word.startswith("http"))
            yield server, url
        finally:
            server.terminate()


REGIONS, TABLES, WIDE = 40, 5_000, 12  # of the large estate: databases, tables, columns of each


def big_estate(lake: str) -> None:
    """Fill a warehouse with 5,000 tables of 12 columns in 40 databases; each is made of one to three that come before
    it, most of them near, some of the first, which many others use."""
    chance = random.Random(7)
    facts = Facts()
    names = [TableName.of(f"db_{number * REGIONS // TABLES:02}", f"table_{number:04}") for number in range(TABLES)]
    for number, name in enumerate(names):
        for column in range(WIDE):
            facts.add(COLUMNS_TABLE, dataset=str(name), column=f"c{column}", position=column, type="INT")
        facts.add(DATASETS, dataset=str(name), kind="table")
        parents = {max(0, number - chance.randint(1, 300)) for _ in range(chance.choice((1, 1, 2, 3)))}
        parents |= {chance.randint(0, 20)} if number % 9 == 0 else set()
        for parent in sorted(parents - {number}) if number > 20 else ():
            for column in range(WIDE):
                source = ColumnRef(names[parent], f"c{chance.randint(0, WIDE - 1)}")
                edge = Edge(source, ColumnRef(name, f"c{column}"), Kind.TRANSFORMATION, f"c{column} + 1")
                add_edge(facts, edge, f"sql/{name}.sql#0", file=f"sql/{name}.sql")
    GraphStore(lake).apply(GraphChange(facts, record={"kind": "harvest"}))


def measure_page(report: Report, rows: list) -> None:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    browser_path = next(filter(None, map(shutil.which, names)), None)
    if browser_path is None:
        rows.append(("the page", "", "", "no Chromium or Chrome: not measured"))
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as lake, sync_playwright() as playwright:
        fill(lake, 300)
        with serving(lake) as (_, url):
            browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
            visits = [_visit(browser, url) for _ in range(5)]
            ready, opened = (min(times) for times in zip(*visits))
            browser.close()
    rows.append(("page, 300 tables: until it answers", f"{ready * 1000:.0f} ms", "", ""))
    rows.append(("page, 300 tables: a table opened", f"{opened * 1000:.0f} ms", "", ""))
    report.floor("page of 300 tables interactive, s", ready, 2.0, most=True)
    report.floor("a table opened among 300, ms", opened * 1000, 300, most=True)
    with tempfile.TemporaryDirectory() as lake, sync_playwright() as playwright:
        big_estate(lake)
        with serving(lake) as (_, url):
            wait_until_warm(url)
            browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
            visits = [travel(browser, url) for _ in range(5)]
            browser.close()
    for what, floor, most, times in (
        ("map of 5,000 tables drawn, s", 1.5, True, [each["map"] for each in visits]),
        ("frames a second while the map is moved and zoomed", 40, False, [each["frames"] for each in visits]),
        ("a table of 5,000 opened, ms", 300, True, [each["table"] for each in visits]),
        ("a column locked among 60,000, ms", 300, True, [each["column"] for each in visits]),
        ("an edge opened among 5,000 tables, ms", 300, True, [each["edge"] for each in visits]),
        ("search in 60,000 columns, ms", 100, True, [each["search"] for each in visits]),
        ("search with a typing error in 60,000 columns, ms", 100, True, [each["typo"] for each in visits]),
    ):
        best = min(times) if most else max(times)
        rows.append((what, f"{best:.2f}" if best < 10 else f"{best:.0f}", "", ""))
        report.floor(what, best, floor, most=most)


def wait_until_warm(url: str) -> None:
    """Wait until the server has read the graph, as it does when it starts."""
    with urllib.request.urlopen(f"{url}api/v1/search?text=warm") as answer:
        answer.read()


_MOVE = """async () => {
  const stage = document.querySelector(".mapstage");
  const box = stage.getBoundingClientRect();
  const times = [];
  let last = performance.now();
  for (let step = 0; step < 120; step += 1) {
    const delta = step < 60 ? -40 : 40;
    const where = {clientX: box.left + box.width * 0.4, clientY: box.top + box.height * 0.5};
    stage.dispatchEvent(new WheelEvent("wheel", {deltaY: delta, bubbles: true, cancelable: true, ...where}));
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - last);
    last = performance.now();
  }
  return 1000 / (times.reduce((sum, each) => sum + each, 0) / times.length);
}"""
_UNTIL = """async ([path, parts, done]) => {
  const {go} = await import("/assets/place.js");
  const start = performance.now();
  go(path, parts);
  while (!document.querySelector(done)) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now() - start;
}"""
_ASK = """async (text) => {
  const {get} = await import("/assets/api.js");
  const start = performance.now();
  const found = await get("/search", {text, limit: 12});
  if (!found.length) throw new Error("nothing was found");
  return performance.now() - start;
}"""


def travel(browser, url: str) -> dict[str, float]:
    """Go from the map to a table, a column and an edge; how long each takes, and how fluid the map is."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    start = time.perf_counter()
    page.goto(f"{url}map")
    page.wait_for_function(
        "() => document.querySelector('.map .list li') && document.querySelector('.mapstage canvas')"
    )
    page.evaluate("() => new Promise(requestAnimationFrame)")
    found = {"map": time.perf_counter() - start, "frames": page.evaluate(_MOVE)}
    name = "db_20.table_2600"
    table = {"select": f"1+{name}+1"}
    found["table"] = page.evaluate(_UNTIL, ["/graph", table, f"[id='box-{name}']"])
    found["column"] = page.evaluate(
        _UNTIL, ["/graph", {**table, "level": "column", "lock": f"{name}.c3"}, ".hw.locked .port.on"]
    )
    source = page.evaluate("() => document.querySelector('.stage .port.on').id.slice(5).split('-')[0]")
    ends = {"from": source, "to": name, "from_column": None, "to_column": "c3"}
    found["edge"] = page.evaluate(_UNTIL, ["/graph", {**table, **ends}, ".panel .edges, .panel .notice.empty"])
    found["search"] = min(page.evaluate(_ASK, text) for text in ("table_26 c3", "db_2 2600", "c11"))
    found["typo"] = page.evaluate(_ASK, "tabel_2600")
    context.close()
    return found


_OPEN = """async () => {
  const {change} = await import("/assets/place.js");
  const start = performance.now();
  change({open: ["db.t299>"]});
  while (!document.getElementById("box-other.extra")) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return (performance.now() - start) / 1000;
}"""


def _visit(browser, url: str) -> tuple[float, float]:
    """Seconds until 300 tables are there to be touched, and until one that is opened is there too."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    start = time.perf_counter()
    page.goto(f"{url}graph?select=db.*&level=table")
    page.wait_for_function("() => document.querySelectorAll('.stage .box').length >= 300")
    ready = time.perf_counter() - start
    opened = page.evaluate(_OPEN)
    context.close()
    return ready, opened


# ------------------------------------------------------------------------------------------------------ events


def _cpu_of(process: int) -> float:
    """The CPU seconds of another process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_events(report: Report, rows: list, *, many: int) -> None:
    """OpenLineage clients in eight threads post events one by one; the server is killed; nothing is missing."""
    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import Dataset, Job, Run, RunEvent, RunState
    from openlineage.client.transport.http import HttpConfig, HttpTransport

    from headwater.graph.tables import RUNS

    with tempfile.TemporaryDirectory() as lake:
        with serving(lake) as (server, url):
            output = [Dataset(namespace="headwater:/lake", name="a.b")]

            def post(worker: int) -> None:
                client = OpenLineageClient(transport=HttpTransport(HttpConfig(url=url)))
                for number in range(worker, many, CLIENTS):
                    run = Run(runId=str(uuid.UUID(int=number + 1)))
                    job = Job(namespace="bench", name=f"job_{number % 100}")
                    event = RunEvent(
                        eventTime="2026-11-01T10:00:00Z",
                        producer="urn:bench",
                        run=run,
                        job=job,
                        eventType=RunState.COMPLETE,
                        outputs=output,
                    )
                    client.emit(event)
                client.close()

            post(many - 1)  # the first event makes the tables
            start, used = time.perf_counter(), time.process_time() + _cpu_of(server.pid)
            with ThreadPoolExecutor(CLIENTS) as pool:
                list(pool.map(post, range(CLIENTS)))
            rate = many / (time.perf_counter() - start)
            core = many / (time.process_time() + _cpu_of(server.pid) - used)
            server.kill()
            server.wait()
        with serving(lake):
            store, kept, end = GraphStore(lake), 0, time.monotonic() + 120
            while kept < many and time.monotonic() < end:
                time.sleep(0.5)
                kept = store.state().read(RUNS, ["run"]).num_rows if store.exists else 0
    rows.append(
        (f"{many:,} events, {CLIENTS} clients", f"{rate:,.0f} a second", f"{many - kept} lost after a kill", "")
    )
    rows.append(("the same, client and server on one core", f"{core:,.0f} a second", "", "by CPU time"))
    report.floor("events a second on one core", core, 300)
    report.floor("events lost after kill -9", many - kept, 0, most=True)


def main() -> None:
    options = arguments(__doc__ or "")
    report = Report("view")
    rows: list[tuple[object, ...]] = []
    compare_layouts(report, rows, quick=options.quick)
    measure_page(report, rows)
    measure_events(report, rows, many=1_000 if options.quick else 10_000)
    report.finish(("what", "ours", "", "peer"), rows)


if __name__ == "__main__":
    main()
