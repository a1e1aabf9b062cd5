// The way of a column through what is drawn: what it is made of, and what is made of it.
//
// Lines carry the edges between columns that they stand for, so a way is exact also through boxes that are closed. A
// column stands for the fields inside it; what decides the rows of a table (`*`) bears on all its columns.

const WHOLE = "*";

/**
 * @typedef {{box: string, port: string | null}} End
 * @typedef {{source: End, target: End, style: string, edges: [string, string, string][]}} Line
 * @typedef {{box: string, column: string}} Point
 * @typedef {{line: number, other: Point, style: string}} Hop
 */

export class Ways {
  /**
   * @param {Line[]} lines
   * @param {Set<string>} follow the kinds of edges that a way takes
   */
  constructor(lines, follow) {
    this.lines = lines;
    /** @type {Map<string, Map<string, Hop[]>>} */
    this.up = new Map();
    /** @type {Map<string, Map<string, Hop[]>>} */
    this.down = new Map();
    lines.forEach((line, number) => {
      for (const [source, target, kind] of line.edges) {
        if (!follow.has(kind)) continue;
        const from = { box: line.source.box, column: source };
        const to = { box: line.target.box, column: target };
        put(this.up, to, { line: number, other: from, style: line.style });
        put(this.down, from, { line: number, other: to, style: line.style });
      }
    });
  }

  /**
   * The lines and points of a way.
   * @param {string} box
   * @param {string | null} column null for all of the box
   */
  of(box, column) {
    /** @type {Set<number>} */
    const lines = new Set();
    /** @type {Map<string, Set<string>>} */
    const points = new Map();
    for (const up of [true, false]) this.walk(box, column, up, lines, points);
    return { lines, points };
  }

  /**
   * @param {string} box
   * @param {string | null} column
   * @param {boolean} up
   * @param {Set<number>} lines
   * @param {Map<string, Set<string>>} points
   */
  walk(box, column, up, lines, points) {
    const hops = up ? this.up : this.down;
    /** @type {Set<string>} */
    const seen = new Set();
    const starts = column === null ? [...(hops.get(box)?.keys() ?? [])] : [column];
    /** @type {Point[]} */
    const queue = starts.map((each) => ({ box, column: each }));
    mark(points, box, column ?? WHOLE);
    for (let point = queue.pop(); point; point = queue.pop()) {
      const key = `${point.box}\u0000${point.column}`;
      if (seen.has(key)) continue;
      seen.add(key);
      mark(points, point.box, point.column);
      for (const hop of leaving(hops.get(point.box), point.column, up)) {
        lines.add(hop.line);
        queue.push(hop.other);
      }
    }
  }
}

/**
 * @param {Map<string, Hop[]> | undefined} hops of a box, by column
 * @param {string} column
 * @param {boolean} up
 */
function* leaving(hops, column, up) {
  for (const [name, found] of hops ?? []) {
    const same = name === column || within(name, column) || within(column, name);
    const whole = name === WHOLE || column === WHOLE;
    for (const hop of found) {
      if (same || (whole && (up ? name === WHOLE : column === WHOLE || hop.style === "value"))) yield hop;
    }
  }
}

/**
 * Whether one column is a field inside another.
 * @param {string} inner
 * @param {string} outer
 */
function within(inner, outer) {
  return inner.startsWith(outer) && ".[".includes(inner[outer.length] ?? "");
}

/**
 * @param {Map<string, Map<string, Hop[]>>} map
 * @param {Point} point
 * @param {Hop} hop
 */
function put(map, point, hop) {
  const columns = map.get(point.box) ?? new Map();
  map.set(point.box, columns);
  const hops = columns.get(point.column) ?? [];
  columns.set(point.column, hops);
  hops.push(hop);
}

/**
 * @param {Map<string, Set<string>>} points
 * @param {string} box
 * @param {string} column
 */
function mark(points, box, column) {
  const columns = points.get(box) ?? new Set();
  points.set(box, columns);
  columns.add(column);
}
