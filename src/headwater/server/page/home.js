// Where people arrive: the map of what there is, what changed, and what needs somebody.

import { get } from "./api.js";
import { breakable, fill, h, notice, problem } from "./dom.js";
import { ago, count, counted } from "./format.js";
import { openPlace } from "./map.js";
import { MapCanvas } from "./mapcanvas.js";
import { Ground } from "./mapground.js";
import { around, query } from "./place.js";

/** @returns {import("./main.js").View} */
export function homeView() {
  const element = h("div.page.home", {}, notice("loading", "Reading the graph"));
  /** @type {MapCanvas | null} */
  let canvas = null;
  const load = async () => {
    try {
      const [overview, { states }, answer] = await Promise.all([get("/overview"), get("/states"), get("/map")]);
      const wide = window.innerWidth > 760;
      const ground = new Ground(answer, { width: Math.min(1480, element.clientWidth - 64) - (wide ? 420 : 0), height: Math.min(640, Math.max(300, window.innerHeight * 0.52)) });
      canvas?.close();
      canvas = new MapCanvas(ground, { onChoose: (place) => openPlace(ground, place) });
      fill(element, overview.tables ? cockpit(overview, states, canvas) : welcome());
      canvas.onResize();
    } catch (error) {
      fill(element, unread(error));
    }
  };
  load();
  return { element, refreshed: load, closed: () => canvas?.close() };
}

/**
 * What stands where the graph could not be read: the first steps, if there is none.
 * @param {any} error
 */
export function unread(error) {
  return error.code === "not-found" && !query().has("at") ? welcome() : problem(error);
}

/** The first steps, for a warehouse that has no lineage yet. */
export function welcome() {
  const steps = [
    ["Read SQL files", "headwater harvest models/ --dialect snowflake"],
    ["Attach a Spark job", "headwater spark-run job.py"],
    ["Post events", `curl -H 'Content-Type: application/json' -d @event.json ${window.location.origin}/api/v1/lineage`],
  ];
  return notice(
    "empty",
    "No lineage here yet",
    h("p", {}, "The page follows by itself as soon as there is some."),
    h("ol.steps", {}, steps.map(([what, command]) => h("li", {}, h("span", {}, what), h("code", {}, command)))),
    h("p", {}, h("a.button", { href: "/play", "data-link": "" }, "Paste SQL, see its lineage")),
  );
}

/**
 * @param {any} overview
 * @param {any[]} states
 * @param {MapCanvas} canvas
 */
function cockpit(overview, states, canvas) {
  const last = states[states.length - 1];
  return [
    h("div.lead", {},
      h("h1", {}, "Where does it come from?"),
      h("p", {}, `${counted(overview.tables, "table")} with ${counted(overview.columns, "column")} in ${counted(overview.regions, "region")}. Latest change ${ago(last?.ended)}, by ${last?.kind ?? "unknown"}.`)),
    h("div.cockpit", {},
      h("section.card.wide", {}, h("h2", {}, "What is here", h("a", { href: "/map", "data-link": "" }, "Open the map")), canvas.stage),
      h("div.side", {}, changedCard(states), attentionCard()),
      h("section.card.busiest", {}, h("h2", {}, "Most used", h("span.faint", {}, "made of → used by")),
        h("ul.datasets", {}, overview.busiest.slice(0, 10).map(tableLink)))),
  ];
}

/** @param {{name: string, kind: string, upstream: number, downstream: number}} each */
function tableLink(each) {
  return h("li", {}, h("a", { href: `/graph?select=${encodeURIComponent(around(each.name))}`, "data-link": "" },
    h(`span.dot.${/^[a-z]+$/.test(each.kind) ? each.kind : "other"}`), h("span.name", {}, breakable(each.name)),
    h("span.faint", { title: "made of → used by" }, `${count(each.upstream)} → ${count(each.downstream)}`)));
}

/** @param {any[]} states */
function changedCard(states) {
  const body = h("div", {}, h("p.faint", {}, "Reading"));
  get("/changes").then((answer) => fill(body, changed(answer, states))).catch((error) => fill(body, problem(error)));
  return h("section.card", {}, h("h2", {}, "Since yesterday"), body);
}

/**
 * @param {any} answer
 * @param {any[]} states
 */
