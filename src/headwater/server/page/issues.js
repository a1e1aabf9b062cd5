// What was found wrong or doubtful while harvesting.

import { get } from "./api.js";
import { breakable, fill, h, notice, problem } from "./dom.js";
import { count, counted } from "./format.js";
import { change, query } from "./place.js";

/** @returns {import("./main.js").View} */
export function issuesView() {
  const list = h("div.results", {}, notice("loading", "Reading the issues"));
  const filters = h("div.filters");
  const element = h("div.page", {}, h("header", {}, h("h1", {}, "Issues"), filters), list);
  const moved = async () => {
    const params = query();
    const [severity, code] = [params.get("severity") ?? "", params.get("code") ?? ""];
    try {
      const answer = await get("/issues", { severity, code });
      fill(filters, severities(severity), codes(answer.counts, code));
      fill(list, answer.issues.length ? [issueList(answer.issues), h("p.faint", {}, counted(answer.total, "issue"))] : nothing(severity || code));
    } catch (error) {
      fill(list, problem(error));
    }
  };
  moved();
  return { element, moved, refreshed: moved };
}

/** @param {string} filtered */
function nothing(filtered) {
  return filtered ? notice("empty", "No issue is like that") : notice("empty", "No issues", h("p", {}, "Everything that was harvested could be resolved."));
}

/** @param {string} chosen */
function severities(chosen) {
  const names = [["", "All"], ["finding", "Findings"], ["error", "Errors"], ["warning", "Warnings"], ["info", "Notes"]];
  return h("div.segments", { role: "group", "aria-label": "Severity" }, names.map(([value, text]) =>
    h("button", { "aria-pressed": String(value === chosen), onclick: () => change({ severity: value || null }) }, text)));
}

/**
 * @param {Record<string, number>} counts
 * @param {string} chosen
 */
function codes(counts, chosen) {
  const select = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Code" }, h("option", { value: "" }, "All codes"),
    Object.entries(chosen ? { [chosen]: 0, ...counts } : counts).sort().map(([code, many]) => h("option", { value: code, selected: code === chosen }, `${code} (${count(many)})`))));
  select.addEventListener("change", () => change({ code: select.value || null }));
  return select;
}

/** @param {any[]} issues */
function issueList(issues) {
  return h("ul.issues", {}, issues.map((each) => h("li", { class: each.severity },
    h("p", {}, h(`span.state.${each.severity}`, {}, each.severity), h("code", {}, each.code),
      h("span.place", {}, each.file && breakable(each.file), h("span.short", {}, [each.file && "", each.line, each.column].filter((part) => part !== null).join(":")))),
    h("p.message", {}, h("span", {}, breakable(each.message))), each.hint && h("p.faint", {}, h("span", {}, breakable(each.hint))))));
}
