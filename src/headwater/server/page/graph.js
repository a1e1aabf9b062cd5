// The lineage view: the picture, what stands around it, and how it answers to mouse, fingers and keys.

import { get, isAbort } from "./api.js";
import { Canvas } from "./canvas.js";
import { add, fill, h, notice, problem } from "./dom.js";
import { counted } from "./format.js";
import { unread, welcome } from "./home.js";
import { Minimap } from "./minimap.js";
import { Panel } from "./panel.js";
import { Picture } from "./picture.js";
import { around, change, go, query } from "./place.js";
import { Timeline } from "./timeline.js";
import { Toolbar, followed, toggleAll } from "./toolbar.js";
import { Walker } from "./walking.js";

const SHOWN = ["select", "open", "level", "flip", "whole", "lines", "kind", "group", "unfold", "at", "since"];

const WHOLE = 0.6; // the smallest scale at which a picture begins with all of it: titles can be read
const READABLE = 0.92; // and that of a larger one: the smallest text, 12 px, is 11 px then
const LOCKS = ["from", "lock", "table"];

/** @returns {import("./main.js").View} */
export function graphView() {
  const view = new GraphView();
  view.moved();
  return view;
}

class GraphView {
  constructor() {
    this.cover = h("div.cover");
    this.spoken = h("div.spoken", { "aria-live": "polite" });
    this.stage = h("div.stage", { tabindex: "0", role: "application", "aria-label": "Picture of the lineage. Arrow keys walk along it." });
    this.canvas = new Canvas(this.stage);
    this.toolbar = new Toolbar(this.canvas);
    this.panel = new Panel(() => this.letGo(), (box) => this.focus(box));
    this.timeline = new Timeline();
    add(this.stage, this.cover, this.spoken);
    const title = h("h1.spoken", {}, "Lineage");
    this.element = h("div.graph", {}, title, this.toolbar.element, h("div.middle", {}, this.stage, this.panel.element), this.timeline.element);
    /** @type {Picture | null} */
    this.picture = null;
    this.walker = new Walker();
    this.drawnFor = "";
    /** @type {AbortController | null} */
    this.asking = null;
    /** @type {string | null} the box that keeps its place when the picture changes */
    this.anchor = null;
    this.stage.addEventListener("click", (event) => this.onClick(event));
    this.stage.addEventListener("dblclick", (event) => this.onDoubleClick(event));
    this.stage.addEventListener("mousemove", (event) => this.onHover(event));
    this.stage.addEventListener("mouseleave", () => this.preview(null));
    this.minimap = new Minimap(this.canvas);
    add(this.stage, this.minimap.element);
    this.resized = new ResizeObserver(() => {
      if (this.picture && !this.canvas.moved) {
        this.settle();
        this.revealLocked();
      }
      this.minimap.place();
    });
    this.resized.observe(this.stage);
  }

  closed() {
    this.asking?.abort();
    this.resized.disconnect();
  }

  refreshed() {
    this.timeline.load();
    if (!query().get("at")) this.draw(true);
  }

  /** The address has changed: draw anew what it says, and show again what is locked. */
  moved() {
    this.toolbar.update();
    this.timeline.update();
    const select = query().get("select");
    if (!select) return this.begin();
    const wanted = SHOWN.map((name) => query().getAll(name).join("\u0001")).join("\u0000");
    if (wanted !== this.drawnFor) this.draw(false);
    else this.restore();
  }

  /** Without a selection, begin with the table that most hangs on. */
  async begin() {
    fill(this.cover, notice("loading", "Reading the graph"));
    try {
      const { busiest } = await get("/overview");
      if (busiest.length) change({ select: around(busiest[0].name) }, { replace: true });
      else fill(this.cover, welcome());
    } catch (error) {
      fill(this.cover, unread(error));
    }
  }

  /** @param {boolean} again the same look at a new state */
  async draw(again) {
    const params = query();
    this.drawnFor = SHOWN.map((name) => params.getAll(name).join("\u0001")).join("\u0000");
    this.asking?.abort();
    this.asking = new AbortController();
    const slow = window.setTimeout(() => fill(this.cover, notice("loading", "Drawing")), this.picture ? 400 : 50);
    try {
      const look = Object.fromEntries(SHOWN.map((name) => [name, params.getAll(name)]));
      this.display(await get("/picture", look, this.asking.signal), again);
      fill(this.cover);
    } catch (error) {
      if (isAbort(error)) return;
      this.canvas.svg?.remove();
      this.picture = null;
      this.toolbar.tell("");
      this.minimap.element.hidden = true;
      this.timeline.show(null);
      fill(this.cover, await missing(error));
    } finally {
      window.clearTimeout(slow);
    }
  }

