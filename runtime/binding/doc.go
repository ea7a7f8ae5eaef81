// Package binding says which PodFailurePolicies are in force for a Job, and makes the
// Job's Program of them. It does no I/O and knows no cluster.
//
//	set := binding.NewSet(policies, bindings)
//	selection := set.For(ctx, job, namespaceLabels)
//	program := selection.Enforced(own)
//	verdict := program.Judge(ctx, custom.Input{Pod: pod, Job: job, Attempt: 1})
//
// A policy is in force for a Job when a PodFailurePolicyBinding names it, both of the
// binding's selectors select the Job, and all match conditions of the policy are true
// of the Job. A match condition that cannot be evaluated keeps the policy away, and is
// a problem of the Selection.
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
