// A state as text for the fragment of an address: JSON, compressed, in base64 of addresses. A fragment is never sent to a server.

const kept = ["input", "pinned", "script", "names", "now", "kubernetes", "pane"];
const longest = 4 << 20; // a link that unpacks to more is refused

async function through(bytes, transform) {
  const parts = [];
  let length = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    if ((length += value.length) > longest) throw new Error("the link holds too much");
    parts.push(value);
  }
}

/** encode returns the fragment of a state, without "#". */
export async function encode(state) {
  const text = JSON.stringify(Object.fromEntries(kept.map((key) => [key, state[key]])));
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let binary = "";
  for (let i = 0; i < bytes.length; i += 8192) {
    binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  }
  return "s=" + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** decode returns the state of a fragment, or null when it has none. */
export async function decode(fragment) {
  if (!fragment.startsWith("#s=")) return null;
  const binary = atob(fragment.slice(3).replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  const state = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
  const texts = kept.map((key) => [key, state[key] ?? ""]); // older links have fewer
  if (!texts.every(([, text]) => typeof text === "string")) throw new Error("the link is damaged");
  return Object.fromEntries(texts);
}
