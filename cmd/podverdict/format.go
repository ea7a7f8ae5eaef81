package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// formatJSONPath is kubectl's format of that name, which takes a template.
const formatJSONPath = "jsonpath=TEMPLATE"

// template writes what it takes from an object.
type template interface {
	Execute(w io.Writer, object any) error
}

// format is the value of -o, one of the formats of the verb.
type format struct {
	name    string
	formats []string
	path    template // of jsonpath, else nil
}

// addFormat gives a verb the flag -o. The first format is the default.
func addFormat(cmd *cobra.Command, f *format, formats ...string) {
	f.name, f.formats = formats[0], formats
	cmd.Flags().VarP(f, "output", "o", "format of the result: "+strings.Join(formats, ", "))
	addCompletion(cmd, "output", func() []string { return formats })
}

// isObject reports whether the result is an object for programs: JSON, YAML, or what a template takes from it.
func (f *format) isObject() bool { return f.name == "json" || f.name == "yaml" || f.path != nil }

// isProse reports whether the result is for people to read, and not a row or an object for each Pod.
func (f *format) isProse() bool { return f.name == "table" || f.name == "markdown" }

func (f *format) String() string { return f.name }

// Type returns what help shows for the value.
func (f *format) Type() string { return "format" }

// Set takes the value given.
func (f *format) Set(name string) (err error) {
	if text, ok := strings.CutPrefix(name, "jsonpath="); ok && slices.Contains(f.formats, formatJSONPath) {
		f.name = name
		f.path, err = newTemplate(text)
		return err
	}
	f.path = nil
	if !slices.Contains(f.formats, name) || name == formatJSONPath {
		return fmt.Errorf("no such format, there are %s", strings.Join(f.formats, ", "))
	}
	f.name = name
	return nil
}

func (f *format) writeObject(w io.Writer, value any) error {
	if f.path == nil {
		return writeObject(w, f.name, value)
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
