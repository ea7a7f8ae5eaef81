package manifest

import (
	"context"
	"encoding/json"
	"errors"
)

// ReadPart reads a file, URL or - that holds a part of one object into target, strictly: unknown fields and duplicate
// keys are errors, and required ones may be missing. Besides it returns the fields that are there.
func ReadPart(ctx context.Context, o Options, filename string, target any) (map[string]any, Origin, error) {
	sources, err := o.sources(ctx, filename)
	if err != nil {
		return nil, Origin{}, err
	}
	var documents []*Document
	for _, s := range sources {
		found, err := split(s)
		if err != nil {
			return nil, Origin{}, err
		}
		documents = append(documents, found...)
	}
	if len(documents) != 1 {
		return nil, Origin{}, errNotOneObject(nameOf(filename), len(documents))
	}
	origin := Origin{Document: documents[0]}
	var c content
	value := documents[0].data
	if !documents[0].isJSON {
		value, c.errs = yamlToJSON(documents[0])
	}
	if len(c.errs) == 0 {
		c.strict(origin, value, target)
	}
	if len(c.errs) > 0 {
		return nil, Origin{}, errors.Join(withheld(documents[0], c.errs)...)
	}
	var fields map[string]any
	if err := json.Unmarshal(value, &fields); err != nil || fields == nil {
		return nil, Origin{}, origin.Error("", messageNoObject)
	}
	return fields, origin, nil
}
