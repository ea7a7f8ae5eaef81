package admission

import (
	"github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
)

func checkMutation(p *admissionregistrationv1.MutatingAdmissionPolicySpec, kind Kind, kubernetes *version.Version) error {
	_ = kind
	base := environment.MustBaseEnvSet(version.MajorMinor(1, kubernetes.Minor()-1))
	compiler, err := plugincel.NewCompositedCompiler(base)
	if err != nil {
		return err
	}
	options := plugincel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, v := range p.Variables {
		accessor := &validating.Variable{Name: v.Name, Expression: v.Expression}
		if r := compiler.CompileAndStoreVariable(accessor, options, environment.NewExpressions); r.Error != nil {
			return r.Error
		}
	}
	for i := range p.MatchConditions {
		c := (*matchconditions.MatchCondition)(&p.MatchConditions[i])
		if r := plugincel.NewCompiler(base).CompileCELExpression(c, options, environment.NewExpressions); r.Error != nil {
			return r.Error
		}
	}
	options.HasPatchTypes = true
	for _, m := range p.Mutations {
		var accessor plugincel.ExpressionAccessor
		if m.JSONPatch != nil {
			accessor = &patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}
		} else {
			accessor = &patch.ApplyConfigurationCondition{Expression: m.ApplyConfiguration.Expression}
		}
		if r := compiler.CompileCELExpression(accessor, options, environment.NewExpressions); r.Error != nil {
			return r.Error
		}
	}
	return nil
}

var _ *cel.Env
