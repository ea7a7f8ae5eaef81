// The editor of the input.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

const theme = EditorView.theme({
  "&": { backgroundColor: "var(--sheet)", color: "var(--ink)", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--page)", color: "var(--faint)", border: "none" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--mark)" },
  ".cm-panels, .cm-tooltip": { backgroundColor: "var(--page)", color: "var(--ink)", borderColor: "var(--line)" },
});

/** newEditor returns an editor in an element, which calls changed with every new text. */
export function newEditor(parent, changed) {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      extensions: [
        lineNumbers(), history(), drawSelection(), highlightActiveLine(), highlightSelectionMatches(), lintGutter(),
        yaml(), syntaxHighlighting(classHighlighter), theme,
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({ "aria-labelledby": "input-label" }),
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
    mark(found) {
      const all = found.map((place) => ({ ...position(place), severity: place.severity, message: place.message || "see the answer" }));
      view.dispatch(setDiagnostics(view.state, all));
    },
  };
}
