package generate

import (
	"bytes"
	"io"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
)

// generated lists objects for kubectl apply, in the order in which to apply them.
type generated []generatedObject

type generatedObject struct {
	// comment is written above the object in formats that support comments.
	comment string
	object  any
}

// write writes the objects as YAML documents or as a List.
func (g generated) write(w io.Writer, format string) error {
	if format == "json" {
		items := make([]any, len(g))
		for i, one := range g {
			items[i] = one.object
		}
		return print.JSON(w, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	}
	var text bytes.Buffer
	for i, one := range g {
		if i > 0 {
			text.WriteString("---\n")
		}
		text.WriteString(comment(one.comment))
		if err := print.YAML(&text, one.object); err != nil {
			return err
		}
	}
	_, err := text.WriteTo(w)
	return err
}

// comment formats text as lines of a YAML comment.
func comment(text string) string {
	if text == "" {
		return ""
	}
	return strings.ReplaceAll("# "+strings.ReplaceAll(text, "\n", "\n# ")+"\n", "# \n", "#\n")
}
