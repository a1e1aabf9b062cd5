// What is drawn, by its names: finds the parts of the picture, lights ways, tells what was pointed at.

import { distance, polyline } from "./curves.js";
import { Ways } from "./ways.js";

const NEAR = 6; // pixels: lines are thin, and dashed ones have gaps

/**
 * @typedef {{id: string, kind: string, ports: string[], before: number, after: number, more: number,
 *   folded: boolean | null, x: number, y: number, width: number, height: number}} Box
 * @typedef {{state: number, svg: string, starts: {dataset: string, column: string | null}[], boxes: Box[],
 *   lines: import("./ways.js").Line[], cut: boolean, beside: number}} Drawn
 * @typedef {{kind: "line", line: number} | {kind: "port", box: string, column: string} |
 *   {kind: "box" | "fold" | "before" | "after" | "more", box: string}} Pointed
 */

export class Picture {
  /**
   * @param {Drawn} drawn
   * @param {SVGSVGElement} svg
   * @param {Set<string>} follow the kinds of edges that a way takes
   */
  constructor(drawn, svg, follow) {
    this.drawn = drawn;
    this.svg = svg;
    this.ways = new Ways(drawn.lines, follow);
    /** @type {import("./curves.js").Curve[] | undefined} */
    this.curves = undefined;
    /** @type {Map<string, Box>} */
    this.boxes = new Map(drawn.boxes.map((box) => [box.id, box]));
    /** @type {Map<Element, Pointed>} */
    this.meaning = new Map();
    /** @type {Map<string, Element>} */
    this.elements = new Map();
    for (const element of svg.querySelectorAll("[id]")) this.elements.set(element.id, element);
    for (const box of drawn.boxes) this.learn(box);
    drawn.lines.forEach((_, line) => {
      const element = this.elements.get(`line-${line}`);
      if (element) this.meaning.set(element, { kind: "line", line });
    });
  }

  /** @param {Box} box */
  learn(box) {
    const element = this.elements.get(`box-${box.id}`);
    if (!element) return;
    this.meaning.set(element, { kind: "box", box: box.id });
    for (const kind of /** @type {const} */ (["fold", "before", "after", "more"])) {
      const part = element.querySelector(`:scope > .${kind}`);
      if (part) this.meaning.set(part, { kind, box: box.id });
    }
    for (const column of box.ports) {
      const port = this.elements.get(`port-${box.id}-${column}`);
      if (port) this.meaning.set(port, { kind: "port", box: box.id, column });
    }
  }

  /**
   * What an event points at: a part of a box, or the nearest line.
   * @param {MouseEvent} event
   * @returns {Pointed | null}
   */
  at(event) {
    let element = document.elementFromPoint(event.clientX, event.clientY);
    if (!element || !this.svg.contains(element)) return null;
    while (element && element !== this.svg) {
      const meaning = this.meaning.get(element);
      if (meaning && meaning.kind !== "line") return meaning;
      element = element.parentElement;
    }
    const line = this.nearestLine(event.clientX, event.clientY);
    return line < 0 ? null : { kind: "line", line };
  }

  /**
   * @param {number} x of the window
   * @param {number} y
   */
  nearestLine(x, y) {
    const inside = /** @type {SVGGElement | null} */ (this.svg.querySelector("g.all"))?.getScreenCTM();
    if (!inside) return -1;
    const at = new DOMPoint(x, y).matrixTransform(inside.inverse());
    this.curves ??= this.drawn.lines.map((_, line) => polyline(this.elements.get(`line-${line}`)?.getAttribute("d") ?? ""));
    let [best, nearest] = [-1, NEAR / inside.a];
    this.curves.forEach((curve, line) => {
      const away = distance(curve, at.x, at.y, nearest);
      if (away < nearest) [best, nearest] = [line, away];
    });
    return best;
  }

  /**
   * Light some lines and points, and dim the rest.
   * @param {{lines: Set<number>, points: Map<string, Set<string>>} | null} way
   * @param {boolean} [locked]
   */
  light(way, locked = false) {
    for (const element of this.svg.querySelectorAll(".on")) element.classList.remove("on");
    this.svg.classList.toggle("lit", way !== null);
    this.svg.classList.toggle("locked", way !== null && locked);
    if (!way) return;
    for (const line of way.lines) this.elements.get(`line-${line}`)?.classList.add("on");
    for (const [box, columns] of way.points) {
      this.elements.get(`box-${box}`)?.classList.add("on");
      for (const column of columns) this.elements.get(`port-${box}-${column}`)?.classList.add("on");
    }
  }

  /**
   * The way of what was pointed at.
   * @param {Pointed} pointed
   */
  wayOf(pointed) {
    if (pointed.kind === "line") {
      const line = this.drawn.lines[pointed.line];
      const points = new Map([
        [line.source.box, new Set(line.edges.map((edge) => edge[0]))],
        [line.target.box, new Set(line.edges.map((edge) => edge[1]))],
      ]);
      return { lines: new Set([pointed.line]), points };
    }
    return this.ways.of(pointed.box, pointed.kind === "port" ? pointed.column : null);
  }

  /**
   * The line between two ends, by their names.
   * @param {string} source
   * @param {string | null} sourceColumn
   * @param {string} target
   * @param {string | null} targetColumn
   */
  lineBetween(source, sourceColumn, target, targetColumn) {
    return this.drawn.lines.findIndex(
      (line) => line.source.box === source && line.target.box === target &&
        line.source.port === sourceColumn && line.target.port === targetColumn,
    );
  }

  /**
   * A dataset and perhaps a column out of a name with dots.
   * @param {string} name
   * @returns {{box: string, column: string | null} | null}
   */
  named(name) {
    if (this.boxes.has(name)) return { box: name, column: null };
    const owners = [...this.boxes.keys()].filter((box) => name.startsWith(`${box}.`)).sort((a, b) => b.length - a.length);
    return owners.length ? { box: owners[0], column: name.slice(owners[0].length + 1) } : null;
  }

  /**
   * Mark where the keyboard is.
   * @param {{box: string, column: string | null} | null} cursor
   */
  point(cursor) {
    for (const element of this.svg.querySelectorAll(".cursor")) element.classList.remove("cursor");
    if (!cursor) return;
    const id = cursor.column === null ? `box-${cursor.box}` : `port-${cursor.box}-${cursor.column}`;
    (this.elements.get(id) ?? this.elements.get(`box-${cursor.box}`))?.classList.add("cursor");
  }
}
