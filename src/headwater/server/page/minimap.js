// The whole of a picture in a corner, with a frame around what is in sight; drag the frame to move there. Where boxes
// stand in the corner, it is folded to a mark that unfolds when it is pointed at.

import { calmed, h } from "./dom.js";

const WIDTH = 168;
const HEIGHT = 104;

export class Minimap {
  /** @param {{stage: HTMLElement, x: number, y: number, scale: number, moved: boolean, place: () => void, onPlace: () => void}} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.drawing = /** @type {HTMLCanvasElement} */ (h("canvas", { width: WIDTH * 2, height: HEIGHT * 2, "aria-hidden": "true" }));
    this.frame = h("div.frame");
    this.element = h("div.minimap", { hidden: true, title: "The whole picture" }, this.drawing, this.frame);
    /** @type {{x: number, y: number, width: number, height: number}[]} */
    this.boxes = [];
    this.foldSoon = calmed(() => this.fold(), 200);
    this.size = { width: 1, height: 1 };
    this.scale = 1;
    const go = (/** @type {PointerEvent} */ event) => {
      event.stopPropagation();
      if (event.type === "pointermove" && !event.buttons) return;
      this.go(event);
    };
    this.element.addEventListener("pointerdown", go);
    this.element.addEventListener("pointermove", go);
    this.element.addEventListener("click", (event) => event.stopPropagation());
    canvas.onPlace = () => this.place();
  }

  /**
   * @param {{x: number, y: number, width: number, height: number, colour?: string}[]} boxes
   * @param {{width: number, height: number}} size
   */
  show(boxes, size) {
    this.boxes = boxes;
    this.size = size;
    this.scale = Math.min(WIDTH / size.width, HEIGHT / size.height);
    const context = /** @type {CanvasRenderingContext2D} */ (this.drawing.getContext("2d"));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, WIDTH * 2, HEIGHT * 2);
    context.setTransform(2 * this.scale, 0, 0, 2 * this.scale, 0, 0);
    const plain = getComputedStyle(this.element).getPropertyValue("--strong-line") || "#999";
    for (const box of boxes) {
      context.fillStyle = box.colour ?? plain;
      context.fillRect(box.x, box.y, Math.max(box.width, 1.5 / this.scale), Math.max(box.height, 1.5 / this.scale));
    }
    this.place();
    this.fold();
  }

  /** Whether boxes stand where it would lie. */
  fold() {
    const { stage, x, y, scale } = this.canvas;
    const [left, top] = [(stage.clientWidth - WIDTH - 20 - x) / scale, (stage.clientHeight - HEIGHT - 20 - y) / scale];
    this.element.classList.toggle("folded", this.boxes.some((box) => box.x + box.width > left && box.y + box.height > top
      && x + box.x * scale < stage.clientWidth && y + box.y * scale < stage.clientHeight));
  }

  /** The frame follows; a picture that is all in sight needs no map. */
  place() {
    const { stage, x, y, scale } = this.canvas;
    const left = -x / scale;
    const top = -y / scale;
    const width = stage.clientWidth / scale;
    const height = stage.clientHeight / scale;
    const whole = left <= 24 && top <= 24 && left + width >= this.size.width - 72 && top + height >= this.size.height - 72;
    this.element.hidden = whole || stage.clientWidth < 560;
    if (this.element.hidden) return;
    this.foldSoon();
    const within = (/** @type {number} */ value, /** @type {number} */ most) => Math.max(0, Math.min(most, value * this.scale));
    const [x0, x1] = [within(left, WIDTH), within(left + width, WIDTH)];
    const [y0, y1] = [within(top, HEIGHT), within(top + height, HEIGHT)];
    this.frame.style.transform = `translate(${x0.toFixed(1)}px, ${y0.toFixed(1)}px)`;
    this.frame.style.width = `${Math.max(6, x1 - x0).toFixed(1)}px`;
    this.frame.style.height = `${Math.max(6, y1 - y0).toFixed(1)}px`;
  }

  /** @param {PointerEvent} event */
  go(event) {
    const at = this.drawing.getBoundingClientRect();
    const { canvas } = this;
    canvas.x = canvas.stage.clientWidth / 2 - ((event.clientX - at.left) / this.scale) * canvas.scale;
    canvas.y = canvas.stage.clientHeight / 2 - ((event.clientY - at.top) / this.scale) * canvas.scale;
    canvas.moved = true;
    canvas.place();
  }
}
