package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
)

const badJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: bad}
spec:
  backoffLimit: -3
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}
`

// The texts in the report are those of the rules' own descriptions.
func TestCheckSARIF(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := []string{"podverdict", "check", "-", "-o", "sarif", "--only", "constraints,guardrails"}
	if code := run(args, strings.NewReader(badJob), &stdout, &stderr); code != cli.ExitFindings {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	parsed, err := sarif.FromString(stdout.String(), sarif.WithStrictValidation())
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.Validate(); err != nil {
		t.Error(err)
	}
	if results := parsed.Runs[0].Results; len(results) < 2 {
		t.Errorf("%d results", len(results))
	}
	for _, rule := range parsed.Runs[0].Tool.Driver.Rules {
		if rule.ShortDescription == nil || *rule.ShortDescription.Text == *rule.ID {
			t.Errorf("rule %s is not described", *rule.ID)
		}
	}
}
