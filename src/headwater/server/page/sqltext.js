// SQL, coloured, with one part of it lit; programs as they are.

import { h } from "./dom.js";

const WORDS = new Set(
  ("select from where join left right full inner outer cross on using group by order having limit offset union all" +
    " intersect except insert into values update set delete merge when matched then create or replace table view" +
    " temp temporary as with recursive case else end and not in is null like between exists distinct over partition" +
    " rows range qualify window lateral unnest cast filter asc desc true false if drop alter add column primary key")
    .split(" "),
);
const TOKENS = /(--[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^']|'')*')|(\b\d+(?:\.\d+)?\b)|([A-Za-z_]\w*)|([\s\S])/g;

/**
 * @param {string} text
 * @param {number | null} [start] of what is lit
 * @param {number | null} [end]
 * @param {boolean} [program] not SQL: lines are not broken, and words have no colours
 */
export function sqlBlock(text, start = null, end = null, program = false) {
  const code = h("code");
  const block = h(program ? "pre.sql.program" : "pre.sql", { tabindex: "0" }, code);
  const cuts = start === null || end === null ? [text] : [text.slice(0, start), text.slice(start, end), text.slice(end)];
  cuts.forEach((part, number) => {
    const into = number === 1 ? h("mark") : code;
    if (program) into.append(part);
    else paint(into, part);
    if (number === 1) code.append(into);
  });
  return block;
}

/**
 * Scroll what is lit into the middle of its block.
 * @param {HTMLElement} block
 */
export function showLit(block) {
  const lit = block.querySelector("mark");
  if (lit) block.scrollTop = Math.max(0, lit.offsetTop - block.offsetTop - block.clientHeight / 2);
}

/**
 * @param {HTMLElement} into
 * @param {string} text
 */
function paint(into, text) {
  let plain = "";
  const flush = () => {
    if (plain) into.append(plain);
    plain = "";
  };
  for (const [whole, comment, string, number, word] of text.matchAll(TOKENS)) {
    const kind = comment ? "comment" : string ? "string" : number ? "number" : word && WORDS.has(word.toLowerCase()) ? "word" : "";
    if (!kind) {
      plain += whole;
      continue;
    }
    flush();
    into.append(h(`span.${kind}`, {}, whole));
  }
  flush();
}
