package rego

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/podverdict/podverdict/policies"
)

// overlay returns the bundle's data with the user's over it. Objects are merged, everything else is replaced; an object of
// the bundle cannot be replaced by something else. Neither argument is changed.
func overlay(base, over map[string]any, path ...string) (map[string]any, error) {
	merged := maps.Clone(base)
	if merged == nil {
		merged = map[string]any{}
	}
	for _, key := range slices.Sorted(maps.Keys(over)) {
		inner, isObject := base[key].(map[string]any)
		if !isObject {
			merged[key] = over[key]
			continue
		}
		at := append(slices.Clone(path), key)
		outer, ok := over[key].(map[string]any)
		if !ok {
			return nil, &DataError{Field: strings.Join(at, "."), Message: "must be an object, as in the bundle"}
		}
		var err error
		if merged[key], err = overlay(inner, outer, at...); err != nil {
			return nil, err
		}
	}
	return merged, nil
}

// checkRead holds that rules read all of the user's data: what they do not read has no effect, and its author believes
// that it has.
func (p program) checkRead(data map[string]any) error {
	if len(data) == 0 {
		return nil
	}
	return errors.Join(unread(data, p.reads())...)
}

// reads returns the paths of data that rules name, as far as these are constant.
func (p program) reads() [][]string {
	var all [][]string
	for _, module := range p.compiler.Modules {
		ast.WalkRefs(module, func(ref ast.Ref) bool {
			if !ref.HasPrefix(ast.DefaultRootRef) {
				return false
			}
			path := []string{}
			for _, term := range ref.ConstantPrefix()[1:] {
				key, ok := term.Value.(ast.String)
				if !ok {
					break
				}
				path = append(path, string(key))
			}
			all = append(all, path)
			return false
		})
	}
	return all
}

// unread has an error for each part of the data that is on none of the paths.
func unread(data map[string]any, reads [][]string, path ...string) []error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(data)) {
		at := append(slices.Clone(path), key)
		switch members, isObject := data[key].(map[string]any); {
		case slices.ContainsFunc(reads, func(read []string) bool { return startsWith(at, read) }):
		case !slices.ContainsFunc(reads, func(read []string) bool { return startsWith(read, at) }):
			errs = append(errs, errUnread(at, meant(key, reads)))
		case isObject:
			errs = append(errs, unread(members, reads, at...)...)
		}
	}
	return errs
}

func startsWith(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// meant returns a path that rules read and that has the key somewhere else, or "".
func meant(key string, reads [][]string) string {
	if path := guardrail(key, reads); path != "" {
		return path
	}
	var found []string
	for _, read := range reads {
		if i := slices.Index(read, key); i > 0 {
			found = append(found, strings.Join(read[:i+1], "."))
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

// guardrail returns the path of a guardrail's settings, if the key names a guardrail and the rules read such settings, or "".
func guardrail(key string, reads [][]string) string {
	settings, err := policies.Settings()
	at := []string{"podverdict", "config", "guardrails"}
	if err != nil || settings[key] == nil || !slices.ContainsFunc(reads, func(read []string) bool { return slices.Equal(read, at) }) {
		return ""
	}
	return strings.Join(append(at, key), ".")
}
