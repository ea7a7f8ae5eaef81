package binding_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

var language = sync.OnceValues(func() (*compiler.Environment, error) { return compiler.NewEnvironment(compiler.DefaultVersion) })

// failer is the common interface of testing.T and rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// policy returns a policy with a rule on failed pods and one on pods that do not start. Both match pods named after
// the policy. The conditions refer to the Job.
func policy(t failer, name string, conditions ...string) *runtime.Policy {
	t.Helper()
	e, err := language()
	if err != nil {
		t.Fatal(err)
	}
	object := &v1alpha1.PodFailurePolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.PodFailurePolicySpec{Rules: []v1alpha1.Rule{
			{Name: "failed", When: "pod.metadata.name.contains('" + name + "')", Action: batchv1.PodFailurePolicyActionIgnore},
			{
				Name: "pending", Phase: corev1.PodPending, When: "pod.metadata.name.contains('" + name + "')",
				Action: batchv1.PodFailurePolicyActionFailJob,
			},
		}},
	}
	for i, c := range conditions {
		object.Spec.MatchConditions = append(object.Spec.MatchConditions, v1alpha1.MatchCondition{
			Name: "c" + strconv.Itoa(i), Expression: c,
		})
	}
	object.SetDefaults()
	compiled, err := runtime.NewCustomPolicy(e, object)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func bindingOf(name, policy string, change ...func(*v1alpha1.PodFailurePolicyBindingSpec)) *v1alpha1.PodFailurePolicyBinding {
	b := &v1alpha1.PodFailurePolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.PodFailurePolicyBindingSpec{PolicyName: policy},
	}
	for _, c := range change {
		c(&b.Spec)
	}
	b.SetDefaults()
	return b
}

func after(s *v1alpha1.PodFailurePolicyBindingSpec) { s.Position = v1alpha1.PositionAfter }
func audit(s *v1alpha1.PodFailurePolicyBindingSpec) { s.Mode = v1alpha1.ModeAudit }

func byName(policies ...*runtime.Policy) map[string]*runtime.Policy {
	named := map[string]*runtime.Policy{}
	for _, p := range policies {
		named[p.Name] = p
	}
	return named
}

// order returns the policies of a program, in the order in which Explain lists them for a pod that no rule matches.
func order(t failer, p *runtime.Program) []string {
	t.Helper()
	if p == nil {
		return nil
	}
	pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}
	e, err := p.Explain(context.Background(), runtime.Input{Pod: pod})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range e.Rules {
		names = append(names, r.Policy)
	}
	return names
}

