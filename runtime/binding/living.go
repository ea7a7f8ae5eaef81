package binding

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// LivingVerdict is the verdict of a rule on a living pod.
type LivingVerdict struct {
	runtime.Verdict

	// Policy and Binding belong to the rule that matches, or whose error ended the search. They are nil if there is none; the
	// verdict's error is then the error of a rule that was ignored.
	Policy  *runtime.Policy
	Binding *v1alpha1.PodFailurePolicyBinding
}

// Ends reports whether the binding ends the pod because of the verdict, provided that it enforces the policy.
func (v LivingVerdict) Ends(pod *corev1.Pod) bool {
	return v.Binding != nil && v.Matched && v.Binding.Spec.Ends(v1alpha1.PhaseOf(pod))
}

// Spares returns the reason why a pod that the rule matches is only reported, or an empty string if it must be ended. With
// audited, a binding in mode Audit counts as enforced.
func (v LivingVerdict) Spares(in runtime.Input, audited bool) string {
	if v.Binding != nil && audited {
		enforced := *v.Binding
		enforced.Spec.Mode = v1alpha1.ModeEnforce
		v.Binding = &enforced
	}
	return v.spares(in)
}

// Living returns the verdict of the first rule that matches a living pod and whose binding ends the pod. If there is none, it
// returns the verdict of the first rule that matches, which is only reported. With audited, bindings in mode Audit count as
// enforced.
func (s Selection) Living(ctx context.Context, in runtime.Input, audited bool) LivingVerdict {
	v := s.ending(ctx, in, audited)
	if v.Binding != nil {
		return v
	}
	return s.living(ctx, in, func(*v1alpha1.PodFailurePolicyBinding) bool { return true })
}

// ending is like Living, but considers only bindings that end pods.
func (s Selection) ending(ctx context.Context, in runtime.Input, audited bool) LivingVerdict {
	phase := v1alpha1.PhaseOf(in.Pod)
	return s.living(ctx, in, func(b *v1alpha1.PodFailurePolicyBinding) bool {
		return b.Spec.Ends(phase) && (audited || b.Spec.Mode != v1alpha1.ModeAudit)
	})
}

// HasRulesOn reports whether there is a rule on one of the phases.
func (s Selection) HasRulesOn(phases ...corev1.PodPhase) bool {
	for policy := range s.All() {
		if slices.ContainsFunc(policy.Rules, func(r v1alpha1.Rule) bool { return slices.Contains(phases, r.Phase) }) {
			return true
		}
	}
	return false
}

// Due returns the first time after now at which DecideLiving may return a different result for an unchanged pod. It is zero
// if there is none. If polled is true, the result may change at any time.
func (s Selection) Due(pod *corev1.Pod, now time.Time) (next time.Time, polled bool) {
	for policy := range s.All() {
		at, always := policy.Due(pod, now)
		next, polled = runtime.Earliest(next, at), polled || always
	}
	if v1alpha1.PhaseOf(pod) == v1alpha1.PhaseTerminating && pod.DeletionTimestamp.After(now) {
		next = runtime.Earliest(next, pod.DeletionTimestamp.Time) // not ended before then
	}
	return next, polled
}

func (s Selection) living(ctx context.Context, in runtime.Input, counts func(*v1alpha1.PodFailurePolicyBinding) bool) LivingVerdict {
	var ignored error
	for policy, bound := range s.All() {
		if !counts(bound) {
			continue
		}
		v, decided := policy.Living(ctx, in)
		if decided && v.Err == nil {
			v.Err = ignored
		}
		if decided {
			return LivingVerdict{v, policy, bound}
		}
		if ignored == nil {
			ignored = v.Err
		}
	}
	v := runtime.NotTerminal(in.Pod)
	v.Err = ignored
	return LivingVerdict{Verdict: v}
}
