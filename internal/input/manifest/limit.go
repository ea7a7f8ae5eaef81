package manifest

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// These limits keep reading linear in the size of the input, in time and memory. The YAML and JSON parsers limit the nesting of maps
// and lists themselves.
const (
	// maxNested is the maximum depth of nested Lists: each level is read once more.
	maxNested = 5
	// maxExpansion limits the ratio of a document's size with aliases expanded to the size of its text. Expansions up to smallEnough
	// bytes are always accepted.
	maxExpansion = 10
	smallEnough  = 1 << 20
)

// checkAliases rejects a document whose aliases expand to much more than its text.
func checkAliases(d *Document) []error {
	if !bytes.Contains(d.Text, []byte("&")) || !bytes.Contains(d.Text, []byte("*")) {
		return nil
	}
	x := expansion{limit: max(smallEnough, maxExpansion*len(d.Text)), sizes: map[*yaml.Node]int{}}
	if root := d.tree(); root != nil && x.of(root) > x.limit {
		return []error{errAt(d, x.at, fmt.Sprintf("its aliases stand for more than %d times its size", maxExpansion))}
	}
	return nil
}

// expansion measures the size of a document with its aliases expanded.
type expansion struct {
	limit int
	sizes map[*yaml.Node]int // sizes of anchored nodes
	at    *yaml.Node         // first node that exceeds the limit
}

// of returns the size of a node, or any size above the limit.
func (x *expansion) of(node *yaml.Node) int {
	if node.Kind == yaml.AliasNode {
		return x.sizes[node.Alias]
	}
	size := len(node.Value) + 1
	for _, child := range node.Content {
		if size += x.of(child); size > x.limit {
			if x.at == nil {
				x.at = child
			}
			return size
		}
	}
	if node.Anchor != "" {
		x.sizes[node] = size
	}
	return size
}
