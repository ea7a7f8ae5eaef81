package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/conformance/upstream/release"
)

// DifferenceError is a shrunk submission on which the API server and the bundle disagree.
type DifferenceError struct {
	Submission release.Submission
	// Missing has the faults reported only by the API server, Excess those reported only by the bundle.
	Missing, Excess []release.Fault
}

// Error lists the faults that only one of them has.
func (d *DifferenceError) Error() string {
	var b strings.Builder
	b.WriteString("the API server and the bundle differ:")
	for _, f := range d.Missing {
		fmt.Fprintf(&b, "\n  only the API server: [%s] %s", f.Type, cmp.Or(f.Message, f.Field+": "+f.Detail))
	}
	for _, f := range d.Excess {
		fmt.Fprintf(&b, "\n  only the bundle:     [%s] %s", f.Type, cmp.Or(f.Message, f.Field+": "+f.Detail))
	}
	return b.String()
}

// YAML returns the submission; for an update, the old object comes first.
func (d *DifferenceError) YAML() (string, error) {
	object, err := yaml.JSONToYAML(d.Submission.Object)
	if err != nil || d.Submission.Old == nil {
		return string(object), err
	}
	old, err := yaml.JSONToYAML(d.Submission.Old)
	return "# the stored object\n" + string(old) + "---\n# its replacement\n" + string(object), err
}

// newDifference shrinks a submission while the first fault that only one side has remains, with any value, and no others
// appear.
func (c contest) newDifference(ctx context.Context, s release.Submission, a answer) *DifferenceError {
	found := &DifferenceError{s, a.missing, a.excess}
	shrinkSubmission(s, func(candidate release.Submission) bool {
		smaller, err := c.submit(ctx, candidate)
		if err != nil || !a.keeps(smaller) {
			return false
		}
		found = &DifferenceError{candidate, smaller.missing, smaller.excess}
		return true
	})
	return found
}

// keeps reports whether a smaller submission still differs in the first fault, and in no other way.
func (a *answer) keeps(smaller answer) bool {
	others := func(list []release.Fault) func(release.Fault) bool {
		return func(f release.Fault) bool { return !slices.ContainsFunc(list, like(f)) }
	}
	if slices.ContainsFunc(smaller.missing, others(a.missing)) || slices.ContainsFunc(smaller.excess, others(a.excess)) {
		return false
	}
	if len(a.missing) > 0 {
		return slices.ContainsFunc(smaller.missing, like(a.missing[0]))
	}
	return slices.ContainsFunc(smaller.excess, like(a.excess[0]))
}

// like returns a function that reports whether a fault is of the same kind. Numbers and texts may differ.
func like(f release.Fault) func(release.Fault) bool {
	return func(o release.Fault) bool {
		return f.Type == o.Type && lastPart(f.Field) == lastPart(o.Field) && firstWords(f.Detail) == firstWords(o.Detail)
	}
}

func lastPart(path string) string {
	return path[strings.LastIndexByte(path, '.')+1:]
}

func firstWords(text string) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(3, len(words))], " ")
}

// shrinkSubmission removes members and elements, from both objects at once first, until nothing more can be removed.
func shrinkSubmission(s release.Submission, try func(release.Submission) bool) {
	for again := true; again; {
		again = false
		for _, which := range [][]bool{{true, true}, {true, false}, {false, true}} {
			for _, path := range append(paths(s.Object, nil), paths(s.Old, nil)...) {
				candidate := s
				if which[0] {
					candidate.Object = without(s.Object, path)
				}
				if which[1] && s.Old != nil {
					candidate.Old = without(s.Old, path)
				}
				smaller := len(candidate.Object)+len(candidate.Old) < len(s.Object)+len(s.Old)
				if smaller && try(candidate) {
					s, again = candidate, true
				}
			}
		}
	}
}

// paths lists the removable parts of a document, big ones first.
func paths(document []byte, at []any) [][]any {
	var value any
	if json.Unmarshal(document, &value) != nil {
		return nil
	}
	return pathsIn(value, at)
}

func pathsIn(value any, at []any) [][]any {
	var all [][]any
	visit := func(key, member any) {
		path := append(slices.Clone(at), key)
		all = append(all, path)
		all = append(all, pathsIn(member, path)...)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if len(at) > 0 || name != "apiVersion" && name != "kind" {
				visit(name, value[name])
			}
		}
	case []any:
		for i, element := range slices.Backward(value) {
			visit(i, element)
		}
	}
	return all
}

// without returns the document without the part at the path, if it exists.
func without(document []byte, path []any) []byte {
	var value any
	if json.Unmarshal(document, &value) != nil {
		return document
	}
	smaller, err := json.Marshal(remove(value, path))
	if err != nil {
		return document
	}
	return smaller
}

func remove(value any, path []any) any {
	switch value := value.(type) {
	case map[string]any:
		name, ok := path[0].(string)
		member, there := value[name]
		if !ok || !there {
			return value
		}
		if len(path) == 1 {
			delete(value, name)
		} else {
			value[name] = remove(member, path[1:])
		}
		return value
	case []any:
		i, ok := path[0].(int)
		if !ok || i >= len(value) {
			return value
		}
		if len(path) == 1 {
			return slices.Delete(value, i, i+1)
		}
		value[i] = remove(value[i], path[1:])
		return value
	}
	return value
}
