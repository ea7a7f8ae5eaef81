// Package fault runs the Job controller on a real API server while things go wrong. It consists of tests, which play the kubelet.
//
// TestChaos runs two replicas of the controller, each a process, while their calls fail before and after they took effect, watches
// lag and break, and the replicas and the control plane itself are killed, paused and cut off from each other.
//
//	make chaos SEED=7 JOBS=300
//
// TestSoak kills the controller again and again while Pods fail, and reads afterwards what it has kept: the verdict on every Pod and
// every Job that has finished, each once, in files that never have more than their bound. Half of the Pods are of Jobs that the
// controller runs. For the others, the test is the Job controller.
//
// The same is done in memory with more patience in package controller, at every write of many scenarios and with thousands
// of random schedules. Here is shown that the real API server gives no other answer.
//
// # What is known before
//
// A trial is a Job with a fate for each of its pods: the n-th pod of a slot ends with a given exit code. Condition, reason,
// counters and indexes follow from that, whatever happens to the controller. Some Jobs end while pods are active: by FailJob,
// backoffLimit, a deadline, or as a work queue. Their counters depend on the moment, so they are compared with the pods that
// existed. A pod that an earlier leader creates after the end was decided may count or not.
//
// # What must never happen
//
// The witness checks each event of its watches, and a list after each interruption. It reports two active pods of a slot,
// more active pods than parallelism, a second success of a slot, a counter that falls, a Job that changes after its end, a
// pod that vanishes although nobody deleted it, and a Job that is gone. At the end no pod may be active or have the tracking
// finalizer.
//
// # What the seed decides
//
// The seed decides the Jobs, the fates, how long pods run, the order of the faults and how long they last. The time of each
// call depends on the machine, so a run cannot be repeated exactly.
package fault
