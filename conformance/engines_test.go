package conformance_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/vectors"
)

// all returns the vectors on verdicts.
func all(t testing.TB) []vectors.Vector {
	t.Helper()
	return loaded(t, vectors.Verdicts)
}

func loaded[V any](t testing.TB, load func() ([]V, error)) []V {
	t.Helper()
	list, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// slice returns the number of draws of a test, given n: n, or few in go test -short.
func slice(n int) int {
	if testing.Short() {
		return n / 20
	}
	return n
}

// TestEngines checks that our engines return the verdict that every vector expects.
func TestEngines(t *testing.T) {
	engines := map[string]conformance.Engine{
		"go": conformance.Go, "cel": conformance.CEL(), "cel, interpreted": conformance.InterpretedCEL(),
	}
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			report, err := vectors.Run(t.Context(), engine, all(t), vectors.Options{Engine: name})
			if err != nil || !report.OK() {
				var table strings.Builder
				_ = report.WriteTable(&table)
				t.Errorf("%v\n%s", err, &table)
			}
		})
	}
}

func TestCELKeepsNothingOfARequest(t *testing.T) {
	engine := conformance.CEL()
	i := slices.IndexFunc(all(t), func(v vectors.Vector) bool { return v.Name == "exitcodes-in/listed-code" })
	v := all(t)[i]
	// A pod with this many containers is evaluated by a program that is created lazily.
	main := v.Pod.Status.ContainerStatuses[0]
	v.Pod.Status.ContainerStatuses = append(make([]corev1.ContainerStatus, compiler.MaxContainers), main)
	mine := conformance.Request{Policy: v.Policy.DeepCopy(), Pod: all(t)[i].Pod}
	if _, err := engine(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	mine.Policy.Rules[0].OnExitCodes.Values[0] = 7
	if got, err := engine(t.Context(), v.Request()); err != nil || !got.Equal(v.Want) {
		t.Errorf("got %+v, %v", got, err)
	}
}
