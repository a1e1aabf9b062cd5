// What is known of what was clicked: an edge with its SQL, a column with its steps, a table with its columns.

import { get } from "./api.js";
import { checkGrid, outcomes } from "./checks.js";
import { breakable, failed, fill, h, notice, problem } from "./dom.js";
import { ago, counted, moment } from "./format.js";
import { around, change, query } from "./place.js";
import { KINDS, followed } from "./toolbar.js";
import { showLit, sqlBlock } from "./sqltext.js";

const DEPTH = 5; // steps of a way that are listed; the picture shows the rest

/**
 * @typedef {{source: string, source_column: string | null, target: string, target_column: string | null}} Ends
 */

export class Panel {
  /**
   * @param {() => void} onClose
   * @param {(box: string) => void} onFocus
   */
  constructor(onClose, onFocus) {
    this.onFocus = onFocus;
    this.title = h("h2");
    this.body = h("div.body");
    const close = h("button.quiet", { onclick: onClose, "aria-label": "Close", title: "Close (Esc)" }, "✕");
    this.element = h("aside.panel", { hidden: true, "aria-label": "Details" }, h("header", {}, this.title, close), this.body);
    this.shown = "";
  }

  close() {
    this.element.hidden = true;
    this.shown = "";
  }

  /**
   * Show something, unless it is shown already.
   * @param {string} key
   * @param {(Node | string)[]} title
   * @param {() => Promise<(Node | string | false | null)[]>} load
   */
  async open(key, title, load) {
    const now = `${key}\u0000${query().get("at") ?? ""}\u0000${[...followed()].join()}`;
    if (this.shown === now) return;
    this.shown = now;
    this.element.hidden = false;
    fill(this.title, title);
    fill(this.body, notice("loading", "Reading"));
    try {
      const parts = await load();
      if (this.shown !== now) return;
      fill(this.body, parts);
      for (const block of this.body.querySelectorAll("pre.sql")) showLit(/** @type {HTMLElement} */ (block));
    } catch (error) {
      if (this.shown === now) fill(this.body, problem(error));
    }
  }

  /** @param {Ends} ends */
  showEdge(ends) {
    const title = [name(ends.source, ends.source_column), h("span.arrow", {}, " → "), name(ends.target, ends.target_column)];
    return this.open(`edge ${JSON.stringify(ends)}`, title, async () => {
      const { edges } = await get("/edge", { ...ends, at: query().get("at") });
      if (!edges.length) return [notice("empty", "This edge is not there at this moment")];
      const groups = grouped(edges);
      return [h("ul.edges", {}, groups.map((each) => edgeItem(each, groups.length > 1)))];
    });
  }

  /**
   * @param {string} dataset
   * @param {string} column
   */
  showColumn(dataset, column) {
    return this.open(`column ${dataset}.${column}`, [name(dataset, column)], async () => {
      const at = query().get("at");
      const kinds = followed();
      const influence = Object.entries(KINDS).filter(([, some]) => some.some((kind) => kinds.has(kind))).map(([name]) => name);
      const wanted = { name: `${dataset}.${column}`, at, influence, depth: DEPTH };
      const [made, used] = await Promise.all([get("/trace", wanted), get("/impact", wanted)]);
      const own = made.nodes.find((/** @type {any} */ node) => node.dataset === dataset && node.column === column);
      return [
        failed(own?.marks), stepList("Made of", made, true), stepList("Used by", used, false),
        h("p.actions", {}, h("button", { onclick: () => this.onFocus(`${dataset}.${column}`) }, "Show only this column")),
      ];
    });
  }

  /** @param {string} dataset */
  showDataset(dataset) {
    return this.open(`dataset ${dataset}`, [name(dataset, null)], async () => {
      const at = query().get("at");
      const [found, { checks }] = await Promise.all([get("/columns", { name: dataset, at }), get("/checks", { name: dataset, at })]);
      return [
        found.description && h("p", {}, found.description),
        found.tags.length > 0 && h("p.chips", {}, found.tags.map((/** @type {string} */ tag) => h("span.chip", {}, tag))),
        h("p.faint", {}, found.kind, found.upstream.length ? ` · made of ${found.upstream.length}` : "", found.downstream.length ? ` · used by ${found.downstream.length}` : ""),
        h("p.actions", {},
          h("button", { onclick: () => this.onFocus(dataset) }, "Centre here"),
          found.in_lake && h("a.button", { href: `/tables?table=${encodeURIComponent(dataset)}`, "data-link": "" }, "Open table")),
        found.members.length > 0 && h("div", {}, h("h3", {}, `Files (${found.members.length})`), h("ul.names", {}, found.members.map((/** @type {string} */ each) => h("li", {}, breakable(each))))),
        checks.length > 0 && h("details.checks", { open: checks.some((/** @type {any} */ each) => each.outcome === "fail") }, h("summary", {}, `Checks: ${outcomes(checks) || "figures only"}`), checkGrid(checks)),
        neighbours("Made of", found.upstream), neighbours("Used by", found.downstream),
        h("h3", {}, `Columns (${new Set(found.columns.map((/** @type {any} */ each) => each.name.split(/[.[]/)[0])).size})`),
        h("ul.columns", {}, found.columns.map((/** @type {any} */ each) => h("li", {},
          h("button.link", { onclick: () => change({ lock: `${dataset}.${each.name}`, table: null }), title: each.description ?? "" }, each.name),
          each.tags.map((/** @type {string} */ tag) => h("span.chip", {}, tag)),
          h("span.type", {}, each.type ?? ""), failed(each.marks)))),
      ];
    });
  }
}

/**
 * @param {string} dataset
 * @param {string | null} column
 */
