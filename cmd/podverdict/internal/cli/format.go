package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
)

// JSONPath is kubectl's format of the same name, with a template.
const JSONPath = "jsonpath=TEMPLATE"

// Format is the value of -o, one of the formats of the verb.
type Format struct {
	Name    string
	Formats []string

	program *Program
	execute func(w io.Writer, object any) error // jsonpath template, or nil
}

// AddFormat adds the flag -o to a verb. The first format is the default.
func (p *Program) AddFormat(cmd *cobra.Command, f *Format, formats ...string) {
	f.program, f.Name, f.Formats = p, formats[0], formats
	cmd.Flags().VarP(f, "output", "o", "format of the result: "+strings.Join(formats, ", "))
	AddCompletion(cmd, "output", func() []string { return formats })
}

// IsObject reports whether the result is an object for programs: JSON, YAML, or the output of a template.
func (f *Format) IsObject() bool { return f.Name == "json" || f.Name == "yaml" || f.execute != nil }

// IsProse reports whether the format is meant to be read by people, rather than a row or an object for each Pod.
func (f *Format) IsProse() bool { return f.Name == "table" || f.Name == "markdown" }

func (f *Format) String() string { return f.Name }

// Type returns the type name that the help shows.
func (f *Format) Type() string { return "format" }

// Set sets the format, which must be one of the verb's formats.
func (f *Format) Set(name string) (err error) {
	f.execute = nil
	if text, ok := strings.CutPrefix(name, "jsonpath="); ok && slices.Contains(f.Formats, JSONPath) && f.program.JSONPath != nil {
		f.Name = name
		f.execute, err = f.program.JSONPath(text)
		return err
	}
	if !slices.Contains(f.Formats, name) || name == JSONPath || name == "yaml" && f.program.YAML == nil {
		return fmt.Errorf("no such format, there are %s", strings.Join(f.Formats, ", "))
	}
	f.Name = name
	return nil
}

// WriteObject writes an object as JSON, as YAML, or with the template.
func (f *Format) WriteObject(w io.Writer, object any) error {
	switch {
	case f.execute == nil && f.Name == "yaml":
		return f.program.YAML(w, object)
	case f.execute == nil:
		return print.JSON(w, object)
	}
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var fields any
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	return f.execute(w, fields)
}
