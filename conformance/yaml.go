package conformance

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"

	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// decodeYAML decodes one YAML document as the API server decodes it when asked
// to be strict: keys are case-sensitive, unknown and duplicate fields are errors.
func decodeYAML(data []byte, into any) error {
	js, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return err
	}
	strict, err := sigsjson.UnmarshalStrict(js, into)
	return errors.Join(append(strict, err)...)
}

// yamlLine matches the position in the messages of the YAML parser.
var yamlLine = regexp.MustCompile(`(?:error converting YAML to JSON: )?(?:yaml: )?(?:unmarshal errors:\n\s*)?line (\d+): `)

// unknownField matches the last name in the path of the strict decoder's messages.
var unknownField = regexp.MustCompile(`unknown field "(?:[^"]*[.\]])?([^".\]]+)"`)

// yamlError puts an error of decodeYAML where it belongs in the file, given the
// line of the section's marker.
func yamlError(file string, marker int, data []byte, err error) *ParseError {
	line, text := 1, err.Error()
	if m := yamlLine.FindStringSubmatchIndex(text); m != nil {
		line, _ = strconv.Atoi(text[m[2]:m[3]])
		text = text[:m[0]] + text[m[1]:]
		err = errors.New(text)
	} else if m := unknownField.FindStringSubmatch(text); m != nil {
		line = lineOf(string(data), m[1])
	}
	// What is missing at the end is missing after it.
	line = min(line, max(1, bytes.Count(data, []byte("\n"))))
	return &ParseError{File: file, Line: marker + line, Err: err}
}

// lineOf finds the first line that has the key, from 1.
func lineOf(text, key string) int {
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, key+":") || strings.Contains(line, key+`":`) {
			return i + 1
		}
	}
	return 1
}
