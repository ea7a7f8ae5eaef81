// The page for everybody: by keyboard, for screen readers, in both themes, on a phone, without jumps.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { panes } from "../src/panes.js";
import { settled, start } from "./browser.mjs";
import { change, examples, job, open, picture, write } from "./page.mjs";

let browser;
before(async () => (browser = await start()));
after(() => browser.stop());

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// violations returns what axe finds, each with the elements.
async function violations(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("; ")}`);
}

const custom = ["job", "policy", "pods"].map((file) => readFileSync(`${examples}custom/bounded-retries/${file}.yaml`, "utf8")).join("---\n");
const script = readFileSync(examples + "simulate/script.yaml", "utf8");

for (const colorScheme of ["light", "dark"]) {
  for (const width of [1280, 390]) {
    test(`axe finds nothing in any pane, ${colorScheme}, ${width} wide`, async () => {
      const page = await open(browser, { input: custom, pinned: job, script, pane: "matrix" }, { colorScheme, viewport: { width, height: 800 } });
      for (const id of Object.keys(panes)) {
        if (id !== "matrix") await change(page, () => page.click(`#tab-${id}`));
        if (id === "why") await page.waitForSelector("a.part");
        assert.deepEqual(await violations(page), [], id);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${id} fits`);
        await picture(page, `${id}-${colorScheme}-${width}`);
      }
      await page.click("#export summary");
      assert.deepEqual(await violations(page), [], "the menu of downloads");
      const menu = await page.locator("#export ul").boundingBox();
      assert.ok(menu.x >= 0 && menu.x + menu.width <= width, "the menu fits");
      await picture(page, `exports-${colorScheme}-${width}`);
      await page.keyboard.press("Escape");
      await change(page, () => write(page, "kind: Job\nspec: [\n"));
      assert.deepEqual(await violations(page), [], "an error");
      await write(page, "");
      await page.keyboard.type("k");
      await page.waitForSelector(".cm-tooltip-autocomplete");
      assert.deepEqual(await violations(page), [], "suggestions");
      await picture(page, `suggestions-${colorScheme}-${width}`);
    });
  }
}

// focusSeen tells whether what has the focus gets an outline: in the editor it comes a moment later.
function focusSeen(page) {
  return page.waitForFunction(() => {
    const at = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(at.closest(".cm-editor") ?? at);
    return outlineStyle !== "none" && outlineWidth !== "0px";
  }, null, { timeout: 10_000 }).then(() => true, () => false);
}

test("the keyboard reaches everything, and one sees where it is", async () => {
  const page = await open(browser, { input: job, pane: "check" });
  await page.evaluate(() => document.activeElement.blur());
  const reached = [];
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("Tab");
    const focus = await page.evaluate(() => {
      const at = document.activeElement;
      const again = at === document.body || at.dataset.reached === "yes";
      at.dataset.reached = "yes";
      return { again, name: at.id || at.textContent.trim().slice(0, 20), editor: Boolean(at.closest(".cm-editor")) };
    });
    if (focus.again) break;
    assert.ok(await focusSeen(page), `one sees the focus on ${focus.name}`);
    reached.push(focus.editor ? "editor" : focus.name);
  }
  const wanted = await page.evaluate(() => [...document.querySelectorAll("button, select, input, textarea, summary, a[href], [tabindex='0']")]
    .filter((e) => e.checkVisibility() && e.tabIndex >= 0 && !e.closest(".cm-editor")).map((e) => e.id || e.textContent.trim().slice(0, 20)));
  assert.deepEqual(reached.filter((name) => name !== "editor"), wanted);
  assert.ok(reached.includes("editor"));
});

test("tabs answer the arrows, Home and End", async () => {
  const page = await open(browser, { input: job });
  await page.focus("#tab-matrix");
  const at = async (key) => {
    await page.keyboard.press(key);
    return page.evaluate(() => [document.activeElement.id, document.activeElement.getAttribute("aria-selected")]);
  };
  assert.deepEqual(await at("ArrowRight"), ["tab-why", "true"]);
  assert.deepEqual(await at("ArrowLeft"), ["tab-matrix", "true"]);
  assert.deepEqual(await at("ArrowLeft"), ["tab-life", "true"]);
  assert.deepEqual(await at("Home"), ["tab-matrix", "true"]);
  assert.deepEqual(await at("End"), ["tab-life", "true"]);
});

test("the first answer is announced", async () => {
  const page = await open(browser, { input: job });
  const status = page.locator("#status");
  assert.equal(await status.getAttribute("aria-live"), "polite");
  assert.match(await status.textContent(), /^Exit code 0/);
});

test("nothing jumps while the page loads and one types", async () => {
  const page = await browser.page();
  await settled(page);
  const shifts = () => page.evaluate(() => new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries().map(({ value, hadRecentInput, sources }) =>
      ({ value, hadRecentInput, what: sources.map(({ node }) => node?.id || node?.className || node?.nodeName) })))).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => resolve([]), 500);
  }));
  const loading = await shifts();
  await page.click(".cm-content");
  await page.keyboard.press("Control+End");
  for (const key of "# a comment, typed\n") {
    await page.keyboard.press(key === "\n" ? "Enter" : key);
    await page.waitForTimeout(20);
  }
  await page.waitForTimeout(1000);
  for (const id of Object.keys(panes)) {
    if (id !== "diff") await change(page, () => page.click(`#tab-${id}`));
    await page.waitForTimeout(600);
  }
  const all = await shifts();
  const sum = (list) => list.reduce((total, { value }) => total + value, 0);
  console.log(`layout shift: ${sum(loading).toFixed(4)} while loading, ${sum(all.filter((s) => !s.hadRecentInput)).toFixed(4)} in all, ${sum(all).toFixed(4)} with those after input`);
  assert.ok(sum(all.filter(({ hadRecentInput }) => !hadRecentInput)) < 0.01, JSON.stringify(all));
});

test("nothing failed", () => {
  assert.deepEqual(browser.foreign, []);
  assert.deepEqual(browser.errors, []);
});
