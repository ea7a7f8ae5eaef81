// The page in a browser: every answer is that of the command line, byte for byte.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { FILE, panes } from "../src/panes.js";
import { decode, encode } from "../src/share.js";
import { settled, start } from "./browser.mjs";
import { change, commandLine, empty, examples, job, open as openIn, picture, shown, write } from "./page.mjs";

let browser;
before(async () => (browser = await start()));
after(() => browser.stop());

const open = (state, options) => openIn(browser, state, options);

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
      const { files, ...expected } = commandLine({ ...state, pane });
      assert.deepEqual(await shown(page), expected, `${state.name} ${pane}`);
    }
  }
});

test("the functions of CEL's libraries answer as on the command line", async () => {
  const input = readFileSync(new URL("functions.yaml", import.meta.url), "utf8");
  for (const kubernetes of ["", "1.28", "1.31", "1.34"]) {
    for (const pane of ["why", "cel"]) {
      const state = { ...empty, input, names: "oom-killed", now: "2026-11-22T06:00:00Z", kubernetes, pane };
      const { files, ...expected } = commandLine(state);
      const page = await open(state);
      assert.deepEqual(await shown(page), expected, `${pane} ${kubernetes}`);
      await page.close();
    }
  }
});

test("the page shows every example of its list in every pane", async () => {
  const page = await open(empty);
  const count = await page.locator("#examples option:not([hidden])").count();
  for (let i = 0; i < count; i++) {
    await change(page, () => page.selectOption("#examples", String(i)));
    assert.match((await shown(page)).stdout, /\S/, `example ${i}`);
  }
});

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
  const opened = new URL(page.url()).hash;
  await write(page, job + "# Größe 🚀\n");
  await page.click("#share");
  await page.waitForFunction((old) => location.hash !== old, opened);
  const state = await decode(new URL(page.url()).hash);
  assert.deepEqual(state, { ...empty, input: job + "# Größe 🚀\n", pane: "why", names: "drained" });
  const other = await browser.page({}, new URL(page.url()).hash);
  await settled(other);
  assert.deepEqual((await shown(other)).stdout, commandLine(state).stdout);
  const broken = await browser.page({}, "#s=%%%");
  await broken.waitForFunction(() => /damaged/.test(document.querySelector(".cm-content").textContent));
});

test("the version of Kubernetes is that of the command line's flag, and a link holds it", async () => {
  const page = await open({ input: job, pane: "cel" });
  const versions = await page.locator("#kubernetes option").allTextContents();
  assert.deepEqual([versions[0], versions.at(-1)], ["1.37", "1.28"]);
  for (const [kubernetes, pane] of [["1.28", "cel"], ["1.30", "matrix"], ["1.31", "why"]]) {
    await follow(page, { input: job, kubernetes: "", pane, names: "drained" });
    await change(page, () => page.selectOption("#kubernetes", kubernetes));
    const state = { ...empty, input: job, kubernetes, pane, names: "drained" };
    const { files, ...expected } = commandLine(state);
    assert.deepEqual(await shown(page), expected, kubernetes);
    assert.match(await page.textContent("#command"), new RegExp(`--kubernetes ${kubernetes}$`));
    await change(page, () => page.selectOption("#kubernetes", ""));
    await follow(page, state);
    assert.equal(await page.inputValue("#kubernetes"), kubernetes);
  }
  const { kubernetes, ...older } = { ...empty, input: job };
  assert.equal((await decode("#" + (await encode(older)))).kubernetes, "", "a link of an older page");
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

test("verdicts are a table that folds, with the text one click away", async () => {
  const page = await open({ input: job });
  const { items } = JSON.parse(commandLine({ ...empty, input: job }, ["eval", "-f", FILE, "-o", "json"]).stdout);
  const count = (action) => items.filter(({ verdict }) => (verdict.action ?? "none") === action).length;
  const groups = await page.locator(".verdicts summary").allTextContents();
  assert.deepEqual(groups.map((text) => text.split(" ").slice(0, 2).join(" ")), ["FailJob", "Count", "Ignore", "none"].map((action) => `${action} ${count(action)}`));
  assert.equal(await page.locator(".verdicts tr").count(), items.length);
  assert.equal(await page.getAttribute(".strip", "aria-label"), `${count("FailJob")} FailJob, ${count("Count")} Count, ${count("Ignore")} Ignore, ${count("none")} none`);
  assert.equal(await page.getByText("oom-killed", { exact: true }).isVisible(), false, "a long group is folded");
  await page.click('.verdicts[data-action="Count"] summary');
  assert.equal(await page.getByText("oom-killed", { exact: true }).isVisible(), true);
  assert.equal(await page.isVisible("#stdout"), false);
  await page.getByText("As text").click();
  assert.equal(await page.isVisible("#stdout"), true);
  assert.equal(await page.isVisible("#table"), false);
  await page.getByText("As text").click();
  await change(page, () => page.getByText("exit-2", { exact: true }).click());
  assert.equal(await page.inputValue("#names"), "exit-2");
  const { files, ...expected } = commandLine({ ...empty, input: job, pane: "why", names: "exit-2" });
  assert.deepEqual(await shown(page), expected);
});

test("repairs are shown and made as by check --fix, and guardrails asked", async () => {
  const input = job.replace("[1, 2, 3]", "[3, 1, 2]");
  const page = await open({ input, pane: "check" });
  await page.getByText("Show repairs").click();
  await page.waitForFunction(() => /repair/.test(document.getElementById("status").textContent));
  assert.equal(await page.textContent("#stdout"), commandLine({ ...empty, input }, ["check", "--diff", FILE], []).stdout);
  await page.getByText("Guardrails", { exact: true }).click();
  await page.waitForFunction(() => /platform/.test(document.getElementById("status").textContent));
  assert.equal(await page.textContent("#stdout"), commandLine({ ...empty, input }, ["check", "--only", "guardrails", FILE], []).stdout);
  await change(page, () => page.getByText("Repair", { exact: true }).click());
  const [fixed] = commandLine({ ...empty, input }, ["check", "--fix", FILE], [FILE]).files;
  assert.equal(fixed, job);
  assert.equal((await shown(page)).stdout, commandLine({ ...empty, input: fixed, pane: "check" }).stdout);
});

test("a script is edited and its life shown", async () => {
  const state = { ...empty, input: readFileSync(examples + "simulate/job.yaml", "utf8"), pane: "life" };
  const page = await open(state);
  const script = "pods:\n- {index: 1, exitCode: 7}\n";
  await change(page, () => page.fill("#script", script));
  const expected = commandLine({ ...state, script });
  assert.equal((await shown(page)).stdout, expected.stdout);
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
