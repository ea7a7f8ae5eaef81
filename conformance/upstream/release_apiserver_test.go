package upstream

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/conformance/upstream/release"
)

const (
	aTemplate = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`
	aJob      = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"default","resourceVersion":"1"},"spec":{` + aTemplate + `}}`
)

func TestAPIServer(t *testing.T) {
	old, err := release.Stored([]byte(aJob))
	if err != nil {
		t.Fatal(err)
	}
	with := func(document []byte, members string) []byte {
		return []byte(strings.Replace(string(document), `"spec":{`, `"spec":{`+members+`,`, 1))
	}
	for name, tt := range map[string]struct {
		submission release.Submission
		panics     bool
		want       []string
	}{
		"legal":    {submission: release.Submission{Object: []byte(aJob)}},
		"warnings": {submission: release.Submission{Object: with([]byte(aJob), `"completionMode":"Indexed","completions":100001,"parallelism":10001`)}, want: []string{"spec: In Indexed Jobs"}},
		"create":   {submission: release.Submission{Object: with([]byte(aJob), `"backoffLimit":-1`)}, want: []string{"spec.backoffLimit: Invalid value: -1: must be"}},
		"panic": {
			submission: release.Submission{Object: with([]byte(aJob), `"completionMode":"Indexed","parallelism":1,"successPolicy":{"rules":[{"succeededCount":1}]}`)},
			panics:     true, want: []string{"spec.completions: Required value: when completion mode is Indexed"},
		},
		"restart policy of no pod": {
			submission: release.Submission{Object: []byte(strings.Replace(aJob, `"Never"`, `"X"`, 1))},
			want:       []string{`spec.template.spec.restartPolicy: Unsupported value: "X": supported values: "OnFailure", "Never"`},
		},
		"status": {
			submission: release.Submission{Object: []byte(strings.Replace(string(old), `"status":{`, `"status":{"ready":1`, 1)), Old: old, Status: true},
			want:       []string{"status.ready: Invalid value: 1: cannot set more ready pods than active"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			faults, panicked, err := release.APIServer(t.Context(), tt.submission)
			if err != nil {
				t.Fatal(err)
			}
			if panicked != tt.panics || len(faults) != len(tt.want) {
				t.Fatalf("panicked: %v, faults: %v", panicked, faults)
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(faults[i].Message, want) {
					t.Errorf("got %q, want %q", faults[i].Message, want)
				}
			}
		})
	}
}

// TestAPIServerUpdate tests that faults of the spec, which upstream finds twice on an update, are reported once.
func TestAPIServerUpdate(t *testing.T) {
	old := strings.Replace(aJob, `"spec":{`, `"spec":{"manualSelector":true,"selector":{},`, 1)
	old = strings.Replace(old, `"name":"j"`, `"name":"j","uid":"u"`, 1)
	job := strings.Replace(old, `"spec":{`, `"spec":{"backoffLimit":-1,"managedBy":"a/b",`, 1)
	faults, _, err := release.APIServer(t.Context(), release.Submission{Object: []byte(job), Old: []byte(old)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range faults {
		got = append(got, f.Message)
	}
	want := []string{
		`spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0`,
		`spec.managedBy: Invalid value: "a/b": field is immutable`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAPIServerRefusesOtherDocuments(t *testing.T) {
	for _, s := range []release.Submission{
		{Object: []byte("{")}, {Object: []byte("{}"), Old: []byte("[]")}, {Object: []byte("7"), CronJob: true},
	} {
		if _, _, err := release.APIServer(t.Context(), s); err == nil {
			t.Errorf("%s, %s: no error", s.Object, s.Old)
		}
	}
}
