// Rows and columns of values; on a phone each row is a paragraph of names and values.

import { h } from "./dom.js";
import { decimal, decimals } from "./format.js";

const SHORT = 40; // letters up to which values are not broken

/**
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: any) => import("./dom.js").Child} show
 * @property {boolean} [number]
 * @property {boolean} [bare] says itself what it is: a phone leaves its title out
 * @property {boolean} [short] stays on one line
 * @property {string} [about]
 */

/**
 * @param {Column[]} columns
 * @param {any[]} rows
 * @param {(row: any) => (() => void) | null} [onRow]
 */
export function grid(columns, rows, onRow = () => null) {
  const head = h("tr", {}, columns.map((each) => h("th", { scope: "col", class: each.number ? "number" : null, title: each.about }, each.title)));
  const body = rows.map((row) => {
    const act = onRow(row);
    const cells = columns.map((each) => h("td", { class: each.number ? "number" : each.short ? "short" : null, "data-title": each.bare ? null : each.title }, each.show(row)));
    const keys = (/** @type {KeyboardEvent} */ event) => { if (event.key === "Enter" && act) act(); };
    return h("tr", act ? { class: "active", tabindex: "0", onclick: act, onkeydown: keys } : {}, cells);
  });
  return h("div.scroll", { tabindex: "0", role: "group", "aria-label": "Rows" }, h("table.grid", {}, h("thead", {}, head), h("tbody", {}, body)));
}

/**
 * Rows as a query gives them; with `link`, each value leads to an address.
 * @param {{columns: string[], types: string[], rows: any[][], cut: boolean}} result
 * @param {(row: any[], column: string) => string} [link]
 */
export function valueGrid(result, link) {
  const columns = result.columns.map((title, at) => ({
    title,
    about: result.types[at],
    short: result.rows.every((row) => String(row[at]).length <= SHORT),
    number: /^(u?int|float|double|decimal)/.test(result.types[at]),
    show: (/** @type {any[]} */ row) => link ? h("a.value", { href: link(row, title), "data-link": "", title: `Which rows is this ${title} made of?` }, cell(row[at], result.types[at])) : cell(row[at], result.types[at]),
  }));
  return grid(columns, result.rows);
}

/**
 * @param {any} value
 * @param {string} type
 */
function cell(value, type) {
  if (value === null) return h("span.null", {}, "null");
  if (typeof value === "number") return decimal(value, type === "float" ? 7 : 12);
  return /^(list|struct|map)/.test(type) ? decimals(String(value)) : String(value);
}

/**
 * Facts with their names.
 * @param {[string, import("./dom.js").Child][]} pairs
 */
export function facts(pairs) {
  return h("dl.facts", {}, pairs.filter(([, value]) => value !== null && value !== "").map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}
