package print

import (
	"encoding/json"
	"io"
)

// APIVersion is the version of the lists that verbs write as JSON and YAML.
const APIVersion = "podverdict.io/v1alpha1"

// JSON writes a value as indented JSON.
func JSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
