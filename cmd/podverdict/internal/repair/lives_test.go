package repair

import (
	"testing"

	"sigs.k8s.io/yaml"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// TestSameLives compares the lives of two Jobs, as a repair of some finding would have changed the first into the second.
func TestSameLives(t *testing.T) {
	const (
		codesFirst  = "podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [42, 137]}}, {action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}"
		drainsFirst = "podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}, {action: FailJob, onExitCodes: {operator: In, values: [42, 137]}}]}"
		sorted      = "podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [137, 42]}}, {action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}"
	)
	for name, c := range map[string]struct {
		before, after, check string
		same                 bool
	}{
		"the order of codes":             {sorted, codesFirst, "exit-codes-unsorted", true},
		"other codes":                    {codesFirst, drainsFirst, "exit-codes-unsorted", false},
		"an order that is meant":         {codesFirst, drainsFirst, "disruption-after-exit-codes", true},
		"fewer retries":                  {"backoffLimit: 6", "backoffLimit: 1", "exit-codes-unsorted", false},
		"a suggestion of fewer retries":  {"backoffLimit: 6", "backoffLimit: 1", "backoff-limit-too-high", true},
		"a deadline that a Job exceeds":  {"{}", "activeDeadlineSeconds: 5", "deadline-out-of-bounds", false},
		"a deadline that a Job keeps":    {"{}", "activeDeadlineSeconds: 604800", "deadline-out-of-bounds", true},
		"a Job of very many Pods, a ttl": {"parallelism: 200000", "{parallelism: 200000, ttlSecondsAfterFinished: 60}", "ttl-out-of-bounds", true},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			lived := func(spec string) life {
				job := &batchv1.Job{}
				text := "metadata: {name: j}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}}"
				if err := yaml.Unmarshal([]byte(text), job); err != nil {
					t.Fatal(err)
				}
				if err := yaml.Unmarshal([]byte(spec), &job.Spec); err != nil {
					t.Fatal(err)
				}
				given := manifest.Job{Object: job}
				return life{given.Stored(), o.program(&given)}
			}
			if same := sameLives(t.Context(), lived(c.before), lived(c.after), findings.Finding{Check: c.check}); same != c.same {
				t.Errorf("same lives: %v", same)
			}
		})
	}
}
