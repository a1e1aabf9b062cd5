// Runs that were observed: what happened, how long it took, what it read and wrote.

import { get } from "./api.js";
import { breakable, calmed, fill, h, notice, problem } from "./dom.js";
import { ago, bytes, count, counted, duration, moment } from "./format.js";
import { facts, grid } from "./grid.js";
import { around, change, query } from "./place.js";
import { sqlBlock } from "./sqltext.js";

const STATES = ["", "COMPLETE", "RUNNING", "START", "FAIL", "ABORT"];

/** @returns {import("./main.js").View} */
export function runsView() {
  const list = h("div.results", {}, notice("loading", "Reading the runs"));
  const detail = h("aside.panel", { hidden: true, "aria-label": "Run" });
  const text = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "Job", "aria-label": "Job" }));
  const state = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "State" }, STATES.map((each) => h("option", { value: each }, each || "All states"))));
  text.addEventListener("input", calmed(() => change({ text: text.value || null }, { replace: true }), 200));
  state.addEventListener("change", () => change({ state: state.value || null }));
  const element = h("div.with-panel", {}, h("div.page", {}, h("header", {}, h("h1", {}, "Runs"), text, state), list), detail);
  let shown = "";

  const load = async () => {
    const params = query();
    text.value = params.get("text") ?? "";
    state.value = params.get("state") ?? "";
    try {
      const answer = await get("/runs", { text: params.get("text"), state: params.get("state") });
      fill(list, answer.runs.length ? runGrid(answer) : nothing(params));
    } catch (error) {
      fill(list, problem(error));
    }
  };
  const moved = () => {
    const params = query();
    const wanted = `${params.get("text")}\u0000${params.get("state")}`;
    if (wanted !== shown) load();
    shown = wanted;
    showRun(detail, params.get("run"));
  };
  moved();
  return { element, moved, refreshed: load, key: (event) => closes(event, "run") };
}

/**
 * Escape takes a part of the address away.
 * @param {KeyboardEvent} event
 * @param {string} part
 */
function closes(event, part) {
  if (event.key !== "Escape" || !query().has(part)) return false;
  change({ [part]: null });
  return true;
}

/** @param {URLSearchParams} params */
function nothing(params) {
  if (params.get("text") || params.get("state")) return notice("empty", "No run is like that");
  return notice("empty", "No runs yet", h("p", {}, "Runs come from Spark jobs with the agent, and from anything that posts OpenLineage events."),
    h("code", {}, "headwater spark-run job.py"));
}

/**
 * @param {{total: number, runs: any[]}} answer
 * @param {(row: any) => () => void} [open]
 */
export function runGrid({ total, runs }, open = (row) => () => change({ run: row.run })) {
  const longest = Math.max(1e-9, ...runs.map((each) => each.seconds ?? 0));
  const columns = [
    { title: "state", bare: true, show: (/** @type {any} */ row) => stateMark(row.state) },
    { title: "job", bare: true, show: (/** @type {any} */ row) => h("b", { title: row.job }, breakable(row.title ?? row.run)) },
    { title: "started", show: (/** @type {any} */ row) => h("span", { title: moment(row.started ?? row.ended) }, ago(row.started ?? row.ended)) },
    { title: "took", show: (/** @type {any} */ row) => took(row.seconds, longest) },
    { title: "engine", show: (/** @type {any} */ row) => row.engine },
  ];
  return h("div", {}, grid(columns, runs, open), h("p.faint", {}, counted(total, "run")));
}

/** @param {string | null} state */
function stateMark(state) {
  return h(`span.state.${(state ?? "other").toLowerCase()}`, {}, (state ?? "unknown").toLowerCase());
}

/**
 * @param {number | null} seconds
 * @param {number} longest
 */
function took(seconds, longest) {
  if (seconds === null) return "";
  const size = (/** @type {number} */ value) => Math.cbrt(value); // so that short runs can be seen beside long ones
  const bar = h("progress", { max: String(size(longest)), value: String(size(seconds)), "aria-hidden": "true", title: "cube root of the time" });
  return h("span.took", {}, bar, duration(seconds));
}

/**
 * @param {HTMLElement} panel
 * @param {string | null} id
 */
async function showRun(panel, id) {
  panel.hidden = id === null;
  if (id === null) return;
  fill(panel, notice("loading", "Reading the run"));
  try {
    const run = await get("/run", { run: id });
    const ends = (/** @type {string} */ role, /** @type {string} */ title) => {
      const found = run.datasets.filter((/** @type {any} */ each) => each.role === role);
      return found.length > 0 && h("section", {}, h("h3", {}, title), h("ul.names", {}, found.map(use)));
    };
    fill(panel, h("header", {}, h("h2", { title: run.job }, breakable(run.title ?? run.run)), h("button.quiet", { "aria-label": "Close", onclick: () => change({ run: null }) }, "✕")),
      h("div.body", {}, h("p", {}, stateMark(run.state)),
        run.error && h("pre.error-text", {}, run.error),
        facts([["started", moment(run.started)], ["ended", moment(run.ended)], ["took", duration(run.seconds)], ["engine", run.engine],
          ["run", h("code", {}, run.run)], ["reported by", run.producer],
          ["part of", run.parent && h("a", { href: `/runs?run=${encodeURIComponent(run.parent)}`, "data-link": "" }, run.parent)]]),
        ends("input", "Read"), ends("output", "Wrote"), run.sql && h("section", {}, h("h3", {}, "SQL"), sqlBlock(run.sql)),
        run.code && h("section", {}, h("h3", {}, "Program"), sqlBlock(run.code, null, null, true))));
  } catch (error) {
    fill(panel, problem(error));
  }
}

/** @param {any} each */
function use(each) {
  const more = [each.version && `version ${each.version}`, each.rows !== null && counted(each.rows, "row"), each.bytes !== null && bytes(each.bytes)];
  return h("li", {}, h("a", { href: `/graph?select=${encodeURIComponent(around(each.dataset))}`, "data-link": "" }, breakable(each.dataset)),
    h("span.faint", {}, ` ${more.filter(Boolean).join(" · ")}`));
}
