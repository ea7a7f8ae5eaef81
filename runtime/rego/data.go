package rego

import (
	"maps"
	"slices"
)

// overlay is the bundle's data with the user's over it. Objects are merged, everything else is replaced; an object of
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
			return nil, errDataPath(at)
		}
		var err error
		if merged[key], err = overlay(inner, outer, at...); err != nil {
			return nil, err
		}
	}
	return merged, nil
}
