// Where a cursor is in a stream of YAML documents, by indentation: the text before it may not parse while it is written.

const key = /^("[^"]*"|'[^']*'|[^\s#"'{}[\],][^:#]*):(?:\s+(.*))?$/;

// read returns the dashes of a line with their columns, and the key after them.
function read(text) {
  const line = { dashes: [], column: text.search(/\S|$/), key: "", value: "", rest: "" };
  let rest = text.slice(line.column);
  for (let dash; (dash = /^-(\s+|$)/.exec(rest)); rest = rest.slice(dash[0].length)) {
    line.dashes.push(line.column);
    line.column += dash[0].length;
  }
  line.rest = rest;
  line.empty = rest === "" && line.dashes.length === 0 || rest.startsWith("#");
  const found = key.exec(rest);
  if (found) [line.key, line.value] = [found[1].replace(/^["']|["']$/g, ""), found[2] ?? ""];
  return line;
}

/** indentation returns the column at which the line after a text begins: within its key when that has no value yet, else beside it. */
export function indentation(text) {
  const line = read(text);
  const within = line.key && (line.value === "" || /^([|>][-+\d]*\s*)?(#|$)/.test(line.value));
  return within ? line.column + 2 : line.column;
}

const separator = (text) => /^(---|\.\.\.)(\s|$)/.test(text);
const start = (line) => line.dashes[0] ?? line.column;

// flow returns the keys of the braces that are open at the end of a text, the key whose value is written there, and what is before.
function flow(text) {
  const stack = [];
  let at = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"?|'[^']*'?|#.*|[{}[\],]|[^\s{}[\],:"'#]+:(?=\s|$)/g)) {
    const top = stack.at(-1);
    if (token === "{" || token === "[") {
      if (!top) at = index;
      stack.push({ object: token === "{", under: top?.key ?? "", key: "", used: new Set() });
    } else if (token === "}" || token === "]") stack.pop();
    else if (token === "," && top) top.key = "";
    else if (token.endsWith(":") && top) top.used.add((top.key = token.slice(0, -1)));
    else if (token.startsWith("#")) return null;
  }
  return { stack, before: stack.length ? text.slice(0, at) : text };
}

/**
 * outline returns where the cursor is, at the end of the text `before` in the line numbered `at` of `lines`: {kind, path, key, word,
 * column, used, item, open}. With a key, its value is written; else the name of a field, at a column, beside those used. A path has
 * the keys of the objects around it, in an object of a kind. In an item of a list, `item` is true; in braces, `open`.
 */
export function outline(lines, at, before) {
  const word = /[\w./-]*$/.exec(before)[0];
  const inner = flow(before.slice(0, before.length - word.length));
  if (!inner) return null;
  const here = read(inner.stack.length ? inner.before : before.slice(0, before.length - word.length) + (word || "x"));
  if (inner.stack.length === 0 && !/^["']?[\w./-]*$/.test(here.key ? here.value : here.rest)) return null;
  const above = climb(lines, at, here);
  if (!above) return null;
  const place = { word, column: here.column, path: above.path, kind: above.kind, item: above.item, used: new Set(), key: here.key, open: false };
  if (inner.stack.length === 0) {
    if (!here.key) place.used = besides(lines, at, here);
    return place;
  }
  return within(place, inner.stack, here.key);
}

// within adds the braces that are open on the cursor's line to its place.
function within(place, stack, key) {
  const path = [...place.path, ...[key, ...stack.map(({ under }) => under)].filter(Boolean)];
  const top = stack.at(-1);
  place.open = true;
  if (top.object) return { ...place, path, key: top.key, item: true, used: top.used };
  return { ...place, path: path.slice(0, -1), key: path.at(-1) ?? "", item: true };
}

// climb returns the path to a line, from the keys above it that are further left, and the kind of the object that the path is in.
function climb(lines, at, here) {
  const path = [];
  let limit = here.column;
  let item = null; // where the item of a list begins that the path is in
  let inner; // whether there is one within the last key of the path
  const enter = (line, number) => {
    for (const dash of line.dashes.toReversed()) {
      if (dash < limit) [item, limit] = [{ number, column: line.column }, dash];
    }
  };
  enter(here, at);
  for (let i = at - 1; i >= 0 && !separator(lines[i]); i--) {
    const line = read(lines[i]);
    if (line.empty) continue;
    const parent = line.key && (line.column < limit || (item && line.column === limit));
    if (parent) {
      if (/^[|>]/.test(line.value)) return null; // within a text
      inner ??= item !== null;
      path.unshift(line.key);
      limit = line.column;
      if (line.key === "items" && line.column === 0 && item) return { path: path.slice(1), item: inner, kind: kindOf(lines, item.number, item.column) };
      item = null;
    }
    enter(line, i);
  }
  const first = lines.slice(0, at).findLastIndex(separator) + 1;
  return { path, item: inner ?? false, kind: kindOf(lines, first, 0) };
}

// kindOf returns the kind of the object that begins at a line, with its keys at a column.
function kindOf(lines, from, column) {
  for (let i = from; i < lines.length && !separator(lines[i]); i++) {
    const line = read(lines[i]);
    if (line.empty) continue;
    if (i > from && start(line) < column) break;
    if (line.key === "kind" && line.column === column) return line.value.replace(/\s+#.*$/, "").replace(/^["']|["']$/g, "");
  }
  return "";
}

// besides returns the other keys of the object that the line is in.
function besides(lines, at, here) {
  const used = new Set();
  const look = (from, step) => {
    for (let i = from; lines[i] !== undefined && !separator(lines[i]); i += step) {
      const line = read(lines[i]);
      if (line.empty) continue;
      if (step > 0 && start(line) < here.column) return;
      if (line.column === here.column) used.add(line.key);
      if (step < 0 && start(line) < here.column) return;
    }
  };
  if (here.dashes.length === 0) look(at - 1, -1);
  look(at + 1, 1);
  return used;
}
