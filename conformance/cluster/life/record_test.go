package life

import (
	"bytes"
	"encoding/json"

	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"
)

// Rewrite returns the file of a life with other checkpoints. It keeps everything else, including the sections for differing
// controllers.
func Rewrite(file []byte, life Life, checkpoints map[string]Facts) ([]byte, error) {
	archive := txtar.Parse(file)
	sections := map[string][]byte{}
	for _, f := range archive.Files {
		sections[f.Name] = f.Data
	}
	archive.Files = nil
	keep := func(name string) {
		if data, ok := sections[name]; ok {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: data})
		}
	}
	keep(jobSection)
	keep(stepsSection)
	for _, step := range life.Steps {
		if step.Settle == nil {
			continue
		}
		data, err := checkpoints[step.Settle.Name].format()
		if err != nil {
			return nil, err
		}
		archive.Files = append(archive.Files, txtar.File{Name: step.Settle.section(), Data: data})
		keep(step.Settle.exception(differs))
		keep(step.Settle.exception(before))
	}
	return txtar.Format(archive), nil
}

// format writes facts in the order of their fields, with each condition on one line and all pods on another.
func (f Facts) format() ([]byte, error) {
	data, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil { // JSON is YAML
		return nil, err
	}
	root := document.Content[0]
	root.Style = 0
	for i, value := range root.Content {
		if unfold(value); i%2 == 1 && root.Content[i-1].Value == "status" {
			value.Style = 0
		}
	}
	var written bytes.Buffer
	encoder := yaml.NewEncoder(&written)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	return written.Bytes(), encoder.Close()
}

// unfold puts nodes on one line unless they are nested more than one level. It removes the quotes of plain strings.
func unfold(node *yaml.Node) {
	deep := false
	for _, part := range node.Content {
		unfold(part)
		deep = deep || part.Kind != yaml.ScalarNode
	}
	if deep || node.Kind == yaml.ScalarNode {
		node.Style = 0
	}
}
