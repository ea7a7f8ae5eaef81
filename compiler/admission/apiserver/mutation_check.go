package apiserver

import (
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

// MutationAPIOf returns the MutatingAdmissionPolicy API that API servers of a Kubernetes version serve. It returns an error
// for a version that does not serve it.
func MutationAPIOf(kubernetes string) (kubeversion.MutationAPI, error) {
	v, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return kubeversion.MutationAPI{}, err
	}
	api, found := kubeversion.MutationAPIOf(v)
	if !found {
		err = fmt.Errorf("kubernetes %s has no MutatingAdmissionPolicy: it came with %s", v.String(), kubeversion.MutatingPolicyAlpha)
	}
	return api, err
}

// CheckMutation is Check for a MutatingAdmissionPolicy of one kind.
func CheckMutation(policy *admissionregistrationv1.MutatingAdmissionPolicy, k kind.Kind, kubernetes string) error {
	v, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return err
	}
	var problems []Problem
	err = Check(withoutMutations(policy), k, kubernetes)
	if refused, ok := errors.AsType[*CheckError](err); ok {
		problems = refused.Problems
	} else if err != nil {
		return err
	}
	found, err := mutationProblems(policy, v)
	if err != nil {
		return err
	}
	return newCheckError(append(problems, found...))
}

// mutationProblems returns the problems that the API server finds in the mutations. The server does not check the object's
// types there.
func mutationProblems(policy *admissionregistrationv1.MutatingAdmissionPolicy, kubernetes *version.Version) ([]Problem, error) {
	composited, err := plugincel.NewCompositedCompiler(newEnvironment(kubernetes))
	if err != nil {
		return nil, err
	}
	x := expressionsOf(withoutMutations(policy))
	for _, v := range x.variables {
		composited.CompileAndStoreVariable(v, everything, environment.NewExpressions)
	}
	options := everything
	options.HasPatchTypes = true
	var problems []Problem
	for i, m := range policy.Spec.Mutations {
		var e expression
		if m.PatchType == admissionregistrationv1.PatchTypeJSONPatch {
			e = expression{field: at("mutations[%d].jsonPatch.expression", i), text: m.JSONPatch.Expression, types: jsonPatch}
		} else {
			e = expression{field: at("mutations[%d].applyConfiguration.expression", i), text: m.ApplyConfiguration.Expression, types: applied}
		}
		if r := composited.CompileCELExpression(&e, options, environment.NewExpressions); r.Error != nil {
			problems = append(problems, problemsOf(e.field, e.text, r.Error)...)
		}
	}
	return problems, nil
}

// withoutMutations returns a validating policy with the fields that both kinds of policies share.
func withoutMutations(p *admissionregistrationv1.MutatingAdmissionPolicy) *admissionregistrationv1.ValidatingAdmissionPolicy {
	return &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: p.ObjectMeta,
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: p.Spec.MatchConstraints, MatchConditions: p.Spec.MatchConditions, Variables: p.Spec.Variables,
			Validations: []admissionregistrationv1.Validation{{Expression: "true"}},
		},
	}
}
