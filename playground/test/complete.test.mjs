// What the editor suggests while one writes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { suggestions } from "../src/complete.js";
import { indentation, outline } from "../src/outline.js";
import { start } from "./browser.mjs";
import { change, commandLine, empty, job, open, picture, shown, write } from "./page.mjs";

let browser;
before(async () => (browser = await start()));
after(() => browser.stop());

const table = JSON.parse(readFileSync(new URL("../dist/fields.json", import.meta.url), "utf8"));

// suggested returns the labels for the place of ‸ in a text.
function suggested(text) {
  const [before, rest] = text.split("‸");
  const at = before.split("\n").length - 1;
  const place = outline((before + rest).split("\n"), at, before.split("\n").at(-1));
  return place && suggestions(table, place).map(({ label }) => label).filter((label) => label.startsWith(place.word));
}

const rules = "kind: Job\nspec:\n  podFailurePolicy:\n    rules:\n    - action: Ignore\n      onPodConditions:\n      - type: DisruptionTarget\n";
const custom = "apiVersion: podverdict.io/v1alpha1\nkind: PodFailurePolicy\nspec:\n  rules:\n  - name: a\n";

const places = [
  ["the first line", "‸", ["apiVersion", "kind"]],
  ["a kind", "kind: PodF‸", ["PodFailurePolicy", "PodFailurePolicyBinding"]],
  ["the apiVersion of a kind", "kind: CronJob\napiVersion: ‸", ["batch/v1"]],
  ["beside other fields", "kind: Job\n‸\nspec: {}\n", ["apiVersion", "metadata", "status"]],
  ["a spec, before other fields", "kind: Job\nspec:\n  backoff‸\n  backoffLimitPerIndex: 1\n", ["backoffLimit"]],
  ["a rule's action", rules + "    - action: Fail‸", ["FailIndex", "FailJob"]],
  ["an item that begins", rules + "    - ‸", ["action", "onExitCodes", "onPodConditions"]],
  ["an item that goes on", rules + "    - action: FailJob\n      on‸", ["onExitCodes", "onPodConditions"]],
  ["an operator", rules + "    - onExitCodes:\n        operator: ‸", ["In", "NotIn"]],
  ["braces", rules + "    - {action: FailJob, on‸}", ["onExitCodes", "onPodConditions"]],
  ["a value in braces", rules + "    - onExitCodes: {operator: Not‸", ["NotIn"]],
  ["braces in brackets", "kind: Job\nspec: {podFailurePolicy: {rules: [{action: Ig‸", ["Ignore"]],
  ["a condition", rules.replace("DisruptionTarget", "Disr‸"), ["DisruptionTarget"]],
  ["a boolean", "kind: Job\nspec:\n  suspend: ‸", ["false", "true"]],
  ["the template of a CronJob's Job", "kind: CronJob\nspec:\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: O‸", ["OnFailure"]],
  ["resources", "kind: Pod\nspec:\n  containers:\n  - name: a\n    resources:\n      limits:\n        me‸", ["memory"]],
  ["a volume", "kind: Pod\nspec:\n  volumes:\n  - name: a\n    emptyDir:\n      m‸", ["medium", "mode"]],
  ["an item of a List", "kind: List\nitems:\n- kind: Pod\n  status:\n    phase: F‸", ["Failed"]],
  ["the second document", rules + "---\n" + custom + "    phase: ‸", ["Failed", "Pending", "Running", "Terminating"]],
  ["a budget", custom + "    budget:\n      per: ‸", ["Index", "Job"]],
  ["a binding", "kind: PodFailurePolicyBinding\nspec:\n  pol‸", ["policyName"]],
  ["a binding's selector", "kind: PodFailurePolicyBinding\nspec:\n  jobSelector:\n    matchExpressions:\n    - operator: Not‸", ["NotIn"]],
  ["metadata of ours", custom.replace("spec:", "metadata:\n  nam‸\nspec:"), ["name", "namespace"]],
  ["a field of an unknown one", "kind: Job\nspec:\n  nothing:\n    ‸", []],
  ["another kind", "kind: Service\nspec:\n  ‸", []],
  ["CEL", custom + "    when: |\n      pod.‸", null],
  ["a comment", "kind: Job # the ‸", null],
  ["a text", "kind: Job\nmetadata:\n  name: two words‸", null],
];