  /**
   * @param {import("./picture.js").Drawn} drawn
   * @param {boolean} again
   */
  display(drawn, again) {
    const before = this.picture;
    const kept = this.anchor !== null ? before?.boxes.get(this.anchor) : again ? before?.drawn.boxes[0] : null;
    this.canvas.show(drawn.svg);
    const svg = /** @type {SVGSVGElement} */ (this.canvas.svg);
    svg.classList.add(document.documentElement.getAttribute("data-theme") ?? "light");
    this.picture = new Picture(drawn, svg, followed());
    if (LOCKS.some((name) => query().has(name))) this.panel.element.hidden = false; // it takes room from the picture
    const now = kept ? this.picture.boxes.get(kept.id) : null;
    if (kept && now) {
      this.canvas.x += (kept.x - now.x) * this.canvas.scale;
      this.canvas.y += (kept.y - now.y) * this.canvas.scale;
      this.canvas.place();
    } else {
      this.settle();
    }
    this.minimap.show(drawn.boxes, this.canvas.size);
    this.anchor = null;
    this.element.dataset.state = String(drawn.state);
    this.timeline.show(drawn.state);
    this.toolbar.tell(`${counted(drawn.boxes.length, "table")}, ${counted(drawn.lines.length, "line")}${drawn.cut ? " (cut: there are more)" : ""}`
      + (drawn.beside ? ` · ${drawn.beside} more only decide (a)` : ""));
    this.picture.point(this.walker.cursor);
    this.restore();
  }

  /** Show all of it if it can be read then, else where it begins. */
  settle() {
    if (!this.picture) return;
    this.canvas.fit(this.covered());
    const start = this.picture.boxes.get(this.picture.drawn.starts[0]?.dataset) ?? this.picture.drawn.boxes[0];
    if (this.canvas.scale < WHOLE && start) this.canvas.centre(start, READABLE, this.covered());
  }

  /** The pixels at the bottom that the panel covers: on a phone it lies over the picture. */
  covered() {
    return !this.panel.element.hidden && window.matchMedia("(max-width: 760px)").matches ? this.stage.clientHeight * 0.62 : 0;
  }

  // ------------------------------------------------------------------------------------------- what is locked

  /** Lock again what the address says is locked. */
  restore() {
    if (!this.picture) return;
    const params = query();
    const [from, to, lock, table] = ["from", "to", "lock", "table"].map((name) => params.get(name));
    if (from !== null && to !== null) {
      const line = this.picture.lineBetween(from, params.get("from_column"), to, params.get("to_column"));
      this.picture.light(line >= 0 ? this.picture.wayOf({ kind: "line", line }) : null, true);
      this.panel.showEdge({ source: from, source_column: params.get("from_column"), target: to, target_column: params.get("to_column") });
    } else if (lock !== null) {
      const named = this.picture.named(lock);
      if (named) this.picture.light(this.picture.ways.of(named.box, named.column), true);
      if (named?.column) this.panel.showColumn(named.box, named.column);
    } else if (table !== null) {
      this.picture.light(this.picture.boxes.has(table) ? this.picture.ways.of(table, null) : null, true);
      this.panel.showDataset(table);
    } else {
      this.picture.light(null);
      this.panel.close();
      return;
    }
    this.revealLocked();
  }

  /** Bring what is locked into sight. */
  revealLocked() {
    const [to, lock, table] = ["to", "lock", "table"].map((name) => query().get(name));
    const box = this.picture?.boxes.get(to ?? table ?? (lock !== null ? this.picture.named(lock)?.box ?? "" : ""));
    if (box) this.canvas.reveal(box, this.covered());
  }

  /** @param {Record<string, string | null>} what */
  lock(what) {
    const nothing = { from: null, from_column: null, to: null, to_column: null, lock: null, table: null };
    change({ ...nothing, ...what });
  }

  letGo() {
    if (LOCKS.some((name) => query().has(name))) this.lock({});
    else this.preview(null);
  }

  /** @param {string} box */
  focus(box) {
    go("/graph", { select: around(box), level: query().get("level"), at: query().get("at") });
  }

  // ----------------------------------------------------------------------------------------- mouse and fingers

