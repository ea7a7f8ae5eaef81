package custom_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/custom"
)

// BenchmarkExplain is for policies that explain many pods.
func BenchmarkExplain(b *testing.B) {
	policy := compile(b, newEnvironment(b), rules(
		"pod.failedContainers().exists(c, c.exitCode in [1, 2] && c.name == 'other')", "attempt > 3 && pod.hasCondition('DisruptionTarget')"))
	in := custom.Input{Pod: failed(corev1.ContainerStateTerminated{ExitCode: 1}), Job: &batchv1.Job{}, Attempt: 1}
	for b.Loop() {
		if _, err := policy.Explain(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
