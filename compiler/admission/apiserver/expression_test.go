package apiserver

import (
	"slices"
	"testing"

	"github.com/google/cel-go/cel"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
)

func TestExpressionsHaveTheTypesOfTheAPIServer(t *testing.T) {
	for name, test := range map[string]struct {
		server plugincel.ExpressionAccessor
		types  []*cel.Type
	}{
		"variable":            {&validating.Variable{}, anything},
		"match condition":     {&matchconditions.MatchCondition{}, truth},
		"validation":          {&validating.ValidationCondition{}, truth},
		"message":             {&validating.MessageExpressionCondition{}, text},
		"audit annotation":    {&validating.AuditAnnotationCondition{}, annotation},
		"JSON patch":          {&patch.JSONPatchCondition{}, jsonPatch},
		"apply configuration": {&patch.ApplyConfigurationCondition{}, applied},
	} {
		if want := test.server.ReturnTypes(); !slices.EqualFunc(want, test.types, (*cel.Type).IsExactType) {
			t.Errorf("%s: got %v, want %v", name, test.types, want)
		}
	}
}
