// What stands above the picture: which part, how much of it, which lines, and the way out of the page.

import { address } from "./api.js";
import { calmed, fill, h } from "./dom.js";
import { around, change, go, query } from "./place.js";
import { exportMenu } from "./exports.js";

export const KINDS = {
  value: ["IDENTITY", "TRANSFORMATION", "AGGREGATION"],
  condition: ["CONDITIONAL", "WINDOW"],
  row: ["FILTER", "JOIN", "GROUP_BY", "SORT", "MERGE"],
};
const ALL = Object.values(KINDS).flat();
const WORDS = { value: "Values", condition: "Conditions", row: "Rows" };
const MEANING = { value: "solid: what makes a value", condition: "dashed: what decides a value", row: "dotted: what decides which rows there are" };

/** The kinds that ways follow: values alone, unless the address says more. */
export function followed() {
  const params = query();
  if (params.getAll("kind").length) return new Set(params.getAll("kind"));
  return new Set(params.get("lines") === "all" ? ALL : KINDS.value);
}

/** Conditions and rows count as much as values, or stand back again. */
export function toggleAll() {
  change({ kind: null, lines: query().get("lines") === "all" ? null : "all" });
}

export class Toolbar {
  /** @param {import("./canvas.js").Canvas} canvas */
  constructor(canvas) {
    this.selector = /** @type {HTMLInputElement} */ (h("input.selector", {
      "aria-label": "What is shown", title: "2+shop.orders+1: two steps back, one ahead", spellcheck: "false",
    }));
    this.selector.addEventListener("change", () => {
      const text = this.selector.value.trim();
      if (text) go("/graph", { select: /[+*?]/.test(text) ? text : around(text), level: query().get("level"), at: query().get("at") });
    });
    this.levels = h("div.segments", { role: "group", "aria-label": "Detail" });
    this.kinds = h("div.kinds", { role: "group", "aria-label": "Lines shown" });
    this.group = h("button.toggle", { onclick: () => change({ group: query().get("group") ? null : "true" }) }, "Group");
    this.status = h("span.status", { role: "status" });
    const zoom = h("div.segments", { role: "group", "aria-label": "Zoom" },
      h("button", { onclick: () => canvas.zoom(0.8), title: "Smaller (−)", "aria-label": "Smaller" }, "−"),
      h("button", { onclick: () => canvas.fit(), title: "Show all of it (f)" }, "Fit"),
      h("button", { onclick: () => canvas.zoom(1.25), title: "Larger (+)", "aria-label": "Larger" }, "+"));
    this.element = h("div.toolbar", {}, this.selector, this.levels, this.kinds, this.group, exportMenu(), this.status, zoom);
    this.update = calmed(() => this.fill(), 0);
  }

  /** @param {string} text */
  tell(text) {
    fill(this.status, text);
  }

  fill() {
    const params = query();
    this.selector.value = params.get("select") ?? "";
    const level = params.get("level") ?? "auto";
    const levels = [["auto", "Auto"], ["table", "Tables"], ["column", "Columns"]];
    fill(this.levels, levels.map(([value, text]) => h("button", {
      "aria-pressed": String(value === level),
      onclick: () => change({ level: value === "auto" ? null : value, flip: null }),
    }, text)));
    const chosen = followed();
    fill(this.kinds, Object.entries(KINDS).map(([name, kinds]) => this.kind(/** @type {keyof typeof KINDS} */ (name), kinds, chosen)));
    this.group.setAttribute("aria-pressed", String(params.has("group")));
  }

  /**
   * A toggle for one way of taking part, with its single kinds beneath.
   * @param {keyof typeof KINDS} name
   * @param {string[]} kinds
   * @param {Set<string>} chosen
   */
  kind(name, kinds, chosen) {
    const on = kinds.filter((kind) => chosen.has(kind));
    const state = on.length === kinds.length ? "true" : on.length ? "mixed" : "false";
    const whole = h("button.toggle", { "aria-pressed": state, title: `${MEANING[name]}${name === "value" ? "" : " (a: all lines)"}`, onclick: () => choose(chosen, kinds, on.length !== kinds.length) },
      h(`span.sample.${name}`), WORDS[name]);
    const single = kinds.map((kind) => h("label", {},
      h("input", { type: "checkbox", checked: chosen.has(kind), onchange: () => choose(chosen, [kind], !chosen.has(kind)) }),
      kind.toLowerCase().replace("_", " ")));
    return h("div.kind", {}, whole, h("details.menu", {}, h("summary", { "aria-label": `Kinds of ${WORDS[name]}` }, "▾"), h("div.items", {}, single)));
  }
}

/**
 * @param {Set<string>} chosen
 * @param {string[]} kinds
 * @param {boolean} on
 */
function choose(chosen, kinds, on) {
  const next = new Set(chosen);
  for (const kind of kinds) {
    if (on) next.add(kind);
    else next.delete(kind);
  }
  if (!next.size) return;
  const values = next.size === KINDS.value.length && KINDS.value.every((kind) => next.has(kind));
  change({ lines: next.size === ALL.length ? "all" : null, kind: values || next.size === ALL.length ? null : ALL.filter((kind) => next.has(kind)) });
}

/** The address of the present picture as a file. @param {string} format */
export function pictureAddress(format) {
  const params = query();
  const names = ["select", "open", "level", "flip", "whole", "lines", "kind", "group", "unfold", "at", "since"];
  return address("/picture", { ...Object.fromEntries(names.map((name) => [name, params.getAll(name)])), format });
}
