// Elements, made in one line. Text always becomes text: nothing here ever parses HTML.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Make an element: `h("a.link", {href: "/x", onclick: go}, "text")`.
 * @param {string} name tag, with classes after dots
 * @param {Record<string, any>} [props] attributes; `on…` are listeners
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(name, props = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && key !== "list" && typeof value !== "string") /** @type {any} */ (element)[key] = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  add(element, ...children);
  return element;
}

/**
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function add(parent, ...children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Replace what an element holds.
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren();
  add(parent, ...children);
}

/**
 * An element that must be there.
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {HTMLElement}
 */
export function one(selector, root = document) {
  const found = root.querySelector(selector);
  if (!(found instanceof HTMLElement)) throw new Error(`no ${selector}`);
  return found;
}

/**
 * What is shown while something is fetched, missing or broken.
 * @param {"loading" | "empty" | "error"} kind
 * @param {string} title
 * @param {...Child} more
 */
export function notice(kind, title, ...more) {
  const role = kind === "error" ? "alert" : "status";
  return h(`div.notice.${kind}`, { role }, kind === "loading" && h("span.spinner"), h("h2", {}, title), ...more);
}

/**
 * The text of an error, with its hint.
 * @param {unknown} error
 */
export function problem(error) {
  const { message = String(error), hint = null } = /** @type {any} */ (error);
  const meant = /^did you mean `(.+)`\?/.exec(hint ?? "")?.[1];
  const wrong = /`(.+?)`/.exec(message)?.[1];
  const here = meant && wrong && window.location.pathname === "/graph";
  const parts = [...new URLSearchParams(window.location.search)].map(([name, value]) => [name, here ? value.replaceAll(wrong, () => meant) : value]);
  const link = here && h("a", { href: `/graph?${new URLSearchParams(parts)}`, "data-link": "" }, meant);
  return notice("error", message, hint && h("p", {}, link ? ["Did you mean ", link, "?"] : hint));
}

/**
 * Run a function when its calls have stopped for a moment.
 * @template {any[]} A
 * @param {(...args: A) => void} work
 * @param {number} milliseconds
 */
export function calmed(work, milliseconds) {
  let timer = 0;
  return (/** @type {A} */ ...args) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => work(...args), milliseconds);
  };
}

/**
 * A name that may be broken behind its dots, slashes and underscores, and is not broken inside of words.
 * @param {string} name
 */
export function breakable(name) {
  return name.split(/(?<=[._/])/).flatMap((part, at) => (at ? [h("wbr"), part] : [part]));
}

/**
 * The failed checks that a column descends from: the first, and in the title all of them.
 * @param {any[] | undefined} marks
 */
export function failed(marks) {
  if (!marks?.length) return false;
  const texts = marks.map((each) => `${each.check} failed on ${each.dataset}${each.column ? `.${each.column}` : ""}`
    + (each.version ? `@${each.version}` : "") + (each.message ? `: ${each.message}` : ""));
  return h("span.failed", { title: texts.join("\n") }, `✗ ${texts[0]}`, marks.length > 1 ? ` (+${marks.length - 1})` : "");
}
