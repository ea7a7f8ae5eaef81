package conformance

import (
	_ "embed"
	"maps"
	"slices"
)

//go:embed expected_failures.yaml
var expectedFailures []byte

// knownEngines are the engines of this project.
func knownEngines() []string { return []string{"cel", "go", "rego"} }

// ExpectedFailures lists the vectors that an engine is known to fail. There are none
// for engines that the file does not name. It fails when the file names an engine
// or a vector that there is not.
func ExpectedFailures(engine string) ([]string, error) {
	vectors, err := Vectors()
	if err != nil {
		return nil, err
	}
	return expectedOf(engine, expectedFailures, vectors)
}

func expectedOf(engine string, file []byte, vectors []Vector) ([]string, error) {
	const name = "expected_failures.yaml"
	var engines map[string][]string
	if err := decodeYAML(file, &engines); err != nil {
		return nil, yamlError(name, 0, file, err)
	}
	for _, e := range slices.Sorted(maps.Keys(engines)) {
		if !slices.Contains(knownEngines(), e) {
			return nil, &ParseError{File: name, Line: lineOf(string(file), e), Err: errUnknownEngine(e)}
		}
		if err := areVectors(engines[e], vectors); err != nil {
			return nil, &ParseError{File: name, Line: lineOf(string(file), e), Err: err}
		}
	}
	return engines[engine], nil
}

// areVectors demands that every name is that of a vector.
func areVectors(names []string, vectors []Vector) error {
	for _, name := range names {
		if !slices.ContainsFunc(vectors, func(v Vector) bool { return v.Name == name }) {
			return errExpectedUnknown(name)
		}
	}
	return nil
}
