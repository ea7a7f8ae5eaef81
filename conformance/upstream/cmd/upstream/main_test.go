package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/upstream"
	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/runtime"
)

func TestRefuses(t *testing.T) {
	for _, line := range []string{
		"", "frob",
		"differential -n 0", "differential -n many", "differential -workers 0", "differential -frob", "differential vectors",
		"differential -kubernetes 1.99", "differential -kubernetes new",
		"validation -n 0", "validation -n many", "validation -workers 0", "validation -frob", "validation jobs",
		"integration -count 0", "integration -frob", "integration tests",
	} {
		var stdout, stderr bytes.Buffer
		if code := compare(strings.Fields(line), &stdout, &stderr); code != 2 || stderr.Len() == 0 || strings.Contains(stdout.String(), "0 disagreements") {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q; want 2 and an error", line, code, &stdout, &stderr)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for verb, want := range map[string]string{"differential": "0 of 1000000 pairs", "validation": "0 of 1000000 submissions"} {
		var stdout, stderr bytes.Buffer
		if code := verbs[verb](ctx, nil, &stdout, &stderr); code != 2 || !strings.Contains(stdout.String(), want) || !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("%s: exit code %d, stdout:\n%sstderr:\n%s", verb, code, &stdout, &stderr)
		}
	}
}

func TestReport(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.Status.Phase = "default", "q", corev1.PodFailed
	for _, c := range []struct {
		err            error
		code           int
		stdout, stderr string
	}{
		{
			&upstream.DisagreementError{Request: conformance.Request{Pod: pod}, Answers: []upstream.Answer{
				{Engine: "a", Err: errors.New("no idea")}, {Engine: "b", Verdict: runtime.Unmatched(pod)},
			}},
			1,
			`
the smallest one found:

pod:
  metadata:
    name: q
    namespace: default
  spec:
    containers: null
  status:
    phase: Failed
`,
			`verb: block 7: engines disagree:
  a                error: no idea
  b                {"terminal":true,"matched":false,"action":"Count","counted":true}
`,
		},
		{
			&upstream.DifferenceError{
				Submission: release.Submission{Object: []byte(`{"kind":"Job"}`), Old: []byte(`{"kind":"Job","spec":{}}`)},
				Missing:    []release.Fault{{Type: "FieldValueRequired", Message: "a: Required value"}},
				Excess:     []release.Fault{{Type: "FieldValueInvalid", Message: "b: Invalid value"}},
			},
			1,
			`
the smallest one found:

# the stored object
kind: Job
spec: {}
---
# its replacement
kind: Job
`,
			`verb: block 7: the API server and the bundle differ:
  only the API server: [FieldValueRequired] a: Required value
  only the bundle:     [FieldValueInvalid] b: Invalid value
`,
		},
		{errors.New("disk on fire"), 2, "", "verb: block 7: disk on fire\n"},
	} {
		var stdout, stderr bytes.Buffer
		code := report("verb", fmt.Errorf("block 7: %w", c.err), &stdout, &stderr)
		if diff := cmp.Diff([]any{c.code, c.stdout, c.stderr}, []any{code, stdout.String(), stderr.String()}); diff != "" {
			t.Errorf("%T (-want +got):\n%s", c.err, diff)
		}
	}
}
