// The map in the hand: moved, zoomed, pointed at.

import { h } from "./dom.js";
import { counted } from "./format.js";
import { MapPainter, NAMES, ROW } from "./mappaint.js";
import { Minimap } from "./minimap.js";

/** @typedef {import("./mappaint.js").Place} Place */

export class MapCanvas extends MapPainter {
  /**
   * @param {import("./mapground.js").Ground} ground
   * @param {{onChoose: (place: Place) => void, onMoved?: () => void}} on
   */
  constructor(ground, on) {
    super(ground);
    /** @type {Place | null} */
    this.pointed = null;
    this.on = on;
    this.tip = h("div.tip", { hidden: true });
    this.stage.append(this.tip);
    this.moved = false;
    this.onPlace = () => {};
    this.minimap = new Minimap(this);
    this.stage.append(this.minimap.element);
    /** @type {Map<number, PointerEvent>} */
    this.fingers = new Map();
    this.dragged = false;
    this.journey = 0;
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
    this.again();
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

  /** All of it; where its names could not be read then, all of its width, from the top. */
  whole() {
    const { width, height } = this.ground.size;
    const all = this.viewOf({ x: 0, y: 0, width, height });
    const wide = Math.min(1, this.stage.clientWidth / width);
    return all.scale >= 0.8 || wide <= all.scale ? all : { scale: wide, x: (this.stage.clientWidth - width * wide) / 2, y: 0 };
  }

  fit() {
    this.moved = false;
    Object.assign(this, this.whole());
    this.place();
  }

  /**
   * Travel to a part of the map; at once for those who want no motion.
   * @param {{x: number, y: number, width: number, height: number} | null} box null for the whole
   */
  travel(box) {
    cancelAnimationFrame(this.journey);
    const from = { x: this.x, y: this.y, scale: this.scale };
    const to = box ? this.viewOf(box) : this.whole();
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
    const least = this.whole().scale * 0.4;
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
    if (!same) this.again();
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
}
