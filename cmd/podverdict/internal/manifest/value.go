package manifest

import (
	"bytes"
	"encoding/json"
)

// ReadValue reads a YAML or JSON file that holds one object of whatever shape. Its numbers are json.Number.
func ReadValue(o Options, filename string) (map[string]any, Origin, error) {
	sources, err := o.one(filename, func() ([]byte, error) { return o.readFile(filename) })
	if err != nil {
		return nil, Origin{}, err
	}
	documents, err := split(sources[0])
	if err != nil {
		return nil, Origin{}, err
	}
	if len(documents) != 1 {
		return nil, Origin{}, errNotOneObject(filename, len(documents))
	}
	origin := Origin{Document: documents[0]}
	value := documents[0].data
	if !documents[0].isJSON {
		var errs []error
		if value, errs = yamlToJSON(documents[0]); len(errs) > 0 {
			return nil, Origin{}, withheld(documents[0], errs)[0]
		}
	}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil || object == nil {
		return nil, Origin{}, withheld(documents[0], []error{origin.Error("", messageNoObject)})[0]
	}
	return object, origin, nil
}
