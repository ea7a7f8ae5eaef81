package print

import (
	"io"
)

// APIVersion is that of the lists that verbs write as JSON and YAML.
const APIVersion = "podverdict.io/v1alpha1"

// Object writes value as JSON or YAML.
func Object(w io.Writer, format string, value any) error {
	if format == "yaml" {
		return YAML(w, value)
	}
	return JSON(w, value)
}
