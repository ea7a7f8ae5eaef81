// The page: what is written goes to the engine, and its answer to the pane that is open.

import examples from "virtual:examples";
import versions from "virtual:versions";
import { newEditor } from "./editor.js";
import { fillMenu } from "./exports.js";
import { FILE, filesOf, panes, version } from "./panes.js";
import { places } from "./places.js";
import { decode, encode } from "./share.js";
import { table } from "./verdicts.js";
import { link } from "./why.js";
import { engine } from "./worker.js";

const element = (id) => document.getElementById(id);
const shownLines = 2000;
const fields = ["script", "names", "now", "kubernetes"]; // beside the editor
const loading = { light: "Loading the engine", heavy: "Loading the constraints" };

const empty = { input: "", pinned: "", script: "", names: "", now: "", kubernetes: "", pane: "matrix" };
const state = { ...empty };
const ready = {};
let asText = false; // whether verdicts are shown as on the command line
let asked = 0; // questions; the status line is that of the last
const editor = newEditor(element("editor"), () => {
  state.input = editor.text();
  answer();
});

function say(text) {
  element("status").textContent = text;
}

// answer asks the engine what the open pane shows, and shows it unless something newer was asked.
async function answer() {
  const question = ++asked;
  const id = state.pane;
  const pane = panes[id];
  const args = pane.command(state);
  element("command").textContent = "podverdict " + args.join(" ");
  if (pane.needsPinned && !state.pinned) {
    show({ stdout: "", stderr: "" });
    say("Pin a version first: later ones are compared with it.");
    return;
  }
  const began = performance.now();
  const reply = await ask(pane.heavy ? "heavy" : "light", args);
  if (!reply && question === asked) return answer(); // a download took its place
  if (!reply || state.pane !== id) return;
  if (id === "matrix" && reply.stdout && !isLong(reply.stdout)) {
    const json = await ask("light", [...args, "-o", "json"]);
    if (!json || question !== asked) return;
    reply.list = JSON.parse(json.stdout);
  }
  show(reply);
  if (id === "why") relate(question, args, reply);
  if (question === asked) say(`Exit code ${reply.code}, ${Math.round(performance.now() - began)} ms`);
}

// relate links the explanation that is shown to the input, unless something newer was asked.
async function relate(question, args, { stdout }) {
  if (!stdout || !element("more").hidden) return;
  const reply = await ask("light", [...args, "-o", "json"]);
  if (reply?.stdout && question === asked) link(element("stdout"), stdout, JSON.parse(reply.stdout), editor);
}

// ask resolves with the answer of an engine to a command, or with null when a later question took its place.
function ask(kind, args, wanted) {
  const asked = engine(kind, loaded);
  if (!ready[kind]) say(loading[kind]);
  return asked.ask({ args, files: filesOf(state), wanted });
}

function loaded(kind, failed) {
  ready[kind] = !failed;
  if (failed) say(`The engine does not run: ${failed}. Load the page again.`);
  else performance.mark(`${kind} ready`);
}

const isLong = (text) => text.split("\n").length > shownLines;

// show fills the panel with an answer.
function show({ stdout, stderr, list }) {
  element("stderr").hidden = stderr === "";
  write(element("stderr"), stderr);
  const lines = stdout.split("\n");
  const more = element("more");
  more.hidden = !isLong(stdout);
  more.textContent = `Show all ${lines.length} lines`;
  more.onclick = () => {
    more.hidden = true;
    write(element("stdout"), stdout);
  };
  write(element("stdout"), more.hidden ? stdout : lines.slice(0, shownLines).join("\n"));
  element("table").replaceChildren(...(list ? table(list, stdout, explain) : []));
  view();
  editor.mark(places(stderr + "\n" + stdout));
}

// view shows the table, if there is one, or the text.
function view() {
  const text = asText || element("table").childElementCount === 0;
  element("table").hidden = text;
  element("stdout").hidden = !text;
}

// explain opens Why for a Pod or scenario.
function explain(name) {
  state.names = element("names").value = name;
  open("why", true);
}

// write fills an element with a text, in which places of the input are links to the editor.
function write(target, text) {
  target.replaceChildren();
  let done = 0;
  for (const found of text.matchAll(/input\.yaml:(\d+)(?::(\d+))?/g)) {
    const link = document.createElement("a");
    link.href = "#editor";
    link.textContent = found[0];
    link.onclick = (event) => {
      event.preventDefault();
      editor.go({ line: Number(found[1]), column: Number(found[2] ?? 1) });
    };
    target.append(text.slice(done, found.index), link);
    done = found.index + found[0].length;
  }
  target.append(text.slice(done));
}

