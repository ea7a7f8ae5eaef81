package controller

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// setOf compiles policies, each bound by a binding of the same name.
func setOf(t testing.TB, policies ...boundPolicy) *binding.Set {
	t.Helper()
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	compiled := map[string]*runtime.Policy{}
	var bindings []*v1alpha1.PodFailurePolicyBinding
	for _, p := range policies {
		object := &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: p.name}, Spec: v1alpha1.PodFailurePolicySpec{Rules: p.rules}}
		object.SetDefaults()
		if compiled[p.name], err = runtime.NewCustomPolicy(environment, object); err != nil {
			t.Fatal(err)
		}
		b := &v1alpha1.PodFailurePolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: p.name}, Spec: v1alpha1.PodFailurePolicyBindingSpec{
			PolicyName: p.name, PendingPods: v1alpha1.PendingPodsDelete,
		}}
		if p.change != nil {
			p.change(&b.Spec)
		}
		b.SetDefaults()
		bindings = append(bindings, b)
	}
	set, err := binding.NewSet(compiled, bindings)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// boundPolicy is a policy and what its binding says, which is to delete pods unless change says otherwise.
type boundPolicy struct {
	name   string
	change func(*v1alpha1.PodFailurePolicyBindingSpec)
	rules  []v1alpha1.Rule
}
