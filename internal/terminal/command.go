package terminal

import (
	"fmt"
	"io"
	"strings"
)

// Command is a workflow command of GitHub's: a line that begins with "::".
type Command struct {
	// Name is what to do, as in error.
	Name       string
	Properties []Property
	// Text is shown; it may have several lines.
	Text string
}

// Property is a name, which is ours, and a value, which may be anybody's.
type Property struct{ Name, Value string }

var (
	commandText     = strings.NewReplacer("%", "%25", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Write writes the command past a Writer, which would take it for somebody else's. Nothing else begins a line with "::".
func (c Command) Write(w io.Writer) error {
	var properties []string
	for _, p := range c.Properties {
		properties = append(properties, p.Name+"="+commandProperty.Replace(inert(p.Value)))
	}
	begin := strings.TrimSuffix("::"+c.Name+" "+strings.Join(properties, ","), " ")
	_, err := fmt.Fprintf(Raw(w), "%s::%s\n", begin, commandText.Replace(inert(c.Text)))
	return err
}

// inert returns the text as a Writer writes it.
func inert(text string) string {
	var line lineState
	safe, _ := line.escaped([]byte(text))
	return string(safe)
}
