package manifest

import "go.yaml.in/yaml/v3"

// Block returns the YAML node of a field with its place, for those who change the text of a file. It returns nil where the text is
// no block of YAML whose lines are those of the file: in JSON, and in a document that begins behind its marker.
func (o Origin) Block(field string) (*yaml.Node, Position) {
	d := o.Document
	if d.isJSON || d.column != 0 || d.line == 0 {
		return nil, Position{}
	}
	path := steps(o.Field(field))
	node := d.tree()
	for _, step := range path {
		if node == nil {
			return nil, Position{}
		}
		_, node = member(node, step)
	}
	if node == nil || d.yamlLines != nil {
		return nil, Position{}
	}
	return node, d.nodePosition(node)
}

// EndOfBlock returns the index of the last line of the value that begins on line n, by its indentation.
func EndOfBlock(lines []string, n int) int { return endOfBlock(lines, n) }
