// The states of the graph on a line: as of when, what each changed, compared with what; it can be played.

import { get } from "./api.js";
import { calmed, fill, h } from "./dom.js";
import { count, counted, day, moment } from "./format.js";
import { change, query } from "./place.js";

const PACE = 1200; // milliseconds for one state while it plays

/** @typedef {{number: number, kind: string | null, ended: string, sources: string[] | null, edges: number | null, analysed: number | null, removed: number | null}} State */

export class Timeline {
  constructor() {
    /** @type {State[]} */
    this.states = [];
    this.playing = 0;
    /** @type {number | null | undefined} the state that is drawn, null when it could not be: an address may name it by a date */
    this.drawn = undefined;
    this.slide = calmed((/** @type {number} */ number) => this.choose(number), 150);
    this.range = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: "0", step: "1", "aria-label": "State of the graph" }));
    this.range.addEventListener("input", () => {
      this.stop();
      this.describe(Number(this.range.value));
      this.slide(Number(this.range.value));
    });
    this.days = h("div.days", { "aria-hidden": "true" });
    this.label = h("span.when");
    this.play = h("button.player", { onclick: () => (this.playing ? this.stop() : this.start()), "aria-label": "Play the changes", title: "Play the changes" }, "▶");
    this.compare = h("button.toggle", { onclick: () => this.toggleCompare() }, "Compare");
    this.before = h("span.since");
    this.legend = h("ul.diff-legend", {}, ["added", "changed", "removed"].map((name) => h("li", { class: name }, name)));
    this.element = h("div.timeline", { hidden: true },
      h("span.as-of", {}, "As of"), this.play, h("div.track", {}, this.range, this.days), this.label, this.compare, this.before, this.legend);
    this.load();
  }

  load() {
    get("/states").then(({ states }) => {
      this.states = states.filter((/** @type {{expired: boolean}} */ each) => !each.expired);
      this.update();
    }).catch(() => { this.element.hidden = true; });
  }

  /** @param {number | null} state that is drawn, if any */
  show(state) {
    this.drawn = state;
    this.update();
  }

  /** Where the state that the address names stands among those that can be read; by another name than its number, the one that is drawn. */
  index() {
    const at = query().get("at");
    const found = this.states.findIndex((each) => String(each.number) === at);
    const drawn = at === null ? -1 : this.states.findIndex((each) => each.number === this.drawn);
    return found >= 0 ? found : drawn >= 0 ? drawn : this.states.length - 1;
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

  /** Go through the states, each compared with the one before it. */
  start() {
    const { states } = this;
    let index = this.index();
    if (index >= states.length - 1) index = 0;
    const step = () => {
      change({ at: index >= states.length - 1 ? null : String(states[index].number), since: index > 0 ? String(states[index - 1].number) : null });
      index += 1;
      if (index >= states.length) this.stop();
    };
    step();
    this.playing = window.setInterval(step, PACE);
    fill(this.play, "❚❚");
    this.play.setAttribute("aria-label", "Stop");
  }

  stop() {
    window.clearInterval(this.playing);
    this.playing = 0;
    fill(this.play, "▶");
    this.play.setAttribute("aria-label", "Play the changes");
  }

  toggleCompare() {
    const index = this.index();
    change({ since: query().get("since") ? null : String(this.states[index - 1].number) });
  }

  /** The elements stay, so that the one with the focus keeps it. */
  update() {
    const { states } = this;
    this.element.hidden = states.length < 2;
    if (this.element.hidden) return;
    const index = this.index();
    const since = Number(query().get("since")) || 0;
    this.range.max = String(states.length - 1);
    if (Number(this.range.value) !== index) this.range.value = String(index);
    fill(this.days, dayMarks(states));
    this.compare.setAttribute("aria-pressed", String(since > 0));
    this.compare.toggleAttribute("disabled", index === 0);
    fill(this.before, since > 0 ? h("label", {}, "with ", this.beforeChoice(states[index].number, since)) : "");
    this.legend.hidden = since === 0;
    const at = query().get("at");
    if (at !== null && this.drawn === null && String(states[index].number) !== at) fill(this.label, `no state ${at}`);
    else this.describe(index);
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

  /** @param {number} index */
  describe(index) {
    const state = this.states[index];
    const last = this.states[this.states.length - 1];
    const text = `state ${state.number} of ${last.number} · ${state.kind ?? "change"} · ${moment(state.ended)}`;
    this.range.setAttribute("aria-valuetext", text);
    const did = [state.analysed && `${count(state.analysed)} analysed`, state.removed && `${count(state.removed)} removed`, state.edges && counted(state.edges, "edge")];
    const more = did.filter(Boolean).join(", ");
    fill(this.label, state === last ? `now · ${text}` : text, more && h("span.faint", {}, ` · ${more}`));
    this.label.title = `${text} ${more}`;
  }
}

/**
 * A mark where each day begins; of many, some.
 * @param {State[]} states
 */
function dayMarks(states) {
  const first = states.map((each, at) => ({ at, text: day(each.ended) })).filter((each, at, all) => !at || all[at - 1].text !== each.text);
  const every = Math.ceil(first.length / 6);
  return first.filter((_, at) => at % every === 0).map(({ at, text }) => {
    const mark = h("span", {}, text);
    mark.style.left = `${(at / Math.max(1, states.length - 1)) * 100}%`;
    return mark;
  });
}
