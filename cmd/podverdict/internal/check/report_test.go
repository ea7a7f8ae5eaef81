package check

import (
	"bytes"
	"errors"
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

// The texts in the report come from the rules' descriptions.
func TestSARIF(t *testing.T) {
	var stdout bytes.Buffer
	verb := New(&cli.Program{Name: "podverdict"})
	verb.SetArgs([]string{"-", "-o", "sarif", "--only", "constraints,guardrails"})
	verb.SetIn(strings.NewReader(badJob))
	verb.SetOut(&stdout)
	verb.SilenceErrors, verb.SilenceUsage = true, true
	if err := verb.ExecuteContext(t.Context()); !errors.Is(err, cli.ErrFindings) {
		t.Fatal(err)
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
