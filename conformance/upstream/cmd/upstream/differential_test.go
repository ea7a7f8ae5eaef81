package main

import (
	"bytes"
	"regexp"
	"testing"
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
