// Where everything stands on the map: regions in strips from the sources on the left to what is made last, and in each
// the tables in the order in which they are made of each other. The same graph has the same map.

const GUTTER = 12;
const MARGIN = 24; // on the right, for lines between regions of the last strip
const NARROWEST = 150; // strip: most names of databases can be read then
const TITLE = 25; // room above the tables of a region

/**
 * @typedef {{name: string, title: string, x: number, y: number, width: number, height: number, tables: number[], columns: number, depth: number}} Region
 * @typedef {{name: string, title: string, kind: string, columns: number, region: number, x: number, y: number, width: number, height: number, up: number[], down: number[]}} Table
 * @typedef {{from: number, to: number, many: number}} Flow
 * @typedef {{state: number, regions: string[], tables: string[], region: number[], kind: string[], columns: number[], pairs: [number, number][]}} Answer
 */

export class Ground {
  /**
   * @param {Answer} answer
   * @param {{width: number, height: number}} room in pixels: at first, one unit of the map is one pixel
   */
  constructor(answer, room) {
    this.room = { width: Math.max(320, room.width), height: Math.max(240, room.height) };
    /** @type {Table[]} */
    this.tables = answer.tables.map((name, at) => ({
      name, title: titleOf(name, answer.regions[answer.region[at]]), kind: answer.kind[at], columns: answer.columns[at], region: answer.region[at],
      x: 0, y: 0, width: 0, height: 0, up: [], down: [],
    }));
    for (const [from, to] of answer.pairs) {
      this.tables[from].down.push(to);
      this.tables[to].up.push(from);
    }
    const depths = depthOf(this.tables);
    const titles = shortest(answer.regions);
    /** @type {Region[]} */
    this.regions = answer.regions.map((name, at) => ({ name: name || "without a database", title: titles[at] || "without a database", x: 0, y: 0, width: 0, height: 0, tables: [], columns: 0, depth: 0 }));
    this.tables.forEach((table, at) => {
      const region = this.regions[table.region];
      region.tables.push(at);
      region.columns += table.columns;
      region.depth += depths[at];
    });
    for (const region of this.regions) {
      region.depth /= Math.max(1, region.tables.length);
      region.tables.sort((a, b) => depths[a] - depths[b] || this.tables[a].name.localeCompare(this.tables[b].name));
    }
    this.size = this.placeRegions();
    for (const region of this.regions) this.placeTables(region);
    /** @type {Flow[]} */
    this.flows = this.findFlows();
  }

  /** Regions in strips: as large as they have tables, though small ones are larger than their share. */
  placeRegions() {
    const order = [...this.regions].sort((a, b) => a.depth - b.depth || a.name.localeCompare(b.name));
    const area = (/** @type {Region} */ region) => Math.max(2, region.tables.length) ** 0.75;
    const { width: across, height: down } = this.room;
    const most = Math.max(1, Math.floor((across - GUTTER) / (NARROWEST + GUTTER * 2.5)));
    const many = Math.max(1, Math.min(most, order.length, Math.round(Math.sqrt((order.length * across) / down) * 0.85)));
    /** @type {Region[][]} */
    const strips = [];
    for (let start = 0; strips.length < many && start < order.length;) {
      const after = many - strips.length - 1;
      const share = order.slice(start).reduce((sum, each) => sum + area(each), 0) / (after + 1);
      let end = start + 1;
      let sum = area(order[start]);
      while (end < order.length && (!after || (order.length - end > after && sum + area(order[end]) / 2 < share))) sum += area(order[end++]);
      strips.push(order.slice(start, end));
      start = end;
    }
    const widths = shares(strips.map((strip) => strip.reduce((sum, each) => sum + area(each), 0)), across - 2 * GUTTER - MARGIN - (strips.length - 1) * GUTTER * 2.5, NARROWEST);
    let x = GUTTER;
    strips.forEach((strip, number) => {
      const heights = shares(strip.map(area), down - GUTTER * (strip.length + 1), TITLE);
      let y = GUTTER;
      strip.forEach((region, at) => {
        Object.assign(region, { x, y, width: widths[number], height: heights[at] });
        y += heights[at] + GUTTER;
      });
      x += widths[number] + GUTTER * 2.5;
    });
    const bottom = Math.max(...order.map((each) => each.y + each.height), 0) + GUTTER;
    return { width: x - GUTTER * 1.5 + MARGIN, height: Math.max(down, bottom) };
  }

