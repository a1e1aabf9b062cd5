// How far a point is from a drawn line.

const STEPS = 14; // straight pieces that stand for one curve

/** @typedef {{points: [number, number][], left: number, right: number, top: number, bottom: number}} Curve */

/**
 * A path of our pictures (M, L and C with absolute numbers) as straight pieces.
 * @param {string} path
 * @returns {Curve}
 */
export function polyline(path) {
  /** @type {[number, number][]} */
  const points = [];
  for (const [, command, text] of path.matchAll(/([MLC])([^MLC]*)/g)) {
    const numbers = text.trim().split(/[\s,]+/).map(Number);
    if (command === "C") curve(points, numbers);
    else points.push([numbers[0], numbers[1]]);
  }
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  return { points, left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
}

/**
 * @param {[number, number][]} points
 * @param {number[]} to two control points and the end
 */
function curve(points, [x1, y1, x2, y2, x3, y3]) {
  const [x0, y0] = points[points.length - 1];
  for (let step = 1; step <= STEPS; step += 1) {
    const t = step / STEPS;
    const u = 1 - t;
    const [a, b, c, d] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
    points.push([a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3]);
  }
}

/**
 * @param {Curve} curve
 * @param {number} x
 * @param {number} y
 * @param {number} most farther away is not looked at
 */
export function distance(curve, x, y, most) {
  if (x < curve.left - most || x > curve.right + most || y < curve.top - most || y > curve.bottom + most) return Infinity;
  let least = Infinity;
  for (let at = 1; at < curve.points.length; at += 1) {
    const [x0, y0] = curve.points[at - 1];
    const [x1, y1] = curve.points[at];
    const length = (x1 - x0) ** 2 + (y1 - y0) ** 2;
    const t = length ? Math.max(0, Math.min(1, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length)) : 0;
    least = Math.min(least, Math.hypot(x - x0 - t * (x1 - x0), y - y0 - t * (y1 - y0)));
  }
  return least;
}
