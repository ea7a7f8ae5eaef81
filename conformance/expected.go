package conformance

import (
	_ "embed"
)

//go:embed expected_failures.yaml
var expectedFailures []byte

// ExpectedFailures lists the vectors that an engine is known to fail. There are
// none for engines that the file does not name.
func ExpectedFailures(engine string) ([]string, error) {
	var engines map[string][]string
	if err := decodeYAML(expectedFailures, &engines); err != nil {
		return nil, yamlError("expected_failures.yaml", 0, expectedFailures, err)
	}
	return engines[engine], nil
}
