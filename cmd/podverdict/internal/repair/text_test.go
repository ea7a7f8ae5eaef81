package repair

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/inspect"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime/rego"
)

// rules are the parts of texts that are repaired.
const rules = `apiVersion: batch/v1
kind: Job
metadata: {name: order}
spec:
  podFailurePolicy:
    rules:
RULES
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}
`

func TestText(t *testing.T) {
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	validator := sync.OnceValues(func() (*rego.Validator, error) { return rego.New(t.Context(), rego.Options{}) })
	o := Options{Environment: environment}
	o.Inspect = func(ctx context.Context, text string) (*manifest.Set, []report.Subject, error) {
		set, err := manifest.Read(ctx, manifest.Options{Filenames: []string{"-"}, Stdin: strings.NewReader(text)})
		if err != nil {
			return nil, nil, err
		}
		asked := inspect.Options{Validator: validator, Constraints: true, Analysis: true, Kubernetes: compiler.DefaultVersion}
		subjects, err := inspect.Inspect(ctx, set, asked)
		return set, subjects, err
	}
	for name, c := range map[string]struct {
		before, after string
		done          int
	}{
		"codes on one line": {
			before: "    - {action: FailJob, onExitCodes: {operator: In, values: [3,1,2]}} # why",
			after:  "    - {action: FailJob, onExitCodes: {operator: In, values: [1,2,3]}} # why", done: 1,
		},
		"codes on lines, with comments, one of them twice": {
			before: "    - action: FailJob\n      onExitCodes:\n        operator: In\n        values:\n        # first\n        - 9 # nine\n        # two\n        - 2\n        - 9\n",
			after:  "    - action: FailJob\n      onExitCodes:\n        operator: In\n        values:\n        # first\n        # two\n        - 2\n        - 9 # nine\n", done: 1,
		},
		"codes with a comment within the brackets stay": {
			before: "    - action: FailJob\n      onExitCodes:\n        operator: In\n        values: [3, # three\n          1]",
		},
		"codes with an anchor stay": {
			before: "    - {action: FailJob, onExitCodes: {operator: In, values: [&a 3, 1]}}",
		},
		"a rule for disruptions is moved with its comments": {
			before: "    # codes\n    - {action: FailJob, onExitCodes: {operator: In, values: [137]}}\n    # drains\n    - action: Ignore\n      onPodConditions:\n      - type: DisruptionTarget\n",
			after:  "    # drains\n    - action: Ignore\n      onPodConditions:\n      - type: DisruptionTarget\n    # codes\n    - {action: FailJob, onExitCodes: {operator: In, values: [137]}}\n", done: 1,
		},
		"a rule that takes other failures, too, stays": {
			before: "    - {action: FailJob, onExitCodes: {operator: In, values: [137]}}\n    - {action: Ignore, onPodConditions: [{type: DisruptionTarget}, {type: Ready, status: \"False\"}]}",
		},
		"rules on one line stay": {
			before: "      [{action: FailJob, onExitCodes: {operator: In, values: [137]}}, {action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]",
		},
	} {
		given := strings.Replace(rules, "RULES", c.before, 1)
		want := given
		if c.after != "" {
			want = strings.Replace(rules, "RULES", c.after, 1)
		}
		got, done, err := Text(t.Context(), given, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(done) != c.done {
			t.Errorf("%s: %d repairs (-want +got)\n%s", name, len(done), diff)
		}
	}
}
