package report

import (
	"io"

	"go.yaml.in/yaml/v3"
	kubeyaml "sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/internal/terminal"
)

// WriteYAML writes a value as YAML that means the same behind a terminal.Writer: text that it would change stands in double
// quotes.
func WriteYAML(w io.Writer, value any) error {
	data, err := kubeyaml.Marshal(value)
	if err != nil {
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

// quoted puts what is not safe in double quotes.
func quoted(data []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, err
	}
	quote(&root)
	return yaml.Marshal(&root)
}

func quote(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && !terminal.Safe(node.Value) {
		node.Style = yaml.DoubleQuotedStyle
	}
	for _, child := range node.Content {
		quote(child)
	}
}
