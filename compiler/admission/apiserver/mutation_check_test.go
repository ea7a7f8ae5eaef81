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
		mutation string
		want     string // empty for a valid mutation
	}{
		"right":                   {`[JSONPatch{op: "add", path: "/spec/backoffLimit", value: variables.limit}]`, ""},
		"variable":                {`variables.limt > 1 ? [] : []`, `spec.mutations[0].jsonPatch.expression:1:10: undefined field 'limt'`},
		"syntax":                  {`[JSONPatch{]`, "spec.mutations[0].jsonPatch.expression:1:"},
		"type":                    {"[object]", "spec.mutations[0].jsonPatch.expression: must evaluate to"},
		"type of a configuration": {"object", "spec.mutations[0].applyConfiguration.expression: must evaluate to Object but got dyn"},
	} {
		t.Run(name, func(t *testing.T) {
			policy := mutatingPolicy(test.mutation)
			if strings.Contains(test.want, "applyConfiguration") {
				policy.Spec.Mutations[0] = admissionregistrationv1.Mutation{
					PatchType:          admissionregistrationv1.PatchTypeApplyConfiguration,
					ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: test.mutation},
				}
			}
			err := CheckMutation(policy, MustKind(t, kind.Job), "1.37")
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestCheckMutationOfTheRest tests the checks that validating and mutating policies share.
func TestCheckMutationOfTheRest(t *testing.T) {
	policy := mutatingPolicy("[JSONPatch{}]")
	policy.Spec.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "mine", Expression: "object.spec.parallelsm > 1"}}
	err := CheckMutation(policy, MustKind(t, kind.Job), "1.37")
	if want := "spec.matchConditions[0].expression:1:12: undefined field 'parallelsm'"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestMutationAPIOfOldVersions(t *testing.T) {
	_, err := MutationAPIOf("1.31")
	if want := "kubernetes 1.31 has no MutatingAdmissionPolicy: it came with 1.32"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func mutatingPolicy(patch string) *admissionregistrationv1.MutatingAdmissionPolicy {
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
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeJSONPatch, JSONPatch: &admissionregistrationv1.JSONPatch{Expression: patch},
			}},
		},
	}
}
