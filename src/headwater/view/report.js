"use strict";
// Pan, zoom, search and paths of a picture that stands alone.

/** @typedef {[string, string | null, string, string | null]} Ends from a box and its row to another's */

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const svg = /** @type {SVGSVGElement} */ (main.querySelector("svg"));
const all = /** @type {SVGGElement} */ (svg.querySelector("g.all"));
const field = /** @type {HTMLInputElement} */ (document.querySelector("input"));
const count = /** @type {HTMLOutputElement} */ (document.querySelector("output"));
/** @type {Ends[]} */
const lines = JSON.parse(document.getElementById("lines")?.textContent ?? "[]");
const whole = { width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height };
const view = { x: 0, y: 0, scale: 1 };

svg.removeAttribute("viewBox");

function place() {
  all.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
}

function fit() {
  view.scale = Math.min(1.2, main.clientWidth / whole.width, main.clientHeight / whole.height);
  view.x = (main.clientWidth - whole.width * view.scale) / 2 + 24 * view.scale;
  view.y = (main.clientHeight - whole.height * view.scale) / 2 + 24 * view.scale;
  place();
}

/** @param {number} factor @param {number} x @param {number} y */
function zoom(factor, x, y) {
  const scale = Math.max(0.05, Math.min(4, view.scale * factor));
  view.x = x - (x - view.x) * (scale / view.scale);
  view.y = y - (y - view.y) * (scale / view.scale);
  view.scale = scale;
  place();
}

main.addEventListener("wheel", (event) => {
  event.preventDefault();
  const at = main.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - at.left, event.clientY - at.top);
}, { passive: false });

/** @type {{x: number, y: number, moved: boolean} | null} */
let drag = null;
main.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, moved: false }; });
main.addEventListener("pointermove", (event) => {
  if (!drag) return;
  if (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 4) return;
  view.x += event.clientX - drag.x;
  view.y += event.clientY - drag.y;
  drag = { x: event.clientX, y: event.clientY, moved: true };
  place();
});
window.addEventListener("pointerup", () => { setTimeout(() => { drag = null; }); });

/**
 * A column's way: its lines and those beyond. A line to a whole table bears on all its columns.
 * @param {string} box @param {string | null} port @param {boolean} forward
 */
function walk(box, port, forward) {
  /** @type {Set<number>} */
  const found = new Set();
  /** @type {Set<string>} */
  const seen = new Set();
  /** @type {[string, string | null][]} */
  const queue = [[box, port]];
  for (let next = queue.pop(); next; next = queue.pop()) {
    const [here, column] = next;
    const key = `${here}\u0000${column ?? ""}`;
    if (seen.has(key)) continue;
    seen.add(key);
    lines.forEach(([fromBox, fromPort, toBox, toPort], number) => {
      const [nearBox, nearPort] = forward ? [fromBox, fromPort] : [toBox, toPort];
      if (nearBox !== here || !(column === null || nearPort === column || (nearPort === null && !forward))) return;
      found.add(number);
      queue.push(forward ? [toBox, toPort] : [fromBox, fromPort]);
    });
  }
  return found;
}

/** @param {string} box @param {string | null} port */
function lock(box, port) {
  clear();
  svg.classList.add("locked");
  const mark = (/** @type {string} */ id) => document.getElementById(id)?.classList.add("on");
  const end = (/** @type {string} */ each, /** @type {string | null} */ column) => {
    mark(`box-${each}`);
    if (column !== null) mark(`port-${each}-${column}`);
  };
  end(box, port);
  for (const number of new Set([...walk(box, port, true), ...walk(box, port, false)])) {
    const [fromBox, fromPort, toBox, toPort] = lines[number];
    mark(`line-${number}`);
    end(fromBox, fromPort);
    end(toBox, toPort);
  }
}

function clear() {
  svg.classList.remove("locked");
  for (const each of svg.querySelectorAll(".on")) each.classList.remove("on");
}

main.addEventListener("click", (event) => {
  if (drag?.moved || !(event.target instanceof Element)) return;
  const box = event.target.closest(".box");
  if (!box) return clear();
  const id = box.id.slice("box-".length);
  const port = event.target.closest(".port");
  lock(id, port ? port.id.slice(`port-${id}-`.length) : null);
});

field.addEventListener("input", () => {
  for (const each of svg.querySelectorAll(".found")) each.classList.remove("found");
  const text = field.value.trim().toLowerCase();
  if (!text) { count.textContent = ""; return; }
  const found = [...svg.querySelectorAll(".box .title, .box .port")].filter((each) => {
    const owner = each.classList.contains("port") ? each : each.parentElement;
    return owner?.querySelector("title")?.textContent?.toLowerCase().includes(text);
  });
  for (const each of found) each.classList.add("found");
  count.textContent = `${found.length} found`;
  if (!found.length) return;
  const to = found[0].getBoundingClientRect();
  const at = main.getBoundingClientRect();
  view.x += at.left + at.width / 2 - (to.left + to.width / 2);
  view.y += at.top + at.height / 2 - (to.top + to.height / 2);
  place();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== field) { event.preventDefault(); field.focus(); }
  if (event.key === "Escape") { field.blur(); clear(); }
});
document.getElementById("fit")?.addEventListener("click", fit);
window.addEventListener("resize", fit);
fit();
