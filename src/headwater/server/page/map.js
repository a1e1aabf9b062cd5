// The map of everything: the picture, and beside it the same as a list that keyboards and screen readers can walk.

import { get } from "./api.js";
import { add, breakable, calmed, fill, h, notice } from "./dom.js";
import { count, counted } from "./format.js";
import { unread, welcome } from "./home.js";
import { MapCanvas } from "./mapcanvas.js";
import { Ground } from "./mapground.js";
import { around, change, go, query } from "./place.js";

/** @returns {import("./main.js").View} */
export function mapView() {
  const view = new MapView();
  view.load();
  return view;
}

/**
 * What a place of the map leads to.
 * @param {import("./mapground.js").Ground} ground
 * @param {import("./mapcanvas.js").Place} place
 */
export function openPlace(ground, place) {
  if (place.kind === "region") return go("/map", { region: ground.regions[place.region].name });
  const { name } = ground.tables[place.table];
  if (place.kind === "table") go("/graph", { select: around(name), table: name });
  else go("/graph", { select: around(`${name}.${place.column}`), lock: `${name}.${place.column}` });
}

class MapView {
  constructor() {
    this.list = h("nav.list", { "aria-label": "What is here" });
    this.middle = h("div.mapmiddle", {}, notice("loading", "Reading the graph"));
    this.element = h("div.map", {}, this.list, this.middle);
    /** @type {MapCanvas | null} */
    this.canvas = null;
    this.shown = "";
    this.remember = calmed(() => this.keepView(), 250);
  }

  async load() {
    try {
      const answer = await get("/map", { at: query().get("at") });
      const ground = new Ground(answer, { width: this.middle.clientWidth, height: this.middle.clientHeight - 49 });
      if (!ground.tables.length) return fill(this.middle, welcome());
      this.canvas?.close();
      const canvas = new MapCanvas(ground, { onChoose: (place) => openPlace(ground, place), onMoved: () => this.remember() });
      this.canvas = canvas;
      const zoom = h("div.segments.zoom", { role: "group", "aria-label": "Zoom" },
        h("button", { onclick: () => canvas.zoom(0.7), "aria-label": "Smaller" }, "−"),
        h("button", { onclick: () => change({ region: null, view: null }) }, "All"),
        h("button", { onclick: () => canvas.zoom(1.4), "aria-label": "Larger" }, "+"));
      fill(this.middle, canvas.stage, h("div.mapbar", {}, zoom, h("p.faint", {}, "Zoom in for tables, then columns. Point at a region to see what flows in and out.")));
      canvas.onResize();
      this.restore();
      this.moved();
    } catch (error) {
      fill(this.middle, unread(error));
    }
  }

  refreshed() {
    if (!query().get("at")) this.load();
  }

  closed() {
    this.canvas?.close();
  }

  /** The view that the address names: its middle and its scale. */
  restore() {
    const [across, down, scale] = (query().get("view") ?? "").split(",").map(Number);
    if (!this.canvas || !scale) return;
    const { stage, ground } = this.canvas;
    const [x, y] = [across * ground.size.width, down * ground.size.height];
    Object.assign(this.canvas, { scale, x: stage.clientWidth / 2 - x * scale, y: stage.clientHeight / 2 - y * scale, moved: true });
    this.shown = query().get("region") ?? "";
    this.canvas.place();
  }

  keepView() {
    const { canvas } = this;
    if (!canvas || !this.element.isConnected) return;
    const { x, y, scale, stage, ground } = canvas;
    const middle = [(stage.clientWidth / 2 - x) / scale / ground.size.width, (stage.clientHeight / 2 - y) / scale / ground.size.height];
    const view = middle.map((each) => each.toFixed(4));
    change({ view: canvas.moved ? [...view, scale.toFixed(3)].join() : null }, { replace: true, quietly: true });
  }

  moved() {
    const { canvas } = this;
    if (!canvas) return;
    const name = query().get("region") ?? "";
    const region = canvas.ground.regions.find((each) => each.name === name) ?? null;
    if (name !== this.shown || (!name && !query().get("view"))) canvas.travel(region && canvas.regionBox(region));
    this.shown = name;
    fill(this.list, region ? this.tableList(canvas.ground, region) : this.regionList(canvas.ground));
  }

  /** @param {import("./mapground.js").Ground} ground */
  regionList(ground) {
    const order = ground.regions.map((each, at) => ({ each, at })).sort((a, b) => b.each.tables.length - a.each.tables.length);
    return [h("h1", {}, "Map"),
      h("p.faint", {}, `${counted(ground.tables.length, "table")} in ${counted(ground.regions.length, "region")}, ${counted(ground.flows.length, "flow")} between them`),
      h("ul", {}, order.map(({ each }) => h("li", {},
        h("a", { href: `/map?region=${encodeURIComponent(each.name)}`, "data-link": "" }, h("span.name", { title: each.name }, breakable(each.title)), h("span.faint", {}, count(each.tables.length))))))];
  }

  /**
   * @param {import("./mapground.js").Ground} ground
   * @param {import("./mapground.js").Region} region
   */
  tableList(ground, region) {
    const number = ground.regions.indexOf(region);
    const side = (/** @type {"from" | "to"} */ near, /** @type {"from" | "to"} */ far, /** @type {string} */ title) => {
      const flows = ground.flows.filter((each) => each[near] === number);
      return flows.length > 0 && h("div", {}, h("h2.minor", {}, title), h("ul", {}, flows.slice(0, 12).map((flow) => h("li", {},
        h("a", { href: `/map?region=${encodeURIComponent(ground.regions[flow[far]].name)}`, "data-link": "" },
          h("span.name", { title: ground.regions[flow[far]].name }, breakable(ground.regions[flow[far]].title)), h("span.faint", {}, count(flow.many)))))));
    };
    const list = h("ul", {}, region.tables.slice(0, 400).map((at) => h("li", {},
      h("a", { href: `/graph?select=${encodeURIComponent(around(ground.tables[at].name))}`, "data-link": "" },
        h("span.name", {}, breakable(ground.tables[at].title)), h("span.faint", {}, `${ground.tables[at].up.length} → ${ground.tables[at].down.length}`)))));
    const panel = h("div", {}, h("a.up", { href: "/map", "data-link": "" }, "‹ All regions"), h("h1", {}, breakable(region.name)),
      h("p.faint", {}, `${counted(region.tables.length, "table")}, ${counted(region.columns, "column")}`));
    add(panel, side("to", "from", "Comes from"), side("from", "to", "Flows to"), h("h2.minor", {}, "Tables, sources first"), list);
    if (region.tables.length > 400) add(panel, h("p.faint", {}, `${count(region.tables.length - 400)} more: the search finds them`));
    return panel;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { canvas } = this;
    if (!canvas) return false;
    const steps = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const step = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (step) {
      canvas.x += step[0] * 80;
      canvas.y += step[1] * 80;
      canvas.moved = true;
      canvas.place();
    } else if (event.key === "+" || event.key === "=") canvas.zoom(1.4);
    else if (event.key === "-") canvas.zoom(0.7);
    else if (event.key === "f" || event.key === "Escape") change({ region: null, view: null });
    else return false;
    return true;
  }
}
