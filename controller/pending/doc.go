// Package pending ends pods that do not start. Where a binding asks for it and a rule on Pending matches a pod in phase
// Pending, the pod gets a condition that says why, and is then deleted. What this means for the Job is decided elsewhere when
// the pod has ended: by runtime.Program, which reads the rule from the condition, or by the podFailurePolicy of a Job that
// another controller runs.
//
// The rules depend on time, so the loop evaluates all waiting pods periodically, oldest first; nothing wakes it in between.
// Each call is conditional on the pod being unchanged. A pod that changes meanwhile, because it starts, is not deleted but
// evaluated again; once it runs, it loses the condition. After a crash between the two calls, the next pass continues where
// the last one ended. So the loop only has to remember which events were written.
package pending
