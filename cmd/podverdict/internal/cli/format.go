package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/spf13/cobra"
)

// JSONPath is kubectl's format of that name, which takes a template.
const JSONPath = "jsonpath=TEMPLATE"

// template writes what it takes from an object.
type template interface {
	Execute(w io.Writer, object any) error
}

// Format is the value of -o, one of the formats of the verb.
type Format struct {
	Name    string
	Formats []string
	path    template // of jsonpath, else nil
}

// AddFormat gives a verb the flag -o. The first format is the default.
func AddFormat(cmd *cobra.Command, f *Format, formats ...string) {
	f.Name, f.Formats = formats[0], formats
	cmd.Flags().VarP(f, "output", "o", "format of the result: "+strings.Join(formats, ", "))
	AddCompletion(cmd, "output", func() []string { return formats })
}

// IsObject reports whether the result is an object for programs: JSON, YAML, or what a template takes from it.
func (f *Format) IsObject() bool { return f.Name == "json" || f.Name == "yaml" || f.path != nil }

// IsProse reports whether the result is for people to read, and not a row or an object for each Pod.
func (f *Format) IsProse() bool { return f.Name == "table" || f.Name == "markdown" }

func (f *Format) String() string { return f.Name }

// Type returns what help shows for the value.
func (f *Format) Type() string { return "format" }

// Set takes the value given.
func (f *Format) Set(name string) (err error) {
	if text, ok := strings.CutPrefix(name, "jsonpath="); ok && slices.Contains(f.Formats, JSONPath) {
		f.Name = name
		f.path, err = newTemplate(text)
		return err
	}
	f.path = nil
	if !slices.Contains(f.Formats, name) || name == JSONPath {
		return fmt.Errorf("no such format, there are %s", strings.Join(f.Formats, ", "))
	}
	f.Name = name
	return nil
}

func (f *Format) WriteObject(w io.Writer, value any) error {
	if f.path == nil {
		return print.Object(w, f.Name, value)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var object any
	if err := json.Unmarshal(text, &object); err != nil {
		return err
	}
	return f.path.Execute(w, object)
}
