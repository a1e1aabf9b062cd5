// Where people arrive: what there is, by database.

import { get } from "./api.js";
import { fill, h, notice, problem } from "./dom.js";
import { ago, count, counted, splitName } from "./format.js";
import { around } from "./place.js";

const OTHERS = "others";

/** @returns {import("./main.js").View} */
export function homeView() {
  const element = h("div.page.home", {}, notice("loading", "Reading the graph"));
  const load = () => fillHome(element).catch((error) => showProblem(element, error));
  load();
  return { element, refreshed: load };
}

/**
 * @param {HTMLElement} element
 * @param {any} error
 */
function showProblem(element, error) {
  if (error.code === "not-found") fill(element, welcome());
  else fill(element, problem(error));
}

/** The first steps, for a warehouse that has no lineage yet. */
export function welcome() {
  const steps = [
    ["Read SQL files", "headwater harvest models/ --dialect snowflake"],
    ["Attach a Spark job", "headwater spark-run job.py"],
    ["Post events", `curl -H 'Content-Type: application/json' -d @event.json ${window.location.origin}/api/v1/lineage`],
  ];
  return notice(
    "empty",
    "No lineage here yet",
    h("p", {}, "The page follows by itself as soon as there is some."),
    h("ol.steps", {}, steps.map(([what, command]) => h("li", {}, h("span", {}, what), h("code", {}, command)))),
  );
}

/** @param {HTMLElement} element */
async function fillHome(element) {
  const [{ datasets, total }, { states }] = await Promise.all([get("/datasets", { limit: 1000 }), get("/states")]);
  if (!total) return fill(element, welcome());
  /** @type {Map<string, any[]>} */
  const groups = new Map();
  for (const each of datasets) {
    const group = splitName(each.name)[0] || OTHERS;
    groups.set(group, [...(groups.get(group) ?? []), each]);
  }
  const last = states[states.length - 1];
  fill(
    element,
    h("div.lead", {},
      h("h1", {}, "Where does it come from?"),
      h("p", {}, `${counted(total, "table")} in ${counted(groups.size, "database")}. Latest change ${ago(last?.ended)}, by ${last?.kind ?? "unknown"}.`)),
    h("div.groups", {}, [...groups].sort(([a], [b]) => Number(a === OTHERS) - Number(b === OTHERS)).map(([name, members]) => group(name, members))),
    total > datasets.length && h("p.faint", {}, `${count(total - datasets.length)} more: the search finds them.`),
  );
}

/**
 * @param {string} name
 * @param {any[]} members
 */
function group(name, members) {
  return h("section.card", {},
    h("h2", {}, name, h("span.faint", {}, counted(members.length, "table"))),
    h("ul.datasets", {}, members.map((each) => h("li", {},
      h("a", { href: `/graph?select=${encodeURIComponent(around(each.name))}`, "data-link": "" },
        h(`span.dot.${each.kind}`), h("span.name", {}, splitName(each.name)[1]),
        h("span.faint", { title: "sources and uses" }, `${each.upstream} → ${each.downstream}`))))));
}
