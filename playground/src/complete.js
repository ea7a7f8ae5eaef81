// Completion of fields and of their values in the editor, by the table that playground/fields has made of the schemas.

import { startCompletion } from "@codemirror/autocomplete";
import { outline } from "./outline.js";

let table;

// load gets the table when it is first asked for.
function load() {
  return (table ??= fetch("fields.json").then((answer) => (answer.ok ? answer.json() : null), () => null));
}

/** complete returns what can be written at the cursor, as CodeMirror takes it. */
export async function complete(context) {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  if (!context.explicit && !/[\w./-]$|: $|^\s*- $/.test(before)) return null;
  const known = await load();
  if (!known || context.aborted) return null;
  const lines = context.state.doc.toString().split("\n");
  const place = outline(lines, line.number - 1, before);
  const options = place && suggestions(known, place, line.text.slice(before.length));
  if (!options?.length) return null;
  return { from: context.pos - place.word.length, options, validFor: /^[\w./-]*$/ };
}

/** suggestions returns the options for a place, before the rest of its line. */
export function suggestions({ kinds, types }, { kind, path, key, item, open, used, column }, rest = "") {
  const field = path.reduce((at, name) => types[at?.type]?.[name], kinds[kind] ?? { type: "" });
  const fields = types[field?.type] ?? (path.length === 0 ? anyKind(kinds) : {});
  if (key) return values(fields[key], rest);
  if (field?.list && field.values && item) return values(field, rest);
  const dash = field?.list && !item ? "- " : "";
  return Object.entries(fields)
    .filter(([name]) => !used.has(name))
    .map(([name, { about, type, list, values, required }]) => ({
      label: name,
      detail: list ? "list" : type ? "object" : required ? "required" : "",
      type: "property",
      boost: required ? 1 : 0,
      info: info(about),
      apply: apply(dash + name, /^\s*:/.test(rest) ? "" : ":" + after(type, list, open, " ".repeat(column + dash.length)), Boolean(type || values)),
    }));
}

// anyKind returns the fields of an object whose kind is not known yet.
function anyKind(kinds) {
  const all = (list) => ({ values: Object.fromEntries(list.map((value) => [value, ""])), required: true });
  return { apiVersion: all(Object.values(kinds).map(({ apiVersion }) => apiVersion)), kind: all(Object.keys(kinds)) };
}

// after returns what follows the colon of a field, up to its value.
function after(type, list, open, indent) {
  if (open) return type ? (list ? " [{" : " {") : " ";
  if (!type) return " ";
  return `\n${indent}${list ? "- " : "  "}`;
}

// values returns the options for a field's value. Those that YAML would not read as text are quoted.
function values(field, rest) {
  if (!field?.values) return [];
  return Object.entries(field.values).map(([value, about]) => {
    const quoted = /^(True|False|Yes|No|On|Off|Null)$/.test(value) || /[:#{}[\],&*!|>%@`]/.test(value);
    return { label: value, type: "enum", info: info(about || field.about), apply: apply(quoted && !/^["']/.test(rest) ? `"${value}"` : value, "", false) };
  });
}

// apply returns a function that writes a name and what follows it, and then suggests what may come next.
function apply(name, after, next) {
  return (view, completion, from, to) => {
    const text = name + after;
    view.dispatch({ changes: { from, to, insert: text }, selection: { anchor: from + text.length }, userEvent: "input.complete" });
    if (next && after) startCompletion(view);
  };
}

// info returns a function that shows a description.
function info(about) {
  if (!about) return undefined;
  return () => {
    const shown = document.createElement("div");
    shown.textContent = about;
    return shown;
  };
}
