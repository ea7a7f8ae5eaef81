// Package living ends pods that live: where a binding asks for it and a rule on the phase of a pod matches, the pod gets a
// condition that says why, and is then deleted. A pod that is already terminating on a lost node becomes Failed instead, as
// the kubelet would have made it, and is removed by force if it is still there a while later. What this means for the Job is
// decided elsewhere when the pod has ended: by runtime.Program, which reads the rule from the condition, or by the
// podFailurePolicy of a Job that another controller runs.
//
// The loop looks at a pod when the pod changes, when its Job, its node or the policies in force change in a way that matters,
// and when it is due: rules that compare an age of the pod with a constant say when time alone can change what they say.
// Only rules that use the time in other ways are asked periodically. A pass costs no more than the pods that it looks at.
//
// Each call is conditional on the pod being unchanged. A pod that changes meanwhile is read and decided on again, a few times,
// so that one which starts or becomes ready is left alone. Of a pod that runs, the last calls of a pass only demand that it is the
// same pod, so that one which changes all the time does not escape. After a crash between two calls, the next pass continues
// where the last one ended. So the loop only has to remember which events were written.
package living
