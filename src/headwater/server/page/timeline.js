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
      this.states = states;
      this.update();
    }).catch(() => { this.element.hidden = true; });
  }

  /** @param {number} number */
  choose(number) {
    const latest = number >= this.states.length;
    const since = query().get("since");
    change({ at: latest ? null : String(number), since: since && number > 1 ? String(number - 1) : null });
  }

  update() {
    const { states } = this;
    this.element.hidden = states.length < 2;
    if (this.element.hidden) return;
    const at = Math.min(states.length, Number(query().get("at") ?? states.length) || states.length);
    const since = Number(query().get("since")) || 0;
    const state = states[at - 1];
    const range = /** @type {HTMLInputElement} */ (h("input", {
      type: "range", min: "1", max: String(states.length), value: String(at), step: "1", list: "ticks", "aria-label": "State of the graph",
      "aria-valuetext": `${at}: ${state?.kind ?? ""} ${moment(state?.ended)}`,
    }));
    range.addEventListener("input", () => {
      this.describe(Number(range.value));
      this.slide(Number(range.value));
    });
    this.label = h("span.when");
    const compare = h("button.toggle", {
      "aria-pressed": String(since > 0), disabled: at <= 1,
      onclick: () => change({ since: since ? null : String(at - 1) }),
    }, "Compare");
    const before = since > 0 && h("label.since", {}, "with ", this.beforeChoice(at, since));
    fill(this.element,
      h("span.as-of", {}, "As of"), range,
      h("datalist", { id: "ticks" }, states.slice(0, 60).map((each) => h("option", { value: String(each.number) }))),
      this.label, compare, before, since > 0 && diffLegend());
    this.describe(at);
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

  /** @param {number} number */
  describe(number) {
    const state = this.states[number - 1];
    const latest = number === this.states.length ? "now · " : "";
    if (this.label && state) fill(this.label, `${latest}state ${number} of ${this.states.length} · ${state.kind ?? "change"} · ${moment(state.ended)}`);
  }
}

function diffLegend() {
  return h("ul.diff-legend", {}, ["added", "changed", "removed"].map((name) => h("li", { class: name }, name)));
}
