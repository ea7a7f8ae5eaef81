// Package plan decides what to do next for a Job: which pods to create, dismiss, delete or release, and what to write to its
// status. [Next] is a pure function of an [Observation]; it does not access a cluster. The controller and the simulator carry
// out its [Plan].
//
//	p := plan.Next(plan.Observation{Job: job, Pods: pods, Judge: judge, Now: now, Current: true})
//
// # Model
//
// The facts are what the API server stores: the Job with its status, its ledger (below), and its pods. Everything else is
// derived from them. Next derives it anew for each Plan. [Kept] keeps what follows from pods that have not changed, and returns the
// same Plans.
//
// A Job's work is divided into slots: the completion indexes of an Indexed Job, the completions of another Job or, for a work
// queue, one slot for each pod that may run at once. A slot is worked on by one attempt after the other. A pod's name is a
// function of Job, slot and attempt, so creating a pod twice creates it once. The next attempt is made only when the last one
// has ended, and always at the lowest free slots. So at most one pod of a slot is active, at most parallelism are active in
// all, and no slot succeeds twice, even if the cache does not show the latest pods yet.
//
// A pod is held while it has the tracking finalizer: it cannot vanish. The counters are a function of the held pods, so
// counting takes no write but that of the status. An ended pod is released as soon as nothing depends on it: at once if
// somebody deletes it, if the Job is deleted or if too many are held, else when no other calls are needed. Its outcome is
// recorded first: success in completedIndexes, or in the ledger for a Job without indexes; failure in the ledger, by UID.
// When the pod is gone, the UID is replaced by a number. If lower completions remove the index of an ended pod, the pod is
// released at once, and a success even before completedIndexes drops it: if the index comes back, it is worked on again
// (KEP-3715).
//
//	succeeded = the recorded slots, and those of the held pods that succeeded
//	failed    = the number and the UIDs in the ledger, and the held pods that failed and are not among them
//
// # The ledger
//
// The ledger is the message of a condition in the Job's status, of type podverdict.io/Ledger. The call that writes the
// counters also writes the ledger, so the two always agree. Only those who may write jobs/status can write it: of Kubernetes'
// own roles that is the Job controller's, while edit and admin can only read it. It is not part of a manifest, so replacing
// the Job keeps it, and it takes none of the 256 KiB for annotations.
//
// Other places would cost more. An annotation takes no further call, but anybody who may edit the Job can change or remove
// it, or fill the annotations so that no status can be written. An object of our own kind takes calls to create it, to change
// it and to delete it, and cannot be written in one step with the status: each change would need two writes of it.
//
// The ledger is lost if somebody who may write the status removes or changes it, or if this program cannot read it. It also
// counts as lost if an older program kept it in the annotation podverdict.io/ledger, and may have released pods that no
// counter shows. A Plan detects the loss because the status counts pods that neither the ledger nor the pods account for.
// From then on all budgets count as used up; no budget ever starts over. As many slots as had succeeded count as done: first
// those with a succeeded pod, then the lowest without a pod. An event reports the loss. A pod that ends between the loss and
// its detection hides one that was counted, so one of the two is retried.
//
// A pod that counts as failed before it has ended, because it is terminating, could still succeed. The write that first
// counts it records it by UID, and it stays failed.
//
// # Budgets
//
// Judge ignores budgets. A match is a failed pod whose rule has a budget, and that is held when its failure is seen. A pod
// that was dismissed earlier does not match, and rules with a budget do not apply to it. The first matches, up to the budget,
// get the rule's action, and the others get the budget's other action; a decision never changes.
//
//   - For a budget of the Job, the ledger stores the matches: a number for each rule, and the UIDs of the pods that are held.
//     New matches are added in the order in which the pods finished, then by slot. Until a match is stored, only the write
//     that stores it uses the decision, for its counters and conditions: the pod is not released, it is not replaced if that
//     depends on the verdict, and the Job does not end. A number never falls. So a pod that is not in the ledger when the
//     budget is used up is beyond it for good, and needs no entry.
//   - For a budget per index, the pods store the matches: each has the number of earlier matches by rule, in the annotation
//     podverdict.io/matches, and passes it on with its own. A failed pod with matches is held, even if it is deleted or
//     MaxHeld is exceeded, until its successor has ended or its index is done, because a successor that is dismissed takes
//     the numbers with it. If somebody removes the finalizer of such a pod before it has a successor, its matches are
//     forgotten.
//   - A Job without indexes has a single budget even if a rule asks for one per index.
//   - FailIndex as the other action counts as a plain failure if there is no backoffLimitPerIndex.
//
// A rule is identified by the names of its policy and itself: a renamed rule starts over, and an edited limit applies to all
// matches that are not stored yet. The ledger has room for 128 rules, and so has a pod; budgets of further rules count as
// used up, which is a Problem. The ledger has room for MaxReleasing UIDs. A pod beyond that waits: its failure is not
// decided, its slot is not retried, and other pods are released to make room.
//
// Volatile rules may differ the next time a pod is evaluated. Decisions on released pods are stored and not made again, even
// if the rules are gone; the ledger has a flag for this. Pods that stay held, because they wait for their successor or carry
// matches, are evaluated by the rules in force. But a pod that has a successor does not fail its index: what the successor does
// decides.
//
// The retryDelay of a rule, even one whose budget is used up, replaces the back-off after a failure that the rule decides on:
// with backoffLimitPerIndex the last failure of the index, else the last one of the Job. If several pods finished at the same
// time, the longest wait counts, whether a retryDelay or the back-off. The ledger stores it, with the time, when the pod
// loses its finalizer.
//
// # Earlier attempts
//
// If rules read attempts, each pod is created with those before it, in the annotation podverdict.io/earlier-attempts, and is
// judged by just these: what a rule sees of a pod is fixed before it runs, so that no crash, deletion or restart changes it.
// The annotation has at most 10 attempts and 4 KiB, and less if the template's annotations leave less room.
//
//   - At an index they are the attempts at the index that had failed. The last failed pod knows those before it, and is held
//     like one with matches, even if it is deleted, until its successor has ended or its index is done. If the Job loses an
//     index that was done, and gets it again, the index begins anew.
//   - Without indexes they are those of the Job that were seen to have failed, whatever their slot. The ledger has the last
//     ones whose pods may be gone: it is written before a failed pod is released. The ledger alone would not do: when a pod
//     fails that has run for long, the last attempts may all be younger than it.
//
// A pod that was dismissed is no attempt, unless it had ended just before. A pod without the annotation, because it was made
// when no rule read attempts or by others, is judged by the pods that are there and that had failed when it was created. An
// annotation or ledger that no Plan can have written is a Problem; the list then counts as empty, and the ledger as lost.
//
// # Retries
//
// A rule's retry gives the next attempts at an index more memory, or keeps them away from nodes. What its matches ask for is
// kept by the pods, in the annotation podverdict.io/retry: each has the [Retries] before it and passes them on with its own
// match, and is held like one with matches. In a Job without indexes, a slot takes the place of an index.
//
//   - [Retries.Mend] computes memory and affinity from the Job's template and the annotation alone, so other failures,
//     suspension, restarts and changed policies in between keep them. The last failed pod adds its match by the rules in
//     force, until a successor that is not dismissed carries it.
//   - The memory is min(max, base x factor^matches, rounded up to a Mi), computed with integers, and never less than base,
//     which is the template's. If several rules ask for memory, the largest counts.
//   - If the match depends on a budget of the Job, the pod is replaced once the ledger has the decision.
//
// # Crashes
//
// No call of a Plan relies on another call of it, only on what was read. Whatever subset of the calls takes effect, in
// whatever order, the next Plan is right. Steps that depend on each other are ordered by reading back the writes:
//
//   - The counters and the ledger are written in one call, which fails if the Job has changed since it was read. If it has no
//     effect, the next Plan repeats it from the same pods.
//   - A pod is released once the Job, as read, records it. The Job is never read without that record again, and the pod stays
//     in the list until it is gone. A crash between any two steps leaves the pod either held and counted, or recorded.
//   - A dismissed pod, which is not counted, is released only if it has not ended. One that ended meanwhile stays held, and
//     is counted.
//   - FailureTarget or SuccessCriteriaMet is stored before pods are taken down, and the pods are recorded before they are
//     released. Complete or Failed follows once nothing is active or terminating, everything is counted, and an observation
//     is sure to miss no pod. Then all pods are released.
//   - With backoffLimitPerIndex, a failed pod of an index is held until its successor exists, which takes over its failure
//     count. The delay is a function of this count and of the finish time, and so survives a restart.
//
// This requires two things of the caller. First, the caches never go back in time, even over a restart: lists ask for the
// newest state. Then a pod that was seen once, and is missing, is gone. Second, pods that the program has created are among
// the pods before the cache shows them. Names alone would be enough but for one case: an attempt is deleted, its successor is
// created from a list that shows it, and the next list shows neither; then the slot seems never to have been tried, and the
// first name is free. After a restart the list is the newest, and shows the successor.
//
// # Outlook
//
// [Look] shows people what Next would do, and how much of each limit is used; it shares Next's code. It also handles Jobs of
// kube-controller-manager, by reading their status as a ledger. Kubernetes keeps the back-off of a Job without
// backoffLimitPerIndex in memory, and Look derives it from the failed pods: if kube-controller-manager was restarted since
// the last failure, it creates the next pod earlier than Look says. conformance/upstream compares Look with what
// kube-controller-manager then does.
//
// # What differs from Kubernetes
//
// Conditions, reasons, messages and final counters are those of kube-controller-manager. Visible differences:
//
//   - Finalizers are removed when no other calls are needed, at the latest after the terminal condition.
//   - status.uncountedTerminatedPods stays empty, and status.failed is right in every write. Pods to be released are listed
//     in the condition podverdict.io/Ledger, which is removed when the Job ends.
//   - A failure counts as soon as it is seen (but, as upstream, with backoffLimitPerIndex when the pod is replaced).
//   - Active pods of a failing Job are deleted after FailureTarget is stored, and count when they are terminating.
//   - Failed pods of an index that may be retried are held longer if rules read attempts or have retries.
//   - Pods differ from the template if rules with a retry have matched at their index.
//   - Pod names have upstream's form, but encode slot and attempt. A pod with an owner reference to the Job but neither such
//     a name nor a valid index is dismissed and does not count. Pods are not adopted by labels.
//   - A failed pod made by this controller counts even if lower completions have removed its index since.
//   - The back-off delay of a Job without backoffLimitPerIndex survives a restart: it is a function of the pods. In case
//     failed pods are deleted, the ledger has their number and time, and each pod has the number of earlier failures in the
//     annotation podverdict.io/consecutive-failures.
//   - A Job with rules of custom policies replaces pods only when they have ended, as with a podFailurePolicy.
//   - A pod that is removed uncounted, because of suspension or lower parallelism, counts if it ended just before.
//   - A suspended Job that fails gets a start time in the last write: without one the API server would refuse it for ever.
//   - Suspension does not reset the failures of an index while its failed pod is held.
//   - Pods have the label batch.kubernetes.io/controller-uid even if manualSelector keeps the API server from adding it.
//   - Success and failure of one index, which only pods made by others can cause, do not block the status: what is stored
//     first stays.
//   - status.active is at most the higher of parallelism and its last value.
//   - The events JobStart and JobFinish of the Job controller proposal are added to upstream's. Its two other fields are the
//     annotations podverdict.io/backoff-seconds and podverdict.io/failed-pods-limit.
package plan
