// Package life has test cases for Job controllers, and runs them on a real control plane with two controllers:
// kube-controller-manager's, and podverdict's, which gets the same Jobs by spec.managedBy (KEP-4368). It has only tests.
//
// A life is a Job, the events that happen to it and to its pods, and the state expected at checkpoints in between.
// [Stage.Play] acts as the kubelet and the user. Both controllers are compared with expected data, not with each other,
// so that a third one can be tested, too. The data was recorded from kube-controller-manager, and is recorded again by
//
//	go test -tags cluster ./conformance/cluster/life -update
//
// which only runs kube-controller-manager, and rewrites the checkpoints at which it differs from the files. Review these
// changes: a person must agree that the new behaviour is right.
//
// A life mostly waits for the delays of the controllers. So many lives run at the same time, each in its own namespace;
// -parallel sets how many.
//
// # A life
//
// Each file scenarios/<topic>/<reason>.txtar tests one requirement. It begins with a sentence that states it, followed by
// the headers, the Job, the steps, and a section for each checkpoint:
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
// At least one of the headers #kep, #semantics and #upstream names the source of the requirement. The Job's name, its
// container main and restartPolicy Never may be omitted. A [Step] waits for its pods. They are identified by index and
// attempt, such as 2/1 for the second pod of index 2 or, in a Job without indexes, by the order of their creation. [Load]
// rejects unknown fields: a misread life could pass for the wrong reason.
//
// # Settled
//
// A checkpoint is compared once the state is stable: the intermediate states of a controller do not matter. The whole
// status is compared except for times, with pod names in messages replaced by references such as {2/1}. The states of all
// pods that ever existed are compared, so that an additional pod is a difference. Finalizers are compared when the Job
// has ended. A pod created after its Job was deleted is ignored: no controller learns immediately that the Job is gone.
//
// Pods have ended an hour ago unless a step has now set, so that no back-off delays the next steps. The lives of the
// topic back-off test the delay and need twenty seconds.
//
// # Deliberate differences
//
// If a controller differs on purpose, the life documents it: the header #differs has the controller's name, as in
// spec.managedBy, and its different behaviour, and a section <checkpoint>.differs.yaml has the state expected then.
// Differences of older releases of kube-controller-manager are given in the same way: "#before: 1.36: why", and sections
// <checkpoint>.before.yaml.
//
// # Adding a life
//
// Write the file up to the steps. The outcome must not depend on timing: a controller may see pods that a single step
// ends together or one after the other, and equal pods, in a Job without indexes, are created and deleted in any order.
// Then record the checkpoints from kube-controller-manager:
//
//	go test -tags cluster ./conformance/cluster/life -run 'TestLives/kube-controller-manager/topic/reason$' -update
//
// Compare the recorded checkpoints with the sources in the headers. Then run the life with all controllers, about ten
// times:
//
//	go test -tags cluster ./conformance/cluster/life -run 'TestLives/.*/topic/reason$' -count 10
package life
