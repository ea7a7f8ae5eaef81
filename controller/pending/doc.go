// Package pending ends pods that do not start: where a binding says so, a pod in phase Pending that a rule on Pending matches is
// given a condition that says why, and then it is deleted. It does not decide what that means for the Job. That is decided when
// the pod has ended: by runtime.Program, which reads the rule from the condition, or by the podFailurePolicy of a Job that others
// run.
//
// Such rules are about time, so all pods that wait are looked at now and then, oldest first, and nothing wakes the loop in
// between. Each call is bound to the state of the pod that was looked at. A pod that changes meanwhile, because it starts, is
// not deleted, and is looked at again; it loses the condition if it runs. After a crash between the two calls the next look
// goes on where the last one ended. So nothing needs to be remembered but which events were written.
package pending
