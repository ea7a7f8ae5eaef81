// The page of `podverdict report -o html`.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { after, before, test } from "node:test";
import { start } from "./browser.mjs";

const folder = mkdtempSync(`${tmpdir()}/report-`);
const hostile = [
  "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>', "' onmouseover='alert(1)", "<!--",
  "</th></tr></table>", "a\u0000b\u001b[31m\u202ec\u2028d", `registry.example.com/${"x".repeat(300)}:1`,
];

/** pods returns failed Pods, some more for each name, on nodes and of images of these names. */
function pods() {
  return hostile.flatMap((name, i) => Array.from({ length: i + 2 }, (_, n) => ({
    apiVersion: "v1", kind: "Pod",
    metadata: { namespace: "demo", name: `p-${i}-${n}`, uid: `${i}-${n}`, labels: { "batch.kubernetes.io/job-name": `job-${i}` } },
    spec: { nodeName: name, containers: [{ name: "main", image: name, resources: { requests: { cpu: "2", "example.com/gpu": "1" } } }] },
    status: {
      phase: "Failed", startTime: `2026-11-${10 + 2 * n}T10:00:00Z`,
      containerStatuses: [{ name: "main", state: { terminated: { exitCode: i + 1, reason: name, finishedAt: `2026-11-${10 + 2 * n}T11:00:00Z` } } }],
    },
  })));
}

let browser;
before(async () => {
  const html = execFileSync("../bin/podverdict", ["report", "-", "-o", "html"], { input: JSON.stringify({ apiVersion: "v1", kind: "List", items: pods() }) });
  writeFileSync(`${folder}/report.html`, html);
  browser = await start(`file://${folder}/`);
});
after(async () => {
  await browser.stop();
  rmSync(folder, { recursive: true });
});

for (const options of [{}, { colorScheme: "dark" }, { viewport: { width: 400, height: 800 } }]) {
  test(`charts are drawn, and nothing overflows: ${JSON.stringify(options)}`, async () => {
    const page = await browser.page(options, "report.html");
    await page.waitForSelector("svg .ct-bar", { state: "attached" });
    const counts = await page.evaluate(() => ({
      figures: document.querySelectorAll("figure").length, charts: document.querySelectorAll("figure svg.ct-chart-bar").length,
      days: document.querySelectorAll("figure:first-child .counted .ct-bar").length, scripts: document.scripts.length,
      images: document.images.length, width: document.documentElement.scrollWidth - innerWidth,
    }));
    assert.ok(counts.figures >= 6, `${counts.figures} figures`);
    assert.deepEqual(counts, { figures: counts.figures, charts: counts.figures, days: 17, scripts: 2, images: 0, width: 0 });
  });
}

test("names are shown as they are", async () => {
  const page = await browser.page({}, "report.html");
  const names = await page.locator('table[data-by="node"] tbody th').allTextContents();
  assert.deepEqual(names.sort(), hostile.map((name) => name.replace(/a.*d$/su, "a\\x00b\\x1b[31m\\u202ec\\u2028d")).sort());
});

test("headings sort their table, by keyboard too", async () => {
  const page = await browser.page({}, "report.html");
  const failed = () => page.locator('table[data-by="node"] tbody td:nth-child(2)').allTextContents();
  const heading = page.locator('table[data-by="node"] thead th', { hasText: /^failed$/ });
  assert.deepEqual(await failed(), ["9", "8", "7", "6", "5", "4", "3", "2"]);
  await heading.getByRole("button").focus();
  await page.keyboard.press("Enter");
  assert.deepEqual(await failed(), ["2", "3", "4", "5", "6", "7", "8", "9"]);
  assert.equal(await heading.getAttribute("aria-sort"), "ascending");
  await page.locator('table[data-by="node"] thead th', { hasText: /^node$/ }).getByRole("button").click();
  assert.equal(await page.locator('table[data-by="node"] [aria-sort]').count(), 1);
});

test("a resource can be chosen", async () => {
  const page = await browser.page({}, "report.html");
  const largest = (value) => page.locator("figure:has(select) .value").last().getByText(value, { exact: true }).waitFor({ state: "attached" });
  await largest("9");
  await page.locator("select").selectOption("CPU hours");
  await largest("18");
});

test("a page is printed in light colours", async () => {
  const page = await browser.page({ colorScheme: "dark" }, "report.html");
  await page.waitForSelector("svg .ct-bar", { state: "attached" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  const cut = await page.evaluate(() => [...document.querySelectorAll("table, svg")].filter((e) => e.getBoundingClientRect().right > innerWidth).length);
  assert.equal(cut, 0);
});

test("the page loads nothing and has no errors", () => {
  assert.deepEqual(browser.foreign, []);
  assert.deepEqual(browser.errors, []);
});

test("the charts' library is the released one", () => {
  for (const [name, released] of [["index.umd.js", "dist/index.umd.js"], ["LICENSE-MIT", "LICENSE-MIT"]]) {
    const file = readFileSync(`../cmd/podverdict/internal/report/chartist/${name}`, "utf8");
    assert.equal(file, readFileSync(`node_modules/chartist/${released}`, "utf8"), `${name}: see doc.go of reportpage`);
  }
});
