package conformance_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/conformance"
)

// TestVersionsMeanTheSameToAll checks that all engines accept the same versions. Otherwise they
// would disagree without a difference in semantics.
func TestVersionsMeanTheSameToAll(t *testing.T) {
	engines := map[string]conformance.Engine{"go": conformance.Go, "cel": conformance.CEL()}
	for kubernetes, want := range map[string]string{
		"": "", "1.28": "", "1.37": "", "v1.30": "", "1.30.2": "",
		"1.27":   `kubernetes version "1.27": supported are 1.28 to 1.37`,
		"1.38":   `kubernetes version "1.38": supported are 1.28 to 1.37`,
		"0.30":   `kubernetes version "0.30": supported are 1.28 to 1.37`,
		"7.99":   `kubernetes version "7.99": supported are 1.28 to 1.37`,
		"latest": `kubernetes version "latest": could not parse "latest" as version`,
	} {
		for name, engine := range engines {
			got := ""
			if _, err := engine(t.Context(), conformance.Request{Kubernetes: kubernetes, Pod: &corev1.Pod{}}); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%s, %q: got error %q, want %q", name, kubernetes, got, want)
			}
		}
	}
}

func TestTheDefaultVersionCostsNothing(t *testing.T) {
	r := all(t)[0].Request()
	for _, kubernetes := range []string{"", "1.37"} {
		r.Kubernetes = kubernetes
		if n := testing.AllocsPerRun(10, func() { _, _ = conformance.Go(t.Context(), r) }); n > 0 {
			t.Errorf("version %q: %v allocations", kubernetes, n)
		}
	}
}
