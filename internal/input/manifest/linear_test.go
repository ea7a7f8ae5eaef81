package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shapes maps names to functions that generate input of a size proportional to n. Each shape makes a naive reader slow.
var shapes = map[string]func(n int) string{
	"nested Lists": func(n int) string {
		return strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, n) + strings.Repeat("]}", n)
	},
	"nested Lists, wide": func(n int) string {
		const begin = `{"apiVersion":"v1","kind":"List","items":[`
		return strings.Repeat(begin, maxNested) + strings.TrimSuffix(strings.Repeat(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}},`, n), ",") + strings.Repeat("]}", maxNested)
	},
	"nested Lists, YAML flow": func(n int) string {
		return "---\n" + strings.Repeat(`{apiVersion: v1, kind: List, items: [`, n) + strings.Repeat("]}", n)
	},
	"Lists of Lists": func(n int) string {
		return `{"apiVersion":"v1","kind":"List","items":[` + strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[]},`, n) + `{"apiVersion":"v1","kind":"List","items":[]}]}`
	},
	"unknown fields": func(n int) string { return pod(repeat(n, "  unknown%d: x\n")) },
	"unknown fields of an object": func(n int) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n" + repeat(n, "unknown%d: x\n")
	},
	"wrong values of one map": func(n int) string { return pod("  labels:\n" + repeat(n, "    label%d: 1\n")) },
	"wrong values of a list":  func(n int) string { return pod("  finalizers:\n" + repeat(n, "  - %d\n")) },
	"labels":                  func(n int) string { return pod("  labels:\n" + repeat(n, "    label%d: x\n")) },
	"a long unknown name":     func(n int) string { return pod("  ? " + strings.Repeat("x", n*30) + "\n  : x\n") },
	"long unknown names":      func(n int) string { return pod(repeat(100, "  ? "+strings.Repeat("x", n/4)+"%d\n  : x\n")) },
	"a long kind":             func(n int) string { return "apiVersion: v1\nkind: " + strings.Repeat("x", n*30) + "\n" },
	"a long line":             func(n int) string { return pod("  name: " + strings.Repeat("x ", n*10) + "\n  Name: x\n") },
	"repeated keys":           func(n int) string { return repeat(n, "a: b%d\n") },
	"documents":               func(n int) string { return repeat(n/4, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d}\n") },
	"bad documents":           func(n int) string { return repeat(n, "---\nbad%d\n") },
	"markers":                 func(n int) string { return strings.Repeat("---\n", n) },
	"ends of documents":       func(n int) string { return strings.Repeat("...\n", n) },
	"directives":              func(n int) string { return strings.Repeat("%YAML 1.1\n", n) },
	"JSON values":             func(n int) string { return strings.Repeat(`{"a":1}`, n) },
	"deep flow":               func(n int) string { return "a: " + strings.Repeat("[", n*10) },
	"deep JSON":               func(n int) string { return strings.Repeat(`{"a":`, n*10) },
	"deep keys":               func(n int) string { return strings.Repeat("? ", n*10) },
	"deep lists":              func(n int) string { return strings.Repeat("- ", n*10) },
	"comments":                func(n int) string { return pod("  Name: x\n" + strings.Repeat("# comment\n", n)) },
	"blank lines":             func(n int) string { return pod("  Name: x\n" + strings.Repeat("\n", n*20)) },
	"odd ends of lines":       func(n int) string { return badPods(n, "\r# \n") },
	"bad items":               func(n int) string { return badPods(n, "\n") },
	"anchors": func(n int) string {
		return pod("  annotations:\n" + repeat(n, "    a%[1]d: &a%[1]d x\n    b%[1]d: *a%[1]d\n"))
	},
	"aliases of a long text": func(n int) string {
		return "a: &a " + strings.Repeat("x", n*10) + "\nb: [" + strings.Repeat("*a,", n*3) + "]\n"
	},
	"aliases of a list": func(n int) string {
		return "a: &a [" + strings.Repeat("x,", n) + "]\nb: [" + strings.Repeat("*a,", n) + "]\n"
	},
	"merged keys": func(n int) string {
		return "a: &a {" + repeat(n, "k%d: x,") + "}\nb:\n" + strings.Repeat("- <<: *a\n", n)
	},
	"a chain of merged keys": func(n int) string {
		return "a0: &a0 {k: x}\n" + repeat(n, "b%[1]d: &b%[1]d {<<: *a0}\n")
	},
	"Jobs of one name": func(n int) string {
		return "apiVersion: v1\nkind: List\nitems:\n" + repeat(n/4, "- {apiVersion: batch/v1, kind: Job, metadata: {name: demo}} # %d\n")
	},
	"Pods of no Job": func(n int) string {
		return "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: batch/v1, kind: Job, metadata: {name: demo}}\n" +
			repeat(n/4, "- {apiVersion: v1, kind: Pod, metadata: {name: p%d, labels: {job-name: other}}}\n")
	},
	"Pods of a Job": func(n int) string {
		return "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: batch/v1, kind: Job, metadata: {name: demo}}\n" +
			repeat(n/4, "- {apiVersion: v1, kind: Pod, metadata: {name: p%d, labels: {job-name: demo}}}\n")
	},
	"bad policies": func(n int) string {
		return "apiVersion: v1\nkind: List\nitems:\n" +
			repeat(n/8, "- {apiVersion: podverdict.io/v1alpha1, kind: PodFailurePolicy, metadata: {name: p%d}, spec: {rules: [{name: A, when: x, action: Nothing}]}}\n")
	},
	"bad rules": func(n int) string {
		return "apiVersion: podverdict.io/v1alpha1\nkind: PodFailurePolicy\nmetadata: {name: p}\nspec:\n  rules:\n" +
			repeat(n/4, "  - {name: A%d, when: x, action: Nothing}\n")
	},
	"bad labels of a selector": func(n int) string {
		return "apiVersion: podverdict.io/v1alpha1\nkind: PodFailurePolicyBinding\nmetadata: {name: p}\nspec:\n  policyName: p\n  jobSelector:\n    matchLabels:\n" +
			repeat(n, "      -bad%d: x\n")
	},
}

func pod(metadata string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata:\n" + metadata
}

func repeat(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func badPods(n int, end string) string {
	return "apiVersion: v1\nkind: List\nitems:\n" + strings.Repeat("- {apiVersion: v1, kind: Pod, metadata: {name: p, Labels: {}}}"+end, n/4)
}

// TestReadingIsLinear reads each shape in two sizes that differ by a factor of 8. Quadratic work would be 64 times as slow for the larger
// one. With go test -short, it only reads the input.
func TestReadingIsLinear(t *testing.T) {
	const small, factor = 1_000, 8
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				report(t, shape(small/10))
				return
			}
			little, much := shape(small), shape(small*factor)
			if ratio := float64(len(much)) / float64(len(little)); ratio > factor*1.3 {
				t.Fatalf("the input grows by %.1f", ratio)
			}
			few, many := cost(t, little), cost(t, much)
			t.Logf("%d bytes in %v, %d in %v", len(little), few, len(much), many)
			if limit := 24 * max(few, 2*time.Millisecond); many > limit {
				t.Errorf("%d bytes take %v, %d take %v", len(little), few, len(much), many)
			}
		})
	}
}

// cost returns the CPU time to read an input and report on it, the minimum of several runs.
func cost(t *testing.T, input string) time.Duration {
	t.Helper()
	best := time.Duration(1<<63 - 1)
	for range 3 {
		start := used(t)
		report(t, input)
		best = min(best, used(t)-start)
		if best > 2*time.Second {
			break
		}
	}
	return best
}

func used(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// report reads an input and formats all its errors.
func report(t *testing.T, input string) {
	t.Helper()
	set, err := Read(t.Context(), Options{Filenames: []string{"-"}, Stdin: strings.NewReader(input)})
	errs := EachError(err)
	errs = append(errs, EachError(set.CheckPolicies())...)
	errs = append(errs, EachError(set.ValidatePolicies())...)
	var out bytes.Buffer
	for _, err := range errs {
		fmt.Fprintln(&out, err)
		if placed, ok := errors.AsType[*Error](err); ok {
			out.WriteString(placed.Excerpt())
		}
	}
}
