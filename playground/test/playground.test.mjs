// The page in a browser: every answer is that of the command line, byte for byte.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { FILE, filesOf, panes } from "../src/panes.js";
import { decode, encode } from "../src/share.js";
import { settled, start } from "./browser.mjs";

const examples = new URL("../../examples/", import.meta.url).pathname;
const binary = process.env.PODVERDICT ?? new URL("../../bin/podverdict", import.meta.url).pathname;
const shots = process.env.SCREENSHOTS;
const empty = { input: "", pinned: "", script: "", names: "", now: "", pane: "matrix" };

let browser;
before(async () => (browser = await start()));
after(() => browser.stop());

// commandLine runs podverdict in a folder with a state's files and returns what the page should show.
function commandLine(state, args = panes[state.pane].command(state), wanted = panes[state.pane].wanted ?? []) {
  const cwd = mkdtempSync(join(tmpdir(), "playground-"));
  try {
    for (const [name, text] of Object.entries(filesOf(state))) writeFileSync(join(cwd, name), text);
    const { status, stdout, stderr } = spawnSync(binary, args, { cwd, encoding: "utf8", env: { HOME: cwd, TZ: "UTC" }, maxBuffer: 1 << 30 });
    return { code: status, stdout, stderr, files: wanted.map((name) => existsSync(join(cwd, name)) && readFileSync(join(cwd, name), "utf8")) };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

// shown returns what the page shows.
async function shown(page) {
  const more = page.locator("#more");
  if (await more.isVisible()) await more.click();
  const [stdout, stderr, status] = await Promise.all(["stdout", "stderr", "status"].map((id) => page.textContent("#" + id)));
  return { code: Number(/^Exit code (\d+)/.exec(status)?.[1]), stdout, stderr };
}

async function open(state, options) {
  const page = await browser.page(options, "#" + (await encode({ ...empty, ...state })));
  await settled(page);
  return page;
}

// change does something to the page and waits for the answer.
async function change(page, act) {
  await page.evaluate(() => (document.getElementById("status").textContent = ""));
  await act();
  await settled(page);
}

async function picture(page, name) {
  if (shots) await page.screenshot({ path: join(shots, name + ".png") });
}

// write replaces the text of the editor as a paste does.
async function write(page, text) {
  await page.click(".cm-content");
  await page.keyboard.press("Control+a");
  await page.evaluate((pasted) => {
    const data = new DataTransfer();
    data.setData("text/plain", pasted);
    document.querySelector(".cm-content").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);
}

// folders returns the states of the folders of examples that have a Job or a policy.
function folders(below = "") {
  const entries = readdirSync(examples + below, { withFileTypes: true });
  const read = (file) => readFileSync(examples + below + file, "utf8");
  const files = entries.filter((e) => e.isFile() && !/_test|script|new-job|native/.test(e.name)).map((e) => e.name);
  const states = entries.filter((e) => e.isDirectory()).flatMap((e) => folders(`${below}${e.name}/`));
  if (!files.includes("job.yaml")) return states;
  const given = (file) => (entries.some((e) => e.name === file) ? read(file) : "");
  const names = files.some((file) => /^pod/.test(file)) ? "" : "oom-killed drained exit-42";
  states.push({ ...empty, name: below, names, now: "2026-11-22T06:00:00Z", input: files.map(read).join("---\n"), pinned: given("new-job.yaml") || read("job.yaml"), script: given("script.yaml") });
  return states;
}

// follow shows a state as its link does.
async function follow(page, state) {
  const fragment = "#" + (await encode({ ...empty, ...state }));
  await change(page, () => page.evaluate((hash) => (location.hash = hash), fragment));
}

test("every pane answers as the command line on every example", async () => {
  const states = folders();
  assert.ok(states.length >= 16, `there are ${states.length} folders of examples`);
  const page = await open({ ...states[0], pane: "cel" });
  for (const state of states) {
    for (const pane of Object.keys(panes)) {
      await follow(page, { ...state, pane });
      const { files: [drawn], ...expected } = commandLine({ ...state, pane });
      assert.deepEqual(await shown(page), expected, `${state.name} ${pane}`);
      if (pane === "life") assert.equal(await page.locator("#picture svg").count(), drawn ? 1 : 0, state.name);
    }
  }
});

test("the page shows every example of its list in every pane", async () => {
  const page = await open(empty);
  const count = await page.locator("#examples option").count();
  for (let i = 0; i < count; i++) {
    await change(page, () => page.selectOption("#examples", String(i)));
    assert.match((await shown(page)).stdout, /\S/, `example ${i}`);
  }
});

const job = readFileSync(examples + "quickstart/job.yaml", "utf8");

test("what is typed is answered, and an error is shown at its place", async () => {
  const page = await open({ input: job });
  const input = job.replace("action: FailJob", "action: FailJobs");
  await change(page, () => write(page, input));
  const { files, ...expected } = commandLine({ ...empty, input });
  assert.deepEqual(await shown(page), expected);
  assert.notEqual(expected.code, 0);
  await page.waitForSelector(".cm-lint-marker-error");
  await page.click("#stderr a");
  assert.equal(await page.evaluate(() => document.activeElement.className.includes("cm-content")), true);
  await picture(page, "error");
  await change(page, () => page.keyboard.press("Control+z"));
  assert.equal((await shown(page)).code, 0);
});

test("a link holds the state and nothing is sent", async () => {
  const page = await open({ input: job, pane: "why", names: "drained" });
  await write(page, job + "# Größe 🚀\n");
  await page.click("#share");
  await page.waitForFunction(() => location.hash.startsWith("#s="));
  const state = await decode(new URL(page.url()).hash);
  assert.deepEqual(state, { ...empty, input: job + "# Größe 🚀\n", pane: "why", names: "drained" });
  const other = await browser.page({}, new URL(page.url()).hash);
  await settled(other);
  assert.deepEqual((await shown(other)).stdout, commandLine(state).stdout);
  const broken = await browser.page({}, "#s=%%%");
  await broken.waitForFunction(() => /damaged/.test(document.querySelector(".cm-content").textContent));
});

test("pinning compares later versions", async () => {
  const page = await open({ input: job });
  await page.click("#pin");
  await change(page, () => write(page, job.replace("[1, 2, 3]", "[1, 2]")));
  await change(page, () => page.click("#tab-diff"));
  const expected = commandLine({ ...empty, pinned: job, input: job.replace("[1, 2, 3]", "[1, 2]"), pane: "diff" });
  assert.equal((await shown(page)).stdout, expected.stdout);
  assert.match(expected.stdout, /exit-3/);
  await picture(page, "diff");
});

test("repairs are shown and made as by check --fix", async () => {
  const page = await open({ input: job, pane: "check" });
  await page.getByText("Show repairs").click();
  await page.waitForFunction(() => /repair/.test(document.getElementById("status").textContent));
  assert.equal(await page.textContent("#stdout"), commandLine({ ...empty, input: job }, ["check", "--diff", FILE], []).stdout);
  await change(page, () => page.getByText("Repair", { exact: true }).click());
  const [fixed] = commandLine({ ...empty, input: job }, ["check", "--fix", FILE], [FILE]).files;
  assert.notEqual(fixed, job);
  assert.equal((await shown(page)).stdout, commandLine({ ...empty, input: fixed, pane: "check" }).stdout);
});

test("a script is edited and its life drawn", async () => {
  const state = { ...empty, input: readFileSync(examples + "simulate/job.yaml", "utf8"), pane: "life" };
  const page = await open(state);
  const script = "pods:\n- {index: 1, exitCode: 7}\n";
  await change(page, () => page.fill("#script", script));
  const expected = commandLine({ ...state, script });
  assert.equal((await shown(page)).stdout, expected.stdout);
  const download = page.waitForEvent("download");
  await page.getByText("Download SVG").click();
  assert.match(readFileSync(await (await download).path(), "utf8"), /<svg/);
  await picture(page, "life");
  await change(page, () => page.fill("#script", "pods:\n- {exitCode: nonsense}\n"));
  assert.notEqual((await shown(page)).stderr, "");
});

test("ten thousand Pods are pasted", async () => {
  const page = await open({ input: job });
  const pod = (i) => `- {apiVersion: v1, kind: Pod, metadata: {name: p${i}, namespace: default, labels: {job-name: simulation}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: simulation, uid: b1100678-eac8-4318-aad6-02fc5197c293, controller: true}]}, spec: {containers: [{name: main-job-container, image: a}]}, status: {phase: Failed, containerStatuses: [{name: main-job-container, state: {terminated: {exitCode: ${i % 5}}}}]}}\n`;
  const input = `${job}---\napiVersion: v1\nkind: List\nitems:\n${Array.from({ length: 10_000 }, (_, i) => pod(i)).join("")}`;
  const began = performance.now();
  await change(page, () => write(page, input));
  console.log(`10,000 Pods: ${Math.round(performance.now() - began)} ms, ${await page.textContent("#status")}`);
  const { files, ...expected } = commandLine({ ...empty, input });
  await picture(page, "many");
  assert.deepEqual(await shown(page), expected);
});

test("tabs answer the keyboard, and the page fits a phone", async () => {
  const page = await open({ input: job }, { viewport: { width: 360, height: 740 }, colorScheme: "dark" });
  await page.focus("#tab-matrix");
  await change(page, () => page.keyboard.press("ArrowRight"));
  assert.equal(await page.evaluate(() => document.activeElement.id), "tab-why");
  assert.equal(await page.getAttribute("#tab-why", "aria-selected"), "true");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `the page is ${wide} wide`);
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
  await picture(page, "phone");
  for (const control of await page.locator("button, select, input, textarea, [role=tab]").all()) {
    const name = await control.evaluate((e) => e.labels?.[0]?.textContent || e.getAttribute("aria-label") || e.textContent);
    assert.match(name, /\S/);
  }
});

test("nothing went to other hosts, and nothing failed", () => {
  assert.deepEqual(browser.foreign, []);
  assert.deepEqual(browser.errors, []);
});
