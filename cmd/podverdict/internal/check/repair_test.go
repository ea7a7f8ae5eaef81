package check

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime/rego"
)

// repairedJob is a Job whose rules are repaired.
const repairedJob = `apiVersion: batch/v1
kind: Job
metadata: {name: order}
spec:
  activeDeadlineSeconds: 600
  ttlSecondsAfterFinished: 600
  podFailurePolicy:
    rules:
RULES
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}
`

// testGate returns a gate that checks everything and makes suggestions.
func testGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{options: &options{suggest: true, diff: true}, settings: &settings{}}
	var err error
	if g.inspector.choice, err = newChoice([]string{"constraints", "guardrails", "rules"}, nil); err != nil {
		t.Fatal(err)
	}
	g.inspector.kubernetes = compiler.DefaultVersion
	g.inspector.validator = sync.OnceValues(func() (*rego.Validator, error) { return rego.New(t.Context(), rego.Options{Guardrails: true}) })
	return g
}

func TestRepairText(t *testing.T) {
	g := testGate(t)
	for name, c := range map[string]struct {
		before, after string
		done          int
		left          string // first reason
	}{
		"codes on one line": {
			before: "    - {action: FailJob, onExitCodes: {operator: In, values: [3,1,2]}} # why",
			after:  "    - {action: FailJob, onExitCodes: {operator: In, values: [1,2,3]}} # why", done: 1,
		},
		"codes on lines, with comments, one of them twice": {
			before: "    - action: FailJob\n      onExitCodes:\n        operator: In\n        values:\n        # first\n        - 9 # nine\n        # two\n        - 2\n        - 9\n",
			after:  "    - action: FailJob\n      onExitCodes:\n        operator: In\n        values:\n        # two\n        - 2\n        # first\n        - 9 # nine\n", done: 1,
		},
		"codes with a comment within the brackets stay": {
			before: "    - action: FailJob\n      onExitCodes:\n        operator: In\n        values: [3, # three\n          1]",
			left:   "there are comments between the items",
		},
		"codes with an anchor stay": {
			before: "    - {action: FailJob, onExitCodes: {operator: In, values: [&a 3, 1]}}",
			left:   "the anchor &a on line 9 is for several places",
		},
		"a rule for disruptions is moved with its comments": {
			before: "    # codes\n    - {action: FailJob, onExitCodes: {operator: In, values: [137]}}\n    # drains\n    - action: Ignore\n      onPodConditions:\n      - type: DisruptionTarget\n",
			after:  "    # drains\n    - action: Ignore\n      onPodConditions:\n      - type: DisruptionTarget\n    # codes\n    - {action: FailJob, onExitCodes: {operator: In, values: [137]}}\n", done: 1,
		},
		"a rule that takes other failures, too, stays": {
			before: "    - {action: FailJob, onExitCodes: {operator: In, values: [137]}}\n    - {action: Ignore, onPodConditions: [{type: DisruptionTarget}, {type: Ready, status: \"False\"}]}",
			left:   "it would change the verdict on other failures",
		},
		"rules on one line": {
			before: "      [{action: FailJob, onExitCodes: {operator: In, values: [137]}},{action: Ignore, onPodConditions: [{type: DisruptionTarget}]} ]",
			after:  "      [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]},{action: FailJob, onExitCodes: {operator: In, values: [137]}} ]", done: 1,
		},
		"codes over several lines, with quotes": {
			before: "    - {'action': 'FailJob', onExitCodes: {operator: \"In\", values: [\n        9, 7,\n        7,\n    ]}}",
			after:  "    - {'action': 'FailJob', onExitCodes: {operator: \"In\", values: [\n        7, 9,\n    ]}}", done: 1,
		},
		"codes behind an alias stay": {
			before: "    - {action: FailJob, onExitCodes: &codes {operator: In, values: [3, 1]}}\n    - {action: Ignore, onExitCodes: *codes}",
			left:   "the anchor &codes on line 9 is for several places",
		},
	} {
		given := strings.Replace(repairedJob, "RULES", c.before, 1)
		want := given
		if c.after != "" {
			want = strings.Replace(repairedJob, "RULES", c.after, 1)
		}
		r, err := g.repairText(t.Context(), given)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, r.text); diff != "" || r.done != c.done {
			t.Errorf("%s: %d repairs (-want +got)\n%s", name, r.done, diff)
		}
		reason := ""
		if len(r.left) > 0 {
			reason = r.left[0].reason.Error()
		}
		if reason != c.left {
			t.Errorf("%s: left because %q, want %q", name, reason, c.left)
		}
	}
}

const (
	pretty = `{
	"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "é"},
	"spec": {
		"podReplacementPolicy": "TerminatingOrFailed",
		"completionMode": "Indexed", "completions": 2,
		"podFailurePolicy": {
			"rules": [
				{
					"action": "FailJob",
					"onExitCodes": {"operator": "In", "values": [
						137,
						42
					]}
				},
				{
					"action": "Ignore",
					"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]
				}
			]
		},
		"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "app"}]}}
	}
}
`
	prettyRepaired = `{
	"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "é"},
	"spec": {
		"ttlSecondsAfterFinished": 604800,
		"activeDeadlineSeconds": 604800,
		"podReplacementPolicy": "TerminatingOrFailed",
		"completionMode": "Indexed", "completions": 2,
		"podFailurePolicy": {
			"rules": [
				{
					"action": "Ignore",
					"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]
				},
				{
					"action": "FailJob",
					"onExitCodes": {"operator": "In", "values": [
						42,
						137
					]}
				}
			]
		},
		"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "app"}]}}
	}
}
`
	tail = `podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}, template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}`
	job  = `"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]},"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"app"}]}}`
)