  /** @param {MouseEvent} event */
  onClick(event) {
    if (this.canvas.dragged || !this.picture) return;
    const pointed = this.picture.at(event);
    if (!pointed) return this.letGo();
    if (pointed.kind === "line") this.lockLine(pointed.line);
    else if (this.picture.boxes.get(pointed.box)?.kind === "many") this.append("unfold", pointed.box);
    else if (pointed.kind === "port") this.lock({ lock: `${pointed.box}.${pointed.column}` });
    else if (pointed.kind === "box") this.lock({ table: pointed.box });
    else if (pointed.kind === "fold") this.fold(pointed.box);
    else if (pointed.kind === "more") this.append("whole", pointed.box);
    else this.append("open", pointed.kind === "before" ? `<${pointed.box}` : `${pointed.box}>`, pointed.box);
  }

  /** @param {number} number */
  lockLine(number) {
    const line = /** @type {Picture} */ (this.picture).drawn.lines[number];
    this.lock({ from: line.source.box, from_column: line.source.port, to: line.target.box, to_column: line.target.port });
  }

  /** @param {MouseEvent} event */
  onDoubleClick(event) {
    const pointed = this.picture?.at(event);
    if (pointed?.kind === "box") this.focus(pointed.box);
  }

  /** @param {MouseEvent} event */
  onHover(event) {
    if (event.buttons || !this.picture) return;
    const pointed = this.picture.at(event);
    this.stage.classList.toggle("pointing", pointed !== null);
    this.preview(pointed);
  }

  /** @param {import("./picture.js").Pointed | null} pointed */
  preview(pointed) {
    if (!this.picture || this.picture.svg.classList.contains("locked")) return;
    const worth = pointed && ["line", "port", "box"].includes(pointed.kind);
    this.picture.light(worth ? this.picture.wayOf(pointed) : null);
  }

  /**
   * @param {string} name
   * @param {string} value
   * @param {string} [anchor]
   */
  append(name, value, anchor = value) {
    this.anchor = anchor;
    const values = query().getAll(name);
    if (!values.includes(value)) change({ [name]: [...values, value] });
  }

  /** @param {string} box */
  fold(box) {
    this.anchor = box;
    const flipped = query().getAll("flip");
    change({ flip: flipped.includes(box) ? flipped.filter((each) => each !== box) : [...flipped, box] });
  }

  /** @param {string} box */
  expand(box) {
    const here = this.picture?.boxes.get(box);
    if (!here) return;
    if (here.kind === "many") return this.append("unfold", box);
    const sides = [here.before ? `<${box}` : "", here.after ? `${box}>` : ""].filter(Boolean);
    if (!sides.length) return this.fold(box);
    this.anchor = box;
    change({ open: [...new Set([...query().getAll("open"), ...sides])] });
  }

  // ---------------------------------------------------------------------------------------------------- keys

  /** @param {KeyboardEvent} event */
  key(event) {
    const { picture, walker } = this;
    if (event.key === "Escape") this.letGo();
    else if (!picture) return false;
    else if (event.key.startsWith("Arrow")) this.walk(picture, event.key);
    else if (event.key === "a") toggleAll();
    else if (event.key === "f") this.canvas.fit();
    else if (event.key === "+" || event.key === "=") this.canvas.zoom(1.25);
    else if (event.key === "-") this.canvas.zoom(0.8);
    else if (!walker.cursor) return false;
    else if (event.key === "Enter") this.expand(walker.cursor.box);
    else if (event.key === "c") this.fold(walker.cursor.box);
    else if (event.key === " ") {
      const { box, column } = walker.cursor;
      this.lock(column === null ? { table: box } : { lock: `${box}.${column}` });
    } else return false;
    return true;
  }

  /**
   * @param {Picture} picture
   * @param {string} key
   */
  walk(picture, key) {
    if (!this.walker.step(picture, key) || !this.walker.cursor) return;
    const { box, column } = this.walker.cursor;
    picture.point(this.walker.cursor);
    this.preview(column === null ? { kind: "box", box } : { kind: "port", box, column });
    const place = picture.boxes.get(box);
    if (place) this.canvas.reveal(place);
    fill(this.spoken, column === null ? `table ${box}` : `column ${column} of ${box}`);
  }
}

/**
 * An error of a picture; of what there is now and was not at the moment that is shown, just that.
 * @param {any} error
 */
async function missing(error) {
  const [at, select] = [query().get("at"), query().get("select") ?? ""];
  const name = select.replace(/^\d*\+|\+\d*$/g, "");
  if (error.code !== "not-found" || !at || !error.message.includes(`\`${name}\``)) return problem(error);
  const now = await get("/select", { name }).catch(() => null);
  if (!now || query().get("at") !== at) return problem(error);
  return notice("empty", `${name} did not exist yet`, h("p", {}, `It is not in state ${at} of the graph. `,
    h("button.link", { onclick: () => change({ at: null, since: null }) }, "Show it now")));
}
