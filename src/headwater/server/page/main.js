// The shell: which view stands in the page, the search box, news from the server, keys that work everywhere.

import { get } from "./api.js";
import { fill, h, notice, one, problem } from "./dom.js";
import { followLinks, onMove, place } from "./place.js";
import { graphView } from "./graph.js";
import { homeView } from "./home.js";
import { issuesView } from "./issues.js";
import { mapView } from "./map.js";
import { playView } from "./play.js";
import { runsView } from "./runs.js";
import { setUpSearch } from "./search.js";
import { sqlView } from "./sql.js";
import { tablesView } from "./tables.js";
import { whyView } from "./why.js";

/**
 * @typedef {object} View
 * @property {HTMLElement} element
 * @property {() => void} [moved] the address has changed within this view
 * @property {() => void} [refreshed] there is a new state of the graph
 * @property {(event: KeyboardEvent) => boolean} [key] whether it took the key
 * @property {() => void} [closed]
 */

/** @type {Record<string, () => View>} */
const VIEWS = { home: homeView, map: mapView, graph: graphView, tables: tablesView, why: whyView, runs: runsView, issues: issuesView, sql: sqlView, play: playView };
const KEYS = [
  ["/", "find a table or column"],
  ["← →", "walk to where a column comes from, and to what is made of it"],
  ["↑ ↓", "walk through the columns and tables beside it"],
  ["Enter", "open what is hidden around a table"],
  ["Space", "lock the way of a column"],
  ["c", "show or hide the columns of a table"],
  ["a", "follow all lines: values, and what decides them and the rows"],
  ["f", "fit the picture, + and − zoom"],
  ["Esc", "let go, close"],
  ["?", "this list"],
];

/** @type {{name: string, view: View} | null} */
let current = null;

function show() {
  const name = place();
  for (const link of document.querySelectorAll("nav a")) {
    const here = link.getAttribute("data-place") === name;
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (current && current.name === name) {
    current.view.moved?.();
    return;
  }
  current?.view.closed?.();
  const root = one("#view");
  try {
    const view = (VIEWS[name] ?? nowhere)();
    current = { name, view };
    fill(root, view.element);
  } catch (error) {
    fill(root, problem(error));
  }
}

/** An address that there is not. @returns {View} */
function nowhere() {
  const places = [["/", "Home"], ["/graph", "Lineage"], ["/tables", "Tables"], ["/runs", "Runs"]];
  return { element: h("div.page", {}, h("h1.spoken", {}, "No such page"), notice("empty", "There is no such page",
    h("p", {}, "Nothing stands at ", h("code", {}, window.location.pathname), ". These do:"),
    h("p.actions.centred", {}, places.map(([href, text]) => h("a.button", { href, "data-link": "" }, text))))) };
}

function setUpTheme() {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light");
  const apply = () => root.setAttribute("data-theme", chosen());
  dark.addEventListener("change", apply);
  one("#theme").addEventListener("click", () => {
    localStorage.setItem("theme", chosen() === "dark" ? "light" : "dark");
    apply();
    window.dispatchEvent(new Event("theme"));
  });
  apply();
}

function setUpKeys() {
  const dialog = /** @type {HTMLDialogElement} */ (one("#keys"));
  fill(
    dialog,
    h("h2", {}, "Keyboard"),
    h("dl", {}, KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("button", { onclick: () => dialog.close() }, "Close"),
  );
  one("#help").addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select, dialog, .editor");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "?") dialog.showModal();
    else if (event.key === "/") one("#search").focus();
    else if (!current?.view.key?.(event)) return;
    event.preventDefault();
  });
}

/** Tell of new states, and bring the view up to date. */
function listen() {
  let seen = -1;
  const news = one("#news");
  const source = new EventSource("/api/v1/live");
  source.addEventListener("state", (event) => {
    const number = Number(event.data);
    const fresh = seen >= 0 && number > seen;
    seen = number;
    if (!fresh) return;
    current?.view.refreshed?.();
    fill(news, `The lineage has changed: state ${number}`);
    news.hidden = false;
    window.setTimeout(() => { news.hidden = true; }, 4000);
  });
}

setUpTheme();
setUpKeys();
followLinks();
onMove(show);
show();
get("/about").catch(() => ({ warehouse: "?" })).then(({ warehouse }) => {
  const apart = !warehouse; // `headwater play`: there is nothing else to go to, to find or to hear of
  document.body.classList.toggle("apart", apart);
  document.title = apart ? "Headwater" : `Headwater · ${String(warehouse).split("/").pop()}`;
  if (apart) return;
  setUpSearch();
  listen();
});
