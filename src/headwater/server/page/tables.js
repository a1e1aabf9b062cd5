// The warehouse: its tables, and of one its schema, snapshots, levels, files and rows.

import { get } from "./api.js";
import { breakable, failed, fill, h, notice, problem } from "./dom.js";
import { ago, bytes, count, counted, moment } from "./format.js";
import { facts, grid, valueGrid } from "./grid.js";
import { checkGrid, outcomes } from "./checks.js";
import { levelsPicture } from "./levels.js";
import { around, change, go, query } from "./place.js";
import { runGrid } from "./runs.js";
import { sqlBlock } from "./sqltext.js";
import { whyLinks } from "./why.js";

const TABS = /** @type {const} */ (["schema", "snapshots", "levels", "files", "rows", "runs", "checks"]);

/** @returns {import("./main.js").View} */
export function tablesView() {
  const list = h("nav.list", { "aria-label": "Tables" }, notice("loading", "Reading the warehouse"));
  const detail = h("section.detail");
  const element = h("div.tables", {}, list, detail);
  /** @type {any[]} */
  let tables = [];
  let shown = "";
  let own = false;

  const moved = () => {
    const table = query().get("table");
    element.classList.toggle("chosen", table !== null);
    for (const link of list.querySelectorAll("a")) {
      if (link.dataset.table === table) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    if (query().has("own") !== own) load();
    const key = window.location.search;
    if (key === shown && detail.childNodes.length) return;
    shown = key;
    if (table === null) fill(detail, tables.length ? notice("empty", "Choose a table", h("p", {}, `${counted(tables.length, "table")} in this warehouse.`)) : "");
    else showTable(detail, table, query().get("tab") ?? "schema").catch((error) => fill(detail, problem(error)));
  };
  const load = () => {
    own = query().has("own");
    return get("/tables", { own }).then((answer) => {
      tables = answer.tables;
      fill(list, !tables.length && notice("empty", "No tables yet", h("p", {}, h("code", {}, "headwater sql -e 'CREATE TABLE …'"))), tableList(tables));
      moved();
    }).catch((error) => fill(list, problem(error)));
  };
  load();
  return { element, moved, refreshed: load };
}

/** @param {any[]} tables */
function tableList(tables) {
  const own = query().has("own");
  return [h("h2.minor", {}, "Tables"),
    h("ul", {}, tables.map((each) => h("li", {},
      h("a", { href: `/tables?table=${encodeURIComponent(each.table)}${own ? "&own=true" : ""}`, "data-link": "", "data-table": each.table },
        h("span.name", {}, breakable(each.table)), h("span.faint", {}, each.snapshot === null ? "empty" : counted(each.rows, "row")))))),
    h("p.own", {}, h("button.link", { onclick: () => change({ own: own ? null : "true" }) }, `${own ? "Hide" : "Show"} the graph's own tables`))];
}

/**
 * @param {HTMLElement} detail
 * @param {string} name
 * @param {string} tab
 */
async function showTable(detail, name, tab) {
  if (!detail.childNodes.length) fill(detail, notice("loading", "Reading the table"));
  const [table, known, { checks }] = await Promise.all([
    get("/table", { table: name }), get("/columns", { name }).catch(() => null), get("/checks", { name }).catch(() => ({ checks: [] }))]);
  table.checks = checks;
  const words = new Map((known?.columns ?? []).map((/** @type {any} */ each) => [each.name, each]));
  for (const column of table.schema.columns) Object.assign(column, { description: words.get(column.name)?.description ?? column.description, tags: words.get(column.name)?.tags ?? [] });
  const content = await TAB_CONTENT[/** @type {typeof TABS[number]} */ (tab)]?.(table) ?? "";
  fill(detail,
    h("header", {},
      h("a.back", { href: "/tables", "data-link": "" }, "‹ Tables"),
      h("h1", {}, breakable(name)),
      h("a.button", { href: `/graph?select=${encodeURIComponent(around(name))}`, "data-link": "" }, "Lineage")),
    (known?.description || table.comment) && h("p.faint", {}, known?.description || table.comment),
    facts([
      amount("row", table.rows), ["size", bytes(table.bytes)], amount("file", table.files), amount("snapshot", table.snapshots),
      amount("bucket", table.buckets), ["primary key", table.primary_key.join(", ")],
      ["owner", known?.owner ?? ""], ["made of", known?.upstream.length ? counted(known.upstream.length, "table") : ""], ["used by", known?.downstream.length ? counted(known.downstream.length, "table") : ""],
      ["tags", table.tags.map((/** @type {any} */ each) => `${each.tag} @${each.snapshot}`).join(", ")],
      ["checks", outcomes(checks)],
      ["last change", table.time ? h("span", { title: moment(table.time) }, ago(table.time)) : ""],
    ]),
    h("div.tabs", { role: "tablist" }, TABS.map((each) => h("button", {
      role: "tab", "aria-selected": String(each === tab), onclick: () => change({ tab: each === "schema" ? null : each }),
    }, each[0].toUpperCase() + each.slice(1)))),
    h("div.tab", { role: "tabpanel" }, content));
  detail.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/**
 * @param {string} noun
 * @param {number} many
 * @returns {[string, string]} a fact
 */
function amount(noun, many) {
  return [counted(many, noun).replace(/^\S+ /, ""), count(many)];
}

/** @type {Record<typeof TABS[number], (table: any) => Promise<import("./dom.js").Child>>} */
const TAB_CONTENT = {
  schema: async (table) => schemaTab(table, await get("/schemas", { table: table.table })),
  snapshots: async (table) => snapshotsTab(table.table, await get("/snapshots", { table: table.table })),
  levels: async (table) => levelsPicture(table, (await get("/files", { table: table.table })).files),
  files: async (table) => filesTab(await get("/files", { table: table.table })),
  rows: async (table) => rowsTab(table),
  runs: async (table) => runsTab(await get("/runs", { dataset: table.table, limit: 100 })),
  checks: async (table) => checkGrid(table.checks) || notice("empty", "No check has looked at it", h("p", {}, h("code", {}, "headwater check-data")), h("p", {}, "Results of dbt, Great Expectations and Soda are brought in by headwater ingest.")),
};

/**
 * @param {any} table
 * @param {any[]} versions
 */
function schemaTab(table, versions) {
  const columns = grid([
    { title: "column", bare: true, show: (row) => h("b", {}, row.name, failed(row.marks)) },
    { title: "type", show: (row) => h("code", {}, row.type) },
    { title: "notes", show: (row) => [row.key && "key", row.partition && "partition", !row.nullable && !row.key && "not null"].filter(Boolean).join(", ") },
    { title: "about", show: (row) => (row.description || row.tags?.length > 0) && h("span", {}, row.description, (row.tags ?? []).map((/** @type {string} */ tag) => h("span.chip", {}, tag))) },
  ], table.schema.columns);
  if (versions.length < 2) return h("div", {}, columns);
  const history = versions.map((each, at) => h("li", {}, h("span.mark"), h("div", {},
    h("b", {}, `version ${each.id}`), h("span.faint", {}, ` ${moment(each.time)}`), h("ul.changes", {}, at ? schemaChanges(versions[at - 1], each) : h("li", {}, counted(each.columns.length, "column"))))));
  return h("div", {}, columns, h("h2.minor", {}, "History"), h("ol.history", {}, history.reverse()));
}

/**
 * What one version of a schema changed: columns are followed by their ids, which outlive their names.
 * @param {any} before
 * @param {any} after
 */
function schemaChanges(before, after) {
  const old = new Map(before.columns.map((/** @type {any} */ each) => [each.id, each]));
  const items = [];
  for (const each of after.columns) {
    const was = old.get(each.id);
    old.delete(each.id);
    if (!was) items.push(h("li.added", {}, `+ ${each.name} ${each.type}`));
    else if (was.name !== each.name) items.push(h("li.changed", {}, `${was.name} → ${each.name}`));
    else if (was.type !== each.type) items.push(h("li.changed", {}, `${each.name}: ${was.type} → ${each.type}`));
  }
  for (const gone of old.values()) items.push(h("li.removed", {}, `− ${gone.name}`));
  return items.length ? items : [h("li.faint", {}, "options or comment")];
}

/**
 * @param {string} name
 * @param {{total: number, snapshots: any[]}} answer
 */
function snapshotsTab(name, { total, snapshots }) {
  if (!total) return notice("empty", "Nothing was ever written to this table");
  return h("div", {}, h("ol.history", {}, snapshots.map((each) => h("li", { class: `op-${each.operation.toLowerCase()}` }, h("span.mark"), h("div", {},
    h("p", {}, h("b", {}, `snapshot ${each.snapshot}`), h("span.chip", {}, each.operation.toLowerCase()),
      h("span.faint", { title: moment(each.time) }, ago(each.time)),
      h("a", { href: `/tables?table=${encodeURIComponent(name)}&tab=rows&at=${each.snapshot}`, "data-link": "" }, "rows as of then")),
    h("p.faint", {}, `${counted(each.summary.totalRecords, "row")}, ${bytes(each.summary.totalSize)} in ${counted(each.summary.totalFiles, "file")}`
      + (each.summary.addedRecords ? ` · +${counted(each.summary.addedRecords, "row")}` : "") + (each.title ? ` · ${each.title}` : "")),
    each.inputs.length > 0 && h("p", {}, "made from ", each.inputs.map((/** @type {any} */ input, /** @type {number} */ at) => [at ? ", " : "",
      h("a", { href: `/tables?table=${encodeURIComponent(input.dataset)}&tab=snapshots`, "data-link": "" }, input.snapshot ? `${input.dataset}@${input.snapshot}` : input.dataset)]).flat()),
    each.sql && h("details", {}, h("summary", {}, "SQL"), sqlBlock(each.sql)))))),
  total > snapshots.length && h("p.faint", {}, `${count(total - snapshots.length)} older ones`));
}

/** @param {{total: number, runs: any[]}} answer */
function runsTab({ total, runs }) {
  if (!total) return notice("empty", "No run that was observed read or wrote it");
  return runGrid({ total, runs }, (row) => () => go("/runs", { run: row.run }));
}

/** @param {{total: number, files: any[]}} answer */
function filesTab({ total, files }) {
  if (!total) return notice("empty", "No files: the table is empty");
  return h("div", {}, grid([
    { title: "level", show: (row) => row.level, number: true },
    { title: "bucket", show: (row) => row.bucket, number: true },
    { title: "partition", show: (row) => row.partition.join(", ") },
    { title: "file", show: (row) => h("code", {}, row.name) },
    { title: "rows", show: (row) => count(row.rows), number: true },
    { title: "size", show: (row) => bytes(row.bytes), number: true },
  ], files), total > files.length && h("p.faint", {}, `${count(total - files.length)} more`));
}

/** @param {any} table */
async function rowsTab(table) {
  const at = query().get("at");
  const result = await get("/rows", { table: table.table, at, limit: 50 });
  return h("div", {}, at && h("p", {}, `As of snapshot ${at}. `, h("button.link", { onclick: () => change({ at: null }) }, "Show now")),
    result.rows.length ? valueGrid(result, whyLinks([], table.table, at ?? String(table.snapshot), table.primary_key, result)) : notice("empty", "No rows"), h("p.faint", {}, result.cut && "The first 50 rows. ", result.rows.length > 0 && "A value leads to the rows that it is made of."));
}
