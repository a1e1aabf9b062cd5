// Questions to the warehouse in SQL: what a query would read, its plan, run and stop, what was asked before, rows to take
// along, and where each column of the result comes from. Nothing can be changed from here.

import { get, post } from "./api.js";
import { calmed, fill, h, notice, problem } from "./dom.js";
import { Editor } from "./editor.js";
import { download } from "./exports.js";
import { bytes, count, counted } from "./format.js";
import { grid, valueGrid } from "./grid.js";
import { around, change, query } from "./place.js";

const KEPT = 50; // questions that are remembered

/** @returns {import("./main.js").View} */
export function sqlView() {
  const result = h("div.results", {}, notice("empty", "Ask the warehouse", h("p", {}, "Tables, their past (VERSION AS OF 3), and what they know of themselves (orders$snapshots).")));
  const origin = h("div.origin");
  let running = "";
  const editor = new Editor({ text: query().get("q") ?? "", label: "SQL", hint: "SELECT * FROM orders LIMIT 20", onChange: () => weigh(), onRun: () => ask() });
  const cost = h("span.faint.cost", { "aria-live": "polite" });
  const weigh = calmed(() => showCost(cost, () => editor.text.trim()), 500);
  const stop = h("button", { disabled: true, onclick: () => post("/stop", { name: running }) }, "Stop");
  const past = h("details.menu.past", {}, h("summary", {}, "History"), h("div.items"));
  past.addEventListener("toggle", () => fill(/** @type {Element} */ (past.querySelector(".items")), remembered().map((sql) => h("button", {
    title: sql, onclick: () => { editor.text = sql; past.removeAttribute("open"); },
  }, sql.replace(/\s+/g, " ").slice(0, 90))), remembered().length === 0 && h("span.faint", {}, "Nothing was asked yet")));

  const ask = async (explain = false) => {
    const sql = editor.text.trim();
    if (!sql || running) return;
    change({ q: sql }, { replace: true, quietly: true });
    remember(sql);
    editor.mark([]);
    fill(result, notice("loading", explain ? "Planning" : "Running"));
    fill(origin);
    running = Array.from(crypto.getRandomValues(new Uint32Array(4))).join("-");
    stop.removeAttribute("disabled");
    const start = performance.now();
    try {
      const answer = await post("/sql", { sql, name: running, explain });
      if (explain) return void fill(result, planned(answer));
      const seconds = ((performance.now() - start) / 1000).toFixed(2);
      fill(result, answer.message && h("p", {}, answer.message), answer.rows.length ? valueGrid(answer) : notice("empty", "No rows"),
        h("p.faint.told", {}, `${counted(answer.rows.length, "row")}${answer.cut ? " (no more are shown)" : ""} in ${seconds} s `,
          h("button.link", { onclick: () => download(new Blob([csv(answer)], { type: "text/csv" }), "result.csv") }, "CSV"), " ",
          h("button.link", { onclick: () => download(new Blob([json(answer)], { type: "application/json" }), "result.json") }, "JSON")));
      showOrigin(origin, sql);
    } catch (error) {
      const { place, message, hint } = /** @type {any} */ (error);
      fill(result, message === "the query was stopped" ? notice("empty", "Stopped") : problem(error));
      editor.mark([{ span: place, severity: "error", message, hint }]);
      if (place) editor.select(place);
    } finally {
      running = "";
      stop.setAttribute("disabled", "");
    }
  };
  const bar = h("p.actions", {}, h("button.primary", { onclick: () => ask() }, "Run"), stop, h("button", { onclick: () => ask(true), title: "How it would be run, and what it would read" }, "Plan"),
    past, h("kbd", {}, "Ctrl Enter"), h("span.faint", {}, "reads only"), cost);
  const element = h("div.page.ask", {}, h("header", {}, h("h1", {}, "SQL")), h("div.framed", {}, editor.element), bar, result, origin);
  get("/tables").then(({ tables }) => editor.speak("duckdb", Object.fromEntries(tables.map((/** @type {any} */ each) => [each.table, []])))).catch(() => {});
  if (editor.text) ask();
  weigh();
  return { element, closed: () => { if (running) post("/stop", { name: running }); } };
}

