// The editor of the input.

import { autocompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { indentService, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { complete } from "./complete.js";
import { indentation } from "./outline.js";

const theme = EditorView.theme({
  "&": { backgroundColor: "var(--sheet)", color: "var(--ink)", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--page)", color: "var(--faint)", border: "none" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--mark)" },
  ".cm-part": { backgroundColor: "var(--mark)", outline: "1px solid var(--accent)", borderRadius: "2px" },
  ".cm-panels, .cm-tooltip": { backgroundColor: "var(--page)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--mark)", color: "var(--ink)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700", color: "var(--accent)" },
  ".cm-completionDetail": { color: "var(--faint)", fontStyle: "normal", fontSize: ".85em", marginLeft: "1.5em" },
  ".cm-tooltip.cm-completionInfo": { padding: "6px 10px", maxWidth: "26em", maxHeight: "18em", overflowY: "auto", whiteSpace: "pre-line" },
});

// parts are the ranges that another pane is about. An edit ends that.
const setParts = StateEffect.define();
const part = Decoration.mark({ class: "cm-part" });
const parts = StateField.define({
  create: () => Decoration.none,
  update(marked, transaction) {
    const effect = transaction.effects.find((each) => each.is(setParts));
    if (effect) return Decoration.set(effect.value.filter(({ from, to }) => from < to).map(({ from, to }) => part.range(from, to)), true);
    return transaction.docChanged ? Decoration.none : marked;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** newEditor returns an editor in an element, which calls changed with every new text. */
export function newEditor(parent, changed) {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      extensions: [
        lineNumbers(), history(), drawSelection(), highlightActiveLine(), highlightSelectionMatches(), lintGutter(), parts,
        autocompletion({ override: [complete], icons: false }), yaml(), syntaxHighlighting(classHighlighter), theme,
        indentService.of((context, at) => indentation(context.lineAt(at, -1).text)),
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({ "aria-labelledby": "input-label", tabindex: "0" }),
        EditorView.updateListener.of((update) => update.docChanged && changed()),
      ],
    }),
  });
  const position = ({ line, column }) => {
    const { doc } = view.state;
    const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
    return { from: Math.min(at.from + Math.max(column - 1, 0), at.to), to: at.to };
  };
  return {
    text: () => view.state.doc.toString(),
    set: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    go(place) {
      view.dispatch({ selection: { anchor: position(place).from }, effects: EditorView.scrollIntoView(position(place).from, { y: "center" }) });
      view.focus();
    },
    select({ from, to }) {
      view.dispatch({ selection: { anchor: from, head: to }, effects: EditorView.scrollIntoView(EditorSelection.range(from, to), { y: "center" }) });
      view.focus();
    },
    highlight: (ranges) => view.dispatch({ effects: setParts.of(ranges) }),
    mark(found) {
      const all = found.map((place) => ({ ...position(place), severity: place.severity, message: place.message || "see the answer" }));
      view.dispatch(setDiagnostics(view.state, all));
    },
  };
}
