package document

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"

	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Section is a section of a file, or a whole YAML file.
type Section struct {
	File string
	Name string
	Data []byte
	Line int // of the marker; 0 in a whole file
}

// Empty reports whether the section has only white space.
func (s Section) Empty() bool { return len(bytes.TrimSpace(s.Data)) == 0 }

// Decode decodes the section's YAML. The error has the line.
func (s Section) Decode(into any) error {
	if err := DecodeYAML(s.Data, into); err != nil {
		return s.Locate(err)
	}
	return nil
}

// DecodeYAML decodes one YAML document like the API server with strict field validation: keys are case-sensitive, and unknown
// or duplicate fields are errors.
func DecodeYAML(data []byte, into any) error {
	js, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return err
	}
	return DecodeJSON(js, into)
}

// DecodeJSON does for JSON what DecodeYAML does for YAML.
func DecodeJSON(data []byte, into any) error {
	strict, err := sigsjson.UnmarshalStrict(data, into)
	return errors.Join(append(strict, err)...)
}

// yamlLine matches the position in errors of the YAML parser.
var yamlLine = regexp.MustCompile(`(?:error converting YAML to JSON: )?(?:yaml: )?(?:unmarshal errors:\n\s*)?line (\d+): `)

// unknownField matches the last name of the path in errors of the strict decoder.
var unknownField = regexp.MustCompile(`unknown field "(?:[^"]*[.\]])?([^".\]]+)"`)

// Locate adds the line to an error of decoding the section.
func (s Section) Locate(err error) error {
	line, text := 1, err.Error()
	if m := yamlLine.FindStringSubmatchIndex(text); m != nil {
		line, _ = strconv.Atoi(text[m[2]:m[3]])
		err = errors.New(text[:m[0]] + text[m[1]:])
	} else if m := unknownField.FindStringSubmatch(text); m != nil {
		line = s.lineOf(m[1])
	}
	// The parser reports a missing end one line too late.
	line = min(line, max(1, bytes.Count(s.Data, []byte("\n"))))
	return &ParseError{File: s.File, Line: s.Line + line, Err: err}
}

// lineOf returns the first line with the key, from 1.
func (s Section) lineOf(key string) int {
	for i, line := range strings.Split(string(s.Data), "\n") {
		if strings.Contains(line, key+":") || strings.Contains(line, key+`":`) {
			return i + 1
		}
	}
	return 1
}
