// Package binding says which PodFailurePolicies are in force for a Job, and makes the
// Job's Program of them. It does no I/O and knows no cluster.
//
//	set := binding.NewSet(policies, bindings)
//	selection := set.For(ctx, job, namespaceLabels)
//	effect := selection.Effect(binding.Manager(job), own)
//	verdict := effect.Acting.Judge(ctx, runtime.Input{Pod: pod, Job: job, Attempt: 1})
//
// A policy is in force for a Job when a PodFailurePolicyBinding names it, both of the
// binding's selectors select the Job, and all match conditions of the policy are true
// of the Job. A match condition that cannot be evaluated is a problem of the Selection.
// What it means, the policy's failurePolicy says, as in ValidatingAdmissionPolicy: with
// Ignore, the policy is not in force, as if the condition were false; with Fail, it is in
// force as if all conditions were true, and each of its rules has that error. A failed
// pod then counts, no rule after them is asked, and a pending pod is left alone. A
// condition that is false keeps the policy away in both cases.
//
// # Order
//
// There is one ordered list of rules: of policies bound Before, of the Job's own
// podFailurePolicy, and of policies bound After. Policies of the same position stand
// in the order of the names of their bindings, so that whoever names the bindings
// decides, and a list never changes by itself. A policy that several bindings bind to
// the same Job is there once: by the first one that enforces it, else by the first
// one.
//
// # Effect
//
// Who runs a Job decides which of these rules take effect. Kubernetes' own Job controller,
// and any other but podverdict's, knows the Job's own podFailurePolicy and nothing else.
// Podverdict's also carries out the policies that enforce. Everything that a policy says
// without the power to act is a Would, with the reason: the Job's manager, a binding in
// mode Audit, or pending pods that are ignored. A pod that does not start is deleted in
// Jobs of every manager, because a deletion needs nobody's consent; only the action of the
// rule needs podverdict's controller.
//
// The restartPolicy of the Job decides nothing here. With OnFailure the kubelet restarts
// containers, and pods fail in other ways (evictions, deadlines); the verdicts on those
// take effect as in any Job.
package binding
