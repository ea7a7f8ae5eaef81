package plan

import (
	"math"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"pgregory.net/rapid"
)

// TestIndexText covers part F of the semantics: index strings.
func TestIndexText(t *testing.T) {
	for want, members := range map[string][]int{
		"": nil, "0": {0}, "0,1": {1, 0}, "0-2": {0, 1, 2}, "0,2": {2, 0, 2}, "1,3-5,7,8": {8, 3, 1, 5, 4, 7}, // item 78
	} {
		if got := setOf(members).String(); got != want {
			t.Errorf("%v is written %q, want %q", members, got, want)
		}
	}
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 10, ""},
		{"0-5,8-10", 10, "0-5,8,9"}, // item 79
		{"0-5,8-10", 8, "0-5"},      // item 79
		{"0,1-foo,bar", 10, "0"},    // item 80
		{"1-1", 10, "1"},            // item 81
		{"0-1,2,3", 10, "0-3"},
		{"5,0-2", 10, "0-2,5"},
		{"4-2,-1,--,1-2-3,7", 10, "7"},
		{"0-99999999999999999999,3", 10, "3"},
		{"3", 0, ""},
		{"0-2", math.MaxInt, "0-2"},
	} {
		if got := parseIndexes(test.text, test.limit).String(); got != test.want {
			t.Errorf("%q below %d is read as %q, want %q", test.text, test.limit, got, test.want)
		}
	}
}

// TestIndexesBeyondCompletions covers item 82: after scaling down, the next write removes indexes beyond completions.
func TestIndexesBeyondCompletions(t *testing.T) {
	b := indexed(3, 3).started().status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "1,4,5", 3 })
	s := planned(t, seen(b, 0)).Write.Status
	if s.CompletedIndexes != "1" || s.Succeeded != 1 {
		t.Errorf("completedIndexes %q, succeeded %d", s.CompletedIndexes, s.Succeeded)
	}
}

// TestIndexSets tests that the set operations agree with those of maps.
func TestIndexSets(t *testing.T) {
	members := rapid.SliceOf(rapid.IntRange(0, 12))
	rapid.Check(t, func(t *rapid.T) {
		a, b := members.Draw(t, "a"), members.Draw(t, "b")
		set, other := setOf(a), setOf(b)
		union := set.union(other)
		count := rapid.IntRange(0, 13).Draw(t, "count")
		common, size := 0, 0
		for i := range 14 {
			inA, inB := slices.Contains(a, i), slices.Contains(b, i)
			if set.has(i) != inA || union.has(i) != (inA || inB) {
				t.Fatalf("%d in %v: %v; in %v: %v", i, set, set.has(i), union, union.has(i))
			}
			if inA {
				size++
			}
			if inA && inB {
				common++
			}
		}
		if set.size() != size || set.common(other) != common || other.common(set) != common {
			t.Fatalf("size %d, common %d", set.size(), set.common(other))
		}
		minus, added, gone := set.minus(other), setOf(a).with(count, true), setOf(a).with(count, false)
		for i := range 14 {
			if minus.has(i) != (set.has(i) && !other.has(i)) {
				t.Fatalf("%d in %v minus %v: %v", i, set, other, minus.has(i))
			}
			if added.has(i) != (set.has(i) || i == count) || gone.has(i) != (set.has(i) && i != count) {
				t.Fatalf("%d in %v with %d: %v, without: %v", i, set, count, added.has(i), gone.has(i))
			}
		}
		for _, s := range []indexes{added, gone, minus} {
			if !slices.Equal(s, slices.Clone(s).normal()) {
				t.Fatalf("%v is not in its normal form", s)
			}
		}
		if back := parseIndexes(set.String(), 13); !slices.Equal(back, set) {
			t.Fatalf("%v is read as %v", set, back)
		}
		missing := slices.Collect(set.missing(count, 10).all())
		for _, i := range missing {
			if set.has(i) || i >= 10 {
				t.Fatalf("%d is missing in %v", i, set)
			}
		}
		if free := 10 - set.common(indexes{{0, 9}}); len(missing) != min(count, free) || !slices.IsSorted(missing) {
			t.Fatalf("%v are missing in %v", missing, set)
		}
	})
}

// TestSuccessPolicy tests success policies (KEP-3998).
func TestSuccessPolicy(t *testing.T) {
	rule := func(indexes string, count int32) batchv1.SuccessPolicyRule {
		var r batchv1.SuccessPolicyRule
		if indexes != "" {
			r.SucceededIndexes = &indexes
		}
		if count > 0 {
			r.SucceededCount = new(count)
		}
		return r
	}
	for _, test := range []struct {
		completed string
		rules     []batchv1.SuccessPolicyRule
		want      string
	}{
		{"0-2", []batchv1.SuccessPolicyRule{rule("1-2", 0)}, "Matched rules at index 0"},
		{"0,1", []batchv1.SuccessPolicyRule{rule("1-2", 0)}, ""},
		{"0,1", []batchv1.SuccessPolicyRule{rule("1-2", 1)}, "Matched rules at index 0"},
		{"0", []batchv1.SuccessPolicyRule{rule("1-2", 1)}, ""},
		{"0,4", []batchv1.SuccessPolicyRule{rule("", 3), rule("", 2)}, "Matched rules at index 1"},
		{"0,4", []batchv1.SuccessPolicyRule{rule("x", 0), rule("9", 0)}, ""},
		{"", []batchv1.SuccessPolicyRule{rule("", 1)}, ""},
	} {
		b := indexed(5, 5).started().with(func(j *batchv1.Job) {
			j.Status.CompletedIndexes = test.completed
			j.Status.Succeeded = int32(parseIndexes(test.completed, 5).size())
			j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: test.rules}
		})
		got := ""
		if c := condition(planned(t, seen(b, 0)).Write.Status.Conditions, batchv1.JobSuccessCriteriaMet); c != nil {
			got = c.Message
		}
		if got != test.want {
			t.Errorf("%q: the message is %q, want %q", test.completed, got, test.want)
		}
	}
}
