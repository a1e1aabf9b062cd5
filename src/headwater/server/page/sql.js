// Questions to the warehouse in SQL. Nothing can be changed from here.

import { post } from "./api.js";
import { fill, h, notice, problem } from "./dom.js";
import { counted } from "./format.js";
import { valueGrid } from "./grid.js";
import { change, query } from "./place.js";

/** @returns {import("./main.js").View} */
export function sqlView() {
  const text = /** @type {HTMLTextAreaElement} */ (h("textarea", {
    rows: 8, spellcheck: "false", "aria-label": "SQL", placeholder: "SELECT * FROM lineage.edges LIMIT 20",
  }));
  text.value = query().get("q") ?? "";
  const result = h("div.results", {}, notice("empty", "Ask the warehouse", h("p", {}, "Tables, their past (VERSION AS OF 3), and what they know of themselves (orders$snapshots).")));
  const ask = async () => {
    const sql = text.value.trim();
    if (!sql) return;
    change({ q: sql }, { replace: true, quietly: true });
    fill(result, notice("loading", "Running"));
    const start = performance.now();
    try {
      const answer = await post("/sql", { sql });
      const seconds = ((performance.now() - start) / 1000).toFixed(2);
      fill(result, answer.message && h("p", {}, answer.message), answer.rows.length ? valueGrid(answer) : notice("empty", "No rows"),
        h("p.faint", {}, `${counted(answer.rows.length, "row")}${answer.cut ? " (no more are shown)" : ""} in ${seconds} s`));
    } catch (error) {
      const { place } = /** @type {any} */ (error);
      fill(result, problem(error));
      if (place) text.setSelectionRange(place.start, place.end);
    }
  };
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask();
    if (event.key === "Escape") text.blur();
  });
  const bar = h("p.actions", {}, h("button.primary", { onclick: ask }, "Run"), h("kbd", {}, "Ctrl Enter"), h("span.faint", {}, "reads only"));
  const element = h("div.page.ask", {}, h("header", {}, h("h1", {}, "SQL")), text, bar, result);
  if (text.value) ask();
  return { element };
}
