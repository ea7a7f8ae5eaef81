package upstream

import (
	"encoding/json"
	"math/rand/v2"
)

// spelling writes typed objects with the variations of user input: a decoder treats null like an absent member, and so it
// does an empty text for most members that are not pointers.
type spelling struct{ rng *rand.Rand }

func newSpelling(seed uint64) *spelling {
	const stream = 2                                      // its own stream: the generator's are 0 and 1
	return &spelling{rand.New(rand.NewPCG(seed, stream))} //nolint:gosec // draws must be repeatable
}

// Members of a Job that may be null, and members of its rules that may be absent if they are empty.
var (
	nullable = [...]string{
		"parallelism", "completions", "activeDeadlineSeconds", "podFailurePolicy", "successPolicy", "backoffLimit",
		"backoffLimitPerIndex", "maxFailedIndexes", "ttlSecondsAfterFinished", "completionMode", "suspend",
		"podReplacementPolicy", "managedBy", "selector", "manualSelector",
	}
	optional = [...]string{"action", "operator", "type", "status", "values", "rules"}
)

// write encodes an object as JSON; half of the time it is spelled differently from the output of encoding/json.
func (w *spelling) write(object any) ([]byte, error) {
	document, err := json.Marshal(object)
	if err != nil || w.rng.IntN(2) == 0 {
		return document, err
	}
	var members map[string]any
	if err := json.Unmarshal(document, &members); err != nil {
		return nil, err
	}
	spec, _ := members["spec"].(map[string]any)
	if template, ok := spec["jobTemplate"].(map[string]any); ok {
		spec, _ = template["spec"].(map[string]any)
	}
	for _, name := range nullable {
		if _, ok := spec[name]; !ok && w.rng.IntN(8) == 0 {
			spec[name] = nil
		}
	}
	w.omit(spec["podFailurePolicy"])
	w.omit(spec["successPolicy"])
	return json.Marshal(members)
}

// omit removes some of the null and empty members of a policy.
func (w *spelling) omit(value any) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			w.omit(element)
		}
	case map[string]any:
		for _, name := range optional {
			if v, ok := value[name]; ok && (v == nil || v == "") && w.rng.IntN(2) == 0 {
				delete(value, name)
			}
		}
		for _, name := range [...]string{"rules", "onExitCodes", "onPodConditions"} {
			w.omit(value[name])
		}
	}
}
