// Where the page is: the address says everything that is shown, so that every view can be linked to.

/** @type {Set<() => void>} */
const listeners = new Set();

/** The first part of the path: graph, tables, … */
export function place() {
  return window.location.pathname.split("/")[1] || "home";
}

/** @returns {URLSearchParams} */
export function query() {
  return new URLSearchParams(window.location.search);
}

/**
 * Go to an address of this page.
 * @param {string} path
 * @param {import("./api.js").Query | URLSearchParams} [parts]
 * @param {{replace?: boolean, quietly?: boolean}} [how]
 */
export function go(path, parts = {}, how = {}) {
  const params = parts instanceof URLSearchParams ? parts : params_of(parts);
  const text = params.toString();
  const url = `${path}${text ? `?${text}` : ""}`;
  if (how.replace) window.history.replaceState(null, "", url);
  else window.history.pushState(null, "", url);
  if (!how.quietly) for (const listener of listeners) listener();
}

/**
 * The same view with some parts of the address changed; null takes a part away.
 * @param {Record<string, string | string[] | null>} changes
 * @param {{replace?: boolean, quietly?: boolean}} [how]
 */
export function change(changes, how = {}) {
  const params = query();
  for (const [name, value] of Object.entries(changes)) {
    params.delete(name);
    for (const each of Array.isArray(value) ? value : value === null ? [] : [value]) params.append(name, each);
  }
  go(window.location.pathname, params, how);
}

/** @param {import("./api.js").Query} parts */
function params_of(parts) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(parts)) {
    if (value === null || value === undefined || value === "" || value === false) continue;
    for (const each of Array.isArray(value) ? value : [value]) params.append(name, String(each));
  }
  return params;
}

/** @param {() => void} listener */
export function onMove(listener) {
  listeners.add(listener);
  window.addEventListener("popstate", listener);
}

/** Links of this page do not load it again. */
export function followLinks() {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[data-link]") : null;
    if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    const url = new URL(link.href);
    go(url.pathname, url.searchParams);
  });
}

/**
 * The selector that shows a name and one step around it.
 * @param {string} name
 */
export function around(name) {
  return `1+${name}+1`;
}