// TestForIsTheDefinition compares the policies in effect with a straightforward loop over the bindings.
func TestForIsTheDefinition(t *testing.T) {
	policies := []*runtime.Policy{policy(t, "a"), policy(t, "b", "job.metadata.name != 'not-b'"), policy(t, "c")}
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		var bindings []*v1alpha1.PodFailurePolicyBinding
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[m-p][0-9]`), 0, 5, rapid.ID).Draw(t, "bindings") {
			b := bindingOf(name, rapid.SampledFrom([]string{"a", "b", "c", "missing"}).Draw(t, "policy"))
			b.Spec.Position = rapid.SampledFrom([]v1alpha1.Position{v1alpha1.PositionBefore, v1alpha1.PositionAfter}).Draw(t, "position")
			b.Spec.Mode = rapid.SampledFrom([]v1alpha1.Mode{v1alpha1.ModeEnforce, v1alpha1.ModeAudit}).Draw(t, "mode")
			b.Spec.NamespaceSelector = rapid.SampledFrom([]*v1alpha1.LabelSelector{nil, {}, team("x"), team("y")}).Draw(t, "namespaces")
			b.Spec.JobSelector = rapid.SampledFrom([]*v1alpha1.LabelSelector{nil, {}, team("x"), team("y")}).Draw(t, "jobs")
			bindings = append(bindings, b)
		}
		set, err := binding.NewSet(byName(policies...), bindings)
		if err != nil {
			t.Fatal(err)
		}
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
			Name: rapid.SampledFrom([]string{"j", "not-b"}).Draw(t, "job"), Labels: map[string]string{"team": "x"},
		}}
		namespace := labels.Set{"team": rapid.SampledFrom([]string{"x", "y"}).Draw(t, "namespace")}
		got := set.For(t.Context(), job, namespace)
		for mode, program := range map[v1alpha1.Mode]*runtime.Program{
			v1alpha1.ModeEnforce: got.Effect(nil, true, "").Acting, v1alpha1.ModeAudit: got.Effect(nil, false, "").Audited,
		} {
			want := inForce(bindings, job, namespace, mode == v1alpha1.ModeAudit)
			seen[strings.Join(want, "")]++
			if diff := cmp.Diff(want, order(t, program)); diff != "" {
				t.Fatalf("%s: %s", mode, diff)
			}
		}
		if len(got.Problems) > 0 {
			t.Fatal(got.Problems)
		}
		checkMemberships(t, set, got, job, namespace)
	})
	if len(seen) < 5 && !testing.Short() { // with -short there are only 20 draws
		t.Errorf("only %v", seen)
	}
}

// inForce returns the names of the policies in effect, in order.
func inForce(bindings []*v1alpha1.PodFailurePolicyBinding, job *batchv1.Job, namespace labels.Set, audits bool) []string {
	sorted := slices.Clone(bindings)
	slices.SortFunc(sorted, func(a, b *v1alpha1.PodFailurePolicyBinding) int { return strings.Compare(a.Name, b.Name) })
	binds := map[string]*v1alpha1.PodFailurePolicyBinding{}
	for _, b := range sorted {
		fits := func(s *v1alpha1.LabelSelector, l map[string]string) bool {
			return s == nil || len(s.MatchLabels) == 0 || string(s.MatchLabels["team"]) == l["team"]
		}
		p := b.Spec.PolicyName
		switch {
		case p == "missing", p == "b" && job.Name == "not-b", !fits(b.Spec.NamespaceSelector, namespace), !fits(b.Spec.JobSelector, job.Labels):
		case binds[p] == nil, binds[p].Spec.Mode == v1alpha1.ModeAudit && b.Spec.Mode == v1alpha1.ModeEnforce:
			binds[p] = b
		}
	}
	var names []string
	for _, position := range []v1alpha1.Position{v1alpha1.PositionBefore, v1alpha1.PositionAfter} {
		for _, b := range sorted {
			if binds[b.Spec.PolicyName] == b && b.Spec.Position == position && (audits || b.Spec.Mode == v1alpha1.ModeEnforce) {
				names = append(names, b.Spec.PolicyName)
			}
		}
	}
	return names
}

func team(name string) *v1alpha1.LabelSelector {
	return &v1alpha1.LabelSelector{MatchLabels: map[string]v1alpha1.LabelValue{"team": v1alpha1.LabelValue(name)}}
}

// TestBadSelector checks that a selector which the API server would reject is reported, and that the other bindings
// still apply.
func TestBadSelector(t *testing.T) {
	bad := bindingOf("bad", "a", func(s *v1alpha1.PodFailurePolicyBindingSpec) {
		s.JobSelector = &v1alpha1.LabelSelector{MatchExpressions: []v1alpha1.LabelRequirement{{Key: "k", Operator: "Like"}}}
	})
	set, err := binding.NewSet(byName(policy(t, "a"), policy(t, "b")), []*v1alpha1.PodFailurePolicyBinding{bad, bindingOf("good", "b")})
	if err == nil || !strings.HasPrefix(err.Error(), "PodFailurePolicyBinding bad: spec.jobSelector: ") {
		t.Errorf("error %v", err)
	}
	if got := order(t, set.For(t.Context(), &batchv1.Job{}, nil).Effect(nil, true, "").Acting); !slices.Equal(got, []string{"b"}) {
		t.Errorf("in force: %v", got)
	}
}

// TestNothingBound checks that the Job's own program is unchanged, even if it is nil.
func TestNothingBound(t *testing.T) {
	var none *binding.Set
	own := &runtime.Program{}
	for _, s := range []binding.Selection{none.For(t.Context(), &batchv1.Job{}, nil), {}} {
		if s.Effect(own, true, "").Acting != own || s.Effect(nil, true, "").Audited != nil || !s.Empty() || s.Audits() {
			t.Errorf("%+v", s)
		}
	}
}
