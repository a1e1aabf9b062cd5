// How the files of a table stand: newest on top, each as wide as it is large.

import { h, notice } from "./dom.js";
import { bytes, counted } from "./format.js";

const NS = "http://www.w3.org/2000/svg";
const WIDTH = 760;
const ROW = 34;

/**
 * @param {any} table
 * @param {any[]} files
 */
export function levelsPicture(table, files) {
  if (!files.length) return notice("empty", "No files: the table is empty");
  /** @type {Map<number, any[]>} */
  const levels = new Map();
  for (const file of files) levels.set(file.level, [...(levels.get(file.level) ?? []), file]);
  const ordered = [...levels].sort((a, b) => a[0] - b[0]);
  const most = Math.max(...ordered.map(([, members]) => members.reduce((sum, each) => sum + each.bytes, 0)));
  const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${ordered.length * (ROW + 22) + 8}`, class: "levels", role: "img" });
  svg.append(s("title", {}, `${counted(files.length, "file")} on ${counted(ordered.length, "level")}`));
  ordered.forEach(([level, members], at) => drawLevel(svg, level, members, at * (ROW + 22) + 4, most));
  return h("div", {},
    h("p.faint", {}, `Level 0 holds what was written last; compaction moves rows down and merges them. A scan merges up to ${counted(table.most_runs, "sorted run")}.`),
    svg);
}

/**
 * @param {Element} svg
 * @param {number} level
 * @param {any[]} members
 * @param {number} y
 * @param {number} most
 */
function drawLevel(svg, level, members, y, most) {
  const size = members.reduce((sum, each) => sum + each.bytes, 0);
  const rows = members.reduce((sum, each) => sum + each.rows, 0);
  svg.append(s("text", { x: 0, y: y + 21, class: "level" }, `L${level}`));
  const room = WIDTH - 240;
  let x = 44;
  const scale = room / Math.max(most, 1);
  for (const file of members) {
    const width = Math.max(3, file.bytes * scale - 2);
    const bar = s("rect", { x: x.toFixed(1), y, width: width.toFixed(1), height: ROW, rx: 4, class: level === 0 ? "fresh" : "settled" });
    bar.append(s("title", {}, `${file.name}\nbucket ${file.bucket} · ${counted(file.rows, "row")} · ${bytes(file.bytes)}`));
    svg.append(bar);
    x += width + 2;
  }
  svg.append(s("text", { x: Math.min(x + 8, WIDTH - 190), y: y + 21, class: "about" }, `${counted(members.length, "file")}, ${counted(rows, "row")}, ${bytes(size)}`));
}

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {string} [text]
 */
function s(name, attributes, text = "") {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text) element.textContent = text;
  return element;
}
