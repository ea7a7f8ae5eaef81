package admission

import (
	"context"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
)

// Estimate returns the cost of the policy for the most expensive of the Jobs that Largest returns, in the API server's cost
// units. Each Job is evaluated as the only one in an object of the target's kind, and match conditions are ignored. An object
// with several Jobs costs that much for each Job.
func (p Policy) Estimate(ctx context.Context, t Target) (uint64, error) {
	meter, err := apiserver.NewMeter(p.Definition)
	if err != nil {
		return 0, err
	}
	var most uint64
	for _, spec := range Largest() {
		object := &unstructured.Unstructured{Object: t.object(spec)}
		request := apiserver.Review{Kind: t.Kind, Operation: admission.Create, Object: object}
		if updates(p.Definition) {
			request.Operation, request.OldObject = admission.Update, object
		}
		cost, err := meter.Cost(ctx, request)
		if err != nil {
			return 0, err
		}
		most = max(most, cost)
	}
	return most, nil
}

// updates reports whether a policy matches updates. They cost more than creations because they have two objects.
func updates(policy *admissionregistrationv1.ValidatingAdmissionPolicy) bool {
	return slices.ContainsFunc(policy.Spec.MatchConstraints.ResourceRules, func(r admissionregistrationv1.NamedRuleWithOperations) bool {
		return slices.Contains(r.Operations, admissionregistrationv1.Update)
	})
}

// object returns an object of the target's kind with one Job spec.
func (t Target) object(spec map[string]any) map[string]any {
	object := t.At.Object(spec)
	object["apiVersion"], object["kind"] = t.Kind.GroupVersion().String(), t.Kind.Kind
	object["metadata"] = map[string]any{"name": "largest", "namespace": "default"}
	return object
}
