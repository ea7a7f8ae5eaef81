// What each pane asks podverdict. Files are the texts that the command line would read.

export const FILE = "input.yaml";
export const SCRIPT = "script.yaml";
export const PINNED = "pinned.yaml";

/** panes by id. A heavy one needs the engine that has the constraints. */
export const panes = {
  matrix: {
    label: "Verdicts",
    title: "The verdict on each Pod, or on each scenario when there are no Pods",
    command: (state) => ["eval", "-f", FILE, ...time(state), ...version(state)],
  },
  why: {
    label: "Why",
    title: "Rule by rule, why a Pod gets its verdict",
    command: (state) => ["explain", FILE, ...state.names.split(/[\s,]+/).filter(Boolean), ...time(state), ...version(state)],
  },
  cel: {
    label: "CEL",
    title: "The CEL of each rule, with its cost",
    command: (state) => ["compile", "-f", FILE, ...version(state)],
  },
  check: {
    label: "Check",
    title: "What Kubernetes refuses, and rules that mislead",
    heavy: true,
    command: (state) => ["check", FILE, ...version(state)],
  },
  diff: {
    label: "Diff",
    title: "Which verdicts change from the pinned version to this one",
    command: (state) => ["diff", PINNED, FILE, ...version(state)],
    needsPinned: true,
  },
  life: {
    label: "Life",
    title: "The Job's whole life on a virtual clock",
    heavy: true,
    command: (state) => ["simulate", "-f", FILE, ...(state.script.trim() ? ["--script", SCRIPT] : []), ...version(state)],
  },
};

// time returns the flag with the time at which Pods are judged; without it, that is the time of the run.
function time({ now }) {
  return now.trim() ? ["--now", now.trim()] : [];
}

/** version returns the flag with the version of Kubernetes to decide for; without it, that is the newest. */
export function version({ kubernetes }) {
  return kubernetes ? ["--kubernetes", kubernetes] : [];
}

/** filesOf returns the files that commands name. */
export function filesOf(state) {
  return {
    [FILE]: state.input,
    ...(state.pinned ? { [PINNED]: state.pinned } : {}),
    ...(state.script.trim() ? { [SCRIPT]: state.script } : {}),
  };
}
