// Package binding says which PodFailurePolicies are in force for a Job, and makes the
// Job's Program of them. It does no I/O and knows no cluster.
//
//	set := binding.NewSet(policies, bindings)
//	selection := set.For(ctx, job, namespaceLabels)
//	program := selection.Enforced(own)
//	verdict := program.Judge(ctx, runtime.Input{Pod: pod, Job: job, Attempt: 1})
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
package binding
