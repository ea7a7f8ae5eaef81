// Jobs of a cluster in the page: podverdict itself serves it, and reads from an API server that answers what this test says.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { settled, start } from "./browser.mjs";

const binary = process.env.PODVERDICT ?? new URL("../../bin/podverdict", import.meta.url).pathname;
const dist = new URL("../dist/", import.meta.url).pathname;
const shots = process.env.SCREENSHOTS;
const folder = mkdtempSync(join(tmpdir(), "playground-live-"));

const uid = "b1100678-eac8-4318-aad6-02fc5197c293";
const created = new Date(Date.now() - 3600_000).toISOString();

function job(name, uid, rules) {
  const labels = { "batch.kubernetes.io/controller-uid": uid };
  const container = { name: "main", image: "app", command: ["run", "hunter2"], env: [{ name: "PASSWORD", value: "hunter2" }] };
  return {
    metadata: { name, namespace: "batch", uid, creationTimestamp: created, labels },
    spec: {
      backoffLimit: 6, completions: 1, parallelism: 1, selector: { matchLabels: labels },
      ...(rules ? { podFailurePolicy: { rules } } : {}),
      template: { metadata: { labels }, spec: { restartPolicy: "Never", containers: [container] } },
    },
    status: {},
  };
}

function pod(name, of, exitCode, phase = "Failed") {
  const { name: owner, uid } = of.metadata;
  const state = phase === "Failed" ? { terminated: { exitCode, reason: "Error", finishedAt: created } } : { running: {} };
  return {
    metadata: { name, namespace: "batch", uid: `uid-of-${name}`, labels: of.metadata.labels, ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: owner, uid, controller: true }] },
    spec: of.spec.template.spec,
    status: { phase, containerStatuses: [{ name: "main", image: "app", imageID: "app", ready: false, restartCount: 0, state }] },
  };
}

const report = job("report", uid, [
  { action: "FailJob", onExitCodes: { operator: "In", values: [42] } },
  { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] },
]);
const nightly = job("nightly-29312460", "5f0c7a54-2b7f-4b55-9b5e-6ad0c5b1c3a1");
const objects = { jobs: [report, nightly], pods: [pod("report-x7k2p", report, 42), pod("nightly-29312460-abcde", nightly, 7), pod("nightly-29312460-fghij", nightly, 0, "Running")] };
const asked = [];
let broken = false;

