package custom_test

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/custom"
)

// TestLongLoopsEnd: an expression within the limit on its cost may still take minutes, of which it gets seconds.
func TestLongLoopsEnd(t *testing.T) {
	t.Parallel()
	policy := compile(t, newEnvironment(t), rules("lists.range(150000).all(i, i >= 0)", "true"))
	match, err := policy.Evaluate(t.Context(), custom.Input{Pod: failed(corev1.ContainerStateTerminated{ExitCode: 1}), Job: &batchv1.Job{}, Attempt: 1})
	if match.Rule != custom.NoRule || err == nil || !strings.HasSuffix(err.Error(), "spec.rules[0].when: the policy's expressions took longer than 5s") {
		t.Errorf("rule %d, %v", match.Rule, err)
	}
}
