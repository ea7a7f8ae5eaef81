// Links from an explanation to the input: from a rule to where it is written, and from a value to the part of the expression that has it.

const longest = 76; // characters of a sub-expression as explain prints it

/** link replaces the text of an element by the same text with links. An explanation is what explain -o json says; the editor marks. */
export function link(element, text, explanation, editor) {
  const input = editor.text();
  const parts = text.split("\n").flatMap((line, i, lines) => [line, ...(i < lines.length - 1 ? ["\n"] : [])]);
  let item = -1;
  let rule = -1;
  element.replaceChildren(...parts.flatMap((line) => {
    if (/^Pod .* of Job /.test(line)) [item, rule] = [item + 1, -1];
    if (/^ {2}RULE /.test(line)) rule++;
    const explained = explanation.items[item]?.rules?.[rule];
    const found = explained?.place && related(line, explained);
    if (!found) return [line];
    const { start, end, expression } = found;
    return [line.slice(0, start), anchor(line.slice(start, end), () => ranges(input, explained, expression), editor), line.slice(end)];
  }));
}

// anchor returns a link that marks the ranges while it is looked at, and leads there.
function anchor(text, find, editor) {
  const made = document.createElement("a");
  made.href = "#editor";
  made.className = "part";
  made.textContent = text;
  const mark = () => editor.highlight(find());
  const clear = () => editor.highlight([]);
  Object.assign(made, { onmouseenter: mark, onfocus: mark, onmouseleave: clear, onblur: clear });
  made.onclick = (event) => {
    event.preventDefault();
    const found = find();
    editor.select(found[0]);
    editor.highlight(found);
  };
  return made;
}

// related returns what a line of a rule's explanation is about: the rule, its expression, or a part of it, and the columns that say so.
function related(line, rule) {
  const header = /^ {2}(RULE .*?)(?: {2,}|$)/.exec(line);
  if (header) return { start: 2, end: 2 + header[1].length, expression: "" };
  const written = /^ {11}\| /.exec(line);
  if (written) return { start: written[0].length, end: line.length, expression: "" };
  const start = line.search(/\S/);
  const known = [...(rule.values ?? []), ...(rule.elements ?? []).flatMap(({ values }) => values ?? [])];
  let best = "";
  for (const { expression } of known) {
    if (expression.length > best.length && line.startsWith(shortened(expression) + "  ", start)) best = expression;
  }
  return best && { start, end: line.length, expression: best };
}

// shortened cuts the middle out of a long sub-expression, as explain does.
function shortened(text) {
  const characters = [...text];
  if (characters.length <= longest) return text;
  const half = Math.floor((longest - 3) / 2);
  return characters.slice(0, half).join("") + "..." + characters.slice(-half).join("");
}

/**
 * ranges returns where a part of a rule's expression is in the input. Where the part does not stand there as explain prints it, it is
 * the whole expression, and for a podFailurePolicy, whose expressions the compiler writes, the rule.
 */
export function ranges(input, { place, policy, expression: whole }, part) {
  const from = offset(input, place);
  if (!policy) return [block(input, from, place.column - 1)];
  const places = follow(input, from, whole);
  if (!places) return [{ from, to: lineEnd(input, from) }];
  const range = (at, length) => ({ from: places[at], to: places[at + length - 1] + 1 });
  const ink = plain(whole);
  const sought = plain(part);
  const found = [];
  for (let at = ink.indexOf(sought); sought && at >= 0; at = ink.indexOf(sought, at + 1)) {
    const cut = (i) => /\w\w/.test(ink.slice(i - 1, i + 1)); // within a name
    if (!cut(at) && !cut(at + sought.length)) found.push(range(at, sought.length));
  }
  return found.length > 0 ? found : [range(0, ink.length)];
}

// plain returns a text without space, with quotes of one kind: explain prints expressions with quotes of its own.
const plain = (text) => text.replace(/\s/g, "").replaceAll('"', "'");

function offset(input, { line, column }) {
  let at = 0;
  for (let i = 1; i < line; i++) at = input.indexOf("\n", at) + 1;
  return at + [...input.slice(at, lineEnd(input, at))].slice(0, column - 1).join("").length;
}

function lineEnd(input, at) {
  const end = input.indexOf("\n", at);
  return end < 0 ? input.length : end;
}

// follow returns the place of each character of an expression, but for space, in a YAML scalar that begins at a place; or null. YAML
// folds lines and resolves escapes, but keeps the other characters in their order.
function follow(input, from, expression) {
  const header = /^(?:[|>][^\n]*\n|["'])?/.exec(input.slice(from))[0];
  const escape = { "'": "'", '"': "\\" }[header];
  const places = [];
  let at = from + header.length;
  for (const character of expression.replace(/\s/g, "").split("")) {
    while (/\s/.test(input[at] ?? "")) at++;
    if (escape && input[at] === escape && input[at + 1] === character) at++;
    if (input[at] !== character) return null;
    places.push(at++);
  }
  return places;
}

// block returns the range of an object whose first key stands at a column, from 0.
function block(input, from, column) {
  let to = lineEnd(input, from);
  while (to < input.length) {
    const next = lineEnd(input, to + 1);
    const text = input.slice(to + 1, next);
    if (text.trim() !== "" && text.search(/\S/) < column) break;
    to = next;
  }
  return { from, to: from + input.slice(from, to).trimEnd().length };
}
