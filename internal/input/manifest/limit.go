package manifest

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Reading takes time and memory in proportion to the size of the input, because what could multiply them has a limit. The parsers of
// YAML and JSON limit how deep maps and lists are nested.
const (
	// maxNested is how many Lists may hold another: each is read once more.
	maxNested = 5
	// maxExpansion is how many times larger than its text a document may get by aliases, beyond a size that is always fine.
	maxExpansion = 10
	smallEnough  = 1 << 20
)

// checkAliases refuses a document that is much larger than its text.
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

// expansion measures what a document is with its aliases replaced by what they stand for.
type expansion struct {
	limit int
	sizes map[*yaml.Node]int // of what has an anchor
	at    *yaml.Node         // the first that is too large
}

// of returns the size of a node, or some size beyond the limit.
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
