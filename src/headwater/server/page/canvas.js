// A picture that can be moved and zoomed. What moves is the group inside the picture, which browsers do fastest.

import { calmed } from "./dom.js";

const SMALLEST = 0.08;
const LARGEST = 3;

export class Canvas {
  /** @param {HTMLElement} stage */
  constructor(stage) {
    this.stage = stage;
    /** @type {SVGSVGElement | null} */
    this.svg = null;
    /** @type {SVGGElement | null} */
    this.all = null;
    this.x = 0;
    this.y = 0;
    this.scale = 1;
    this.size = { width: 0, height: 0 };
    this.dragged = false;
    /** Whether a person has moved it; until then it follows the size of the stage. */
    this.moved = false;
    /** @type {() => void} called whenever it has moved */
    this.onPlace = () => {};
    this.rest = calmed(() => stage.classList.remove("moving"), 200);
    /** @type {Map<number, PointerEvent>} */
    this.fingers = new Map();
    stage.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.onDown(event));
    stage.addEventListener("pointermove", (event) => this.onMove(event));
    for (const name of ["pointerup", "pointercancel"]) {
      stage.addEventListener(name, (event) => this.fingers.delete(/** @type {PointerEvent} */ (event).pointerId));
    }
  }

  /**
   * Show a picture; the text comes from our own server, and is read as SVG, never as HTML.
   * @param {string} text
   */
  show(text) {
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    const svg = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.importNode(parsed, true)));
    this.all = svg.querySelector("g.all");
    const margin = this.all?.transform.baseVal.consolidate()?.matrix.e ?? 24; // wider where lines go back
    const side = (/** @type {string} */ name) => Number(svg.getAttribute(name)) - 2 * margin + 48;
    this.size = { width: side("width"), height: side("height") };
    for (const name of ["viewBox", "width", "height"]) svg.removeAttribute(name);
    svg.setAttribute("aria-hidden", "true");
    this.svg?.remove();
    this.stage.prepend(svg);
    this.svg = svg;
    this.place();
  }

  place() {
    this.all?.setAttribute("transform", `translate(${this.x.toFixed(2)} ${this.y.toFixed(2)}) scale(${this.scale.toFixed(4)})`);
    this.onPlace();
  }

  /** A hand moves it: until it rests, faint lines are drawn without their dots, which take most of the time. */
  move() {
    this.moved = true;
    this.stage.classList.add("moving");
    this.rest();
    this.place();
  }

  /**
   * Show all of it, as large as is good to read.
   * @param {number} [covered] pixels at the bottom that something lies over
   */
  fit(covered = 0) {
    const { clientWidth } = this.stage;
    const clientHeight = this.stage.clientHeight - covered;
    const room = 32;
    this.moved = false;
    const scale = Math.min(1.15, (clientWidth - room) / this.size.width, (clientHeight - room) / this.size.height);
    this.scale = Math.max(SMALLEST, scale);
    this.x = (clientWidth - (this.size.width - 48) * this.scale) / 2;
    this.y = (clientHeight - (this.size.height - 48) * this.scale) / 2;
    this.place();
  }

  /**
   * Show a place in the middle, unless room would stay empty there that the rest of the picture can fill.
   * @param {{x: number, y: number, width: number, height: number}} box
   * @param {number} scale
   * @param {number} [covered] pixels at the bottom that something lies over
   */
  centre(box, scale, covered = 0) {
    const start = (/** @type {number} */ middle, /** @type {number} */ whole, /** @type {number} */ room) => {
      const size = (whole - 48) * scale;
      return size <= room - 48 ? (room - size) / 2 : Math.max(room - size - 24, Math.min(24, room / 2 - middle * scale));
    };
    this.scale = scale;
    this.x = start(box.x + box.width / 2, this.size.width, this.stage.clientWidth);
    this.y = start(box.y + box.height / 2, this.size.height, this.stage.clientHeight - covered);
    this.place();
  }

  /**
   * @param {number} factor
   * @param {number} [x]
   * @param {number} [y]
   */
  zoom(factor, x = this.stage.clientWidth / 2, y = this.stage.clientHeight / 2) {
    const scale = Math.max(SMALLEST, Math.min(LARGEST, this.scale * factor));
    this.x = x - (x - this.x) * (scale / this.scale);
    this.y = y - (y - this.y) * (scale / this.scale);
    this.scale = scale;
    this.move();
  }

  /**
   * Bring a place of the picture into sight, if it is not.
   * @param {{x: number, y: number, width: number, height: number}} box
   * @param {number} [covered] pixels at the bottom that something lies over
   */
  reveal(box, covered = 0) {
    const { clientWidth } = this.stage;
    const clientHeight = this.stage.clientHeight - covered;
    const left = this.x + box.x * this.scale;
    const top = this.y + box.y * this.scale;
    const width = box.width * this.scale;
    const height = Math.min(box.height * this.scale, clientHeight - 48);
    this.x += Math.max(0, 24 - left) - Math.max(0, left + width + 24 - clientWidth);
    this.y += Math.max(0, 24 - top) - Math.max(0, top + height + 24 - clientHeight);
    this.place();
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    event.preventDefault();
    const at = this.stage.getBoundingClientRect();
    if (event.ctrlKey || !event.shiftKey) {
      const speed = event.ctrlKey ? 0.01 : 0.0016;
      this.zoom(Math.exp(-event.deltaY * speed), event.clientX - at.left, event.clientY - at.top);
    } else {
      this.x -= event.deltaY;
      this.move();
    }
  }

  /** @param {PointerEvent} event */
  onDown(event) {
    if (event.button) return;
    this.fingers.set(event.pointerId, event);
    if (this.fingers.size === 1) this.dragged = false;
  }

  /** @param {PointerEvent} event */
  onMove(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const others = [...this.fingers.values()].filter((finger) => finger.pointerId !== event.pointerId);
    const dx = event.clientX - before.clientX;
    const dy = event.clientY - before.clientY;
    if (!this.dragged && Math.hypot(dx, dy) < 4) return;
    if (!this.dragged) this.stage.setPointerCapture(event.pointerId);
    this.dragged = true;
    if (others.length) {
      const apart = (/** @type {PointerEvent} */ one) => Math.hypot(one.clientX - others[0].clientX, one.clientY - others[0].clientY);
      const at = this.stage.getBoundingClientRect();
      this.zoom(apart(event) / Math.max(1, apart(before)), others[0].clientX - at.left, others[0].clientY - at.top);
    } else {
      this.x += dx;
      this.y += dy;
      this.move();
    }
    this.fingers.set(event.pointerId, event);
  }
}
