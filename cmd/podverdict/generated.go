package main

import (
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// generated are objects for kubectl apply, in the order in which they should be applied.
type generated []generatedObject

type generatedObject struct {
	// comment stands above the object where the format has comments.
	comment string
	object  any
}

// write writes the objects as YAML documents, or as a List.
func (g generated) write(w io.Writer, format string) error {
	if format == "json" {
		items := make([]any, len(g))
		for i, one := range g {
			items[i] = one.object
		}
		return writeObject(w, format, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	}
	documents := make([]string, len(g))
	for i, one := range g {
		text, err := yaml.Marshal(one.object)
		if err != nil {
			return err
		}
		documents[i] = comment(one.comment) + string(text)
	}
	_, err := io.WriteString(w, strings.Join(documents, "---\n"))
	return err
}

// comment is the text as lines of a YAML comment.
func comment(text string) string {
	if text == "" {
		return ""
	}
	return "# " + strings.ReplaceAll(text, "\n", "\n# ") + "\n"
}
