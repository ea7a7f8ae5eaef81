package manifest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ReadPart reads a file, URL or - that holds a part of one object into target. Decoding is strict: unknown fields and duplicate
// keys are errors. Required fields may be missing. ReadPart also returns the fields that are present.
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

// ReadValue reads a YAML or JSON file that holds one object of any shape. Its numbers are json.Number.
func ReadValue(o Options, filename string) (map[string]any, Origin, error) {
	file := source{name: filename, open: func() (io.ReadCloser, error) { return o.open(filename) }, found: o.Indirect}
	origin, value, err := readOnly(filename, []source{file})
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

// readOnly returns the only document of the given files as JSON.
func readOnly(filename string, files []source) (Origin, []byte, error) {
	var documents []*Document
	for _, s := range files {
		err := s.split(0, func(d *Document) bool {
			documents = append(documents, d)
			return len(documents) < maxErrors
		})
		if err != nil {
			return Origin{}, nil, err
		}
	}
	if len(documents) != 1 {
		return Origin{}, nil, fmt.Errorf("%s: has %d documents, and should have one", Options{}.nameOf(filename), len(documents))
	}
	d := documents[0]
	value, errs := d.value()
	return Origin{Document: d}, value, errors.Join(withheld(d, errs)...)
}
