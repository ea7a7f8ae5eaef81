// Downloads have the bytes that the command line writes.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { exports } from "../src/exports.js";
import { filesOf } from "../src/panes.js";
import { start } from "./browser.mjs";
import { binary, empty, examples, job, open, picture } from "./page.mjs";

let browser;
before(async () => (browser = await start()));
after(() => browser.stop());

const read = (...files) => files.map((file) => readFileSync(examples + file, "utf8")).join("---\n");
const folder = "custom/bounded-retries/";
const states = {
  "a Job": { ...empty, input: job, kubernetes: "1.33" },
  "custom policies": { ...empty, input: read(folder + "job.yaml", folder + "policy.yaml", folder + "pods.yaml") },
};

// written returns what a command writes: to standard output, or to the file that the page has, too.
function written({ command, name, address }, state) {
  const cwd = mkdtempSync(join(tmpdir(), "playground-"));
  try {
    for (const [name, text] of Object.entries(filesOf(state))) writeFileSync(join(cwd, name), text);
    const { stdout, stderr } = spawnSync(binary, command(state), { cwd, env: { HOME: cwd, TZ: "UTC" }, maxBuffer: 1 << 30 });
    return { bytes: address ? readFileSync(join(cwd, name)) : stdout, stderr: String(stderr) };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

const choose = async (page, item) => {
  await page.click("#export summary");
  await page.getByRole("button", { name: item.label }).click();
};

for (const [what, state] of Object.entries(states)) {
  test(`downloads of ${what} are those of the command line`, async () => {
    const page = await open(browser, state);
    for (const item of exports) {
      const expected = item.command ? written(item, state) : { bytes: Buffer.from(state.input) };
      if (expected.bytes.length === 0) {
        await choose(page, item);
        await page.waitForFunction((text) => document.getElementById("status").textContent.startsWith(text), `There is no ${item.name}`);
        assert.equal(await page.textContent("#stderr"), expected.stderr, item.name);
        continue;
      }
      const [download] = await Promise.all([page.waitForEvent("download"), choose(page, item)]);
      assert.equal(download.suggestedFilename(), item.name);
      assert.ok(readFileSync(await download.path()).equals(expected.bytes), `${item.name} has the bytes of the command line`);
    }
    assert.equal(await page.evaluate(() => document.getElementById("export").open), false);
  });
}

test("every file is written of one input or the other", () => {
  for (const item of exports.filter(({ command }) => command)) {
    assert.ok(Object.values(states).some((state) => written(item, state).bytes.length > 0), item.name);
  }
});

test("the menu is used by keyboard", async () => {
  const page = await open(browser, { input: job });
  await page.focus("#export summary");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.match(await page.evaluate(() => document.activeElement.textContent), /This input/);
  await picture(page, "exports");
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.tagName + document.getElementById("export").open), "SUMMARYfalse");
});

test("nothing failed", () => {
  assert.deepEqual(browser.foreign, []);
  assert.deepEqual(browser.errors, []);
});
