// How the map looks: far away regions with what flows between them, nearer their tables, nearer still the columns.
// Text has the same size however near: what cannot be written legibly is not written yet.

import { get } from "./api.js";
import { h } from "./dom.js";
import { counted } from "./format.js";

const FLOWS = 60; // drawn at once when nothing is pointed at
export const NAMES = { width: 58, height: 14 }; // pixels of a table from which its name is written
const COLUMNS = { width: 118, height: 52 }; // and its columns
export const ROW = 15;
const FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";

/** @typedef {{kind: "region", region: number} | {kind: "table", table: number} | {kind: "column", table: number, column: string}} Place */

export class MapPainter {
  /** @param {import("./mapground.js").Ground} ground */
  constructor(ground) {
    this.ground = ground;
    this.drawing = /** @type {HTMLCanvasElement} */ (h("canvas", { "aria-hidden": "true" }));
    this.stage = h("div.mapstage", {}, this.drawing);
    this.x = 0;
    this.y = 0;
    this.scale = 1;
    /** @type {Place | null} */
    this.pointed = null;
    /** @type {Map<number, {name: string, type: string | null}[] | null>} */
    this.columns = new Map();
    this.frame = 0;
    this.titles = ground.regions.map((region) => region.title);
    this.colours = this.readColours();
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    const of = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
    return { bg: of("bg"), soft: of("soft"), raised: of("raised"), ink: of("ink"), faint: of("faint"), line: of("line"), strong: of("strong-line"), accent: of("accent"), warn: of("warn"), changed: of("changed") };
  }

