package vectors

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifference(t *testing.T) {
	a, b := Finding{ID: "P1", Field: "a", Message: "a: x"}, Finding{ID: "P2", Field: "b", Message: "b: y"}
	v := JobVector{Want: []Finding{a, b}}
	nameless := []Finding{{Field: "b", Message: "b: y"}, {Field: "a", Message: "a: x"}}
	for name, tt := range map[string]struct {
		got  []Finding
		seen Lens
		want string
	}{
		"same":     {[]Finding{b, a}, nil, ""},
		"nameless": {nameless, func(f *Finding) bool { f.ID = ""; return true }, ""},
		"half":     {[]Finding{b}, func(f *Finding) bool { return f.Field == "b" }, ""},
		"as it is": {nameless[:1], nil, `got  {"id":"","field":"b","msg":"b: y"}` + "\n" + `want {"id":"P1","field":"a","msg":"a: x"}` + "\n" + `want {"id":"P2","field":"b","msg":"b: y"}`},
		"missing":  {[]Finding{b}, nil, `want {"id":"P1","field":"a","msg":"a: x"}`},
		"twice":    {[]Finding{b, a, b}, nil, `got  {"id":"P2","field":"b","msg":"b: y"}`},
	} {
		if got := v.Difference(tt.got, tt.seen); got != tt.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if diff := cmp.Diff([]Finding{a, b}, v.Want); diff != "" {
		t.Error(diff)
	}
}

func TestRunJobs(t *testing.T) {
	vector := func(name string) JobVector {
		return JobVector{Name: "constraints/t/" + name, Sentence: name + ".", Submission: Submission{Object: map[string]any{"is": name}}, Want: []Finding{{ID: "P1"}}}
	}
	vectors := []JobVector{vector("right"), vector("wrong"), vector("broken"), vector("fatal"), vector("other")}
	judge := func(_ context.Context, s Submission) ([]Finding, error) {
		defer delete(s.Object, "is")
		switch s.Object["is"] {
		case "wrong":
			return nil, nil
		case "broken":
			return nil, errors.New("no answer") //nolint:err113 // the judge's own
		case "fatal":
			delete(s.Settings["none"].(map[string]any), "x")
		}
		return []Finding{{ID: "P1"}}, nil
	}
	report, err := RunJobs(t.Context(), judge, nil, vectors, Options{Engine: "mine", Select: regexp.MustCompile("right|wrong|broken|fatal")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := report.Summary(), "mine: 1 passed, 1 failed, 2 error"; got != want || report.OK() {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, want := range []string{"", `want {"id":"P1","field":"","msg":""}`, "no answer", "panic: interface conversion"} {
		if got := report.Results[i].Detail; !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: got %q, want %q", report.Results[i].Name, got, want)
		}
	}
	if vectors[0].Object["is"] != "right" {
		t.Error("the judge has changed the vector")
	}
	var table strings.Builder
	if err := report.WriteTable(&table); err != nil || !strings.Contains(table.String(), "constraints ") {
		t.Errorf("%v\n%s", err, &table)
	}
}

func TestRunJobsRefuses(t *testing.T) {
	vectors := []JobVector{{Name: "constraints/t/v"}}
	if r, err := RunJobs(t.Context(), nil, nil, vectors, Options{}); err != nil || r.Results[0].Detail != "no judge" {
		t.Errorf("%v, %v", r, err)
	}
	judge := func(context.Context, Submission) ([]Finding, error) { return nil, nil }
	if _, err := RunJobs(t.Context(), judge, nil, vectors, Options{Select: regexp.MustCompile("w$")}); !errors.Is(err, ErrNoneSelected) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := RunJobs(ctx, judge, nil, append(vectors, vectors...), Options{}); !errors.Is(err, context.Canceled) || len(r.Results) != 1 {
		t.Errorf("%v, %v", r, err)
	}
}

// FuzzLoadJobs checks that any vector is either read or rejected with a position in it.
func FuzzLoadJobs(f *testing.F) {
	for _, v := range []string{goodConstraint, goodGuardrail} {
		f.Add(v, false)
		f.Add(v, true)
	}
	f.Fuzz(func(t *testing.T, text string, guarded bool) {
		kind := constraints
		if guarded {
			kind = guardrails
		}
		all, err := kind.load(jobFolder(t, kind, "t/v.txtar", text))
		var parse *ParseError
		switch {
		case err == nil && (all[0].Sentence == "" || all[0].Object == nil || len(all[0].Want)+len(all[0].Silent) == 0):
			t.Errorf("proves nothing: %+v", all)
		case err != nil && (!errors.As(err, &parse) || parse.Line > strings.Count(text, "\n")+1):
			t.Errorf("error without a place: %v", err)
		}
	})
}
