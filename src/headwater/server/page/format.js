// Numbers, sizes and times as people read them.

const numbers = new Intl.NumberFormat("en");

/** @param {number | null | undefined} value */
export function count(value) {
  return value === null || value === undefined ? "" : numbers.format(value);
}

/**
 * A number of things, in words.
 * @param {number} many
 * @param {string} noun
 */
export function counted(many, noun) {
  const plural = /[^aeou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : /(s|sh|ch|x)$/.test(noun) ? `${noun}es` : `${noun}s`;
  return `${numbers.format(many)} ${many === 1 ? noun : plural}`;
}

/**
 * A number as a person writes it, without the noise of its last binary digits.
 * @param {number} value
 * @param {number} [digits] that are certain: 12 of a DOUBLE, 7 of a FLOAT
 */
export function decimal(value, digits = 12) {
  return Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(digits)));
}

/**
 * A text with the numbers in it as a person writes them.
 * @param {string} text
 */
export function decimals(text) {
  return text.replace(/(?<![\w.])-?\d+\.\d{12,}(?![\w.])/g, (each) => decimal(Number(each)));
}

/** @param {number | null | undefined} value */
export function bytes(value) {
  if (value === null || value === undefined) return "";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** @param {number | null | undefined} seconds */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

const moments = new Intl.DateTimeFormat("en-GB", {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
});

/** @param {string | null | undefined} text an ISO time */
export function moment(text) {
  return text ? moments.format(new Date(text)) : "";
}

/** @param {string | null | undefined} text an ISO time */
export function ago(text) {
  if (!text) return "";
  const seconds = (Date.now() - new Date(text).getTime()) / 1000;
  if (seconds < 60) return "just now";
  for (const [size, name] of /** @type {[number, string][]} */ ([[86400, "day"], [3600, "hour"], [60, "minute"]])) {
    if (seconds >= size) return `${counted(Math.floor(seconds / size), name)} ago`;
  }
  return "";
}

/** @param {string} name */
export function splitName(name) {
  const at = name.lastIndexOf(".");
  return at > 0 && !name.includes("/") ? [name.slice(0, at), name.slice(at + 1)] : ["", name];
}

const days = new Intl.DateTimeFormat("en-GB", { month: "short", day: "numeric" });

/** @param {string} text an ISO time */
export function day(text) {
  return days.format(new Date(text));
}