for (const [name, text, expected] of places) {
  test(`suggested at ${name}`, () => assert.deepEqual(suggested(text)?.sort() ?? null, expected));
}

test("a new line begins where its text belongs", () => {
  const columns = ["spec:", "  rules: # of ours", "  - name: a", "  - spec:", "  when: |", "", "    text"].map(indentation);
  assert.deepEqual(columns, [2, 4, 4, 6, 4, 0, 4]);
});

test("a policy is written by completion, and the table is loaded when it is first needed", async () => {
  const page = await open(browser, { input: job, pane: "cel" });
  const loaded = () => page.evaluate(() => performance.getEntriesByName(new URL("fields.json", location.href).href).length);
  assert.equal(await loaded(), 0);
  await write(page, "");
  const line = async (typed, chosen) => {
    await page.keyboard.type(typed);
    await page.waitForSelector(`.cm-tooltip-autocomplete li:has-text("${chosen}")`);
  };
  const take = async (chosen) => {
    await page.waitForTimeout(100); // CodeMirror takes no key as an answer to what has just appeared
    for (let i = 0; (await page.textContent(".cm-tooltip-autocomplete li[aria-selected] .cm-completionLabel")) !== chosen; i++) {
      assert.ok(i < 50, `${chosen} is suggested`);
      await page.keyboard.press("ArrowDown");
    }
    await page.keyboard.press("Enter");
  };
  await line("ki", "kind");
  await take("kind");
  await line("J", "Job");
  await take("Job");
  await page.keyboard.type("\nspec:\n");
  await line("podF", "podFailurePolicy");
  await page.waitForSelector(".cm-completionInfo");
  assert.match(await page.textContent(".cm-completionInfo"), /Specifies the policy of handling failed pods/);
  await picture(page, "complete");
  await take("podFailurePolicy");
  await page.waitForSelector('.cm-tooltip-autocomplete li:has-text("rules")');
  await take("rules");
  await page.waitForSelector('.cm-tooltip-autocomplete li:has-text("action")');
  await take("action");
  await page.waitForSelector('.cm-tooltip-autocomplete li:has-text("FailJob")');
  await picture(page, "complete-values");
  await take("FailJob");
  const written = await page.evaluate(() => document.querySelector(".cm-content").innerText);
  assert.equal(written.trim(), "kind: Job\nspec:\n  podFailurePolicy:\n    rules:\n    - action: FailJob");
  assert.equal(await loaded(), 1);
});

const mistakes = [
  ["YAML", "kind: Job\nspec: [\n"],
  ["an unknown field", job.replace("podFailurePolicy:", "podFailurePolcy:")],
  ["a custom policy's CEL", custom.replace("kind", "metadata: {name: p}\nkind") + "    action: FailJob\n    when: pod.status.pase == 'Failed'\n"],
];

for (const [name, input] of mistakes) {
  test(`a mistake in ${name} is marked in the editor at its place`, async () => {
    const page = await open(browser, { input: job, pane: "cel" });
    await change(page, () => write(page, input));
    const { files, ...expected } = commandLine({ ...empty, input, pane: "cel" });
    assert.deepEqual(await shown(page), expected);
    const line = Number(/input\.yaml:(\d+)/.exec(expected.stderr)[1]);
    const marker = page.locator(".cm-lint-marker-error").first();
    await marker.waitFor();
    const [marked, gutter] = [await marker.boundingBox(), await page.locator(".cm-lineNumbers .cm-gutterElement", { hasText: new RegExp(`^${line}$`) }).last().boundingBox()];
    assert.ok(Math.abs(marked.y - gutter.y) < gutter.height, `line ${line} is marked`);
  });
}

test("nothing failed", () => {
  assert.deepEqual(browser.foreign, []);
  assert.deepEqual(browser.errors, []);
});
