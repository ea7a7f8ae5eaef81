package manifest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	kubeyaml "sigs.k8s.io/yaml"
)

// yamlToJSON reads a document as kubectl does, and rejects duplicate keys.
func yamlToJSON(d *Document) (value []byte, errs []error) {
	if errs = checkAliases(d); len(errs) > 0 {
		return nil, errs
	}
	value, err := kubeyaml.YAMLToJSONStrict(d.Text)
	if err == nil {
		return value, nil
	}
	if len(d.Text) > maxExamined || !strings.Contains(err.Error(), "already set in map") {
		return nil, yamlErrors(d, err)
	}
	// The strict reader also rejects keys that override merged ones (<<), which is the purpose of merging.
	for _, key := range repeatedKeys(d.tree(), nil) {
		errs = append(errs, errAt(d, key, fmt.Sprintf("invalid YAML: key %q is set twice", key.Value)))
	}
	if len(errs) > 0 {
		return nil, errs
	}
	if value, err = kubeyaml.YAMLToJSON(d.Text); err != nil {
		return nil, yamlErrors(d, err)
	}
	return value, nil
}

// repeatedKeys appends the keys that occur earlier in the same mapping.
func repeatedKeys(node *yaml.Node, found []*yaml.Node) []*yaml.Node {
	if node == nil {
		return found
	}
	seen := map[string]bool{}
	for i, child := range node.Content {
		if len(found) >= maxErrors {
			return found
		}
		found = repeatedKeys(child, found)
		if node.Kind != yaml.MappingNode || i%2 != 0 || child.Kind != yaml.ScalarNode {
			continue
		}
		if seen[child.Value] {
			found = append(found, child)
		}
		seen[child.Value] = true
	}
	return found
}

// yamlLine matches the line number in a message of the YAML reader, counted from the beginning of the
// document.
var yamlLine = regexp.MustCompile(`^line (\d+): `)

// yamlErrors returns the errors of the YAML reader with their positions in the file.
func yamlErrors(d *Document, err error) []error {
	var errs []error
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(text, "unmarshal errors:\n  ")
	for message := range strings.SplitSeq(text, "\n  ") {
		line := 1
		if match := yamlLine.FindStringSubmatch(message); match != nil {
			message = message[len(match[0]):]
			line, _ = strconv.Atoi(match[1])
			// The parser counts lines from 0, unlike the underlying scanner.
			if strings.HasPrefix(message, "did not find expected ") {
				line++
			}
		}
		at := d.begin(line)
		errs = append(errs, &Error{origin: Origin{Document: d}, at: &at, Message: "invalid YAML: " + message})
		if len(errs) == maxErrors {
			break
		}
	}
	return errs
}
