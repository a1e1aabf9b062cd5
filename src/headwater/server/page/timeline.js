// The states of the graph on a line: as of when, and compared with what.

import { get } from "./api.js";
import { calmed, fill, h } from "./dom.js";
import { moment } from "./format.js";
import { change, query } from "./place.js";

export class Timeline {
  constructor() {
    this.element = h("div.timeline", { hidden: true });
    /** @type {{number: number, kind: string | null, ended: string, sources: string[] | null, edges: number | null}[]} */
    this.states = [];
    this.slide = calmed((/** @type {number} */ number) => this.choose(number), 150);
    this.load();
  }

  load() {
    get("/states").then(({ states }) => {
      this.states = states.filter((/** @type {{expired: boolean}} */ each) => !each.expired);
      this.update();
    }).catch(() => { this.element.hidden = true; });
  }

  /**
   * Where a state stands among those that can be read; an address may name one by its number only.
   * @param {string | null} number
   */
  indexOf(number) {
    const found = this.states.findIndex((each) => String(each.number) === number);
    return found < 0 ? this.states.length - 1 : found;
  }

  /** @param {number} index */
  choose(index) {
    const { states } = this;
    const latest = index >= states.length - 1;
    const since = query().get("since");
    change({
      at: latest ? null : String(states[index].number),
      since: since && index > 0 ? String(states[index - 1].number) : null,
    });
  }

  update() {
    const { states } = this;
    this.element.hidden = states.length < 2;
    if (this.element.hidden) return;
    const index = this.indexOf(query().get("at"));
    const since = Number(query().get("since")) || 0;
    const range = /** @type {HTMLInputElement} */ (h("input", {
      type: "range", min: "0", max: String(states.length - 1), value: String(index), step: "1", list: "ticks", "aria-label": "State of the graph",
    }));
    range.addEventListener("input", () => {
      this.describe(range, Number(range.value));
      this.slide(Number(range.value));
    });
    this.label = h("span.when");
    const compare = h("button.toggle", {
      "aria-pressed": String(since > 0), disabled: index === 0,
      onclick: () => change({ since: since ? null : String(states[index - 1].number) }),
    }, "Compare");
    const before = since > 0 && h("label.since", {}, "with ", this.beforeChoice(states[index].number, since));
    fill(this.element,
      h("span.as-of", {}, "As of"), range,
      h("datalist", { id: "ticks" }, states.slice(0, 60).map((_, at) => h("option", { value: String(at) }))),
      this.label, compare, before, since > 0 && diffLegend());
    this.describe(range, index);
  }

  /**
   * @param {number} at
   * @param {number} since
   */
  beforeChoice(at, since) {
    const choice = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Compare with state" }));
    for (const each of this.states) {
      if (each.number < at) choice.append(h("option", { value: String(each.number), selected: each.number === since }, `${each.number} · ${each.kind ?? ""}`));
    }
    choice.addEventListener("change", () => change({ since: choice.value }));
    return choice;
  }

  /**
   * @param {HTMLElement} range
   * @param {number} index
   */
  describe(range, index) {
    const state = this.states[index];
    const last = this.states[this.states.length - 1];
    const text = `state ${state.number} of ${last.number} · ${state.kind ?? "change"} · ${moment(state.ended)}`;
    range.setAttribute("aria-valuetext", text);
    if (this.label) fill(this.label, state === last ? `now · ${text}` : text);
  }
}

function diffLegend() {
  return h("ul.diff-legend", {}, ["added", "changed", "removed"].map((name) => h("li", { class: name }, name)));
}
