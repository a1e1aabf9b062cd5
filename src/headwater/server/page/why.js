// The rows behind a row, one hop at a time. The address has the whole way: the last step is shown, the others lead back.

import { post } from "./api.js";
import { breakable, fill, h, notice, problem } from "./dom.js";
import { ago, count, counted, decimals, moment } from "./format.js";
import { valueGrid } from "./grid.js";
import { query } from "./place.js";
import { sqlBlock } from "./sqltext.js";

/**
 * A row of a table at a snapshot, by the values of its columns as texts, and the column that is asked for.
 * @typedef {{table: string, at: string, row: Record<string, string | null>, column: string | null}} Step
 */

const MOST_STEPS = 30;

/** @param {Step[]} way */
function address(way) {
  return `/why?${new URLSearchParams(way.slice(-MOST_STEPS).map((each) => ["step", JSON.stringify(each)]))}`;
}

/**
 * The addresses of the rows behind the values of a table, one step further on a way. Rows are named by their key, those
 * of a table without one by all values that have a text.
 * @param {Step[]} way
 * @param {string} table
 * @param {string} at
 * @param {string[]} key
 * @param {{columns: string[], types: string[]}} result
 */
export function whyLinks(way, table, at, key, result) {
  const named = result.columns.map((name, at) => ({ name, at })).filter(({ name, at }) =>
    key.length ? key.includes(name) : !/binary|list|struct|map/.test(result.types[at]));
  return (/** @type {any[]} */ row, /** @type {string} */ column) => address([...way, {
    table, at, column, row: Object.fromEntries(named.map(({ name, at }) => [name, row[at] === null ? null : String(row[at])])),
  }]);
}

/** @returns {Step[]} the way that the address has; steps that cannot be read are left out */
function steps() {
  return query().getAll("step").flatMap((text) => {
    try {
      const each = JSON.parse(text);
      return typeof each.table === "string" && each.row && typeof each.row === "object" ? [each] : [];
    } catch { return []; }
  });
}

/** @returns {import("./main.js").View} */
export function whyView() {
  const element = h("div.page.why");
  const moved = () => {
    const way = steps();
    const asked = window.location.search;
    const step = way[way.length - 1];
    if (!step) { fill(element, notice("empty", "Which row?", h("p", {}, "Choose a value in the rows of a ", h("a", { href: "/tables", "data-link": "" }, "table"), "."))); return; }
    const head = [trail(way), h("h1", {}, "Why ", breakable(step.table), h("span.faint", {}, `@${step.at}`)), about(way, step)];
    fill(element, head, notice("loading", "Running the query that made it"));
    post("/why-row", { table: step.table, at: step.at || null, row: step.row, column: step.column })
      .then((answer) => answer.hops.map((/** @type {any} */ hop) => hopSection(way, hop, answer.keys)))
      .catch((error) => problem(error))
      .then((content) => { if (window.location.search === asked) fill(element, head, content); });
  };
  moved();
  return { element, moved };
}

/** The steps before this one, each a link. @param {Step[]} way */
function trail(way) {
  return h("nav.trail", { "aria-label": "The way here" },
    h("a", { href: `/tables?table=${encodeURIComponent(way[0].table)}&tab=rows&at=${way[0].at}`, "data-link": "" }, `‹ rows of ${way[0].table}`),
    way.slice(0, -1).map((each, at) => [" › ", h("a", { href: address(way.slice(0, at + 1)), "data-link": "" }, `${each.table}@${each.at}`)]).flat());
}

/**
 * The row that is asked for.
 * @param {Step[]} way
 * @param {Step} step
 */
function about(way, step) {
  const values = Object.entries(step.row).map(([name, value]) => `${name} ${decimals(value ?? "null")}`).join(", ");
  const whole = address([...way.slice(0, -1), { ...step, column: null }]);
  return h("p", {}, values, step.column && [h("br"), "Only what makes or decides ", h("b", {}, step.column), ". ", h("a", { href: whole, "data-link": "" }, "The whole row")]);
}

/**
 * One commit, the rows that it made, and those that it made them of.
 * @param {Step[]} way
 * @param {any} hop
 * @param {Record<string, string[]>} keys
 */
function hopSection(way, hop, keys) {
  const time = new Date(hop.time).toISOString();
  return h("section.hop", {},
    h("h2", {}, `${hop.dataset}@${hop.snapshot}`),
    h("p.faint", {}, h("span.chip", {}, hop.operation.toLowerCase()), h("span", { title: hop.job }, hop.title), " ", hop.time > 0 && h("span", { title: moment(time) }, ago(time))),
    valueGrid(hop.rows),
    hop.sql && h("details", {}, h("summary", {}, "SQL"), sqlBlock(hop.sql)),
    hop.reason && h("p.note", {}, `Cannot be told further: ${hop.reason}`),
    hop.inputs.map((/** @type {any} */ each) => h("div.behind", {},
      h("h3", {}, `Made of ${counted(each.count, "row")} of `, h("a", { href: `/tables?table=${encodeURIComponent(each.dataset)}&tab=rows&at=${each.snapshot}`, "data-link": "" }, `${each.dataset}@${each.snapshot}`)),
      valueGrid(each.rows, whyLinks(way, each.dataset, String(each.snapshot), keys[each.dataset] ?? [], each.rows)),
      each.rows.cut && h("p.faint", {}, `The first ${count(each.rows.rows.length)} of ${counted(each.count, "row")}.`))),
    hop.absent.map((/** @type {string} */ each) => h("p.note", {}, `Decided by absence: ${each}`)),
    hop.files.map((/** @type {any} */ each) => h("p", {}, `From ${each.path}, ${each.lines.length === 1 ? "line" : "lines"} ${each.lines.slice(0, 20).join(", ")}`)),
    hop.verified === true && h("p.faint", {}, "Checked: the query over these rows alone gives the row."),
    hop.verified === false && h("p.note", {}, "These rows were read, but alone they do not give the row: more than them decided."),
    hop.loaded && !hop.files.length && h("p", {}, "Loaded from outside by this commit."));
}
