// An editor for SQL: colours, names to complete, and what is wrong underlined.

import {
  Compartment, EditorState, EditorView, HighlightStyle, MSSQL, MySQL, PLSQL, PostgreSQL, SQLite, StandardSQL, autocompletion,
  bracketMatching, closeBrackets, closeBracketsKeymap, completionKeymap, defaultKeymap, drawSelection, highlightActiveLine, history,
  historyKeymap, keymap, lineNumbers, lintKeymap, placeholder, searchKeymap, setDiagnostics, sql, syntaxHighlighting, tags,
} from "./vendor/codemirror.js";
import { h } from "./dom.js";

/** @type {Record<string, any>} */
const GRAMMARS = { mysql: MySQL, mariadb: MySQL, tsql: MSSQL, oracle: PLSQL, sqlite: SQLite, postgres: PostgreSQL, duckdb: PostgreSQL, redshift: PostgreSQL, snowflake: PostgreSQL };
const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent)" }, { tag: tags.string, color: "var(--good)" }, { tag: tags.number, color: "var(--warn)" },
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" }, { tag: tags.typeName, color: "var(--changed)" },
]);
const THEME = EditorView.theme({
  "&": { fontSize: "13px", color: "var(--ink)", backgroundColor: "var(--soft)", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-gutters": { backgroundColor: "var(--soft)", color: "var(--faint)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 6%, transparent)" },
  ".cm-content": { caretColor: "var(--ink)" }, ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--accent-soft) !important" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-placeholder": { color: "var(--faint)" },
});

/**
 * @typedef {{span?: {start: number, end: number} | null, severity: string, message: string, hint?: string | null}} Finding
 */

export class Editor {
  /**
   * @param {{text: string, label: string, hint: string, onChange?: (text: string) => void, onRun?: () => void}} given
   */
  constructor(given) {
    this.element = h("div.editor");
    // in a shadow root the styles of CodeMirror are adopted sheets, which the content security policy allows
    const root = this.element.attachShadow({ mode: "open" });
    this.language = new Compartment();
    const run = given.onRun ? [{ key: "Mod-Enter", run: () => { given.onRun?.(); return true; } }] : [];
    const leave = { key: "Escape", run: (/** @type {any} */ view) => { view.contentDOM.blur(); return true; } };
    this.view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: given.text,
        extensions: [
          keymap.of([...run, ...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap, leave]),
          lineNumbers(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), closeBrackets(), autocompletion(),
          this.language.of(sql({ dialect: StandardSQL, upperCaseKeywords: true })), syntaxHighlighting(COLOURS), THEME,
          placeholder(given.hint), EditorView.lineWrapping, EditorView.contentAttributes.of({ "aria-label": given.label }),
          EditorView.updateListener.of((/** @type {any} */ update) => { if (update.docChanged) given.onChange?.(this.text); }),
        ],
      }),
    });
    this.view.scrollDOM.tabIndex = 0; // so that keys can scroll it
  }

  get text() {
    return this.view.state.doc.toString();
  }

  set text(text) {
    if (text !== this.text) this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  /**
   * The dialect that is coloured, and the names that are offered.
   * @param {string} dialect
   * @param {Record<string, string[]>} [tables]
   */
  speak(dialect, tables = {}) {
    this.view.dispatch({ effects: this.language.reconfigure(sql({ dialect: GRAMMARS[dialect] ?? StandardSQL, schema: tables, upperCaseKeywords: true })) });
  }

  /** Underline what was found. @param {Finding[]} findings */
  mark(findings) {
    const { text } = this;
    const units = unitsOf(text);
    const marks = findings.filter((each) => each.span).map((each) => {
      const { start, end } = /** @type {{start: number, end: number}} */ (each.span);
      const from = Math.min(units(start), text.length);
      return { from, to: Math.min(Math.max(units(end), from + 1), text.length), severity: each.severity, message: each.hint ? `${each.message}\n${each.hint}` : each.message };
    });
    this.view.dispatch(setDiagnostics(this.view.state, marks));
  }

  /** Show a piece of the text. @param {{start: number, end: number}} place */
  select(place) {
    const units = unitsOf(this.text);
    const length = this.text.length;
    this.view.dispatch({ selection: { anchor: Math.min(units(place.start), length), head: Math.min(units(place.end), length) }, scrollIntoView: true });
  }
}

/**
 * From characters, as the server counts, to units of UTF-16, as the browser does.
 * @param {string} text
 */
function unitsOf(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (/** @type {number} */ at) => at;
  const starts = [0];
  for (const char of text) starts.push(starts[starts.length - 1] + char.length);
  return (/** @type {number} */ at) => starts[Math.min(at, starts.length - 1)];
}
