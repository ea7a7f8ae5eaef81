// Package fault runs the Job controller on a real API server during faults. It has only tests, which act as the kubelet.
//
// TestChaos runs two replicas of the controller, each a process. Their calls fail before and after they took effect,
// watches lag and break, and the replicas and the control plane itself are killed, paused and disconnected.
//
//	make chaos SEED=7 JOBS=300
//
// TestSoak kills the controller repeatedly while Pods fail, and afterwards reads its history: the verdict on every Pod
// and every finished Job, each once, in files that never exceed their bound. The controller runs the Jobs of half of the
// Pods. For the others, the test is the Job controller.
//
// Package controller has more thorough tests of the same in memory, at every write of many scenarios and with thousands
// of random schedules. This package shows that the real API server gives no other answers.
//
// # Expected outcomes
//
// A trial is a Job with a fate for each of its pods: the n-th pod of a slot ends with a given exit code. Condition,
// reason, counters and indexes follow from the fates, whatever happens to the controller. Some Jobs end while pods are
// active: by FailJob, backoffLimit, a deadline, or as a work queue. Their counters depend on timing, so they are compared
// with the pods that existed. A pod that an earlier leader creates after the end was decided may or may not count.
//
// # Invariants
//
// The witness checks each event of its watches, and a list after each interruption. It reports two active pods of a slot,
// more active pods than parallelism, a second success of a slot, a counter that falls, a Job that changes after its end,
// a pod that vanishes without being deleted, and a Job that is gone. At the end no pod may be active or have the tracking
// finalizer.
//
// # Effect of the seed
//
// The seed decides the Jobs, the fates, the run times of pods, and the order and duration of the faults. The time of each
// call depends on the machine, so a run cannot be repeated exactly.
package fault
