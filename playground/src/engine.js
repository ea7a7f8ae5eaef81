// The worker that runs podverdict. The page sends {id, args, input, files, wanted}; the answer is {id, code, stdout, stderr, files}.

import "./go.js";
import { Files } from "./files.js";

const files = new Files();
globalThis.fs = files.fs();
globalThis.process = { ...globalThis.process, pid: 1, ppid: 1, cwd: () => "/" };

const go = new Go();
go.env = { GOGC: "400", TZ: "UTC" };
const ready = new Promise((resolve) => (globalThis.ready = resolve));

async function load(address) {
  const { instance } = await WebAssembly.instantiateStreaming(fetch(address), go.importObject);
  go.run(instance).then(() => postMessage({ failed: "it has ended" }));
  await ready;
}

function run({ args, input = "", files: texts = {}, wanted = [] }) {
  files.set(texts);
  return new Promise((resolve) => {
    globalThis.podverdict(args, input, (code, stdout, stderr) => {
      const written = Object.fromEntries(wanted.map((name) => [name, files.text(name)]));
      resolve({ code, stdout, stderr, files: written });
    });
  });
}

const loaded = load(self.name).then(
  () => postMessage({ loaded: true }),
  (error) => postMessage({ failed: String(error) }),
);

let last = loaded;
onmessage = ({ data }) => {
  last = last.then(async () => {
    const began = performance.now();
    const answer = await run(data);
    postMessage({ id: data.id, took: performance.now() - began, ...answer });
  });
};
