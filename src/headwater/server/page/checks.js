// The newest results of checks of data: what was checked, how it came out, when, and what the check says.

import { h } from "./dom.js";
import { ago, count, decimals, moment } from "./format.js";
import { grid } from "./grid.js";

const ORDER = ["fail", "warn", "pass", "measured"];
const WORDS = { fail: "failed", warn: "warned", pass: "passed" };

/**
 * How many checks came out how, in a few words; figures that nothing is expected of do not count.
 * @param {any[]} checks
 */
export function outcomes(checks) {
  return Object.entries(WORDS).map(([outcome, word]) => [checks.filter((each) => each.outcome === outcome).length, word])
    .filter(([many]) => many).map(([many, word]) => `${count(Number(many))} ${word}`).join(", ");
}

/**
 * Failed checks first; null if there are none at all.
 * @param {any[]} checks
 */
export function checkGrid(checks) {
  if (!checks.length) return null;
  const rank = (/** @type {any} */ row) => ORDER.indexOf(row.outcome);
  return grid([
    { title: "outcome", bare: true, show: (row) => h(`span.state.${row.outcome}`, {}, row.outcome) },
    { title: "column", bare: true, show: (row) => row.column === "*" ? h("span.faint", {}, "the table") : h("b", {}, row.column) },
    { title: "check", show: (row) => h("code", {}, row.check) },
    { title: "when", show: (row) => h("span", { title: moment(row.time) }, ago(row.time)) },
    { title: "snapshot", number: true, show: (row) => row.version },
    { title: "says", show: (row) => said(row) },
    { title: "by", show: (row) => row.source },
  ], [...checks].sort((a, b) => rank(a) - rank(b)));
}

/** @param {any} row */
function said({ message, expected, actual }) {
  const found = [expected && `expected ${expected}`, actual && `found ${actual}`].filter(Boolean).join(", ");
  return decimals([message, found].filter(Boolean).join(" · "));
}
