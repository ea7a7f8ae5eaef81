// Package binding decides which PodFailurePolicies are in effect for a Job, and combines them into the Job's Program. It does no I/O.
//
//	set := binding.NewSet(policies, bindings)
//	selection := set.For(ctx, job, namespaceLabels)
//	effect := selection.EffectIn(job, own)
//	verdict := effect.Acting.Judge(ctx, runtime.Input{Pod: pod, Job: job, Attempt: 1})
//
// A policy is in effect for a Job if a PodFailurePolicyBinding refers to it, both of the binding's selectors match the Job, and all match
// conditions of the policy are true for the Job. A match condition with an error is a problem of the Selection. As in
// ValidatingAdmissionPolicy, the policy's failurePolicy decides how to treat the error. With Ignore, the policy is not in effect, as if the
// condition were false. With Fail, it is in effect as if all conditions were true, and each of its rules has that error: a failed pod then
// counts, no later rule is evaluated, and a pending pod is not touched. If any condition is false, the policy is not in effect in either
// case.
//
// # Order
//
// All rules form one ordered list: the rules of policies bound Before, the rules of the Job's own podFailurePolicy, and the rules of
// policies bound After. Policies with the same position are ordered by the names of their bindings. The author of the bindings therefore
// controls the order, and it never changes by itself. If several bindings bind a policy to the same Job, the first one that enforces the
// policy applies, or else the first one.
//
// # Effect
//
// The controller that runs a Job determines which of these rules take effect. All controllers except podverdict's only know the Job's own
// podFailurePolicy. Podverdict's controller also carries out the enforced policies, as may a program that calls Effect with enforced. A
// verdict that does not take effect is a Would, with the reason: the Job's manager, a binding in mode Audit, or a binding that ignores
// pending pods. A pod that does not start is deleted in Jobs of every manager, because the deletion does not depend on the Job's
// controller; only the action of the rule does.
//
// The restartPolicy of the Job does not matter here. With OnFailure the kubelet restarts containers, and pods fail in other ways
// (evictions, deadlines); the verdicts on these failures take effect as in any Job.
package binding
