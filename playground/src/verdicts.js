// Verdicts as a table that folds: what eval -o json says, by Job and by what happens.

const actions = new Map([
  ["FailJob", "the Job fails at once"],
  ["FailIndex", "the index fails at once"],
  ["Count", "counts towards the Job's limits"],
  ["Ignore", "does not count"],
  ["none", "does not fail the Pod"],
]);
const few = 12; // rows that a group shows unasked

/** table returns elements for a list of verdicts and the text that says the same; choose is called with the name of a Pod or scenario. */
export function table(list, text, choose) {
  const jobs = Map.groupBy(list.items, ({ job }) => (job?.name ? `Job ${job.namespace}/${job.name}` : "Pods without a Job"));
  const lines = text.split("\n");
  const made = [...jobs].flatMap(([job, items]) => {
    const groups = [...actions.keys()].map((action) => [action, items.filter(({ verdict }) => (verdict.action || "none") === action)])
      .filter(([, items]) => items.length > 0);
    const title = lines.find((line) => line === job || line.startsWith(`${job}: `)) ?? job;
    return [create("h3", {}, title), strip(groups), ...groups.map(([action, items]) => group(action, items, choose))];
  });
  const [, ...below] = text.trimEnd().replace(/; --all shows the\s+others/, "").split("\n\n");
  return below.length > 0 && made.length > 0 ? [...made, create("p", { className: "hint" }, below.at(-1))] : made;
}

// strip draws how many there are of each action.
function strip(groups) {
  const parts = groups.map(([action, items]) => {
    const part = create("span", { title: `${items.length} ${action}` });
    part.dataset.action = action;
    part.style.flexGrow = items.length;
    return part;
  });
  const made = create("div", { className: "strip" }, ...parts);
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", groups.map(([action, items]) => `${items.length} ${action}`).join(", "));
  return made;
}

function group(action, items, choose) {
  const made = create("details", { className: "verdicts", open: items.length <= few && action !== "none" },
    create("summary", {}, create("b", {}, action), ` ${items.length} `, create("span", {}, actions.get(action))),
    create("table", {}, create("tbody", {}, ...items.map((item) => row(item, choose)))));
  made.dataset.action = action;
  return made;
}

function row({ scenario, pod, verdict, failure }, choose) {
  const name = scenario ?? pod.name;
  const head = create("th", { scope: "row" }, create("button", { type: "button", title: "Why?", onclick: () => choose(name) }, name));
  return create("tr", {}, head, create("td", {}, failure?.summary ?? ""), create("td", {}, rule(verdict)));
}

function rule({ matched, rule, ruleName }) {
  if (!matched) return "no rule matches";
  return ruleName ? `rule ${ruleName}` : `rule ${rule}`;
}

function create(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
