// Builds the page into dist/ with the table that its editor completes by, and compresses the engines, which `make playground` has built
// there. BROTLI is how hard: from 0 to 11.

import { execFileSync } from "node:child_process";
import { brotliCompress, constants } from "node:zlib";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { build } from "esbuild";
import { examples } from "./examples.mjs";

const root = go(["env", "GOROOT"]);
const fields = go(["run", "./playground/fields"]);

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
writeFileSync("dist/licenses.txt", licenses([...bundled(Object.keys(result.metafile.inputs)), ["Go", root], ...modules()]));

const params = { [constants.BROTLI_PARAM_QUALITY]: Number(process.env.BROTLI ?? 9), [constants.BROTLI_PARAM_LGWIN]: 24 };
const large = readdirSync("dist").filter((name) => /\.(wasm|json)$/.test(name));
await Promise.all(large.map(async (name) => {
  writeFileSync(`dist/${name}.br`, await promisify(brotliCompress)(readFileSync(`dist/${name}`), { params }));
}));

// go returns what a command of Go prints, run at the top of the repository.
function go(args, env = {}) {
  const options = { cwd: "..", encoding: "utf8", maxBuffer: 1 << 24, env: { ...process.env, ...env } };
  return execFileSync("go", args, options).trim();
}

// bundled returns the npm packages that files are from, and their folders.
function bundled(files) {
  const names = new Set(files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []));
  return [...names].sort().map((name) => {
    const folder = `node_modules/${name}`;
    return [`${name} ${JSON.parse(readFileSync(`${folder}/package.json`, "utf8")).version}`, folder];
  });
}

// modules returns the Go modules that engines are built of, and their folders.
function modules() {
  const format = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}";
  const list = ["list", "-deps", "-f", format, "./cmd/podverdict/page", "./cmd/podverdict/page/constraints"];
  const lines = go(list, { GOOS: "js", GOARCH: "wasm" }).split("\n");
  return [...new Set(lines)].sort().map((line) => line.split("\t"));
}

// licenses returns the licences that lie in folders, each under the name of what it is for.
function licenses(folders) {
  const texts = folders.map(([name, folder]) => {
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
    if (files.length === 0) throw new Error(`${name} has no file with its licence`);
    return [name, ...files.map((file) => readFileSync(`${folder}/${file}`, "utf8"))].join("\n\n");
  });
  return texts.join("\n\n" + "-".repeat(80) + "\n\n");
}