function name(dataset, column) {
  return h("span.full-name", { title: column === null ? dataset : `${dataset}.${column}` },
    column === null ? h("b", {}, breakable(dataset)) : [h("span.faint", {}, breakable(`${dataset}.`)), h("wbr"), h("b", {}, breakable(column))]);
}

/**
 * @param {string} title
 * @param {string[]} names
 */
function neighbours(title, names) {
  if (!names.length) return false;
  return h("div", {}, h("h3", {}, title), h("ul.names", {}, names.map((each) => h("li", {},
    h("a", { href: `/graph?select=${encodeURIComponent(around(each))}`, "data-link": "" }, breakable(each))))));
}

/**
 * The steps of a way, nearest first, each with how and where.
 * @param {string} title
 * @param {any} answer
 * @param {boolean} up
 */
function stepList(title, answer, up) {
  /** @type {Map<string, number>} */
  const distance = new Map();
  for (const node of [...answer.nodes].reverse()) { // nearest last: of a dataset as a whole, the nearest column counts
    distance.set(`${node.dataset}\u0000${node.column ?? ""}`, node.distance);
    distance.set(node.dataset, node.distance);
  }
  const end = up ? "target" : "source";
  const far = (/** @type {any} */ step) => distance.get(`${step[end].dataset}\u0000${step[end].column ?? ""}`) ?? distance.get(step[end].dataset) ?? 0;
  const steps = [...answer.edges].sort((a, b) => far(a) - far(b) || rank(a) - rank(b));
  return h("section.steps", {}, h("h3", {}, `${title} (${steps.length})`),
    steps.length ? h("ol", {}, steps.slice(0, 60).map(stepItem)) : h("p.faint", {}, "nothing that is known"),
    steps.length > 60 && h("p.faint", {}, `… and ${steps.length - 60} more`),
    answer.cut && h("p.faint", {}, `The way goes on beyond ${DEPTH} steps.`));
}

/** @param {any} step */
function rank(step) {
  return ["value", "condition", "row"].indexOf(step.influence);
}

/** @param {any} step */
function stepItem(step) {
  const open = () => change({
    lock: null, table: null, from: step.source.dataset, from_column: step.source.column, to: step.target.dataset, to_column: step.target.column,
  });
  return h("li", {},
    h("button.step", { onclick: open, title: "Show where it is written" },
      h("span.ends", {}, name(step.source.dataset, step.source.column), " → ", name(step.target.dataset, step.target.column)),
      chip(step.kind, step.influence),
      step.expression && h("code.expression", {}, step.expression),
      step.file && h("span.place", {}, placeOf(step))));
}

/**
 * @param {string} kind
 * @param {string} influence
 */
function chip(kind, influence) {
  return h(`span.chip.${influence}`, {}, kind.toLowerCase().replace("_", " "));
}

/**
 * Edges of one statement that differ only in their kind, or in the file of a family, are told together, the latest first.
 * @param {any[]} edges
 */
function grouped(edges) {
  /** @type {Map<string, any[]>} */
  const groups = new Map();
  for (const edge of edges.sort((a, b) => rank(a) - rank(b) || (b.seen ?? "").localeCompare(a.seen ?? ""))) {
    const key = [edge.statement, edge.source_column, edge.target_column, edge.expression].join("\u0000");
    groups.set(key, [...(groups.get(key) ?? []), edge]);
  }
  return [...groups.values()];
}

/**
 * @param {any[]} edges of one statement and pair
 * @param {boolean} named whether the title does not name the ends already
 */
function edgeItem(edges, named) {
  const [edge] = edges;
  const kinds = [...new Map(edges.map((each) => [each.kind, each])).values()];
  const files = new Set(edges.map((each) => each.source)).size;
  const lit = edges.find((each) => each.sql?.start !== null)?.sql ?? edge.sql;
  return h("li", {},
    named && h("div.ends", {}, name(edge.source, edge.source_column), h("span.arrow", {}, " → "), name(edge.target, edge.target_column)),
    h("div.chips", {}, kinds.map((each) => chip(each.kind, each.influence)), files > 1 && h("span.chip", {}, counted(files, "file")), edge.masking && h("span.chip", {}, "masked"), edge.observed && h("span.chip", {}, "observed")),
    edge.approximate && h("p.doubt", {}, `In doubt: ${edge.approximate}`),
    edge.expression && h("code.expression", {}, edge.expression),
    edge.file && h("p.place", {}, placeOf(edge)),
    lit && lit.role !== "statement" && h("p.faint", {}, `The ${lit.role} of the run`),
    lit && sqlBlock(lit.text, lit.start, lit.end, lit.role === "program"),
    lit?.cut && h("p.faint", {}, `A part of the ${lit.role}.`),
    edge.run && runLine(edge.run, edge.target));
}

/**
 * The file and line of an edge; Spark says `sql` of what stands in the query of a run.
 * @param {any} edge
 */
function placeOf({ file, line }) {
  if (file === "sql") return line ? `line ${line} of the query` : "in the query";
  return line ? `${file}:${line}` : file;
}

/**
 * @param {any} run
 * @param {string} target
 */
function runLine(run, target) {
  return h("p.run", {}, h(`span.state.${String(run.state).toLowerCase()}`, {}, run.state ?? ""), " ",
    h("a", { href: `/runs?run=${encodeURIComponent(run.run)}`, "data-link": "", title: run.job }, run.title ?? run.run),
    h("span.faint", { title: moment(run.ended ?? run.started) }, ` ${ago(run.ended ?? run.started)}`),
    run.snapshot && h("a.snapshot", { href: `/tables?table=${encodeURIComponent(target)}&tab=snapshots`, "data-link": "" }, ` snapshot ${run.snapshot}`));
}
