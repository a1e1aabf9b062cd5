// The map, drawn: far away regions with what flows between them, nearer their tables, nearer still the columns.
// Text has the same size however near: what cannot be written legibly is not written yet.

import { get } from "./api.js";
import { h } from "./dom.js";
import { counted } from "./format.js";
import { Minimap } from "./minimap.js";

const FLOWS = 60; // drawn at once when nothing is pointed at
const NAMES = { width: 58, height: 14 }; // pixels of a table from which its name is written
const COLUMNS = { width: 118, height: 52 }; // and its columns
const ROW = 15;
const FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";

/** @typedef {{kind: "region", region: number} | {kind: "table", table: number} | {kind: "column", table: number, column: string}} Place */

export class MapCanvas {
  /**
   * @param {import("./mapground.js").Ground} ground
   * @param {{onChoose: (place: Place) => void, onMoved?: () => void}} on
   */
  constructor(ground, on) {
    this.ground = ground;
    this.on = on;
    this.drawing = /** @type {HTMLCanvasElement} */ (h("canvas", { "aria-hidden": "true" }));
    this.tip = h("div.tip", { hidden: true });
    this.stage = h("div.mapstage", {}, this.drawing, this.tip);
    this.x = 0;
    this.y = 0;
    this.scale = 1;
    this.moved = false;
    this.onPlace = () => {};
    this.minimap = new Minimap(this);
    this.stage.append(this.minimap.element);
    /** @type {Place | null} */
    this.pointed = null;
    /** @type {Map<number, {name: string, type: string | null}[] | null>} */
    this.columns = new Map();
    /** @type {Map<number, PointerEvent>} */
    this.fingers = new Map();
    this.dragged = false;
    this.frame = 0;
    this.journey = 0;
    this.colours = this.readColours();
    this.resized = new ResizeObserver(() => this.onResize());
    this.resized.observe(this.stage);
    this.themed = () => { this.colours = this.readColours(); this.showMinimap(); this.place(); };
    window.addEventListener("theme", this.themed);
    this.listen();
  }

  close() {
    this.resized.disconnect();
    window.removeEventListener("theme", this.themed);
    cancelAnimationFrame(this.frame);
    cancelAnimationFrame(this.journey);
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    const of = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
    return { bg: of("bg"), soft: of("soft"), raised: of("raised"), ink: of("ink"), faint: of("faint"), line: of("line"), strong: of("strong-line"), accent: of("accent"), warn: of("warn"), changed: of("changed") };
  }

  onResize() {
    const { clientWidth, clientHeight } = this.stage;
    const ratio = window.devicePixelRatio || 1;
    this.drawing.width = clientWidth * ratio;
    this.drawing.height = clientHeight * ratio;
    if (!this.moved) this.fit();
    this.showMinimap();
    this.draw();
  }

  showMinimap() {
    this.minimap.show(this.ground.regions.map((each) => ({ ...each, colour: this.colours.strong })), this.ground.size);
  }

  // ------------------------------------------------------------------------------------------------- moving

