package terminal

import (
	"fmt"
	"io"
	"strings"
)

// Command is a GitHub workflow command: a line that begins with "::".
type Command struct {
	// Name is the name of the command, such as error.
	Name       string
	Properties []Property
	// Text is the displayed text. It may have several lines.
	Text string
}

// Property is a property of a command. Name must be trusted; Value need not be.
type Property struct{ Name, Value string }

var (
	commandText     = strings.NewReplacer("%", "%25", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Write writes the command. If w is a Writer, it bypasses the escaping, which would disable the command.
func (c Command) Write(w io.Writer) error {
	var properties []string
	for _, p := range c.Properties {
		properties = append(properties, p.Name+"="+commandProperty.Replace(inert(p.Value)))
	}
	begin := strings.TrimSuffix("::"+c.Name+" "+strings.Join(properties, ","), " ")
	_, err := fmt.Fprintf(Raw(w), "%s::%s\n", begin, commandText.Replace(inert(c.Text)))
	return err
}

// inert returns the text with the escapes of a Writer.
func inert(text string) string {
	var line lineState
	safe, _ := line.escaped([]byte(text))
	return string(safe)
}
