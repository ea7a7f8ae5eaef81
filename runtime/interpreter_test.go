package runtime_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/race"
	"github.com/podverdict/podverdict/runtime"
)

// TestLongLoopsEnd: a loop that is as long as the limit on its cost allows is evaluated to its end.
func TestLongLoopsEnd(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("the limit on time is met first")
	}
	policy := compilePolicy(t, newEnvironment(t), rules("lists.range(150000).all(i, i >= 0)", "true"))
	match, err := policy.Evaluate(t.Context(), runtime.Input{Pod: failed(corev1.ContainerStateTerminated{ExitCode: 1}), Job: &batchv1.Job{}, Attempt: 1})
	if match.Rule != 0 || err != nil {
		t.Errorf("rule %d, %v", match.Rule, err)
	}
}
