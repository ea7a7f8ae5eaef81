package kind

import (
	"bytes"
	gojson "encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"
	kubeyaml "sigs.k8s.io/yaml"
)

// document is one YAML or JSON object of a text that may hold several.
type document struct {
	kind schema.GroupVersionKind
	// json is what kubectl would send of it.
	json []byte
	root *yaml.Node
}

// readDocuments reads the objects of a text; empty documents are left out.
func readDocuments(data []byte) ([]document, error) {
	if gojson.Valid(data) {
		data = bytes.ReplaceAll(data, []byte("\t"), []byte(" ")) // YAML knows no tabs around JSON's tokens
	}
	var documents []document
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var tree yaml.Node
		if err := decoder.Decode(&tree); errors.Is(err, io.EOF) {
			return documents, nil
		} else if err != nil {
			return nil, errYAML(err)
		}
		d, err := newDocument(tree.Content[0])
		if err != nil {
			return nil, err
		}
		if string(d.json) != "null" {
			documents = append(documents, d)
		}
	}
}

func newDocument(root *yaml.Node) (document, error) {
	d := document{root: root}
	if key := repeatedKey(root); key != nil {
		return d, &FieldError{Line: key.Line, Field: key.Value, Err: errors.New("is set twice")}
	}
	// kubectl's own reader decides the types of scalars.
	text, err := yaml.Marshal(root)
	if err != nil {
		return d, errYAML(err)
	}
	if d.json, err = kubeyaml.YAMLToJSON(text); err != nil {
		return d, &FieldError{Line: root.Line, Err: err}
	}
	var header struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if string(d.json) != "null" {
		if err := json.UnmarshalCaseSensitivePreserveInts(d.json, &header); err != nil {
			return d, &FieldError{Line: root.Line, Err: fmt.Errorf("want an object, got %s", root.ShortTag())}
		}
	}
	d.kind = schema.FromAPIVersionAndKind(header.APIVersion, header.Kind)
	return d, nil
}

// repeatedKey returns the first key that its mapping already has, or nil.
func repeatedKey(node *yaml.Node) *yaml.Node {
	seen := map[string]bool{}
	for i, child := range node.Content {
		if found := repeatedKey(child); found != nil {
			return found
		}
		if node.Kind != yaml.MappingNode || i%2 != 0 || child.Kind != yaml.ScalarNode {
			continue
		}
		if seen[child.Value] {
			return child
		}
		seen[child.Value] = true
	}
	return nil
}

// fault reports what is wrong with a field, at its line or that of what should hold it.
func (d document) fault(path string, err error) error {
	node, line := d.root, d.root.Line
	for _, step := range steps(path) {
		key, value := member(node, step)
		if value == nil {
			break
		}
		node, line = value, key.Line
	}
	return &FieldError{Line: line, Field: path, Err: err}
}

// decodeFault reports an error of the JSON decoder.
func (d document) decodeFault(err error) error {
	var unknown json.FieldError
	var wrong *gojson.UnmarshalTypeError
	switch {
	case errors.As(err, &unknown):
		return d.fault(unknown.FieldPath(), errors.New("no such field"))
	case errors.As(err, &wrong):
		return d.fault(wrong.Field, fmt.Errorf("want %s, got %s", wrong.Type, wrong.Value))
	}
	return d.fault("", err)
}

// steps cuts a field path: properties[a.b].type into properties, a.b and type.
func steps(path string) []string {
	var found []string
	for path != "" {
		step, rest := path, ""
		if path[0] == '[' {
			step, rest, _ = strings.Cut(path[1:], "]")
		} else if i := strings.IndexAny(path, ".["); i >= 0 {
			step, rest = path[:i], path[i:]
		}
		found = append(found, step)
		path = strings.TrimPrefix(rest, ".")
	}
	return found
}

// member returns what a step of a path leads to: a key and its value, or an element
// twice. Both are nil if there is nothing.
func member(node *yaml.Node, step string) (key, value *yaml.Node) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i], node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
	}
	return nil, nil
}
