package custom_test

import (
	"fmt"
	"testing"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
)

// TestVariablesOfAnySizeCostTheirSize checks that variables which keep doubling in size are
// rejected.
func TestVariablesOfAnySizeCostTheirSize(t *testing.T) {
	spec := rules("variables.v9.contains('y')")
	spec.Variables = []v1alpha1.Variable{{Name: "v0", Expression: "pod.containers().map(c, c.message).join(',')"}}
	for i := range 9 {
		spec.Variables = append(spec.Variables, v1alpha1.Variable{
			Name: fmt.Sprint("v", i+1), Expression: fmt.Sprintf("variables.v%d + variables.v%d", i, i),
		})
	}
	refused := 0
	for _, f := range findingsOf(t, newEnvironment(t), spec) {
		if f.Check == custom.CheckCost {
			refused++
		}
	}
	if refused == 0 {
		t.Error("nothing is refused")
	}
}