/**
 * What a query would read, all its scans together; nothing of what is not a query, or not yet.
 * @param {HTMLElement} element
 * @param {() => string} text
 */
async function showCost(element, text) {
  const sql = text();
  const answer = sql ? await post("/sql", { sql, explain: true }).catch(() => null) : null;
  if (text() !== sql) return; // more was typed, and is asked for
  const sum = (/** @type {string} */ part) => answer.scans.reduce((/** @type {number} */ all, /** @type {any} */ each) => all + each[part], 0);
  fill(element, answer?.scans.length > 0 && `would read ${count(sum("files"))} of ${counted(sum("total_files"), "file")}, ${count(sum("rows"))} of ${counted(sum("total_rows"), "row")}, ${bytes(sum("bytes"))} of ${bytes(sum("total_bytes"))}`);
}

/** @param {{rows: string[][], scans: any[]}} answer */
function planned(answer) {
  const part = (/** @type {string} */ name, /** @type {(value: number) => string} */ show) => ({
    title: name, number: true, show: (/** @type {any} */ row) => `${show(row[name])} of ${show(row[`total_${name}`])}`,
  });
  return h("div.plan", {},
    answer.scans.length > 0 && grid([
      { title: "reads", show: (row) => h("b", {}, row.table) }, { title: "snapshot", number: true, show: (row) => row.snapshot },
      part("files", count), part("rows", count), part("bytes", bytes),
    ], answer.scans),
    h("pre.sql.program", { tabindex: "0" }, answer.rows.map(([line]) => line).join("\n")));
}

/**
 * Where the columns of the result come from.
 * @param {HTMLElement} element
 * @param {string} sql
 */
async function showOrigin(element, sql) {
  try {
    const { lineage } = await post("/analyze", { sql, dialect: "duckdb", known: "lake" });
    const columns = lineage.statements.at(-1)?.columns ?? [];
    if (!columns.length) return;
    const names = new Map(lineage.nodes.map((/** @type {any} */ node) => [node.id, node.qualifiedName]));
    fill(element, h("h2.minor", {}, "Where the columns come from"), h("dl.made", {}, columns.map((/** @type {any} */ column) => {
      const made = lineage.edges.filter((/** @type {any} */ each) => each.to === column.id && each.influence === "value");
      const sources = [...new Set(made.map((/** @type {any} */ each) => names.get(each.from)))];
      return [h("dt", {}, column.name), h("dd", {}, sources.length ? sources.map((each, at) => [at ? ", " : "",
        h("a", { href: `/graph?select=${encodeURIComponent(around(each))}`, "data-link": "" }, each)]).flat() : h("span.faint", {}, "no column"))];
    }).flat()));
  } catch { // what the question means to DuckDB only is answered without
    fill(element);
  }
}

/** @returns {string[]} */
function remembered() {
  try {
    return JSON.parse(localStorage.getItem("asked") ?? "[]");
  } catch {
    return [];
  }
}

/** @param {string} sql */
function remember(sql) {
  localStorage.setItem("asked", JSON.stringify([sql, ...remembered().filter((each) => each !== sql)].slice(0, KEPT)));
}

/** @param {{columns: string[], rows: any[][]}} answer */
function csv(answer) {
  const cell = (/** @type {any} */ value) => {
    const text = value === null ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [answer.columns, ...answer.rows].map((row) => row.map(cell).join(",")).join("\r\n");
}

/** @param {{columns: string[], rows: any[][]}} answer */
function json(answer) {
  return JSON.stringify(answer.rows.map((row) => Object.fromEntries(answer.columns.map((name, at) => [name, row[at]]))), null, 1);
}
