package cli

import "errors"

// newTemplate refuses all templates: the page asks for none, and is smaller without them.
func newTemplate(string) (template, error) { return nil, errors.New("a page has no templates") }
