// Paste SQL, see its lineage: as one types, with nothing kept and no warehouse needed.

import { get, isAbort, post } from "./api.js";
import { Canvas } from "./canvas.js";
import { calmed, fill, h, notice, problem } from "./dom.js";
import { Editor } from "./editor.js";
import { counted } from "./format.js";
import { Picture } from "./picture.js";
import { go, query } from "./place.js";
import { packed, unpacked } from "./share.js";
import { KINDS } from "./toolbar.js";

const EXAMPLE = `-- Type or paste SQL: the picture follows.
CREATE TABLE mart.revenue AS
WITH paid AS (
  SELECT o.customer_id, o.amount * r.to_eur AS amount_eur
  FROM shop.orders AS o
  JOIN shop.rates AS r ON r.currency = o.currency
  WHERE o.status = 'paid'
)
SELECT c.country, SUM(p.amount_eur) AS revenue, COUNT(*) AS orders
FROM paid AS p
JOIN shop.customers AS c ON c.id = p.customer_id
GROUP BY c.country;
`;
const SCHEMA = `CREATE TABLE shop.orders (id INT, customer_id INT, amount DECIMAL(10, 2), currency VARCHAR, status VARCHAR);
CREATE TABLE shop.rates (currency VARCHAR, to_eur DECIMAL(10, 6));
CREATE TABLE shop.customers (id INT, country VARCHAR, email VARCHAR);
`;
const ALL = new Set(Object.values(KINDS).flat());

/** @returns {import("./main.js").View} */
export function playView() {
  return new PlayView();
}

class PlayView {
  constructor() {
    const params = query();
    const given = params.get("q");
    this.sql = new Editor({ text: "", label: "SQL", hint: "SELECT …", onChange: () => this.later() });
    this.schema = new Editor({ text: "", label: "Schema: CREATE TABLE statements", hint: "CREATE TABLE … of the tables that are read (optional)", onChange: () => this.later() });
    this.dialect = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Dialect", onchange: () => this.later() }));
    this.all = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", checked: params.get("lines") === "all", onchange: () => this.later() }));
    this.known = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", checked: params.get("known") === "graph", onchange: () => this.later() }));
    this.status = h("span.status", { role: "status" });
    this.cover = h("div.cover");
    this.findings = h("ul.findings", { "aria-label": "Findings" });
    this.stage = h("div.stage", { tabindex: "0", role: "application", "aria-label": "Picture of the lineage" }, this.cover);
    this.canvas = new Canvas(this.stage);
    const share = h("button", { onclick: () => this.share() }, "Copy link");
    const bar = h("div.toolbar", {}, h("h1", {}, "Play"), this.dialect, h("label.check", {}, this.all, "all lines"), h("label.check.known", { title: "Columns that the lineage of this warehouse knows" }, this.known, "known tables"),
      share, h("button", { onclick: () => this.fill(EXAMPLE, SCHEMA) }, "Example"), this.status);
    this.element = h("div.graph.play", {}, bar, h("div.halves", {},
      h("div.texts", {}, h("section.main", {}, this.sql.element), h("details.schema", {}, h("summary", {}, "Schema"), this.schema.element), this.findings), this.stage));
    this.later = calmed(() => this.ask(), 250);
    /** @type {AbortController | null} */
    this.asking = null;
    /** @type {Picture | null} */
    this.picture = null;
    this.stage.addEventListener("mousemove", (event) => this.hover(event));
    this.stage.addEventListener("mouseleave", () => this.picture?.light(null));
    this.resized = new ResizeObserver(() => { if (this.picture && !this.canvas.moved) this.canvas.fit(); });
    this.resized.observe(this.stage);
    get("/dialects").then((names) => fill(this.dialect, h("option", { value: "" }, "any dialect"), names.map((/** @type {string} */ name) => h("option", { value: name, selected: name === params.get("dialect") }, name)))).catch(() => {});
    if (given) unpacked(given).then(([sql, schema]) => this.fill(sql, schema ?? ""));
    else this.fill(EXAMPLE, SCHEMA);
  }

  closed() {
    this.asking?.abort();
    this.resized.disconnect();
  }

  /**
   * @param {string} sql
   * @param {string} schema
   */
  fill(sql, schema) {
    this.sql.text = sql;
    this.schema.text = schema;
    this.later();
  }

  async ask() {
    const sql = this.sql.text;
    this.asking?.abort();
    if (!sql.trim()) return this.show(null);
    this.sql.speak(this.dialect.value);
    this.asking = new AbortController();
    try {
      const question = { sql, dialect: this.dialect.value, schema: this.schema.text, known: this.known.checked ? "graph" : "", lines: this.all.checked ? "all" : "values" };
      this.show(await post("/analyze", question, this.asking.signal));
    } catch (error) {
      if (isAbort(error)) return;
      fill(this.cover, problem(error));
      fill(this.status, "");
    }
  }

  /** @param {any} answer */
  show(answer) {
    fill(this.cover, !answer?.picture.boxes.length && notice("empty", answer ? "No lineage in this text" : "Type SQL on the left"));
    const findings = answer?.lineage.issues ?? [];
    this.sql.mark(findings);
    fill(this.findings, findings.slice(0, 50).map((/** @type {any} */ each) => h("li", { class: each.severity },
      h("button.link", { onclick: () => each.span && this.sql.select(each.span) }, each.message), each.hint && h("span.faint", {}, ` ${each.hint}`))));
    if (!answer) return;
    const { scale, moved } = this.canvas;
    this.canvas.show(answer.picture.svg);
    const svg = /** @type {SVGSVGElement} */ (this.canvas.svg);
    svg.classList.add(document.documentElement.getAttribute("data-theme") ?? "light");
    this.picture = new Picture(answer.picture, svg, this.all.checked ? ALL : new Set(KINDS.value));
    if (!moved || !scale) this.canvas.fit();
    const columns = answer.lineage.statements.reduce((/** @type {number} */ sum, /** @type {any} */ each) => sum + (each.columns?.length ?? 0), 0);
    fill(this.status, `${counted(answer.lineage.statements.length, "statement")}, ${counted(columns, "column")}${findings.length ? `, ${counted(findings.length, "finding")}` : ""}`);
  }

  /** @param {MouseEvent} event */
  hover(event) {
    if (event.buttons || !this.picture) return;
    const pointed = this.picture.at(event);
    const worth = pointed && ["line", "port", "box"].includes(pointed.kind);
    this.stage.classList.toggle("pointing", pointed !== null);
    this.picture.light(worth ? this.picture.wayOf(pointed) : null);
  }

  /** The whole of it in the address. */
  async share() {
    const q = await packed([this.sql.text, this.schema.text]);
    go("/play", { q, dialect: this.dialect.value, lines: this.all.checked ? "all" : null, known: this.known.checked ? "graph" : null }, { replace: true, quietly: true });
    await navigator.clipboard?.writeText(window.location.href).catch(() => {});
    fill(this.status, "The address has all of it; it is copied");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "f") this.canvas.fit();
    else if (event.key === "a") { this.all.checked = !this.all.checked; this.later(); } else return false;
    return true;
  }
}

