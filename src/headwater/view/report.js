"use strict";
// Pan, zoom, search and paths of a picture that stands alone.
const main = document.querySelector("main");
const svg = main.querySelector("svg");
const all = svg.querySelector("g.all");
const field = document.querySelector("input");
const count = document.querySelector("output");
const lines = JSON.parse(document.getElementById("lines").textContent);
const size = svg.viewBox.baseVal;
const whole = { width: size.width, height: size.height };
const view = { x: 0, y: 0, scale: 1 };

svg.removeAttribute("viewBox");

function place() {
  all.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
}

function fit() {
  const scale = Math.min(1.2, main.clientWidth / whole.width, main.clientHeight / whole.height);
  view.scale = scale;
  view.x = (main.clientWidth - whole.width * scale) / 2 + 24 * scale;
  view.y = (main.clientHeight - whole.height * scale) / 2 + 24 * scale;
  place();
}

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

let drag = null;
main.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, moved: false }; });
main.addEventListener("pointermove", (event) => {
  if (!drag) return;
  if (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 4) return;
  drag.moved = true;
  view.x += event.clientX - drag.x;
  view.y += event.clientY - drag.y;
  drag.x = event.clientX;
  drag.y = event.clientY;
  place();
});
window.addEventListener("pointerup", () => { setTimeout(() => { drag = null; }); });

// A column's way: its lines and those beyond, in both directions. A line to a whole table bears on all its columns.
function walk(box, port, forward) {
  const found = new Set();
  const seen = new Set();
  const queue = [[box, port]];
  while (queue.length) {
    const [here, column] = queue.pop();
    const key = `${here}\u0000${column ?? ""}`;
    if (seen.has(key)) continue;
    seen.add(key);
    lines.forEach(([fromBox, fromPort, toBox, toPort], number) => {
      const [box1, port1, box2, port2] = forward ? [fromBox, fromPort, toBox, toPort] : [toBox, toPort, fromBox, fromPort];
      const meets = column === null || port1 === column || (port1 === null && !forward);
      if (box1 === here && meets) {
        found.add(number);
        queue.push([box2, port2]);
      }
    });
  }
  return found;
}

function lock(box, port) {
  clear();
  const chosen = new Set([...walk(box, port, true), ...walk(box, port, false)]);
  svg.classList.add("locked");
  const mark = (id) => document.getElementById(id)?.classList.add("on");
  mark(`box-${box}`);
  if (port !== null) mark(`port-${box}-${port}`);
  for (const number of chosen) {
    const [fromBox, fromPort, toBox, toPort] = lines[number];
    mark(`line-${number}`);
    for (const [each, column] of [[fromBox, fromPort], [toBox, toPort]]) {
      mark(`box-${each}`);
      if (column !== null) mark(`port-${each}-${column}`);
    }
  }
}

function clear() {
  svg.classList.remove("locked");
  for (const each of svg.querySelectorAll(".on")) each.classList.remove("on");
}

main.addEventListener("click", (event) => {
  if (drag?.moved) return;
  const box = event.target.closest(".box");
  if (!box) return clear();
  const id = box.id.slice(4);
  const port = event.target.closest(".port");
  lock(id, port ? port.id.slice(`port-${id}-`.length) : null);
});

field.addEventListener("input", () => {
  for (const each of svg.querySelectorAll(".found")) each.classList.remove("found");
  const text = field.value.trim().toLowerCase();
  if (!text) { count.textContent = ""; return; }
  const found = [...svg.querySelectorAll(".box .title, .box .port")].filter((each) => {
    const name = (each.classList.contains("port") ? each : each.parentElement).querySelector("title").textContent;
    return name.toLowerCase().includes(text);
  });
  for (const each of found) each.classList.add("found");
  count.textContent = `${found.length} found`;
  if (found.length) {
    const to = found[0].getBoundingClientRect();
    const at = main.getBoundingClientRect();
    view.x += at.left + at.width / 2 - (to.left + to.width / 2);
    view.y += at.top + at.height / 2 - (to.top + to.height / 2);
    place();
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== field) { event.preventDefault(); field.focus(); }
  if (event.key === "Escape") { field.blur(); clear(); }
});
document.getElementById("fit").addEventListener("click", fit);
window.addEventListener("resize", fit);
fit();
