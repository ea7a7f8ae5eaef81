package binding

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// Pending returns the verdict on a pod in phase Pending, if a rule on Pending matches it:
// of the first such rule, Before before After. The binding says what becomes of the
// pod. A verdict without a match may have the error of a rule: with a binding, it has
// ended the search, without one, it was ignored.
func (s Selection) Pending(ctx context.Context, in runtime.Input) (runtime.Verdict, *v1alpha1.PodFailurePolicyBinding) {
	return s.pending(ctx, in, func(*v1alpha1.PodFailurePolicyBinding) bool { return true })
}

// Ends reports whether there are rules because of which a pod in phase Pending may have to
// be deleted, if only for an audit.
func (s Selection) Ends() bool {
	for policy, bound := range s.All() {
		onPending := func(r v1alpha1.Rule) bool { return r.Phase == corev1.PodPending }
		if deletes(bound) && slices.ContainsFunc(policy.Rules, onPending) {
			return true
		}
	}
	return false
}

// EndedPending does what Pending does, for those bindings only that are enforced and say Delete. The
// pod is to be deleted when a rule matches: no other policy keeps it from that.
func (s Selection) EndedPending(ctx context.Context, in runtime.Input) (runtime.Verdict, *v1alpha1.PodFailurePolicyBinding) {
	return s.pending(ctx, in, func(b *v1alpha1.PodFailurePolicyBinding) bool {
		return deletes(b) && b.Spec.Mode != v1alpha1.ModeAudit
	})
}

// AuditedPending does what EndedPending does, as if all policies were enforced.
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
