package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
)

// apiVersion is that of the lists that verbs write as JSON and YAML.
const apiVersion = "podverdict.io/v1alpha1"

// format is the value of -o, one of the formats of the verb.
type format struct {
	name    string
	formats []string
}

// addFormat gives a verb the flag -o. The first format is the default.
func addFormat(cmd *cobra.Command, f *format, formats ...string) {
	f.name, f.formats = formats[0], formats
	cmd.Flags().VarP(f, "output", "o", "format of the result: "+strings.Join(formats, ", "))
	complete := func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return formats, cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc("output", complete); err != nil {
		cmd.PrintErrln(err)
	}
}

// isObject tells whether the result is written as JSON or YAML.
func (f *format) isObject() bool { return f.name == "json" || f.name == "yaml" }

func (f *format) String() string { return f.name }

// Type is what help shows for the value.
func (f *format) Type() string { return "format" }

// Set takes the value given.
func (f *format) Set(name string) error {
	if !slices.Contains(f.formats, name) {
		return fmt.Errorf("no such format, there are %s", strings.Join(f.formats, ", "))
	}
	f.name = name
	return nil
}

// writeObject writes value as JSON or YAML.
func writeObject(w io.Writer, format string, value any) error {
	if format == "yaml" {
		return report.WriteYAML(w, value)
	}
	return report.WriteJSON(w, value)
}