// TestEnd checks that quotes and brackets end as in YAML and JSON.
func TestEnd(t *testing.T) {
	for text, want := range map[string]string{
		`"a\"b]\\", 1`: `"a\"b]\\"`, `'it' # x`: `'it'`, `12, 13`: "12", "null\nb": "null", `{a: [']', 1], b: "}"} }`: `{a: [']', 1], b: "}"}`,
		"[3, # ]\n 1] # x": "[3, # ]\n 1]", "[1": "[1",
	} {
		if got := text[:(source{text: text}).end(0)]; got != want {
			t.Errorf("%s ends after %s, want %s", text, got, want)
		}
	}
}

// TestRepairIsVerified checks that a repair is refused if the changed text would not have the intended values.
func TestRepairIsVerified(t *testing.T) {
	g := testGate(t)
	for _, fields := range []string{
		"  podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [!!int 3, !!int 1]}}]}\n",
		"  backoffLimit: !!int 100\n",
		"  podFailurePolicy:\n    rules:\n    - action: FailJob\n      onExitCodes:\n        operator: In\n        values:\n        -\n          3\n        - 1\n",
	} {
		given := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  activeDeadlineSeconds: 9\n  ttlSecondsAfterFinished: 60\n" + fields +
			"  template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}\n"
		r, err := g.repairText(t.Context(), given)
		if err != nil {
			t.Fatal(err)
		}
		if r.text != given || len(r.left) != 1 || !errors.Is(r.left[0].reason, errLayout) {
			t.Errorf("%d repairs, left %v in\n%s", r.done, r.left, r.text)
		}
	}
}

// TestRepairOfOtherForms checks that JSON and YAML's flow style keep their layout, with byte order marks, other line endings and more
// documents.
func TestRepairOfOtherForms(t *testing.T) {
	g := testGate(t)
	const gpu = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"app","resources":{"limits":{"nvidia.com/gpu":1}}}]}}`
	const yamlHead, jsonHead = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n", `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{`
	for _, c := range []struct{ before, after string }{
		{pretty, prettyRepaired},
		{"\ufeff" + strings.ReplaceAll(pretty, "\n", "\r\n"), "\ufeff" + strings.ReplaceAll(prettyRepaired, "\n", "\r\n")},
		{jsonHead + `"backoffLimit":100,"activeDeadlineSeconds":9,"ttlSecondsAfterFinished":null,` + job + "}}",
			jsonHead + `"backoffLimit":10,"activeDeadlineSeconds":9,"ttlSecondsAfterFinished":604800,` + job + "}}"},
		{"\ufeff" + jsonHead + job + "}}\n" + jsonHead + `"ttlSecondsAfterFinished":1,"activeDeadlineSeconds":9,` + job + "}}",
			"\ufeff" + jsonHead + `"ttlSecondsAfterFinished":604800,"activeDeadlineSeconds":604800,` + job + "}}\n" +
				jsonHead + `"ttlSecondsAfterFinished":60,"activeDeadlineSeconds":9,` + job + "}}"},
		{jsonHead + `"podReplacementPolicy":"TerminatingOrFailed","activeDeadlineSeconds":9,"ttlSecondsAfterFinished":60,` + gpu + "}}",
			jsonHead + `"podReplacementPolicy":"Failed","activeDeadlineSeconds":9,"ttlSecondsAfterFinished":60,` + gpu + "}}"},
		{yamlHead + "spec: {" + tail + "} # one line\n",
			yamlHead + "spec: {ttlSecondsAfterFinished: 604800, activeDeadlineSeconds: 604800, " + tail + "} # one line\n"},
		{yamlHead + "spec: {\n  # why\n  'backoffLimit': 11, " + tail + "}",
			yamlHead + "spec: {\n  # why\n  'ttlSecondsAfterFinished': 604800,\n  'activeDeadlineSeconds': 604800,\n  'backoffLimit': 10, " + tail + "}"},
		{yamlHead + "spec:\r\n  # why\r\n  backoffLimit: 10\r\n  " + strings.ReplaceAll(tail, "}, t", "}\r\n  t"),
			yamlHead + "spec:\r\n  ttlSecondsAfterFinished: 604800\r\n  activeDeadlineSeconds: 604800\r\n  # why\r\n  backoffLimit: 10\r\n  " + strings.ReplaceAll(tail, "}, t", "}\r\n  t")},
	} {
		r, err := g.repairText(t.Context(), c.before)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.after, r.text); diff != "" || len(r.left) > 0 {
			t.Errorf("left %v (-want +got)\n%s", r.left, diff)
		}
	}
}
