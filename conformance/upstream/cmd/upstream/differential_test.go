package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/upstream"
	"github.com/podverdict/podverdict/runtime"
)

func TestDifferential(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := differential(t.Context(), []string{"-n", "10000", "-generic", "4"}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d, stderr:\n%s", code, &stderr)
	}
	want := regexp.MustCompile(`^seed 1, Kubernetes 1\.37: 10000 pairs \(20 policies\) in .* a second
evaluations: specialised CEL 10000, Go 10000, upstream 10000, interpreted CEL [1-9]\d* \([1-9]\d* policies\)
verdicts: Count \d+, FailIndex \d+, FailJob \d+, Ignore \d+, no match \d+, not terminal \d+
0 disagreements
$`)
	if !want.MatchString(stdout.String()) {
		t.Errorf("got\n%swant a match of\n%s", &stdout, want)
	}
}

func TestDifferentialInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := differential(ctx, nil, &stdout, &stderr)
	if code != 2 || !strings.Contains(stdout.String(), "0 of 1000000 pairs") || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit code %d, stdout:\n%sstderr:\n%s", code, &stdout, &stderr)
	}
}

func TestDifferentialRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"-n", "0"}, {"-n", "many"}, {"-workers", "0"}, {"-frob"}, {"vectors"}, {"-kubernetes", "1.99"}, {"-kubernetes", "new"},
	} {
		var stdout, stderr bytes.Buffer
		if code := differential(t.Context(), args, &stdout, &stderr); code != 2 || stderr.Len() == 0 || strings.Contains(stdout.String(), "0 disagreements") {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q; want 2 and an error", args, code, &stdout, &stderr)
		}
	}
}

func TestReportDisagreement(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.Status.Phase = "default", "q", corev1.PodFailed
	d := &upstream.DisagreementError{
		Request: conformance.Request{Pod: pod},
		Answers: []upstream.Answer{{Engine: "a", Err: errors.New("no idea")}, {Engine: "b", Verdict: runtime.Unmatched(pod)}},
	}
	var stdout, stderr bytes.Buffer
	if code := report("differential", fmt.Errorf("block 7: %w", d), &stdout, &stderr); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	wantStderr := `differential: block 7: engines disagree:
  a                error: no idea
  b                {"terminal":true,"matched":false,"action":"Count","counted":true}
`
	wantStdout := `
the smallest one found:

pod:
  metadata:
    name: q
    namespace: default
  spec:
    containers: null
  status:
    phase: Failed
`
	if diff := cmp.Diff(wantStderr, stderr.String()); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantStdout, stdout.String()); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
}
