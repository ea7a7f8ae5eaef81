// What tests do with the page, and what the command line answers.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filesOf, panes } from "../src/panes.js";
import { encode } from "../src/share.js";
import { settled } from "./browser.mjs";

export const examples = new URL("../../examples/", import.meta.url).pathname;
export const binary = process.env.PODVERDICT ?? new URL("../../bin/podverdict", import.meta.url).pathname;
const shots = process.env.SCREENSHOTS;
export const empty = { input: "", pinned: "", script: "", names: "", now: "", kubernetes: "", pane: "matrix" };
export const job = readFileSync(examples + "quickstart/job.yaml", "utf8");

/** commandLine runs podverdict in a folder with a state's files and returns what the page should show. */
export function commandLine(state, args = panes[state.pane].command(state), wanted = []) {
  const cwd = mkdtempSync(join(tmpdir(), "playground-"));
  try {
    for (const [name, text] of Object.entries(filesOf(state))) writeFileSync(join(cwd, name), text);
    const { status, stdout, stderr } = spawnSync(binary, args, { cwd, encoding: "utf8", env: { HOME: cwd, TZ: "UTC" }, maxBuffer: 1 << 30 });
    return { code: status, stdout, stderr, files: wanted.map((name) => existsSync(join(cwd, name)) && readFileSync(join(cwd, name), "utf8")) };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** shown returns what the page shows. */
export async function shown(page) {
  const more = page.locator("#more");
  if (await more.isVisible()) await more.click();
  const [stdout, stderr, status] = await Promise.all(["stdout", "stderr", "status"].map((id) => page.textContent("#" + id)));
  return { code: Number(/^Exit code (\d+)/.exec(status)?.[1]), stdout, stderr };
}

/** open shows a state. */
export async function open(browser, state, options) {
  const page = await browser.page(options, "#" + (await encode({ ...empty, ...state })));
  await settled(page);
  return page;
}

/** change does something to the page and waits for the answer. */
export async function change(page, act) {
  await page.evaluate(() => (document.getElementById("status").textContent = ""));
  await act();
  await settled(page);
}

/** picture takes a screenshot when SCREENSHOTS names a folder. */
export async function picture(page, name) {
  if (shots) await page.screenshot({ path: join(shots, name + ".png") });
}

/** write replaces the text of the editor as a paste does. */
export async function write(page, text) {
  await page.click(".cm-content");
  await page.keyboard.press("Control+a");
  await page.evaluate((pasted) => {
    const data = new DataTransfer();
    data.setData("text/plain", pasted);
    document.querySelector(".cm-content").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);
}
