package binding_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

func TestManager(t *testing.T) {
	for managedBy, want := range map[string]string{
		"": batchv1.JobControllerName, batchv1.JobControllerName: batchv1.JobControllerName,
		v1alpha1.JobController: v1alpha1.JobController, "example.com/queue": "example.com/queue",
	} {
		job := &batchv1.Job{}
		if managedBy != "" {
			job.Spec.ManagedBy = &managedBy
		}
		if got := binding.Manager(job); got != want {
			t.Errorf("managedBy %q: %s", managedBy, got)
		}
	}
}

// TestEffect checks that a policy's verdict takes effect depending on the manager and the binding's mode, and that the reason is
// given if it does not.
func TestEffect(t *testing.T) {
	const (
		native, ours, other = batchv1.JobControllerName, v1alpha1.JobController, "example.com/queue"
		told                = "example.com/carries-out"
		byNative            = "the Job is run by " + native
		byOther             = "the Job is run by " + other
		audits              = "the binding has mode Audit"
	)
	for name, c := range map[string]struct {
		manager string
		modes   string // modes of the policies a and b, which match the pod in this order
		want    string // name of the policy that decides, or "" for none
		would   []string
		idle    []string
	}{
		"native, enforced":          {native, "E-", "", []string{"a: " + byNative}, []string{"a: " + byNative}},
		"native, audited":           {native, "A-", "", []string{"a: " + audits + ", and " + byNative}, []string{"a: " + audits + ", and " + byNative}},
		"native, none":              {native, "--", "", nil, nil},
		"other, enforced":           {other, "E-", "", []string{"a: " + byOther}, []string{"a: " + byOther}},
		"ours, enforced":            {ours, "E-", "a", nil, nil},
		"told, enforced":            {told, "E-", "a", nil, nil},
		"told, audited":             {told, "A-", "", []string{"a: " + audits}, []string{"a: " + audits}},
		"ours, audited":             {ours, "A-", "", []string{"a: " + audits}, []string{"a: " + audits}},
		"ours, first audited":       {ours, "AE", "b", []string{"a: " + audits}, []string{"a: " + audits}},
		"ours, second audited":      {ours, "EA", "a", nil, []string{"b: " + audits}},
		"native, first audited":     {native, "AE", "", []string{"b: " + byNative, "a: " + audits + ", and " + byNative}, []string{"a: " + audits + ", and " + byNative, "b: " + byNative}},
		"native, both are enforced": {native, "EE", "", []string{"a: " + byNative}, []string{"a: " + byNative, "b: " + byNative}},
	} {
		effect := selectionOf(t, c.modes).Effect(&runtime.Program{}, c.manager == ours || c.manager == told, c.manager)
		in := runtime.Input{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "ab"}, Status: corev1.PodStatus{Phase: corev1.PodFailed}}}
		verdict := effect.Acting.Judge(t.Context(), in)
		if verdict.Policy != c.want || effect.Manager != c.manager {
			t.Errorf("%s: by %q, run by %s", name, verdict.Policy, effect.Manager)
		}
		beside := effect.Beside(t.Context(), in, verdict)
		var would, idle []string
		for _, w := range beside.Would {
			would = append(would, w.Policy+": "+w.NotCarriedOut)
		}
		for _, i := range effect.Idle() {
			idle = append(idle, i.Policy+": "+i.NotCarriedOut)
		}
		if diff := cmp.Diff(c.would, would) + cmp.Diff(c.idle, idle); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if c.modes[0] == 'A' != (beside.Audit != nil) || beside.Living != nil {
			t.Errorf("%s: %+v", name, beside)
		}
	}
}

// selectionOf binds the policies a and b with the given modes: E enforces, A audits, and - means no binding.
func selectionOf(t *testing.T, modes string) binding.Selection {
	t.Helper()
	var bindings []*v1alpha1.PodFailurePolicyBinding
	for i, name := range []string{"a", "b"} {
		switch modes[i] {
		case 'E':
			bindings = append(bindings, bindingOf(name, name))
		case 'A':
			bindings = append(bindings, bindingOf(name, name, audit))
		}
	}
	set, err := binding.NewSet(byName(policy(t, "a"), policy(t, "b")), bindings)
	if err != nil {
		t.Fatal(err)
	}
	return set.For(t.Context(), &batchv1.Job{}, nil)
}

// TestEffectOnPending checks that a pod that does not start is deleted in Jobs of every manager, and that the rule's action needs
// podverdict's controller.
func TestEffectOnPending(t *testing.T) {
	for name, c := range map[string]struct {
		manager string
		binding []func(*v1alpha1.PodFailurePolicyBindingSpec)
		deleted bool
		would   string
	}{
		"ours":         {v1alpha1.JobController, specs(deletes), true, ""},
		"native":       {batchv1.JobControllerName, specs(deletes), true, "would: FailJob by pending of policy a; nobody carries it out: the Job is run by kubernetes.io/job-controller"},
		"ours, report": {v1alpha1.JobController, nil, false, "would: FailJob by pending of policy a; nobody carries it out: livingPods of the binding lacks Pending"},
		"ours, audit":  {v1alpha1.JobController, specs(deletes, audit), false, "would: FailJob by pending of policy a; nobody carries it out: the binding has mode Audit"},
	} {
		set, err := binding.NewSet(byName(policy(t, "a")), []*v1alpha1.PodFailurePolicyBinding{bindingOf("1", "a", c.binding...)})
		if err != nil {
			t.Fatal(err)
		}
		in := runtime.Input{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}}
		beside := set.For(t.Context(), &batchv1.Job{}, nil).Effect(nil, c.manager == v1alpha1.JobController, c.manager).Beside(t.Context(), in, runtime.NotTerminal(in.Pod))
		would := ""
		for _, w := range beside.Would {
			would += w.String()
		}
		if beside.Living == nil || beside.Ended != c.deleted || would != c.would {
			t.Errorf("%s: %+v, %s", name, beside, would)
		}
	}
}

func specs(change ...func(*v1alpha1.PodFailurePolicyBindingSpec)) []func(*v1alpha1.PodFailurePolicyBindingSpec) {
	return change
}
