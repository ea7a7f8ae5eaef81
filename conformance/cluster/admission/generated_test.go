//go:build cluster

package admission

import (
	"context"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// TestGeneratedPoliciesAreRightForTheAPIServer tests that type checking finds no errors in the policies with all rules,
// for any target.
func TestGeneratedPoliciesAreRightForTheAPIServer(t *testing.T) {
	r := newRegistrar(t)
	guardrails, constraints := everything(t)
	targets := map[string]admission.Target{
		"job":      target(t, builtIn(t)[0], "spec"),
		"cronjob":  target(t, builtIn(t)[1], "spec.jobTemplate.spec"),
		"workflow": target(t, r.workflow(t), "spec.groups[*].template.spec"),
	}
	for name, target := range targets {
		r.awaitTypes(t, target.Kind)
		t.Run(name, func(t *testing.T) {
			o := admission.Options{
				Name: "all-" + name, Target: target,
				Actions: admission.DefaultActions(), Kubernetes: "1.37", Failure: admissionregistrationv1.Fail,
			}
			r.register(t, generated(t, guardrails, o)...)
			r.register(t, generated(t, constraints, o)...)
		})
	}
}

// everything selects all rules, including those that are off by default.
func everything(t *testing.T) (guardrails, constraints *admission.Selection) {
	t.Helper()
	var ids []string
	for _, catalogue := range []func() (*admission.Catalogue, error){admission.Guardrails, admission.Constraints} {
		c, err := catalogue()
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range c.Rules {
			ids = append(ids, rule.ID)
		}
	}
	selections, err := admission.Select(ids, nil)
	if err != nil {
		t.Fatal(err)
	}
	return selections[0], selections[1]
}

func generated(t *testing.T, s *admission.Selection, o admission.Options) []admission.Policy {
	t.Helper()
	all, err := s.Policies(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatalf("no policy for %s", o.Target.Kind.Kind)
	}
	return all
}

// register creates policies, and checks that they cause no errors or warnings.
func (r registrar) register(t *testing.T, policies ...admission.Policy) {
	t.Helper()
	for _, p := range policies {
		applied, err := r.ValidatingAdmissionPolicies().Create(t.Context(), p.Definition, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.ValidatingAdmissionPolicyBindings().Create(t.Context(), p.Binding, metav1.CreateOptions{DryRun: dryRun}); err != nil {
			t.Error(err)
		}
		warnings, err := r.typeChecked(t.Context(), applied.Name)
		if err != nil {
			t.Fatal(err)
		}
		for field, warning := range warnings {
			t.Errorf("%s: %s: %s", applied.Name, field, warning)
		}
	}
}

// builtIn returns the API server's kinds that policies are checked against.
func builtIn(t *testing.T) []kind.Kind {
	t.Helper()
	var all []kind.Kind
	for _, builtIn := range []func() (kind.Kind, error){kind.Job, kind.CronJob} {
		k, err := builtIn()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, k)
	}
	return all
}

// workflow returns a kind that embeds Jobs.
func (r registrar) workflow(t *testing.T) kind.Kind {
	t.Helper()
	definition, embedding := workflowKind(t)
	r.define(t, definition)
	return embedding
}

func (r registrar) define(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	client, err := apiextensions.NewForConfig(r.config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CustomResourceDefinitions().Create(t.Context(), definition, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// awaitTypes waits until type checking knows the type of a kind. Until then it reports nothing.
func (r registrar) awaitTypes(t *testing.T, k kind.Kind) {
	t.Helper()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "await"}}
	rule := admissionregistrationv1.Rule{APIGroups: []string{k.Group}, APIVersions: []string{k.Version}, Resources: []string{k.Resource}}
	policy.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
		RuleWithOperations: admissionregistrationv1.RuleWithOperations{Rule: rule, Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create}},
	}}}
	policy.Spec.Validations = []admissionregistrationv1.Validation{{Expression: "has(object.spec.none)"}}
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		warnings, err := r.warned(ctx, policy)
		return len(warnings) == len(policy.Spec.Validations), err
	})
	if err != nil {
		t.Fatalf("the type checking does not know %s: %v", k.Kind, err)
	}
}
