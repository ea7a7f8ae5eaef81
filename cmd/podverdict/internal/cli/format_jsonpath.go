//go:build !js

package cli

import (
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// newTemplate reads a template of jsonpath. As in kubectl, one without braces is an expression.
func newTemplate(text string) (template, error) {
	if !strings.Contains(text, "{") {
		text = "{" + text + "}"
	}
	path := jsonpath.New("out").AllowMissingKeys(true)
	if err := path.Parse(text); err != nil {
		return nil, err
	}
	return path, nil
}
