package vectors

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/podverdict/podverdict/conformance/internal/document"
)

//go:embed expected_failures.yaml
var expectedFailures []byte

// knownEngines returns the engines of this project.
func knownEngines() []string { return []string{"cel", "go", "rego"} }

// ExpectedFailures returns the vectors that an engine is known to fail; none if the file does not name the engine. It fails
// if the file names an unknown engine or vector.
func ExpectedFailures(engine string) ([]string, error) {
	all, err := Verdicts()
	if err != nil {
		return nil, err
	}
	return expectedOf(engine, expectedFailures, all)
}

func expectedOf(engine string, file []byte, all []Vector) ([]string, error) {
	s := document.Section{File: "expected_failures.yaml", Data: file}
	var engines map[string][]string
	if err := s.Decode(&engines); err != nil {
		return nil, err
	}
	for _, e := range slices.Sorted(maps.Keys(engines)) {
		if !slices.Contains(knownEngines(), e) {
			return nil, s.ErrorAt(e, fmt.Errorf("unknown engine %q; known are %s", e, joined(knownEngines())))
		}
		if err := areVectors(engines[e], all); err != nil {
			return nil, s.ErrorAt(e, err)
		}
	}
	return engines[engine], nil
}

// areVectors returns an error if a name is not that of a vector.
func areVectors(names []string, all []Vector) error {
	for _, name := range names {
		if !slices.ContainsFunc(all, func(v Vector) bool { return v.Name == name }) {
			return fmt.Errorf("expected failure %q is no vector", name)
		}
	}
	return nil
}
