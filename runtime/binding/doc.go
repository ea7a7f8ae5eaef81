// Package binding decides which PodFailurePolicies are in force for a Job, and combines them into the Job's Program. It does
// no I/O.
//
//	set := binding.NewSet(policies, bindings)
//	selection := set.For(ctx, job, namespaceLabels)
//	effect := selection.EffectIn(job, own)
//	verdict := effect.Acting.Judge(ctx, runtime.Input{Pod: pod, Job: job, Attempt: 1})
//
// A policy is in force for a Job if a PodFailurePolicyBinding names it, both of the binding's selectors select the Job, and
// all match conditions of the policy are true of the Job. A match condition with an error is a problem of the Selection. The
// policy's failurePolicy says what it means, as in ValidatingAdmissionPolicy: with Ignore, the policy is not in force, as if
// the condition were false; with Fail, it is in force as if all conditions were true, and each of its rules has that error. A
// failed pod then counts, no later rule is evaluated, and a pending pod is left alone. If a condition is false, the policy is
// not in force in either case.
//
// # Order
//
// There is one ordered list of rules: those of policies bound Before, those of the Job's own podFailurePolicy, and those of
// policies bound After. Policies of the same position are ordered by the names of their bindings, so that whoever names the
// bindings decides, and the order never changes by itself. If several bindings bind a policy to the same Job, the first one
// that enforces it counts, else the first one.
//
// # Effect
//
// Who runs a Job decides which of these rules take effect. All controllers but podverdict's know only the Job's own
// podFailurePolicy. Podverdict's also carries out the enforced policies, as may a program that calls Effect and says so. A verdict that does not take effect is a
// Would, with the reason: the Job's manager, a binding in mode Audit, or a binding that ignores pending pods. A pod that does
// not start is deleted in Jobs of every manager, because that does not depend on the Job's controller; only the action of the
// rule does.
//
// The restartPolicy of the Job does not matter here. With OnFailure the kubelet restarts containers, and pods fail in other
// ways (evictions, deadlines); the verdicts on these take effect as in any Job.
package binding
