// Jobs of a cluster, which `podverdict playground --cluster` reads for this page. The address that it prints has a token behind
// "#cluster=", which every question needs.

const pause = 5000; // ms between two readings
const patience = 1500; // ms that the page waits for the first Job, before it shows an example instead
const kept = "podverdict-cluster"; // the token in the tab's storage, for when the page is loaded again

let token;
let opened; // the Job in the editor: {key, pods}, with its Pods when it was opened
let show; // gives the page {input, names, pane}
const parts = {};

function made(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** startLive shows the Jobs of a cluster if the page was opened for one. It resolves with whether it has opened a Job of it. */
export async function startLive(open) {
  window.addEventListener("hashchange", () => location.hash.startsWith("#cluster=") && location.reload());
  const given = location.hash.startsWith("#cluster=") ? location.hash.slice("#cluster=".length) : "";
  token = given || sessionStorage.getItem(kept);
  if (!token) return false;
  sessionStorage.setItem(kept, token);
  if (given) history.replaceState(null, "", location.pathname); // so that nobody copies it
  show = open;
  makePanel();
  const list = await Promise.race([refresh(), new Promise((resolve) => setTimeout(resolve, patience))]);
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
  const first = list?.jobs.find((job) => job.pods.length > 0);
  return Boolean(first) && location.hash === "" && openJob(first);
}

function makePanel() {
  parts.label = made("h2", { id: "live-label", textContent: "Jobs of the cluster" });
  parts.time = made("span", { className: "hint" });
  parts.alert = made("p", { className: "live-alert", hidden: true });
  parts.alert.setAttribute("role", "alert");
  parts.notes = made("p", { className: "live-notes", hidden: true });
  parts.list = made("ul");
  parts.summary = made("p", { className: "hint" });
  const panel = made("section", { id: "live" }, made("div", { className: "bar" }, parts.label, parts.time),
    parts.alert, made("div", { className: "live-list" }, parts.notes, parts.list), parts.summary);
  panel.setAttribute("aria-labelledby", "live-label");
  document.getElementById("editor").parentElement.prepend(panel);
}

// ask returns an answer of the program, or null after saying why there is none.
async function ask(path) {
  try {
    const answer = await fetch(path, { headers: { Authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(60_000) });
    if (answer.ok) {
      complain("");
      return answer;
    }
    if (answer.status === 401) sessionStorage.removeItem(kept);
    complain((await answer.text()).trim());
  } catch {
    complain("podverdict does not answer: does it still run?");
  }
  return null;
}

function complain(text) {
  if (parts.alert.textContent !== text) parts.alert.textContent = text;
  parts.alert.hidden = text === "";
}

let waiting;

// refresh shows the list as it is now, and again after a pause, until the page is hidden.
async function refresh() {
  clearTimeout(waiting);
  const answer = await ask("cluster/jobs");
  const list = await answer?.json();
  if (list) showList(list);
  clearTimeout(waiting);
  if (!document.hidden && sessionStorage.getItem(kept)) waiting = setTimeout(refresh, pause);
  return list;
}

let shown; // the list as text, and which Job is open

function showList(list) {
  parts.time.textContent = `read at ${new Date().toLocaleTimeString()}`;
  const text = JSON.stringify([list, opened]);
  if (text === shown) return;
  shown = text;
  parts.label.textContent = `Jobs of ${list.scope}`;
  parts.notes.hidden = !list.notes;
  parts.notes.textContent = list.notes ?? "";
  parts.summary.textContent = summary(list);
  const focused = document.activeElement?.dataset.key;
  const everywhere = list.scope.startsWith("all namespaces");
  parts.list.replaceChildren(...list.jobs.map((job) => jobRow(job, everywhere)));
  if (focused) [...parts.list.querySelectorAll("button")].find((button) => button.dataset.key === focused)?.focus({ preventScroll: true });
}

function summary({ jobs, more, others, summary: lines }) {
  const rest = [];
  if (jobs.length === 0) rest.push("no Jobs with failed Pods or rules");
  if (more) rest.push(`${more} more Jobs: choose fewer by -n or -l`);
  if (others) rest.push(`Jobs without failed Pods or rules: ${others}`);
  return [...lines, ...rest].join("; ");
}

const keyOf = (job) => `${job.namespace}/${job.name}`;

function jobRow(job, everywhere) {
  const key = keyOf(job);
  const button = made("button", { type: "button", textContent: everywhere ? key : job.name, onclick: () => openJob(job) });
  button.dataset.key = key;
  const current = opened?.key === key;
  if (current) button.setAttribute("aria-current", "true");
  const changed = current && opened.pods !== JSON.stringify(job.pods) ? [made("strong", { textContent: " changed: open it again" })] : [];
  const pods = job.pods.map((pod) => podRow(job, pod));
  if (job.more) pods.push(made("li", { textContent: `and ${job.more} more` }));
  return made("li", {}, button, ...changed, made("span", { textContent: ` ${job.error ?? job.outlook ?? ""}` }), made("ul", {}, ...pods));
}

function podRow(job, pod) {
  const button = made("button", { type: "button", textContent: pod.name, title: "Why?", onclick: () => openJob(job, pod.name) });
  button.dataset.key = `${keyOf(job)}/${pod.name}`;
  const rule = pod.rule === "-" ? "" : /^\d+$/.test(pod.rule) ? ` by rule ${pod.rule}` : ` by ${pod.rule}`;
  const verdict = pod.verdict === "-" ? [] : [made("strong", { textContent: pod.verdict }), `${rule}: `];
  return made("li", {}, button, " ", ...verdict, pod.because);
}

// openJob gives the page a Job with its Pods; with the name of a Pod, to say why it got its verdict.
async function openJob(job, pod) {
  const answer = await ask(`cluster/jobs/${encodeURIComponent(job.namespace)}/${encodeURIComponent(job.name)}`);
  if (!answer) return false;
  opened = { key: keyOf(job), pods: JSON.stringify(job.pods) };
  show({ input: await answer.text(), ...(pod ? { names: pod, pane: "why" } : {}) });
  refresh();
  return true;
}
