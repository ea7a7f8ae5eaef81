// Builds the page into dist/ with the table that its editor completes by, and compresses the engines, which
// `go run ./playground/engine` has built. BROTLI is how hard: 11, the most, takes minutes.

import { execFileSync } from "node:child_process";
import { brotliCompressSync, constants } from "node:zlib";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { examples } from "./examples.mjs";

const root = execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();

const fields = execFileSync("go", ["run", "./playground/fields"], { cwd: "..", encoding: "utf8", maxBuffer: 1 << 24 });

// virtual are modules that are no files here.
const virtual = { examples: () => examples(), versions: () => JSON.parse(fields).versions };

// given are these, and the half of Go's runtime that is JavaScript.
const given = {
  name: "given",
  setup(bundle) {
    bundle.onResolve({ filter: /^virtual:/ }, ({ path }) => ({ path: path.slice("virtual:".length), namespace: "given" }));
    bundle.onLoad({ filter: /.*/, namespace: "given" }, ({ path }) => ({ contents: JSON.stringify(virtual[path]()), loader: "json" }));
    bundle.onResolve({ filter: /^\.\/go\.js$/ }, () => ({ path: `${root}/lib/wasm/wasm_exec.js` }));
  },
};

mkdirSync("dist", { recursive: true });
const result = await build({
  entryPoints: ["src/page.js", "src/engine.js", "src/page.css"],
  bundle: true, minify: true, metafile: true, outdir: "dist", target: "es2022", legalComments: "none", plugins: [given],
  format: "iife",
});
copyFileSync("index.html", "dist/index.html");
writeFileSync("dist/fields.json", fields);
writeFileSync("dist/page-licenses.txt", licenses(Object.keys(result.metafile.inputs)));

const brotli = { [constants.BROTLI_PARAM_QUALITY]: Number(process.env.BROTLI ?? 11), [constants.BROTLI_PARAM_LGWIN]: 24 };
for (const file of readdirSync("dist").filter((name) => /\.(wasm|json)$/.test(name))) {
  writeFileSync(`dist/${file}.br`, brotliCompressSync(readFileSync(`dist/${file}`), { params: brotli }));
}

// licenses returns the licences of the packages that are bundled. Those of Go and its modules are beside the engines.
function licenses(inputs) {
  const names = new Set(inputs.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []));
  const texts = [...names].sort().map((name) => {
    const folder = `node_modules/${name}`;
    const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no file with its licence`);
    return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, "utf8")}`;
  });
  return texts.join("\n\n" + "-".repeat(80) + "\n\n");
}
