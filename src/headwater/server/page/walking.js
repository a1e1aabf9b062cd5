// The keyboard on the picture: arrows walk along lines and through columns.

/** @typedef {{box: string, column: string | null}} Cursor */

export class Walker {
  constructor() {
    /** @type {Cursor | null} */
    this.cursor = null;
    /** @type {Cursor[]} */
    this.siblings = [];
  }

  /**
   * Walk one step; returns whether there was one.
   * @param {import("./picture.js").Picture} picture
   * @param {string} key
   */
  step(picture, key) {
    if (!this.cursor || !picture.boxes.has(this.cursor.box)) {
      const start = picture.drawn.starts[0];
      const box = start && picture.boxes.has(start.dataset) ? start.dataset : picture.drawn.boxes[0]?.id;
      if (box === undefined) return false;
      this.cursor = { box, column: null };
      this.siblings = [];
      return true;
    }
    return key === "ArrowLeft" || key === "ArrowRight" ? this.along(picture, key === "ArrowRight") : this.beside(picture, key === "ArrowDown");
  }

  /**
   * @param {import("./picture.js").Picture} picture
   * @param {boolean} right
   */
  along(picture, right) {
    const { box, column } = /** @type {Cursor} */ (this.cursor);
    let found = this.ends(picture, right, (near) => near.box === box && (column === null || near.port === column));
    if (!found.size) found = this.ends(picture, right, (near) => near.box === box && near.port === null);
    const height = (/** @type {Cursor} */ end) => {
      const place = picture.boxes.get(end.box);
      return place ? place.y + (end.column === null ? 0 : place.ports.indexOf(end.column) + 1) * 20 : 0;
    };
    this.siblings = [...found.values()].sort((a, b) => Number(a.column === null) - Number(b.column === null) || height(a) - height(b));
    if (!this.siblings.length) return false;
    this.cursor = this.siblings[0];
    return true;
  }

  /**
   * The far ends of some lines.
   * @param {import("./picture.js").Picture} picture
   * @param {boolean} right
   * @param {(near: import("./ways.js").End) => boolean} wanted
   * @returns {Map<string, Cursor>}
   */
  ends(picture, right, wanted) {
    const found = new Map();
    for (const line of picture.drawn.lines) {
      const [near, far] = right ? [line.source, line.target] : [line.target, line.source];
      if (wanted(near) && far.box !== near.box) found.set(`${far.box}\u0000${far.port ?? ""}`, { box: far.box, column: far.port });
    }
    return found;
  }

  /**
   * @param {import("./picture.js").Picture} picture
   * @param {boolean} down
   */
  beside(picture, down) {
    const { box, column } = /** @type {Cursor} */ (this.cursor);
    const step = down ? 1 : -1;
    const at = this.siblings.findIndex((each) => each.box === box && each.column === column);
    if (at >= 0 && this.siblings[at + step]) {
      this.cursor = this.siblings[at + step];
      return true;
    }
    this.siblings = [];
    const ports = picture.boxes.get(box)?.ports ?? [];
    const next = (column === null ? -1 : ports.indexOf(column)) + step;
    if (next >= 0 && next < ports.length) {
      this.cursor = { box, column: ports[next] };
      return true;
    }
    if (next === -1 && column !== null) {
      this.cursor = { box, column: null };
      return true;
    }
    return this.toNextBox(picture, box, down);
  }

  /**
   * @param {import("./picture.js").Picture} picture
   * @param {string} box
   * @param {boolean} down
   */
  toNextBox(picture, box, down) {
    const here = picture.boxes.get(box);
    if (!here) return false;
    const rank = picture.drawn.boxes.filter((each) => Math.abs(each.x - here.x) < 1).sort((a, b) => a.y - b.y);
    const next = rank[rank.indexOf(here) + (down ? 1 : -1)];
    if (!next) return false;
    this.cursor = { box: next.id, column: !down && next.ports.length ? next.ports[next.ports.length - 1] : null };
    return true;
  }
}
