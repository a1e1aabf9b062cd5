// The search box: names as you type, selectors as they are.

import { get, isAbort } from "./api.js";
import { calmed, fill, h, one } from "./dom.js";
import { around, go } from "./place.js";

const SELECTOR = /^\d*\+|\+\d*$|[*?]/;

export function setUpSearch() {
  const field = /** @type {HTMLInputElement} */ (one("#search"));
  const list = one("#found");
  /** @type {AbortController | null} */
  let asking = null;
  let chosen = -1;

  const close = () => {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    chosen = -1;
  };
  /** @param {string} selector */
  const take = (selector) => {
    close();
    field.value = "";
    field.blur();
    go("/graph", { select: selector });
  };
  const suggest = calmed(async () => {
    const text = field.value.trim();
    asking?.abort();
    if (!text) return close();
    asking = new AbortController();
    try {
      const nodes = SELECTOR.test(text) ? [] : await get("/search", { text, limit: 12 }, asking.signal);
      offer(text, nodes);
    } catch (error) {
      if (!isAbort(error)) offer(text, []);
    }
  }, 120);

  /**
   * @param {string} text
   * @param {{dataset: string, column: string | null}[]} nodes
   */
  function offer(text, nodes) {
    const items = nodes.map((node) => option(node, text));
    if (SELECTOR.test(text)) items.push(h("li", { role: "option", "data-select": text }, "Show ", h("b", {}, text)));
    else if (!items.length) items.push(h("li.nothing", {}, `Nothing has “${text}” in its name`));
    fill(list, items);
    list.hidden = false;
    chosen = -1;
    field.setAttribute("aria-expanded", "true");
  }

  /**
   * @param {{dataset: string, column: string | null}} node
   * @param {string} text
   */
  function option(node, text) {
    const name = node.column === null ? node.dataset : `${node.dataset}.${node.column}`;
    const at = name.toLowerCase().indexOf(text.toLowerCase());
    const parts = at < 0 ? [name] : [name.slice(0, at), h("mark", {}, name.slice(at, at + text.length)), name.slice(at + text.length)];
    const props = { role: "option", "data-select": around(name) };
    return h("li", props, h("span.what", {}, node.column === null ? "table" : "column"), h("span", {}, ...parts));
  }

  /** @param {number} step */
  function move(step) {
    const items = [...list.querySelectorAll("li[data-select]")];
    if (!items.length) return;
    chosen = (chosen + step + items.length) % items.length;
    items.forEach((item, number) => item.setAttribute("aria-selected", String(number === chosen)));
    items[chosen].scrollIntoView({ block: "nearest" });
  }

  field.addEventListener("input", suggest);
  field.addEventListener("focus", suggest);
  field.addEventListener("blur", () => window.setTimeout(close, 150));
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Escape") field.blur();
    else if (event.key === "Enter") {
      const items = [...list.querySelectorAll("li[data-select]")];
      const item = items[Math.max(0, chosen)];
      const text = field.value.trim();
      if (SELECTOR.test(text)) take(text);
      else if (item) take(item.getAttribute("data-select") ?? "");
      else if (text) take(around(text));
    } else return;
    event.preventDefault();
  });
  list.addEventListener("mousedown", (event) => {
    const item = event.target instanceof Element ? event.target.closest("li[data-select]") : null;
    if (item) take(item.getAttribute("data-select") ?? "");
  });
}
