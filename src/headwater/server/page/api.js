// Talking to the server.

export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {{code: string, message: string, hint?: string | null, place?: {start: number, end: number} | null}} error
   */
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.hint = error.hint ?? null;
    this.place = error.place ?? null;
  }
}

/** @typedef {Record<string, string | number | boolean | string[] | null | undefined>} Query */

/**
 * The address of an endpoint with its question; what is empty is left out.
 * @param {string} path
 * @param {Query} [query]
 */
export function address(path, query = {}) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "" || value === false) continue;
    for (const each of Array.isArray(value) ? value : [value]) params.append(name, String(each));
  }
  const text = params.toString();
  return `/api/v1${path}${text ? `?${text}` : ""}`;
}

/**
 * @param {string} path
 * @param {Query} [query]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function get(path, query, signal) {
  return answer(await fetched(address(path, query), { signal }));
}

/**
 * @param {string} path
 * @param {unknown} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return answer(await fetched(address(path), { method: "POST", headers, body: JSON.stringify(body), signal }));
}

/**
 * @param {string} url
 * @param {RequestInit} options
 */
async function fetched(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, { code: "offline", message: "The server does not answer", hint: "Is `headwater serve` still running?" });
  }
}

/** @param {Response} response */
async function answer(response) {
  if (response.status === 401) window.location.assign("/login");
  const body = await response.json().catch(() => ({ error: { code: "error", message: response.statusText } }));
  if (!response.ok) throw new ApiError(response.status, body.error);
  return body;
}

/** @param {unknown} error */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}
