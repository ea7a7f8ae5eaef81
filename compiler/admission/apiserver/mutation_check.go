package apiserver

import (
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/mutation"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// CheckMutation holds a MutatingAdmissionPolicy for one kind to what an API server of a Kubernetes minor version holds a
// new one to, and its expressions to the types of the kind besides. What is wrong with the policy is a *CheckError.
func CheckMutation(policy *admissionregistrationv1.MutatingAdmissionPolicy, k kind.Kind, kubernetes string) error {
	_, v, err := mutationAPIOf(kubernetes)
	if err != nil {
		return err
	}
	var problems []Problem
	err = Check(withoutMutations(policy), []kind.Kind{k}, v.String())
	if refused, ok := errors.AsType[*CheckError](err); ok {
		problems = refused.Problems
	} else if err != nil {
		return err
	}
	found, err := mutationProblems(policy, k, v)
	if err != nil {
		return err
	}
	return newCheckError(sorted(distinct(append(problems, found...))))
}

// mutationProblems are those of the mutations. The API server knows nothing of the object, but what a mutation must
// make; the types of the object it does not look at, as it does in policies that validate.
func mutationProblems(policy *admissionregistrationv1.MutatingAdmissionPolicy, k kind.Kind, kubernetes *version.Version) ([]Problem, error) {
	typed, err := newTypedEnvironment(withoutMutations(policy), k, nil)
	if err != nil {
		return nil, err
	}
	env, err := typed.env.Extend(common.ResolverEnvOption(&mutation.DynamicTypeResolver{}), environment.UnversionedLib(library.JSONPatch))
	if err != nil {
		return nil, err
	}
	compiler, err := plugincel.NewCompositedCompiler(newEnvironment(kubernetes))
	if err != nil {
		return nil, err
	}
	options := plugincel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, v := range policy.Spec.Variables {
		compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, options, environment.NewExpressions)
	}
	options.HasPatchTypes = true
	var problems []Problem
	for i, m := range policy.Spec.Mutations {
		a, fieldRef := mutationExpression(m, fmt.Sprintf("spec.mutations[%d]", i))
		if _, issues := env.Compile(a.GetExpression()); issues != nil {
			problems = append(problems, celProblems(fieldRef, a.GetExpression(), issues.Errors())...)
		}
		if r := compiler.CompileCELExpression(a, options, environment.NewExpressions); r.Error != nil {
			problems = append(problems, problemsOf(fieldRef, a.GetExpression(), r.Error)...)
		}
	}
	for i := range problems {
		problems[i].Hint = typed.hint(problems[i])
	}
	return problems, nil
}

// mutationExpression is the expression of a mutation, and its place.
func mutationExpression(m admissionregistrationv1.Mutation, path string) (a plugincel.ExpressionAccessor, fieldRef string) {
	if m.PatchType == admissionregistrationv1.PatchTypeJSONPatch {
		return &patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}, path + ".jsonPatch.expression"
	}
	return &patch.ApplyConfigurationCondition{Expression: m.ApplyConfiguration.Expression}, path + ".applyConfiguration.expression"
}

// withoutMutations is a policy that validates, with all that both kinds of policies have.
func withoutMutations(p *admissionregistrationv1.MutatingAdmissionPolicy) *admissionregistrationv1.ValidatingAdmissionPolicy {
	return &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: p.ObjectMeta,
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: p.Spec.FailurePolicy, MatchConstraints: p.Spec.MatchConstraints,
			MatchConditions: p.Spec.MatchConditions, Variables: p.Spec.Variables,
			Validations: []admissionregistrationv1.Validation{{Expression: "true"}},
		},
	}
}
