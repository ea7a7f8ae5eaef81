package print

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"go.yaml.in/yaml/v3"
	kubeyaml "sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/internal/terminal"
)

// YAML writes a value as YAML that a terminal.Writer does not alter: text that the Writer would change is in double quotes.
func YAML(w io.Writer, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if data, err = kubeyaml.JSONToYAML(escaped(data)); err != nil {
		return err
	}
	if !terminal.Safe(string(data)) {
		if data, err = quoted(data); err != nil {
			return err
		}
	}
	_, err = w.Write(data)
	return err
}

// quoted returns YAML with unsafe texts in double quotes.
func quoted(data []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, err
	}
	quote(&root)
	data, err := yaml.Marshal(&root)
	return escaped(data), err
}

func quote(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && !terminal.Safe(node.Value) {
		node.Style = yaml.DoubleQuotedStyle
	}
	for _, child := range node.Content {
		quote(child)
	}
}

// escaped replaces unprintable characters with YAML's escapes for double-quoted text, which differ from JSON's beyond 16 bits.
func escaped(data []byte) []byte {
	safe := make([]byte, 0, len(data))
	for _, r := range string(data) {
		switch {
		case r == '\n' || strconv.IsPrint(r):
			safe = append(safe, string(r)...)
		case r <= 0xffff:
			safe = fmt.Appendf(safe, `\u%04x`, r)
		default:
			safe = fmt.Appendf(safe, `\U%08x`, r)
		}
	}
	return safe
}
