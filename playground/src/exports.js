// Files to download: what the verbs of podverdict write, byte for byte.

import { FILE, version } from "./panes.js";

/** exports are the files. One has a text of the page, or the address of a file beside the page, or is what a command prints. */
export const exports = [
  { label: "This input", name: FILE, text: (state) => state.input },
  {
    label: "What its policies require of Jobs, for the API server",
    name: "requirements.yaml",
    engine: "heavy",
    command: (state) => ["generate", "vap", "-f", FILE, ...version(state)],
  },
  {
    label: "The guardrails, for the API server",
    name: "guardrails.yaml",
    engine: "heavy",
    command: (state) => ["generate", "vap", ...version(state)],
  },
  { label: "The rules of Check in Rego, as a bundle", name: "bundle.tar.gz", address: "bundle.tar.gz", command: () => ["generate", "bundle", "-o", "bundle.tar.gz"] },
];

// download saves a text as a file.
function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  save(name, address);
  URL.revokeObjectURL(address);
}

function save(name, address) {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

/** fillMenu fills a menu with the exports. It asks for the answer to a command by ask(engine, args), and hands an empty one to failed. */
export function fillMenu(menu, { state, ask, say, failed }) {
  const list = menu.querySelector("ul");
  const close = () => {
    menu.open = false;
    menu.querySelector("summary").focus();
  };
  const write = async ({ name, text, address, engine, command }) => {
    close();
    if (text) download(name, text(state));
    else if (address) save(name, address);
    else {
      say(`Writing ${name}`);
      const answer = await ask(engine, command(state));
      if (!answer.stdout) return failed(answer, `There is no ${name}: exit code ${answer.code}`);
      download(name, answer.stdout);
      say([`Downloaded ${name}`, answer.stderr.trim()].filter(Boolean).join(". "));
    }
  };
  const commands = exports.map((item) => {
    const made = document.createElement("button");
    made.type = "button";
    made.onclick = () => write(item);
    const command = document.createElement("code");
    made.append(item.label, command);
    const entry = document.createElement("li");
    entry.append(made);
    list.append(entry);
    return command;
  });
  menu.ontoggle = () => exports.forEach(({ name, command }, i) => {
    commands[i].textContent = command ? "podverdict " + command(state).join(" ") : name;
  });
  menu.onkeydown = (event) => {
    if (event.key === "Escape" && menu.open) close();
  };
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
}