// cluster answers lists of Jobs and Pods.
const cluster = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  const { pathname } = new URL(request.url, "http://localhost");
  const kind = pathname.split("/").at(-1);
  const write = (status, body) => response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  if (broken) return write(403, { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Forbidden", code: 403, message: "jobs.batch is forbidden" });
  if (pathname === "/apis/batch/v1/namespaces/batch/jobs") return write(200, { kind: "JobList", apiVersion: "batch/v1", metadata: {}, items: objects[kind] });
  if (pathname === "/api/v1/namespaces/batch/pods") return write(200, { kind: "PodList", apiVersion: "v1", metadata: {}, items: objects[kind] });
  return write(404, { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", code: 404 });
});

let program;
let address; // with the token
let browser;
let page; // of the tests that need no other

before(async () => {
  await new Promise((resolve) => cluster.listen(0, "127.0.0.1", resolve));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, JSON.stringify({
    apiVersion: "v1", kind: "Config", "current-context": "stub",
    clusters: [{ name: "stub", cluster: { server: `http://127.0.0.1:${cluster.address().port}` } }],
    contexts: [{ name: "stub", context: { cluster: "stub", user: "stub", namespace: "batch" } }], users: [{ name: "stub", user: {} }],
  }));
  program = spawn(binary, ["playground", dist, "--cluster", "--kubeconfig", kubeconfig], { stdio: ["ignore", "pipe", "inherit"], env: { HOME: folder, TZ: "UTC" } });
  address = await new Promise((resolve, reject) => {
    program.stdout.once("data", (text) => resolve(String(text).trim()));
    program.once("exit", (code) => reject(new Error(`podverdict has ended with ${code}`)));
  });
  browser = await start(address.split("#")[0]);
  page = await open();
});

after(async () => {
  await browser?.stop();
  program?.kill();
  cluster.close();
  rmSync(folder, { recursive: true });
});

const fragment = () => "#" + address.split("#")[1];

async function open(options) {
  const page = await browser.page(options, fragment());
  await page.waitForSelector("#live li");
  await settled(page);
  return page;
}

async function picture(page, name) {
  if (shots) await page.screenshot({ path: join(shots, name + ".png") });
}

const rows = (page) => page.locator("#live li li").allTextContents();
const alerts = (page, words) => page.waitForFunction((w) => document.querySelector(".live-alert").textContent.includes(w), words);

// answered does something to the page and waits for the answer of the engine.
async function answered(page, act) {
  await page.evaluate(() => (document.getElementById("status").textContent = ""));
  await act();
  await settled(page);
}

// inFiles returns what podverdict says of the text in the editor.
async function inFiles(page, verb) {
  const download = page.waitForEvent("download");
  await page.click("#export summary");
  await page.getByRole("button", { name: "This input" }).click();
  const file = join(folder, "input.yaml");
  await (await download).saveAs(file);
  const { stdout } = spawnSync(binary, [verb, "-f", "input.yaml"], { cwd: folder, encoding: "utf8", env: { HOME: folder, TZ: "UTC" } });
  return { stdout, input: readFileSync(file, "utf8") };
}

test("the page lists the Jobs, and opens the first with its verdicts", async () => {
  assert.equal(await page.textContent("#live h2"), "Jobs of namespace batch");
  assert.deepEqual(await rows(page), [
    "report-x7k2p FailJob by rule 0: main exited with 42",
    "nightly-29312460-abcde Count: main exited with 7; no podFailurePolicy",
  ]);
  const list = await page.textContent(".live-list");
  assert.match(list, /report at least 1 of 6 failures used; fails now: PodFailurePolicy/);
  assert.match(list, /nightly-29312460 at least 1 of 6 failures used; .*1 Pod is active/);
  assert.equal(await page.getAttribute('#live [data-key="batch/report"]', "aria-current"), "true");
  const { stdout, input } = await inFiles(page, "eval");
  assert.match(stdout, /report-x7k2p +FailJob +0 /);
  assert.equal(await page.textContent("#stdout"), stdout);
  assert.doesNotMatch(input, /hunter2/);
  await picture(page, "live");
});

test("the token stays out of the address, and outlives it", async () => {
  const page = await open();
  assert.equal(new URL(page.url()).hash, "");
  await page.reload();
  await settled(page);
  await page.click("#share");
  await page.waitForFunction(() => location.hash.startsWith("#s="));
  const copied = await browser.page({}, new URL(page.url()).hash);
  await settled(copied);
  assert.equal(await copied.locator("#live").count(), 0);
  assert.match(await copied.textContent("#stdout"), /report-x7k2p/);
});

test("a Pod says why", async () => {
  await answered(page, () => page.click('#live [data-key="batch/nightly-29312460/nightly-29312460-abcde"]'));
  assert.equal(await page.getAttribute("#tab-why", "aria-selected"), "true");
  assert.match(await page.textContent("#stdout"), /^Pod batch\/nightly-29312460-abcde of Job batch\/nightly-29312460\n[^]*VERDICT +Count/);
  await picture(page, "live-why");
});

test("what happens in the cluster is shown, and the focus stays", async () => {
  await answered(page, () => page.click('#live [data-key="batch/report"]'));
  await page.click("#tab-matrix");
  await page.focus('#live [data-key="batch/nightly-29312460"]');
  const top = () => page.evaluate(() => document.getElementById("editor").getBoundingClientRect().top);
  const before = await top();
  objects.pods.push(pod("report-q4m8d", report, 3));
  await page.waitForSelector('#live [data-key="batch/report/report-q4m8d"]');
  assert.equal(await top(), before, "the editor has moved");
  assert.match(await page.textContent(".live-list"), /report changed: open it again at least/);
  assert.equal(await page.evaluate(() => document.activeElement.dataset.key), "batch/nightly-29312460");
  await picture(page, "live-changed");
  await answered(page, () => page.click('#live [data-key="batch/report"]'));
  assert.match(await page.textContent("#stdout"), /report-q4m8d +Count /);
  await page.waitForFunction(() => !document.querySelector(".live-list").textContent.includes("changed"));
});

test("on a phone, in the dark, by the keyboard", async () => {
  const page = await open({ viewport: { width: 360, height: 740 }, colorScheme: "dark" });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `the page is ${wide} wide`);
  await page.focus('#live [data-key="batch/nightly-29312460"]');
  await answered(page, () => page.keyboard.press("Enter"));
  assert.match(await page.textContent("#stdout"), /nightly-29312460-abcde/);
  await picture(page, "live-phone");
});

test("a cluster that refuses is said, and forgotten when it does not", async () => {
  broken = true;
  await alerts(page, "jobs.batch is forbidden");
  await picture(page, "live-refused");
  broken = false;
  await page.waitForFunction(() => document.querySelector(".live-alert").hidden);
});

test("pages of others read nothing, even with the token", async () => {
  const evil = createServer((_, response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<p>evil"));
  await new Promise((resolve) => evil.listen(0, "127.0.0.1", resolve));
  const { context } = await browser.foreigner();
  const page = await context.newPage();
  await page.goto(`http://localhost:${evil.address().port}/`);
  const token = fragment().slice("#cluster=".length);
  const base = address.split("#")[0];
  const read = (options) => page.evaluate(async ([url, given]) => {
    try {
      const answer = await fetch(url, given);
      return `${answer.type} ${await answer.text()}`;
    } catch (error) {
      return String(error);
    }
  }, [`${base}cluster/jobs`, options]);
  assert.match(await read({}), /Failed to fetch/);
  assert.match(await read({ headers: { Authorization: `Bearer ${token}` } }), /Failed to fetch/);
  assert.doesNotMatch(await read({ mode: "no-cors" }), /report/);
  await page.evaluate((url) => document.body.append(Object.assign(document.createElement("iframe"), { src: url })), base);
  await page.waitForFunction(() => frames.length === 1);
  const framed = page.frames()[1];
  await framed.waitForLoadState();
  assert.equal(await framed.locator("#editor").count(), 0);
  await context.close();
  evil.close();
});

test("nothing was written, and nothing failed", async () => {
  assert.deepEqual(asked.filter((request) => !request.startsWith("GET ")), []);
  assert.deepEqual(browser.foreign, []);
  assert.deepEqual(browser.errors.filter((error) => !/502/.test(error)), []); // the refusal
});

test("a program that has ended is said", async () => {
  program.kill();
  await alerts(page, "podverdict does not answer: does it still run?");
});
