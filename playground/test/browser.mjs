// A page in headless Chromium, served from dist/ on loopback.

import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { chromium } from "playwright-core";

const dist = new URL("../dist/", import.meta.url).pathname;
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".txt": "text/plain", ".json": "application/json" };

/** serve serves dist/, compressed files first, and returns the address and the server. */
async function serve() {
  const server = createServer((request, response) => {
    const name = new URL(request.url, "http://localhost").pathname.replace(/^\/$/, "/index.html");
    const file = join(dist, name);
    if (!existsSync(file)) return response.writeHead(404).end();
    response.setHeader("Content-Type", types[extname(file)] ?? "application/octet-stream");
    const small = existsSync(file + ".br");
    if (small) response.setHeader("Content-Encoding", "br");
    createReadStream(small ? file + ".br" : file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, address: `http://127.0.0.1:${server.address().port}/` };
}

/** start returns a browser, the page's address, and what the pages asked of other hosts and said of errors. Without the address of a
 *  server that runs, it starts one. */
export async function start(running) {
  const { server, address } = running ? { address: running } : await serve();
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  const foreign = [];
  const errors = [];
  return {
    address, foreign, errors,
    async page(options = {}, fragment = "") {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(120_000);
      page.on("request", (request) => request.url().startsWith(address) || /^(data|blob):/.test(request.url()) || foreign.push(request.url()));
      page.on("pageerror", (error) => errors.push(String(error)));
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      await page.goto(address + fragment);
      return page;
    },
    async stop() {
      await browser.close();
      server?.close();
    },
  };
}

/** settled waits until the status line says that the open pane was answered. */
export async function settled(page) {
  await page.waitForFunction(() => /^Exit code/.test(document.getElementById("status").textContent));
}