  /** @param {Region} region */
  placeTables(region) {
    const many = region.tables.length;
    const width = region.width - 16;
    const height = Math.max(1, region.height - TITLE - 8);
    const columns = Math.max(1, Math.min(many, Math.round(Math.sqrt((many * width) / height / 2.4))));
    const rows = Math.ceil(many / columns);
    const gap = Math.min(10, (width / columns) * 0.12);
    const cell = { width: width / columns, height: Math.min(height / rows, Math.max(60, (width / columns) * 0.55)) };
    region.tables.forEach((at, number) => {
      const table = this.tables[at];
      table.x = region.x + 8 + Math.floor(number / rows) * cell.width;
      table.y = region.y + TITLE + (number % rows) * cell.height;
      table.width = cell.width - gap;
      table.height = cell.height - Math.min(gap, cell.height * 0.2);
    });
  }

  findFlows() {
    /** @type {Map<number, Flow>} */
    const found = new Map();
    for (const table of this.tables) {
      for (const to of table.down) {
        const other = this.tables[to].region;
        if (other === table.region) continue;
        const key = table.region * this.regions.length + other;
        const flow = found.get(key) ?? { from: table.region, to: other, many: 0 };
        flow.many += 1;
        found.set(key, flow);
      }
    }
    return [...found.values()].sort((a, b) => b.many - a.many);
  }
}

/**
 * A length divided by weights, each part at least so long.
 * @param {number[]} weights
 * @param {number} length
 * @param {number} least
 */
function shares(weights, length, least) {
  const small = new Set();
  for (;;) {
    const room = Math.max(0, length - small.size * least);
    const sum = weights.reduce((total, each, at) => (small.has(at) ? total : total + each), 0) || 1;
    const next = weights.findIndex((each, at) => !small.has(at) && (room * each) / sum < least);
    if (next < 0) return weights.map((each, at) => (small.has(at) ? least : (room * each) / sum));
    small.add(next);
  }
}

/**
 * Names without what all that end alike begin with: as many of their last parts as tell them apart.
 * @param {string[]} names
 */
function shortest(names) {
  const ends = (/** @type {string} */ name) => {
    const cuts = [...name.matchAll(/[./]/g)].map((each) => each.index + 1).reverse().filter((at) => name.slice(at) !== "*");
    return [...cuts, 0].map((at) => name.slice(at));
  };
  /** @type {Map<string, number>} */
  const many = new Map();
  for (const name of names) for (const end of ends(name)) many.set(end, (many.get(end) ?? 0) + 1);
  const titles = names.map((name) => ends(name).find((end) => many.get(end) === 1) ?? name);
  return titles.map((title) => title === "*" ? "others" : title.replace(/[./]\*$/, ", others"));
}

/**
 * A name without its region.
 * @param {string} name
 * @param {string} region
 */
function titleOf(name, region) {
  if (region.endsWith("*")) return name.slice(region.length - 1);
  return region && name.startsWith(region) ? name.slice(region.length + 1).replace(/^\*\//, "") : name;
}

/**
 * How many steps each table is from the sources; a circle counts where it is entered.
 * @param {Table[]} tables
 */
function depthOf(tables) {
  const depth = new Array(tables.length).fill(0);
  const missing = tables.map((each) => each.up.length);
  const ready = tables.flatMap((_, at) => (missing[at] ? [] : [at]));
  const waiting = new Set(tables.flatMap((_, at) => (missing[at] ? [at] : [])));
  while (ready.length || waiting.size) {
    if (!ready.length) { // only circles are left: enter one
      const next = waiting.values().next().value;
      if (next === undefined) break;
      waiting.delete(next);
      ready.push(next);
      missing[next] = -1;
    }
    const at = /** @type {number} */ (ready.pop());
    for (const to of tables[at].down) {
      if (missing[to] <= 0) continue;
      depth[to] = Math.max(depth[to], depth[at] + 1);
      missing[to] -= 1;
      if (missing[to] === 0 && waiting.delete(to)) ready.push(to);
    }
  }
  return depth;
}
