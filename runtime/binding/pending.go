package binding

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// Pending returns the verdict on a pod in phase Pending of the first rule on Pending that matches it, and the binding, which
// says what happens to the pod. If no rule matches, the verdict may have a rule's error: with a binding, the error has ended
// the search; without one, it was ignored.
func (s Selection) Pending(ctx context.Context, in runtime.Input) (runtime.Verdict, *v1alpha1.PodFailurePolicyBinding) {
	return s.pending(ctx, in, func(*v1alpha1.PodFailurePolicyBinding) bool { return true })
}

// Ends reports whether any rule may end a pod in phase Pending, if only for an audit.
func (s Selection) Ends() bool {
	for policy, bound := range s.All() {
		onPending := func(r v1alpha1.Rule) bool { return r.Phase == corev1.PodPending }
		if deletes(bound) && slices.ContainsFunc(policy.Rules, onPending) {
			return true
		}
	}
	return false
}

// EndedPending is like Pending, but uses only enforced bindings with Delete. If a rule matches, the pod is to be deleted,
// whatever other policies say.
func (s Selection) EndedPending(ctx context.Context, in runtime.Input) (runtime.Verdict, *v1alpha1.PodFailurePolicyBinding) {
	return s.pending(ctx, in, func(b *v1alpha1.PodFailurePolicyBinding) bool {
		return deletes(b) && b.Spec.Mode != v1alpha1.ModeAudit
	})
}

// AuditedPending is like EndedPending, as if all policies were enforced.
func (s Selection) AuditedPending(ctx context.Context, in runtime.Input) (runtime.Verdict, *v1alpha1.PodFailurePolicyBinding) {
	return s.pending(ctx, in, deletes)
}

func deletes(b *v1alpha1.PodFailurePolicyBinding) bool {
	return b.Spec.PendingPods == v1alpha1.PendingPodsDelete
}

func (s Selection) pending(
	ctx context.Context, in runtime.Input, counts func(*v1alpha1.PodFailurePolicyBinding) bool,
) (runtime.Verdict, *v1alpha1.PodFailurePolicyBinding) {
	var ignored error
	for policy, bound := range s.All() {
		if !counts(bound) {
			continue
		}
		v, decided := policy.Pending(ctx, in)
		if decided && v.Err == nil {
			v.Err = ignored
		}
		if decided {
			return v, bound
		}
		if ignored == nil {
			ignored = v.Err
		}
	}
	v := runtime.NotTerminal(in.Pod)
	v.Err = ignored
	return v, nil
}
