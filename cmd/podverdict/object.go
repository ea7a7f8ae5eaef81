package main

import (
	"io"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
)

// apiVersion is that of the lists that verbs write as JSON and YAML.
const apiVersion = "podverdict.io/v1alpha1"

// writeObject writes value as JSON or YAML.
func writeObject(w io.Writer, format string, value any) error {
	if format == "yaml" {
		return findings.WriteYAML(w, value)
	}
	return findings.WriteJSON(w, value)
}
