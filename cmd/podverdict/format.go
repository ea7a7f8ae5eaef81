package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/util/jsonpath"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
)

// apiVersion is that of the lists that verbs write as JSON and YAML.
const apiVersion = "podverdict.io/v1alpha1"

// formatJSONPath is kubectl's format of that name, which takes a template.
const formatJSONPath = "jsonpath=TEMPLATE"

// format is the value of -o, one of the formats of the verb.
type format struct {
	name    string
	formats []string
	path    *jsonpath.JSONPath // of jsonpath, else nil
}

// addFormat gives a verb the flag -o. The first format is the default.
func addFormat(cmd *cobra.Command, f *format, formats ...string) {
	f.name, f.formats = formats[0], formats
	cmd.Flags().VarP(f, "output", "o", "format of the result: "+strings.Join(formats, ", "))
	addCompletion(cmd, "output", func() []string { return formats })
}

// isObject tells whether the result is an object for programs: JSON, YAML, or what a template takes from it.
func (f *format) isObject() bool { return f.name == "json" || f.name == "yaml" || f.path != nil }

// isProse tells whether the result is for people to read, and not a row or an object for each Pod.
func (f *format) isProse() bool { return f.name == "table" || f.name == "markdown" }

func (f *format) String() string { return f.name }

// Type is what help shows for the value.
func (f *format) Type() string { return "format" }

// Set takes the value given.
func (f *format) Set(name string) (err error) {
	if template, ok := strings.CutPrefix(name, "jsonpath="); ok && slices.Contains(f.formats, formatJSONPath) {
		f.name = name
		f.path, err = newJSONPath(template)
		return err
	}
	f.path = nil
	if !slices.Contains(f.formats, name) || name == formatJSONPath {
		return fmt.Errorf("no such format, there are %s", strings.Join(f.formats, ", "))
	}
	f.name = name
	return nil
}

// newJSONPath reads a template. As in kubectl, one without braces is an expression.
func newJSONPath(template string) (*jsonpath.JSONPath, error) {
	if !strings.Contains(template, "{") {
		template = "{" + template + "}"
	}
	path := jsonpath.New("out").AllowMissingKeys(true)
	if err := path.Parse(template); err != nil {
		return nil, err
	}
	return path, nil
}

// writeObject writes value in the format.
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

// writeObject writes value as JSON or YAML.
func writeObject(w io.Writer, format string, value any) error {
	if format == "yaml" {
		return report.WriteYAML(w, value)
	}
	return report.WriteJSON(w, value)
}
