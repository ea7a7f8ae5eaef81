// Places in the text that messages name, as input.yaml:12:5.

const place = /^\s*(?:[a-z]+: )?input\.yaml:(\d+)(?::(\d+))?:? ?(.*)$/;

/** places returns {line, column, message, severity} of each line of an output that begins with a place. */
export function places(output) {
  return output.split("\n").flatMap((text) => {
    const found = place.exec(text);
    if (!found) return [];
    const message = found[3].trim();
    const severity = /^warning\b/.test(message) ? "warning" : /^(info|note)\b/.test(message) ? "info" : "error";
    return [{ line: Number(found[1]), column: Number(found[2] ?? 1), message, severity }];
  });
}
