package main

import (
	"io"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// parseJSONPath parses a jsonpath template. As in kubectl, a template without braces is an
// expression.
func parseJSONPath(text string) (func(io.Writer, any) error, error) {
	if !strings.Contains(text, "{") {
		text = "{" + text + "}"
	}
	path := jsonpath.New("out").AllowMissingKeys(true)
	if err := path.Parse(text); err != nil {
		return nil, err
	}
	return path.Execute, nil
}
