package manifest

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

var errOddBreaks = errors.New("editors and YAML differ on where its lines end")

// Node returns the YAML node of a field, for callers that edit the text of a file; JSON is YAML, too. It returns nil if the field is
// absent. It returns an error if there is an anchor or alias on the path: a value shared by several places cannot be changed for only one.
func (o Origin) Node(field string) (*yaml.Node, error) {
	d := o.Document
	node := d.tree()
	if node == nil || d.oddBreaks {
		return nil, errOddBreaks
	}
	for _, step := range steps(o.path(field)) {
		if err := o.sharedAt(node); err != nil {
			return nil, err
		}
		_, next := member(node, step)
		if next != nil && !slices.Contains(node.Content, next) {
			return nil, fmt.Errorf("it is merged by << on line %d or below", o.PositionOf(node).Line)
		}
		if next == nil {
			return nil, nil //nolint:nilnil // absent
		}
		node = next
	}
	return node, o.sharedAt(node)
}

// PositionOf returns the position of a node.
func (o Origin) PositionOf(node *yaml.Node) Position { return o.Document.nodePosition(node) }

// Shared returns an error naming the first anchor or alias in a node or below it.
func (o Origin) Shared(node *yaml.Node) error {
	if err := o.sharedAt(node); err != nil {
		return err
	}
	for _, child := range node.Content {
		if err := o.Shared(child); err != nil {
			return err
		}
	}
	return nil
}

func (o Origin) sharedAt(node *yaml.Node) error {
	line := o.PositionOf(node).Line
	switch {
	case node.Kind == yaml.AliasNode:
		return fmt.Errorf("the alias *%s on line %d stands for what is written on line %d", node.Value, line, o.PositionOf(node.Alias).Line)
	case node.Anchor != "":
		return fmt.Errorf("the anchor &%s on line %d is for several places", node.Anchor, line)
	}
	return nil
}
