package apiserver

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

func TestCheckMutation(t *testing.T) {
	for name, test := range map[string]struct {
		mutation admissionregistrationv1.Mutation
		want     string // empty if nothing is wrong
	}{
		"right configuration": {applying("Object{spec: Object.spec{backoffLimit: variables.limit}}"), ""},
		"right patch":         {patching(`[JSONPatch{op: "add", path: "/spec/backoffLimit", value: variables.limit}]`), ""},
		"field of the object": {
			applying("Object{spec: Object.spec{backoffLimit: object.spec.bakoffLimit}}"),
			`spec.mutations[0].applyConfiguration.expression:1:51: undefined field 'bakoffLimit'`,
		},
		"type of the configuration": {
			applying("object"), "spec.mutations[0].applyConfiguration.expression: must evaluate to Object but got dyn",
		},
		"variable": {
			patching(`variables.limt > 1 ? [] : []`), `spec.mutations[0].jsonPatch.expression:1:10: undefined field 'limt', did you mean "limit"?`,
		},
		"type of the patch": {patching("[object]"), "spec.mutations[0].jsonPatch.expression: must evaluate to"},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckMutation(mutatingPolicy(test.mutation), mustKind(t, kind.Job), "1.36")
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// What the two kinds of policies have in common is checked in both.
func TestCheckMutationOfTheRest(t *testing.T) {
	policy := mutatingPolicy(applying("Object{}"))
	policy.Spec.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "mine", Expression: "object.spec.parallelsm > 1"}}
	err := CheckMutation(policy, mustKind(t, kind.Job), "1.36")
	if want := "spec.matchConditions[0].expression:1:12: undefined field 'parallelsm'"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestCheckMutationOfVersions(t *testing.T) {
	policy := mutatingPolicy(applying("Object{}"))
	if err := CheckMutation(policy, mustKind(t, kind.Job), ""); err != nil {
		t.Errorf("the default version: %v", err)
	}
	err := CheckMutation(policy, mustKind(t, kind.Job), "1.31")
	if want := "kubernetes 1.31 has no MutatingAdmissionPolicy: it came with 1.32"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func mutatingPolicy(m admissionregistrationv1.Mutation) *admissionregistrationv1.MutatingAdmissionPolicy {
	fail := admissionregistrationv1.Fail
	return &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "limits"},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{"batch"}, APIVersions: []string{"v1"}, Resources: []string{"jobs"}},
				},
			}}},
			Variables: []admissionregistrationv1.Variable{{Name: "limit", Expression: "3"}},
			Mutations: []admissionregistrationv1.Mutation{m},
		},
	}
}

func applying(expression string) admissionregistrationv1.Mutation {
	return admissionregistrationv1.Mutation{
		PatchType:          admissionregistrationv1.PatchTypeApplyConfiguration,
		ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: expression},
	}
}

func patching(expression string) admissionregistrationv1.Mutation {
	return admissionregistrationv1.Mutation{
		PatchType: admissionregistrationv1.PatchTypeJSONPatch,
		JSONPatch: &admissionregistrationv1.JSONPatch{Expression: expression},
	}
}
