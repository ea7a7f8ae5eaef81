// Package living ends living pods: where a binding requests it and a rule on the phase of a pod matches, the pod gets a condition
// that states the reason, and is then deleted. A pod that is already terminating on a lost node becomes Failed instead, as the
// kubelet would have set it, and is removed by force if it still exists a while later. The effect on the Job is decided elsewhere
// when the pod has ended: by runtime.Program, which reads the rule from the condition, or by the podFailurePolicy of a Job run by
// another controller.
//
// The loop evaluates a pod when the pod changes, when its Job, its node or the policies in effect change in a relevant way, and
// when it is due: for rules that compare an age of the pod with a constant, the time at which their result can change is known.
// Only rules that use the time in other ways are evaluated periodically. The cost of a pass depends only on the pods that it
// evaluates.
//
// Each call requires that the pod is unchanged. A pod that has changed is read and evaluated again, a few times, so that a pod
// that starts or becomes ready is not ended. For a running pod, the last calls of a pass only require the same UID, so that a pod
// that changes all the time does not escape. After a crash between two calls, the next pass continues where the last one stopped.
// Thus, the loop only has to remember which events were written.
package living