function changed(answer, states) {
  if (!answer.states) return h("p.faint", {}, "Nothing has changed.");
  const link = (/** @type {string} */ name) => h("li", {}, h("a", { href: graphSince(name, answer.since), "data-link": "" }, breakable(name)));
  if (answer.since === null) return h("p", {}, `${counted(answer.states, "change")}; nothing so old is kept to compare with.`, states.length > 1 && " The timeline of a table shows each.");
  return h("div", {},
    h("p", {}, h("b.added", {}, `+${count(answer.added)}`), " ", h("b.removed", {}, `−${count(answer.removed)}`), " ", h("b.changed", {}, `~${count(answer.changed)}`), ` edges, in ${counted(answer.states, "change")}`),
    answer.new_tables.length > 0 && h("div", {}, h("h3", {}, "New"), h("ul.names", {}, answer.new_tables.slice(0, 6).map(link))),
    answer.gone_tables.length > 0 && h("p.faint", {}, `Gone: ${answer.gone_tables.slice(0, 6).join(", ")}`),
    answer.tables.length > 0 && h("div", {}, h("h3", {}, "Made in another way"), h("ul.names", {}, answer.tables.slice(0, 6).map(link))));
}

/**
 * @param {string} name
 * @param {number} since
 */
function graphSince(name, since) {
  return `/graph?select=${encodeURIComponent(around(name))}&since=${since}`;
}

/**
 * Where a check is told: on the page of a lake table, in the picture for any other dataset.
 * @param {{dataset: string, table_uuid: string | null}} check
 */
function checkPlace({ dataset, table_uuid }) {
  return table_uuid === null ? `/graph?select=${encodeURIComponent(around(dataset))}&table=${encodeURIComponent(dataset)}` : `/tables?table=${encodeURIComponent(dataset)}&tab=checks`;
}

function attentionCard() {
  const rows = [
    attention("stale", "/stale", (/** @type {any[]} */ answer) => [new Set(answer.map((each) => each.table)).size, "stale table", answer.slice(0, 3).map((each) =>
      h("a", { href: `/tables?table=${encodeURIComponent(each.table)}&tab=snapshots`, "data-link": "" }, breakable(`${each.table}: ${each.input} is at ${each.latest}, it read ${each.read}`)))]),
    attention("runs", "/runs?state=FAIL&limit=3", (/** @type {any} */ answer) => [answer.total, "failed run", answer.runs.map((/** @type {any} */ each) =>
      h("a", { href: `/runs?run=${encodeURIComponent(each.run)}`, "data-link": "" }, breakable(`${each.title ?? each.run}, ${ago(each.ended ?? each.started)}`)))]),
    attention("checks", "/checks?outcome=fail", (/** @type {any} */ answer) => [answer.checks.length, "failed check", answer.checks.slice(0, 3).map((/** @type {any} */ each) =>
      h("a", { href: checkPlace(each), "data-link": "" }, `${each.check} on ${each.dataset}${each.column === "*" ? "" : `.${each.column}`}, ${ago(each.time)}`))]),
    attention("doubts", "/issues?severity=finding&limit=1", (/** @type {any} */ answer) => [answer.total, "finding", Object.entries(answer.counts).sort((a, b) => Number(b[1]) - Number(a[1])).slice(0, 3).map(([code, many]) =>
      h("a", { href: `/issues?severity=finding&code=${encodeURIComponent(code)}`, "data-link": "" }, `${count(Number(many))} × ${code}`))]),
  ];
  return h("section.card", {}, h("h2", {}, "Needs attention"), h("ul.attention", {}, rows));
}

/**
 * @param {string} kind
 * @param {string} path
 * @param {(answer: any) => [number, string, (Node | string)[]]} tell how many, of what, and the first of them
 */
function attention(kind, path, tell) {
  const item = h("li", { class: kind }, h("span.faint", {}, "Reading"));
  get(path).then((answer) => {
    const [many, noun, links] = tell(answer);
    item.classList.toggle("some", many > 0);
    fill(item, h("p", {}, h("b", {}, count(many)), counted(many, noun).replace(/^\S+/, "")), links.map((link) => h("p", {}, link)));
  }).catch((error) => fill(item, h("p.faint", {}, error.message)));
  return item;
}
