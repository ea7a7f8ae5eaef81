// Links from an explanation to the input.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { ranges } from "../src/why.js";
import { start } from "./browser.mjs";
import { commandLine, empty, examples, job, open, picture, shown } from "./page.mjs";

let browser;
before(async () => (browser = await start()));
after(() => browser.stop());

const when = 'attempt <= 3 && job.labels["a"].startsWith("b c")';
const styles = {
  plain: [`  when: ${when}\n`, 9],
  "plain, folded": ["  when: attempt <= 3 &&\n    job.labels[\"a\"].startsWith(\"b c\")\n", 9],
  literal: ["  when: |\n    attempt <= 3 &&\n      job.labels[\"a\"].startsWith(\"b c\")\n", 9],
  "folded with a comment": [`  when: >- # of ours\n    ${when}\n`, 9],
  "double quotes": [`  when: ${JSON.stringify(when)}\n`, 9],
  "single quotes": [`  when: '${when}'\n`, 9],
};

for (const [style, [text, column]] of Object.entries(styles)) {
  test(`a part is found in a scalar that is ${style}`, () => {
    const input = `# Größe 🚀\nspec:\n${text}  action: Ignore\n`;
    const rule = { place: { line: 3, column }, policy: "p", expression: when };
    const marked = (part) => ranges(input, rule, part).map(({ from, to }) => input.slice(from, to).replace(/\\?["']/g, "'").replace(/\s+/g, " "));
    assert.deepEqual(marked("attempt <= 3"), ["attempt <= 3"]);
    assert.deepEqual(marked("job.labels['a'].startsWith('b c')"), ["job.labels['a'].startsWith('b c')"]);
    assert.deepEqual(marked("tempt <= 3"), [when.replaceAll('"', "'")], "what is within a name is not found");
  });
}

test("a part that occurs twice is marked twice", () => {
  const input = "  when: c.a == 1 || c.a == 2\n";
  const found = ranges(input, { place: { line: 1, column: 9 }, policy: "p", expression: "c.a == 1 || c.a == 2" }, "c.a");
  assert.deepEqual(found.map(({ from }) => from), [8, 20]);
});

const marked = (page) => page.evaluate(() => [...document.querySelectorAll(".cm-part")].map((e) => e.innerText));
const read = (...files) => files.map((file) => readFileSync(examples + file, "utf8")).join("---\n");

test("a value leads to its part of the expression", async () => {
  const folder = "custom/bounded-retries/";
  const state = { ...empty, pane: "why", input: read(folder + "job.yaml", folder + "policy.yaml", folder + "pods.yaml") };
  const page = await open(browser, state);
  await page.waitForSelector("a.part");
  const { files, ...expected } = commandLine(state);
  assert.deepEqual(await shown(page), expected, "the text is that of the command line");
  const value = page.locator("a.part", { hasText: "c.exitCode == 75  true, with 75" }).first();
  await value.click();
  assert.deepEqual(await marked(page), ["c.exitCode == 75"]);
  assert.equal(await page.evaluate(() => getSelection().toString()), "c.exitCode == 75");
  await page.mouse.move(0, 0);
  await value.focus();
  assert.deepEqual(await marked(page), ["c.exitCode == 75"]);
  await picture(page, "why");
  await page.locator("a.part", { hasText: "RULE temporary-failure" }).first().hover();
  assert.deepEqual(await marked(page), ["pod.failedContainers().exists(c, c.exitCode == 75)"]);
});

test("a rule of a podFailurePolicy leads to where it is written", async () => {
  const page = await open(browser, { input: job, pane: "why", names: "drained" });
  await page.locator("a.part", { hasText: "RULE 1" }).hover();
  assert.equal((await marked(page)).join("\n"), "action: Ignore\n      onPodConditions:\n      - type: DisruptionTarget");
  await page.locator("a.part", { hasText: "RULE 1" }).click();
  await picture(page, "why-own");
});

test("nothing failed", () => {
  assert.deepEqual(browser.foreign, []);
  assert.deepEqual(browser.errors, []);
});
