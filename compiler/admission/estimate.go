package admission

import (
	"context"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
)

// Estimate is the cost of a policy for the largest legal Jobs, in the API server's units.
type Estimate struct {
	// Policy is the cost of validations and messages together, for the most costly of these Jobs. Expression is the cost
	// of the most costly expression.
	Policy, Expression uint64
}

// Estimate measures the policy on Largest, each alone in an object of the target's kind and whatever the match
// conditions say of it. An object with several Jobs costs that for each.
func (p Policy) Estimate(ctx context.Context, t Target) (Estimate, error) {
	meter, err := apiserver.NewMeter(p.Definition)
	if err != nil {
		return Estimate{}, err
	}
	var most Estimate
	for _, spec := range Largest() {
		object := &unstructured.Unstructured{Object: t.object(spec)}
		request := apiserver.Review{Kind: t.Kind, Operation: admission.Create, Object: object}
		if updates(p.Definition) {
			request.Operation, request.OldObject = admission.Update, object
		}
		cost, err := meter.Cost(ctx, request)
		if err != nil {
			return Estimate{}, err
		}
		most.Policy = max(most.Policy, cost.Used)
		for _, charge := range cost.Charges {
			most.Expression = max(most.Expression, charge.Used)
		}
	}
	return most, nil
}

// updates reports whether a policy looks at updates, which cost more than creations: there are two objects.
func updates(policy *admissionregistrationv1.ValidatingAdmissionPolicy) bool {
	return slices.ContainsFunc(policy.Spec.MatchConstraints.ResourceRules, func(r admissionregistrationv1.NamedRuleWithOperations) bool {
		return slices.Contains(r.Operations, admissionregistrationv1.Update)
	})
}

// object returns an object of the target's kind with the spec of one Job.
func (t Target) object(spec map[string]any) map[string]any {
	object := t.At.Object(spec)
	object["apiVersion"], object["kind"] = t.Kind.GroupVersion().String(), t.Kind.Kind
	object["metadata"] = map[string]any{"name": "largest", "namespace": "default"}
	return object
}