  /** Draw in the next frame, once. */
  again() {
    this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  /** @param {import("./mapground.js").Table} table */
  readable(table) {
    return table.width * this.scale >= NAMES.width && table.height * this.scale >= NAMES.height;
  }

  /** Whether a table shows its columns. @param {import("./mapground.js").Table} table */
  shows(table) {
    return table.width * this.scale >= COLUMNS.width && table.height * this.scale >= COLUMNS.height;
  }

  draw() {
    const context = /** @type {CanvasRenderingContext2D} */ (this.drawing.getContext("2d"));
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.stage;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, clientWidth, clientHeight);
    context.textBaseline = "middle";
    const seen = (/** @type {{x: number, y: number, width: number, height: number}} */ box) => {
      const [x, y, width, height] = [box.x * this.scale + this.x, box.y * this.scale + this.y, box.width * this.scale, box.height * this.scale];
      return x < clientWidth && y < clientHeight && x + width > 0 && y + height > 0 ? { x, y, width, height } : null;
    };
    let near = false;
    this.ground.regions.forEach((region, at) => {
      const box = seen(region);
      if (!box) return;
      this.drawRegion(context, region, at, box);
      for (const number of region.tables) {
        const table = this.ground.tables[number];
        const place = seen(table);
        if (!place) continue;
        near ||= this.readable(table);
        this.drawTable(context, table, number, place);
      }
    });
    if (this.pointed && this.pointed.kind !== "region") this.drawEdges(context, this.pointed.table);
    else this.drawFlows(context, near);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {import("./mapground.js").Region} region
   * @param {number} at
   * @param {{x: number, y: number, width: number, height: number}} box
   */
  drawRegion(context, region, at, box) {
    const { colours } = this;
    const pointed = this.pointed?.kind === "region" && this.pointed.region === at;
    context.fillStyle = colours.soft;
    context.strokeStyle = pointed ? colours.accent : colours.line;
    context.lineWidth = pointed ? 2 : 1;
    context.beginPath();
    context.roundRect(box.x, box.y, box.width, box.height, Math.min(8, box.width / 6));
    context.fill();
    context.stroke();
    const left = Math.max(box.x, 0) + 8;
    const room = Math.min(box.x + box.width, this.stage.clientWidth) - left - 8;
    if (room < 40 || box.height < 18) return;
    context.fillStyle = colours.ink;
    context.font = `600 13px ${FONT}`;
    const top = Math.max(box.y, 0) + 13;
    const name = fitted(context, region.title, room, this.titles);
    context.fillText(name, left, top);
    const used = context.measureText(name).width;
    const many = counted(region.tables.length, "table");
    context.font = `12px ${FONT}`;
    if (room - used > many.length * 6.4 + 14) {
      context.fillStyle = colours.faint;
      context.fillText(many, left + used + 10, top);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {import("./mapground.js").Table} table
   * @param {number} number
   * @param {{x: number, y: number, width: number, height: number}} box
   */
  drawTable(context, table, number, box) {
    const { colours } = this;
    const pointed = this.pointed && this.pointed.kind !== "region" && this.pointed.table === number;
    const colour = table.kind === "view" ? colours.changed : table.kind === "file" || table.kind === "topic" ? colours.warn : colours.accent;
    if (!this.readable(table)) {
      context.globalAlpha = 0.32;
      context.fillStyle = colour;
      context.fillRect(box.x, box.y, Math.max(1, box.width), Math.max(1, box.height));
      context.globalAlpha = 1;
      return;
    }
    context.fillStyle = colours.raised;
    context.strokeStyle = pointed ? colours.accent : colours.strong;
    context.lineWidth = pointed ? 2 : 1;
    context.beginPath();
    context.roundRect(box.x, box.y, box.width, box.height, 4);
    context.fill();
    context.stroke();
    context.fillStyle = colour;
    context.fillRect(box.x + 3, box.y + 3, 3, Math.min(box.height - 6, 16));
    context.fillStyle = colours.ink;
    const open = this.shows(table);
    context.font = `${open ? "600 " : ""}12px ${FONT}`;
    if (open) {
      context.fillText(cut(table.title, box.width - 16, 7.4), box.x + 11, box.y + 12);
      return this.drawColumns(context, number, box);
    }
    const lines = wrapped(table.title, box.width - 15, Math.max(1, Math.floor((box.height - 2) / 14)));
    lines.forEach((line, at) => context.fillText(line, box.x + 11, box.y + Math.min(box.height / 2, 11) + at * 14));
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} number
   * @param {{x: number, y: number, width: number, height: number}} box
   */
  drawColumns(context, number, box) {
    const columns = this.columns.get(number);
    if (columns === undefined) this.load(number);
    if (!columns) return;
    const { colours } = this;
    const rows = Math.max(0, Math.floor((box.height - 26) / ROW));
    const shown = columns.length > rows ? columns.slice(0, Math.max(0, rows - 1)) : columns;
    context.font = `12px ${FONT}`;
    shown.forEach((each, at) => {
      const lit = this.pointed?.kind === "column" && this.pointed.table === number && this.pointed.column === each.name;
      context.fillStyle = lit ? colours.accent : colours.ink;
      context.fillText(cut(each.name, box.width - 20, 6.9), box.x + 11, box.y + 30 + at * ROW);
    });
    context.fillStyle = colours.faint;
    if (shown.length < columns.length && rows > 0) context.fillText(`+${columns.length - shown.length} more`, box.x + 11, box.y + 30 + shown.length * ROW);
  }

  /** @param {number} number */
  load(number) {
    this.columns.set(number, null);
    get("/columns", { name: this.ground.tables[number].name }).then((answer) => {
      this.columns.set(number, answer.columns);
      this.again();
    }).catch(() => {}); // the name alone is shown
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {boolean} near whether names of tables can be read: then flows stand back
   */
  drawFlows(context, near) {
    const { ground, colours, pointed } = this;
    const of = pointed?.kind === "region" ? pointed.region : -1;
    const flows = of < 0 ? ground.flows.slice(0, FLOWS) : ground.flows.filter((each) => each.from === of || each.to === of);
    const most = ground.flows[0]?.many ?? 1;
    for (const flow of flows) {
      context.strokeStyle = of >= 0 && flow.to === of ? colours.changed : colours.accent;
      context.globalAlpha = of >= 0 ? 0.75 : (near ? 0.1 : 0.16) + 0.25 * (flow.many / most) * (near ? 0.3 : 1);
      context.lineWidth = 1 + 5 * Math.sqrt(flow.many / most);
      this.line(context, ground.regions[flow.from], ground.regions[flow.to]);
      if (of >= 0) this.drawCount(context, ground.regions[flow.from === of ? flow.to : flow.from], flow);
    }
    context.globalAlpha = 1;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {import("./mapground.js").Region} region
   * @param {import("./mapground.js").Flow} flow
   */
  drawCount(context, region, flow) {
    const x = (region.x + region.width / 2) * this.scale + this.x;
    const y = (region.y + region.height / 2) * this.scale + this.y;
    context.globalAlpha = 1;
    context.font = `600 12px ${FONT}`;
    const text = String(flow.many);
    const width = text.length * 7.5 + 14;
    context.fillStyle = this.colours.raised;
    context.beginPath();
    context.roundRect(x - width / 2, y - 10, width, 20, 10);
    context.fill();
    context.fillStyle = this.colours.ink;
    context.fillText(text, x - width / 2 + 7, y + 1);
  }

  /**
   * The lines of one table.
   * @param {CanvasRenderingContext2D} context
   * @param {number} number
   */
  drawEdges(context, number) {
    const { tables } = this.ground;
    context.lineWidth = 1.6;
    context.globalAlpha = 0.8;
    context.strokeStyle = this.colours.changed;
    for (const up of tables[number].up) this.line(context, tables[up], tables[number]);
    context.strokeStyle = this.colours.accent;
    for (const down of tables[number].down) this.line(context, tables[number], tables[down]);
    context.globalAlpha = 1;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{x: number, y: number, width: number, height: number}} from
   * @param {{x: number, y: number, width: number, height: number}} to
   */
  line(context, from, to) {
    const beside = Math.abs(to.x - from.x) < Math.min(to.width, from.width) / 2; // one above the other
    const back = !beside && to.x < from.x;
    const x0 = (back ? from.x : from.x + from.width) * this.scale + this.x;
    const x1 = (back || beside ? to.x + to.width : to.x) * this.scale + this.x;
    const y0 = (from.y + from.height / 2) * this.scale + this.y;
    const y1 = (to.y + to.height / 2) * this.scale + this.y;
    const reach = (back ? -1 : 1) * (beside ? 34 : Math.max(24, Math.abs(x1 - x0) / 2));
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + reach, y0, x1 + (beside ? reach : -reach), y1, x1, y1);
    context.stroke();
  }
}

/**
 * A name on several lines, broken behind its underscores where that is possible.
 * @param {string} text
 * @param {number} room in pixels
 * @param {number} most lines
 */
function wrapped(text, room, most) {
  const letters = Math.max(3, Math.floor(room / 6.9));
  const lines = [];
  let rest = text;
  while (rest.length > letters && lines.length < most - 1) {
    const at = rest.lastIndexOf("_", letters - 1) + 1;
    const end = at > letters / 3 ? at : letters;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...lines, cut(rest, room, 6.9)];
}

/**
 * A text that fits, cut where it stays different from others; measured as it is drawn.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} room in pixels
 * @param {string[]} others
 */
function fitted(context, text, room, others) {
  const width = context.measureText(text).width;
  let shown = text;
  for (let letter = width / text.length; context.measureText(shown).width > room && letter < room; letter *= 1.04) shown = cut(text, room, letter, others);
  return shown;
}

/**
 * A text that fits, cut near the middle, at a place where no other text looks the same; measured by its letters.
 * @param {string} text
 * @param {number} room in pixels
 * @param {number} letter pixels of one letter
 * @param {string[]} [others]
 */
export function cut(text, room, letter, others = []) {
  const most = Math.floor(room / letter);
  if (text.length <= most) return text;
  if (most < 4) return text.slice(0, Math.max(0, most));
  const middle = Math.floor((most - 1) / 2);
  const parts = (/** @type {number} */ tail) => ({ head: text.slice(0, most - 1 - tail), tail: text.slice(text.length - tail) });
  const alike = (/** @type {{head: string, tail: string}} */ { head, tail }) => others.some((other) => other !== text && other.startsWith(head) && other.endsWith(tail));
  let best = parts(middle);
  for (let away = 1; alike(best) && away <= most - 1; away++) {
    const tail = middle + (away % 2 ? -1 : 1) * Math.ceil(away / 2);
    if (tail >= 0 && tail < most && !alike(parts(tail))) best = parts(tail);
  }
  return `${best.head}…${best.tail}`;
}