  place() {
    this.onPlace();
    this.on.onMoved?.();
    this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  /** @param {{x: number, y: number, width: number, height: number}} box */
  viewOf(box) {
    const { clientWidth, clientHeight } = this.stage;
    const scale = Math.min(clientWidth / box.width, clientHeight / box.height, 14);
    return { scale, x: clientWidth / 2 - (box.x + box.width / 2) * scale, y: clientHeight / 2 - (box.y + box.height / 2) * scale };
  }

  /**
   * A region with its tables large enough to be read; a high one is shown from its top.
   * @param {import("./mapground.js").Region} region
   */
  regionBox(region) {
    const { clientWidth, clientHeight } = this.stage;
    const table = this.ground.tables[region.tables[0]];
    const whole = { x: region.x - 8, y: region.y - 8, width: region.width + 16, height: region.height + 16 };
    const wanted = Math.max(NAMES.width * 1.9 / table.width, NAMES.height * 1.2 / table.height);
    if (this.viewOf(whole).scale >= wanted) return whole;
    const scale = Math.max(Math.min(wanted, clientWidth / whole.width), NAMES.width * 1.05 / table.width);
    return { ...whole, width: Math.min(whole.width, clientWidth / scale), height: Math.min(whole.height, clientHeight / scale) };
  }

  fit() {
    this.moved = false;
    Object.assign(this, this.viewOf({ x: 0, y: 0, ...this.ground.size }));
    this.place();
  }

  /**
   * Travel to a part of the map; at once for those who want no motion.
   * @param {{x: number, y: number, width: number, height: number} | null} box null for the whole
   */
  travel(box) {
    cancelAnimationFrame(this.journey);
    const from = { x: this.x, y: this.y, scale: this.scale };
    const to = this.viewOf(box ?? { x: 0, y: 0, ...this.ground.size });
    this.moved = box !== null;
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const start = performance.now();
    const step = (/** @type {number} */ now) => {
      const t = still ? 1 : Math.min(1, (now - start) / 320);
      const eased = 1 - (1 - t) ** 3;
      this.scale = from.scale * (to.scale / from.scale) ** eased;
      const part = to.scale === from.scale ? eased : (this.scale - from.scale) / (to.scale - from.scale);
      this.x = from.x + (to.x - from.x) * part;
      this.y = from.y + (to.y - from.y) * part;
      this.place();
      if (t < 1) this.journey = requestAnimationFrame(step);
    };
    step(start + (still ? 1000 : 0));
  }

  /**
   * @param {number} factor
   * @param {number} [x]
   * @param {number} [y]
   */
  zoom(factor, x = this.stage.clientWidth / 2, y = this.stage.clientHeight / 2) {
    const least = this.viewOf({ x: 0, y: 0, ...this.ground.size }).scale * 0.6;
    const scale = Math.max(least, Math.min(60, this.scale * factor));
    this.x = x - (x - this.x) * (scale / this.scale);
    this.y = y - (y - this.y) * (scale / this.scale);
    this.scale = scale;
    this.moved = true;
    this.place();
  }

  listen() {
    const { stage } = this;
    stage.addEventListener("wheel", (event) => {
      event.preventDefault();
      const at = stage.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0018)), event.clientX - at.left, event.clientY - at.top);
    }, { passive: false });
    stage.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      this.fingers.set(event.pointerId, event);
      if (this.fingers.size === 1) this.dragged = false;
    });
    stage.addEventListener("pointermove", (event) => this.onMove(event));
    for (const name of ["pointerup", "pointercancel"]) {
      stage.addEventListener(name, (event) => this.fingers.delete(/** @type {PointerEvent} */ (event).pointerId));
    }
    stage.addEventListener("pointerleave", () => this.point(null, 0, 0));
    stage.addEventListener("click", (event) => {
      const at = stage.getBoundingClientRect();
      const place = this.at(event.clientX - at.left, event.clientY - at.top);
      if (!this.dragged && place) this.on.onChoose(place);
    });
  }

  /** @param {PointerEvent} event */
  onMove(event) {
    const at = this.stage.getBoundingClientRect();
    const before = this.fingers.get(event.pointerId);
    if (!before) return this.point(this.at(event.clientX - at.left, event.clientY - at.top), event.clientX - at.left, event.clientY - at.top);
    const dx = event.clientX - before.clientX;
    const dy = event.clientY - before.clientY;
    if (!this.dragged && Math.hypot(dx, dy) < 4) return;
    if (!this.dragged) this.stage.setPointerCapture(event.pointerId);
    this.dragged = true;
    const other = [...this.fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
    if (other) {
      const apart = (/** @type {PointerEvent} */ one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      this.zoom(apart(event) / Math.max(1, apart(before)), other.clientX - at.left, other.clientY - at.top);
    } else {
      this.x += dx;
      this.y += dy;
      this.moved = true;
      this.place();
    }
    this.fingers.set(event.pointerId, event);
  }

  // ------------------------------------------------------------------------------------------------ pointing

  /**
   * What stands at a point of the stage.
   * @param {number} x
   * @param {number} y
   * @returns {Place | null}
   */
  at(x, y) {
    const [mapX, mapY] = [(x - this.x) / this.scale, (y - this.y) / this.scale];
    const inside = (/** @type {{x: number, y: number, width: number, height: number}} */ box) => mapX >= box.x && mapX <= box.x + box.width && mapY >= box.y && mapY <= box.y + box.height;
    const region = this.ground.regions.findIndex(inside);
    if (region < 0) return null;
    const table = this.ground.regions[region].tables.find((at) => inside(this.ground.tables[at]));
    if (table === undefined || !this.readable(this.ground.tables[table])) return { kind: "region", region };
    const columns = this.shows(this.ground.tables[table]) ? this.columns.get(table) : null;
    const row = Math.floor((y - (this.ground.tables[table].y * this.scale + this.y) - 22) / ROW);
    return columns && row >= 0 && columns[row] ? { kind: "column", table, column: columns[row].name } : { kind: "table", table };
  }

  /** @param {import("./mapground.js").Table} table */
  readable(table) {
    return table.width * this.scale >= NAMES.width && table.height * this.scale >= NAMES.height;
  }

  /** Whether a table shows its columns. @param {import("./mapground.js").Table} table */
  shows(table) {
    return table.width * this.scale >= COLUMNS.width && table.height * this.scale >= COLUMNS.height;
  }

  /**
   * @param {Place | null} place
   * @param {number} x
   * @param {number} y
   */
  point(place, x, y) {
    const same = JSON.stringify(place) === JSON.stringify(this.pointed);
    this.pointed = place;
    this.stage.classList.toggle("pointing", place !== null);
    this.tip.hidden = place === null;
    if (place) {
      if (!same) this.tip.replaceChildren(...this.describe(place));
      this.tip.style.transform = `translate(${Math.min(x + 14, this.stage.clientWidth - 260)}px, ${Math.min(y + 14, this.stage.clientHeight - 70)}px)`;
    }
    if (!same) this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  /** @param {Place} place */
  describe(place) {
    if (place.kind === "region") {
      const region = this.ground.regions[place.region];
      return [h("b", {}, region.name), h("span", {}, `${counted(region.tables.length, "table")}, ${counted(region.columns, "column")}`)];
    }
    const table = this.ground.tables[place.table];
    return [h("b", {}, place.kind === "column" ? `${table.name}.${place.column}` : table.name),
      h("span", {}, `${table.kind}, ${counted(table.columns, "column")} · made of ${table.up.length}, used by ${table.down.length}`)];
  }

  // ------------------------------------------------------------------------------------------------- drawing

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
    const name = cut(region.name, room, 7.9);
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
      this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.draw(); });
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
    const end = at > letters / 2 ? at : letters;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...lines, cut(rest, room, 6.9)];
}

/**
 * A text that fits, cut in the middle; measured by its letters, which is quick.
 * @param {string} text
 * @param {number} room in pixels
 * @param {number} letter pixels of one letter
 */
function cut(text, room, letter) {
  const most = Math.floor(room / letter);
  if (text.length <= most) return text;
  if (most < 4) return text.slice(0, Math.max(0, most));
  const tail = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - tail)}…${text.slice(text.length - tail)}`;
}