function open(id, focus) {
  state.pane = id;
  for (const tab of element("tabs").children) {
    const selected = tab.id === `tab-${id}`;
    tab.setAttribute("aria-selected", String(selected));
    tab.tabIndex = selected ? 0 : -1;
    if (selected && focus) tab.focus();
  }
  element("panel").setAttribute("aria-labelledby", `tab-${id}`);
  element("panel").dataset.pane = id;
  element("life").hidden = id !== "life";
  element("why").hidden = id !== "why";
  element("time").hidden = id !== "why" && id !== "matrix";
  show({ stdout: "", stderr: "" });
  element("buttons").replaceChildren(...(buttons[id]?.() ?? []));
  say("Working");
  answer();
}

function button(label, run) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.onclick = run;
  return made;
}

// once returns a button that shows another answer of check, until the next question.
function once(label, flags, done) {
  return button(label, async () => {
    const args = ["check", ...flags, FILE, ...version(state)];
    const reply = await ask("heavy", args);
    if (!reply) return;
    element("command").textContent = "podverdict " + args.join(" ");
    show(reply);
    say(done(reply));
  });
}

// buttons of panes.
const buttons = {
  matrix: () => {
    const text = button("As text", () => {
      asText = !asText;
      text.setAttribute("aria-pressed", String(asText));
      view();
    });
    text.setAttribute("aria-pressed", String(asText));
    return [text];
  },
  check: () => [
    once("Guardrails", ["--only", "guardrails"], () => "What platform teams ask for, beyond what is certain"),
    once("Show repairs", ["--diff"], (reply) => (reply.stdout ? "What the repairs would change" : "There is nothing to repair")),
    button("Repair", async () => {
      const reply = await ask("heavy", ["check", "--fix", FILE, ...version(state)], [FILE]);
      if (!reply) return;
      if (reply.files[FILE] !== state.input) editor.set(reply.files[FILE]);
      else say("There is nothing to repair");
    }),
  ],
};

function take(given) {
  Object.assign(state, empty, given);
  if (!panes[state.pane]) state.pane = "matrix";
  for (const field of fields) element(field).value = state[field];
  element("time").open = state.now !== "";
  editor.set(state.input);
  open(state.pane);
}

function makeTabs() {
  const ids = Object.keys(panes);
  for (const id of ids) {
    const tab = button(panes[id].label, () => open(id));
    Object.assign(tab, { id: `tab-${id}`, title: panes[id].title });
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", "panel");
    element("tabs").append(tab);
  }
  element("tabs").onkeydown = (event) => {
    const at = ids.indexOf(state.pane);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: ids.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    open(ids[(to + ids.length) % ids.length], true);
  };
}

function makeExamples() {
  const select = element("examples");
  const own = new Option("Your own", "");
  own.hidden = true; // to choose; it is shown for what a link holds
  select.append(own);
  examples.forEach(({ problem }, i) => select.append(new Option(problem, String(i))));
  select.onchange = () => {
    history.replaceState(null, "", location.pathname);
    take(examples[Number(select.value)]);
  };
}

function makeVersions() {
  const newest = versions[0];
  for (const version of versions) element("kubernetes").append(new Option(version, version === newest ? "" : version));
}

function makeActions() {
  element("share").onclick = async () => {
    history.replaceState(null, "", "#" + (await encode(state)));
    try {
      await navigator.clipboard.writeText(location.href);
      say("The link is copied. It holds these texts itself.");
    } catch {
      say("The link is the address of this page now.");
    }
  };
  fillMenu(element("export"), {
    state, say,
    async ask(kind, args) {
      for (;;) {
        const reply = await ask(kind, args);
        if (reply) return reply;
      }
    },
    failed(reply, text) {
      show(reply);
      say(text);
    },
  });
  element("pin").onclick = () => {
    state.pinned = state.input;
    say("Pinned: Diff compares with this version.");
    if (state.pane === "diff") answer();
  };
  for (const field of fields) {
    element(field).oninput = (event) => {
      state[field] = event.target.value;
      answer();
    };
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = element("theme");
  const paint = (on) => {
    document.documentElement.dataset.theme = on ? "dark" : "light";
    theme.setAttribute("aria-pressed", String(on));
  };
  paint(dark);
  theme.onclick = () => paint(theme.getAttribute("aria-pressed") !== "true");
}

// takeLink shows what the address holds, or else the first example.
async function takeLink() {
  try {
    const shared = await decode(location.hash);
    element("examples").value = shared ? "" : "0";
    take(shared ?? examples[0]);
  } catch {
    take({ ...empty, input: "# The link to this page is damaged: what it held cannot be read.\n" });
  }
}

makeTabs();
makeExamples();
makeVersions();
makeActions();
window.addEventListener("hashchange", takeLink);
takeLink();
