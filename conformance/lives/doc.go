// Package lives holds what a Job controller must make of Jobs: a life is a Job, what happens to it and to its pods, and
// what must be there in between. [Stage.Play] lives it on a control plane, as the kubelet and as the user, and holds
// whatever controller runs the Job to it: the Job controller of kube-controller-manager, for which the lives were recorded,
// or one that spec.managedBy names (KEP-4368).
//
//	stage := lives.Stage{Client: client, Namespace: "empty", Node: "ready", Patience: time.Minute, Quiet: 2 * time.Second}
//	for _, life := range all {
//		err := stage.Play(ctx, life)
//	}
//
// # A life
//
// One file, one reason: scenarios/<topic>/<reason>.txtar. It opens with a sentence that says what must be true, then the
// headers, then the Job, the steps, and a section for each checkpoint:
//
//	A pod that exits with a listed code fails the Job.
//	#kep: KEP-3329 Story 2
//	#semantics: E.73
//	#upstream: test/e2e/apps/job.go: should allow to use the pod failure policy on exit code to fail the job early
//	-- job.yaml --
//	spec:
//	  parallelism: 2
//	  podFailurePolicy:
//	    rules:
//	    - action: FailJob
//	      onExitCodes: {operator: In, values: [42]}
//	-- steps.yaml --
//	- start: {pods: [0, 1]}
//	- exit: {pods: [0], code: 42}
//	- await: FailureTarget
//	- settle: {name: stopping}
//	- stop: {pods: [1]}
//	- await: Failed
//	- settle: {name: end}
//	-- stopping.yaml --
//	status:
//	  conditions:
//	  - {type: FailureTarget, status: "True", reason: PodFailurePolicy, message: 'Container main for pod {0} failed with exit code 42 matching FailJob rule at index 0'}
//	  started: true
//	  ready: 0
//	  terminating: 1
//	  failed: 2
//	pods: {"0": Failed, "1": 'Running, terminating'}
//	-- end.yaml --
//	...
//
// At least one of the headers #kep, #semantics and #upstream says who asks for it. The Job's name, its container main and
// restartPolicy Never need not be said. A [Step] waits for the pods that it is about. They are picked by index and attempt,
// 2/1 being the second pod of index 2, or, in a Job without indexes, by the order of their creation. [Load] refuses what it
// does not know: a life that is read wrongly would pass for the wrong reason.
//
// # Settled
//
// A checkpoint is compared when nothing changes any more: what a controller does on its way is its own business. The whole
// status is compared, but for times, and the names in its messages become {2/1}; and so are the states of all pods that
// there ever were, so that one too many is a difference. What is held by a finalizer is compared when the Job has ended.
// A pod that was created after its Job was deleted is left out: no controller knows at once that the Job is gone.
//
// Pods have ended an hour ago unless a step says now, so that no back-off delays what follows. The lives of the topic
// back-off are about the delay and take their twenty seconds.
//
// # A difference on purpose
//
// A controller that does something else on purpose says so in the life: the header #differs names it, as spec.managedBy
// does, and says what it does instead, and a section <checkpoint>.differs.yaml has what is there then. What
// kube-controller-manager of older releases does instead is said in the same way: "#before: 1.36: why", and sections
// <checkpoint>.before.yaml.
//
// # Adding a life
//
// Write the file down to the steps. Take care that its outcome does not depend on who is faster: pods that a single step
// ends may be seen together or one after the other, and pods that are alike, in a Job without indexes, are created and
// deleted in any order. Then record the checkpoints from kube-controller-manager:
//
//	go test -tags cluster ./conformance/cluster/life -run 'TestLives/kube-controller-manager/topic/reason$' -update
//
// Read what was written, and why it is right: the headers must bear it out. Then play it with all controllers, some ten
// times:
//
//	go test -tags cluster ./conformance/cluster/life -run 'TestLives/.*/topic/reason$' -count 10
package lives
