package apiserver

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// decidedPolicy returns a policy for Jobs whose spec has the given fields instead of the default
// ones.
func decidedPolicy(t *testing.T, fields string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	t.Helper()
	const text = `metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [batch], apiVersions: [v1], resources: [jobs], operations: [CREATE]}]}
  validations: [{expression: "true"}]`
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	for _, text := range []string{text, "spec: " + fields} {
		if err := yaml.UnmarshalStrict([]byte(text), policy); err != nil {
			t.Fatal(err)
		}
	}
	return policy
}

// TestDeciderRefuses checks that unsupported features are reported with the policy and the field.
func TestDeciderRefuses(t *testing.T) {
	rule := func(text string) string {
		return `{matchConstraints: {resourceRules: [{apiGroups: [batch], apiVersions: [v1], resources: [jobs], operations: [CREATE]` + text + `}]}}`
	}
	for fields, want := range map[string]string{
		`{}`: "",
		`{matchConstraints: {matchPolicy: Equivalent, namespaceSelector: {}, objectSelector: {}}}`: "",
		`{paramKind: {apiVersion: v1, kind: ConfigMap}}`:                                           `p: spec: "paramKind" is not read here`,
		`{matchConstraints: {matchPolicy: Exact}}`:                                                 `p: spec: "matchPolicy":"Exact" is not read here`,
		`{matchConstraints: {excludeResourceRules: [{apiGroups: [batch]}]}}`:                       `p: spec: "excludeResourceRules" is not read here`,
		rule(`, scope: "*"`):              "",
		rule(`, scope: Cluster`):          `p: spec: "scope":"Cluster" is not read here`,
		rule(`, resourceNames: [a]`):      `p: spec: "resourceNames" is not read here`,
		rule(`}, {apiGroups: ["*"]`):      `p: spec: "*" is not read here`,
		rule(`}, {apiVersions: ["*"]`):    `p: spec: "*" is not read here`,
		rule(`}, {resources: ["jobs/*"]`): `p: spec: "jobs/*" is not read here`,
		rule(`}, {operations: ["*"]`):     `p: spec: "*" is not read here`,
		`{matchConditions: [{name: a, expression: 'request.userInfo.groups.exists(g, g == "a")'}]}`:             "p: spec.matchConditions[0].expression: request.userInfo is not known here: nobody sends a request",
		`{matchConditions: [{name: a, expression: 'authorizer.group("").resource("a").check("b").allowed()'}]}`: "p: spec.matchConditions[0].expression: authorizer is not known here: nobody sends a request",
		`{variables: [{name: a, expression: 'request.?userInfo.?uid'}]}`:                                        "p: spec.variables[0].expression: request.?userInfo is not known here: nobody sends a request",
		`{validations: [{expression: "none"}, {expression: nobody}]}`: "p: spec.validations[0].expression:1:1: undeclared reference to 'none' (in container '')\n | none\n | ^\n" +
			"p: spec.validations[1].expression:1:1: undeclared reference to 'nobody' (in container '')\n | nobody\n | ^",
	} {
		got := ""
		if _, err := NewDecider(decidedPolicy(t, fields), &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", fields, diff)
		}
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
	binding.Spec.MatchResources = decidedPolicy(t, rule(", resourceNames: [a]")).Spec.MatchConstraints
	_, err := NewDecider(decidedPolicy(t, "{}"), binding)
	if want := `p: spec: "resourceNames" is not read here`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestDeciderOfPolicyWithoutRules checks that the failed validations are reported if no rule
// reports anything.
func TestDeciderOfPolicyWithoutRules(t *testing.T) {
	d, err := NewDecider(decidedPolicy(t, `{validations: [{expression: "true", message: one}, {expression: "false", message: two}, {expression: " 1 > 2 "}]}`),
		&admissionregistrationv1.ValidatingAdmissionPolicyBinding{})
	if err != nil {
		t.Fatal(err)
	}
	review := Review{Kind: MustKind(t, kind.Job), Operation: admission.Create, Object: JobObject(t, `{"name": "a"}`, GoodSpec)}
	failures, err := d.Decide(t.Context(), review)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range failures {
		got = append(got, f.Rule+f.Message)
	}
	if want := "two, failed expression: 1 > 2"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}
