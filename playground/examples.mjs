// The examples of the page, by problem: files of examples/, read as one stream.

import { readFileSync } from "node:fs";

const folder = new URL("../examples/", import.meta.url);

const list = [
  { problem: "A bug fails the Job, a drained node does not", files: ["quickstart/job.yaml"], names: "oom-killed drained" },
  {
    problem: "Which exit code stopped my Job?",
    files: ["quickstart/job.yaml", "quickstart/pod-exit-42.yaml", "quickstart/pod-exit-2.yaml", "quickstart/pod-oom.yaml", "quickstart/pod-drained.yaml"],
  },
  { problem: "What is left of a night", files: ["tutorial/job.yaml", "tutorial/pods.yaml"] },
  { problem: "Out of memory: do not try again", files: custom("out-of-memory") },
  { problem: "Three retries that do not count", files: custom("bounded-retries") },
  { problem: "Five disruptions do not count, more do", files: custom("disruption-budget") },
  { problem: "A Pod that never starts", files: custom("stuck-pending"), now: "2026-06-15T12:00:00Z" },
  { problem: "Ranges of exit codes, signals by name", files: custom("exit-code-ranges") },
  { problem: "Decide by the program's last words", files: custom("termination-message") },
  { problem: "Why does my policy do nothing?", files: ["troubleshooting/job.yaml", "troubleshooting/policy.yaml", "troubleshooting/pods.yaml"] },
  { problem: "What changes when I swap two rules?", files: ["what-if/new-job.yaml"], pinned: "what-if/job.yaml", pane: "diff" },
  { problem: "A Job on a lost node", files: ["lost-node/job.yaml", "lost-node/policy.yaml"], script: "lost-node/script.yaml", pane: "life" },
  { problem: "More memory for the next attempt", files: ["custom/more-memory/job.yaml", "custom/more-memory/policy.yaml"], script: "simulate/more-memory.yaml", pane: "life" },
  { problem: "A whole life, with a drained node", files: ["simulate/job.yaml"], script: "simulate/script.yaml", pane: "life" },
];

function custom(name) {
  return ["job", "policy", "pods"].map((file) => `custom/${name}/${file}.yaml`);
}

function read(file) {
  return file ? readFileSync(new URL(file, folder), "utf8") : "";
}

/** examples returns states of the page with what they show. */
export function examples() {
  return list.map(({ problem, files, pinned, script, names = "", now = "", pane = "matrix" }) => ({
    problem, pane, names, now, input: files.map(read).join("---\n"), pinned: read(pinned), script: read(script),
  }));
}
