package runtime_test

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/runtime"
)

// TestShownValues: what is shown of a value can be written in an expression.
func TestShownValues(t *testing.T) {
	for expression, want := range map[string]string{
		"double('NaN')":                          "double('NaN')",
		"-double('inf')":                         "double('-Inf')",
		"double('2')":                            "2.0",
		"duration('5400s')":                      "duration('1h30m0s')",
		"timestamp('2026-01-01T01:00:00+01:00')": "timestamp('2026-01-01T01:00:00+01:00')",
		"[1, 2, 3, 4].map(x, x * x)":             "[1, 4, 9, 16]",
		"optional.of('a')":                       `optional.of("a")`,
	} {
		policy := compilePolicy(t, newEnvironment(t), rules("dyn("+expression+") == dyn('?')"))
		explained, err := policy.Explain(t.Context(), runtime.Input{Pod: failed(corev1.ContainerStateTerminated{ExitCode: 1}), Job: &batchv1.Job{}})
		if err != nil {
			t.Fatal(err)
		}
		if shown := "dyn(" + expression + ") = " + want + "\n"; !strings.Contains(printed(explained), shown) {
			t.Errorf("there is no %q in\n%s", shown, printed(explained))
		}
	}
}
