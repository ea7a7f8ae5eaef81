package manifest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// ReadPart reads a file, URL or - that holds a part of one object into target, strictly: unknown fields and duplicate
// keys are errors, and required ones may be missing. Besides it returns the fields that are there.
func ReadPart(ctx context.Context, o Options, filename string, target any) (map[string]any, Origin, error) {
	files, err := o.sources(ctx, filename)
	if err != nil {
		return nil, Origin{}, err
	}
	origin, value, err := readOnly(filename, files)
	if err != nil {
		return nil, Origin{}, err
	}
	var c content
	if !c.strict(origin, value, target) {
		return nil, Origin{}, errors.Join(withheld(origin.Document, c.errs)...)
	}
	var fields map[string]any
	if err := json.Unmarshal(value, &fields); err != nil || fields == nil {
		return nil, Origin{}, origin.Error("", messageNoObject)
	}
	return fields, origin, nil
}

// ReadValue reads a YAML or JSON file that holds one object of whatever shape. Its numbers are json.Number.
func ReadValue(o Options, filename string) (map[string]any, Origin, error) {
	files, err := o.one(filename, func() ([]byte, error) { return o.readFile(filename) })
	if err != nil {
		return nil, Origin{}, err
	}
	origin, value, err := readOnly(filename, files)
	if err != nil {
		return nil, Origin{}, err
	}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil || object == nil {
		return nil, Origin{}, withheld(origin.Document, []error{origin.Error("", messageNoObject)})[0]
	}
	return object, origin, nil
}

// readOnly returns the only document of some files, as JSON.
func readOnly(filename string, files []source) (Origin, []byte, error) {
	var documents []*Document
	for _, s := range files {
		found, err := split(s)
		if err != nil {
			return Origin{}, nil, err
		}
		documents = append(documents, found...)
	}
	if len(documents) != 1 {
		return Origin{}, nil, fmt.Errorf("%s: has %d documents, and should have one", nameOf(filename), len(documents))
	}
	d := documents[0]
	if d.isJSON {
		return Origin{Document: d}, d.data, nil
	}
	value, errs := yamlToJSON(d)
	return Origin{Document: d}, value, errors.Join(withheld(d, errs)...)
}
