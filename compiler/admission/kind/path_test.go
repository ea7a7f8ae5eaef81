package kind

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePathSaysWhereItIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "field path, column 1: a field name is missing\n | \n | ^",
		".spec":            "field path, column 1: a field name is missing\n | .spec\n | ^",
		"spec.":            "field path, column 6: a field name is missing\n | spec.\n | .....^",
		"spec.[*]":         "field path, column 6: a field name is missing\n | spec.[*]\n | .....^",
		"a[*].b.c[*].d":    "field path, column 9: only one list may be on the way\n | a[*].b.c[*].d\n | ........^",
		"spec.jobs[0].x":   "field path, column 10: [0]: only [*] may follow the name of a list, and a dot must follow it: it means each element\n | spec.jobs[0].x\n | .........^",
		"spec.jobs[*]x":    "field path, column 10: [*]x: only [*] may follow the name of a list, and a dot must follow it: it means each element\n | spec.jobs[*]x\n | .........^",
		"spec.job spec":    "field path, column 9: ' ' cannot be part of a field name\n | spec.job spec\n | ........^",
		"spec.größe":       "field path, column 8: 'ö' cannot be part of a field name\n | spec.größe\n | .......^",
		"spec.2nd":         "field path, column 6: '2' cannot be part of a field name\n | spec.2nd\n | .....^",
		"spec.a\"+b":       "field path, column 7: '\"' cannot be part of a field name\n | spec.a\"+b\n | ......^",
		"spec.\xff":        "field path, column 6: '\ufffd' cannot be part of a field name\n | spec.\xff\n | .....^",
		"spec.items[*][*]": "field path, column 11: [*]: only [*] may follow the name of a list, and a dot must follow it: it means each element\n | spec.items[*][*]\n | ..........^",
	} {
		_, err := ParsePath(text)
		if err == nil {
			t.Errorf("%q is accepted", text)
			continue
		}
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	for _, text := range []string{"spec.jobTemplate.spec", "spec.replicatedJobs[*].template.spec", "a[0]", "a..b", "[*]", "x-y.namespace", "\xff"} {
		f.Add(text)
	}
	k := readCRD(f, "taskset.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err == nil {
			if p.String() != text {
				t.Errorf("%q became %q", text, p)
			}
			_, err = k.Resolve(p)
		}
		var wrong *PathError
		if err != nil && (!errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(text)) {
			t.Errorf("%q: no place in %v", text, err)
		}
	})
}
