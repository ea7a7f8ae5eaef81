package vectors

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/podverdict/podverdict/conformance/internal/document"
)

// change is one line of a patch: a value to set at a path. Nil removes the existing value.
type change struct {
	path  []step
	value any
}

// step leads from a value to an inner value: by key into an object or, if the key is empty, by index into a list. The index
// after the last element appends.
type step struct {
	key   string
	index int
}

var stepPattern = regexp.MustCompile(`^(?:\.?([A-Za-z][A-Za-z0-9]*)|\["([^"]+)"\]|\[(0|[1-9][0-9]{0,3})\])`)

// repetition matches a line whose value, a quoted string or a flow list, is repeated: "0" * 65536.
var repetition = regexp.MustCompile(`^(.*: ["\[].*["\]]) \* ([1-9][0-9]{0,4})$`)

// parseChange parses a line such as
//
//	status.containerStatuses[0].state.terminated.exitCode: 42
//	metadata.labels["job-name"]: null
//	spec.managedBy: "0" * 65536
func parseChange(line string) (change, error) {
	times := 1
	if m := repetition.FindStringSubmatch(line); m != nil {
		line = m[1]
		times, _ = strconv.Atoi(m[2])
	}
	path, value, ok := strings.Cut(line, ": ")
	if !ok {
		return change{}, fmt.Errorf(`%q is not "key: value"`, line)
	}
	steps, err := parsePath(path)
	if err != nil {
		return change{}, err
	}
	c := change{path: steps}
	if err := document.DecodeYAML([]byte(value), &c.value); err != nil {
		return change{}, err
	}
	switch v := c.value.(type) {
	case string:
		c.value = strings.Repeat(v, times)
	case []any:
		c.value = slices.Repeat(v, times)
	}
	return c, nil
}

func parsePath(path string) ([]step, error) {
	var steps []step
	for rest := path; rest != ""; {
		m := stepPattern.FindStringSubmatch(rest)
		if m == nil || (len(steps) == 0) == strings.HasPrefix(m[0], ".") && m[1] != "" {
			return nil, fmt.Errorf("%q is not a path like status.containerStatuses[0].name", path)
		}
		s := step{key: m[1] + m[2]}
		if m[3] != "" {
			s.index, _ = strconv.Atoi(m[3])
		}
		steps, rest = append(steps, s), rest[len(m[0]):]
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("%q is not a path like status.containerStatuses[0].name", path)
	}
	return steps, nil
}

// set returns a copy of the node with the value at the path.
func set(node any, path []step, value any) (any, error) {
	switch {
	case len(path) == 0 && reflect.DeepEqual(node, value):
		return nil, errors.New("changes nothing")
	case len(path) == 0:
		return value, nil
	case path[0].key != "":
		return setMember(node, path, value)
	default:
		return setElement(node, path, value)
	}
}

func setMember(node any, path []step, value any) (any, error) {
	key := path[0].key
	object, ok := node.(map[string]any)
	if !ok && node != nil {
		return nil, fmt.Errorf("cannot set %q in what is no object", key)
	}
	object = maps.Clone(object)
	if object == nil {
		object = map[string]any{}
	}
	if _, there := object[key]; value == nil && !there {
		return nil, errors.New("removes what is not there")
	}
	if value == nil && len(path) == 1 {
		delete(object, key)
		return object, nil
	}
	member, err := set(object[key], path[1:], value)
	if err != nil {
		return nil, err
	}
	object[key] = member
	return object, nil
}

func setElement(node any, path []step, value any) (any, error) {
	index := path[0].index
	list, ok := node.([]any)
	if !ok && node != nil {
		return nil, fmt.Errorf("cannot set [%d] in what is no list", index)
	}
	if index > len(list) || value == nil && index == len(list) {
		return nil, fmt.Errorf("index %d, but there are %d elements", index, len(list))
	}
	list = slices.Clone(list)
	if value == nil && len(path) == 1 {
		return slices.Delete(list, index, index+1), nil
	}
	if index == len(list) {
		list = append(list, nil)
	}
	element, err := set(list[index], path[1:], value)
	if err != nil {
		return nil, err
	}
	list[index] = element
	return list, nil
}
