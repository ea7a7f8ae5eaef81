// Package plan decides what to do next for a Job: which pods to create, dismiss, delete or release, and what to write to
// its status. [Next] is a pure function of an [Observation]; it does not access a cluster. The controller and the
// simulator execute its [Plan].
//
//	p := plan.Next(plan.Observation{Job: job, Pods: pods, Judge: judge, Now: now, Current: true})
//
// # Model
//
// The facts are the objects that the API server stores: the Job with its status, its ledger (below), and its pods.
// Everything else is derived from them. Next derives it again for each Plan. [Kept] caches the state derived from
// unchanged pods, and returns the same Plans.
//
// A Job's work is divided into slots: the completion indexes of an Indexed Job, the completions of another Job or, for a
// work queue, one slot for each pod that may run at once. A slot has one attempt after the other. A pod's name is a
// function of Job, slot and attempt, so creating a pod twice creates it once. The next attempt starts only when the last
// one has ended, and always at the lowest free slots. So at most one pod of a slot is active, at most parallelism pods
// are active in total, and no slot succeeds twice, even if the cache does not show the latest pods yet.
//
// A pod is held while it has the tracking finalizer: it cannot vanish. The counters are a function of the held pods, so
// counting needs only the status write. An ended pod is released once nothing depends on it: immediately if a user
// deletes it, if the Job is deleted or if too many are held, otherwise when no other calls are needed. Its outcome is
// recorded first: success in completedIndexes, or in the ledger for a Job without indexes; failure in the ledger, by UID.
// When the pod is gone, a number replaces the UID. If lower completions remove the index of an ended pod, the pod is
// released immediately. A success is even released before completedIndexes drops it: if the index comes back, it runs
// again (KEP-3715).
//
//	succeeded = the recorded slots, and the slots of the held pods that succeeded
//	failed    = the number and the UIDs in the ledger, and the held pods that failed and are not among them
//
// # The ledger
//
// The ledger is the message of a condition in the Job's status, of type podverdict.io/Ledger. The call that writes the
// counters also writes the ledger, so the two always agree. Only clients that may write jobs/status can write it: of
// Kubernetes' own roles, that is the Job controller's, while edit and admin can only read it. It is not part of a
// manifest, so replacing the Job keeps it, and it does not count towards the 256 KiB for annotations.
//
// Other places would cost more. An annotation needs no further call, but anybody who may edit the Job can change or
// remove it, or fill the annotations so that no status can be written. A custom object needs calls to create, change and
// delete it, and cannot be written in one step with the status: each change would need two writes of it.
//
// The ledger is lost if a client that may write the status removes or changes it, or if this program cannot read it. It
// also counts as lost if an older program kept it in the annotation podverdict.io/ledger, and may have released pods that
// no counter shows. A Plan detects the loss because the status counts pods that neither the ledger nor the pods account
// for. From then on all budgets count as used up; no budget ever starts over. As many slots count as done as had
// succeeded: first the slots with a succeeded pod, then the lowest without a pod. An event reports the loss. A pod that
// ends between the loss and its detection hides one that was counted, so one of the two is retried.
//
// A pod that counts as failed before it has ended, because it is terminating, could still succeed. The write that first
// counts it records its UID, and it stays failed.
//
// # Budgets
//
// Judge ignores budgets. A match is a failed pod whose rule has a budget, and that is held when its failure is seen. A
// pod that was dismissed earlier does not match, and rules with a budget do not apply to it. The first matches, up to the
// budget, get the rule's action, and the others get the budget's other action. A decision never changes.
//
//   - For a budget of the Job, the ledger stores the matches: a number for each rule, and the UIDs of the held pods. New
//     matches are added in the order in which the pods finished, then by slot. Until a match is stored, only the write
//     that stores it uses the decision, for its counters and conditions: the pod is not released, it is not replaced if
//     that depends on the verdict, and the Job does not end. A number never falls. So a pod that is not in the ledger
//     when the budget is used up stays beyond it, and needs no entry.
//   - For a budget per index, the pods store the matches: each has the number of earlier matches by rule, in the
//     annotation podverdict.io/matches, and passes it on with its own. A failed pod with matches is held, even if it is
//     deleted or MaxHeld is exceeded, until its successor has ended or its index is done, because the numbers are lost
//     with a successor that is dismissed. If a user removes the finalizer of such a pod before it has a successor, its
//     matches are forgotten.
//   - A Job without indexes has a single budget even if a rule asks for one per index.
//   - FailIndex as the other action counts as a plain failure if there is no backoffLimitPerIndex.
//
// A rule is identified by its policy's name and its own: a renamed rule starts over, and an edited limit applies to all
// matches that are not stored yet. The ledger has room for 128 rules, and so has a pod. Budgets of further rules count as
// used up, which is reported as a Problem. The ledger has room for MaxReleasing UIDs. A pod beyond that waits: its
// failure stays undecided, its slot is not retried, and other pods are released to make room.
//
// Volatile rules may differ the next time a pod is evaluated. Decisions on released pods are stored and not repeated,
// even if the rules are gone; the ledger has a flag for this. Pods that stay held, because they wait for their successor
// or carry matches, are evaluated by the rules in force. But a pod that has a successor does not fail its index: the
// successor's outcome decides.
//
// The retryDelay of a rule, even one whose budget is used up, replaces the back-off after a failure that the rule decides
// on. With backoffLimitPerIndex that is the last failure of the index, otherwise the last one of the Job. If several pods
// finished at the same time, the longest wait applies, whether it is a retryDelay or the back-off. The ledger stores it,
// with the time, when the pod loses its finalizer.
//
// # Earlier attempts
//
// If rules read attempts, each new pod carries the attempts before it, in the annotation podverdict.io/earlier-attempts,
// and is judged by exactly these. A rule's view of a pod is fixed before the pod runs, so no crash, deletion or restart
// changes it. The annotation has at most 10 attempts and 4 KiB, and less if the template's annotations leave less room.
//
//   - In an Indexed Job they are the failed attempts at the index. The last failed pod carries those before it, and is
//     held like a pod with matches, even if it is deleted, until its successor has ended or its index is done. If the Job
//     loses an index that was done, and gets it again, the index starts over.
//   - Without indexes they are the Job's observed failed attempts at any slot. The ledger has the last ones whose pods
//     may be gone: it is written before a failed pod is released. The ledger would not be enough: when a long-running pod
//     fails, the last attempts may all be younger than it.
//
// A pod that was dismissed is not an attempt, unless it had ended just before. A pod may lack the annotation because it
// was made when no rule read attempts, or not by Next. It is judged by the existing pods that had failed when it was
// created. An annotation or ledger that no Plan could have written is reported as a Problem; the list then counts as
// empty, and the ledger as lost.
//
// # Retries
//
// A rule's retry gives the next attempts at an index more memory, or keeps them away from nodes. The pods store the
// requests of its matches in the annotation podverdict.io/retry: each has the [Retries] before it, passes them on with
// its own match, and is held like a pod with matches. In a Job without indexes, a slot replaces an index.
//
//   - [Retries.Mend] computes memory and affinity from only the Job's template and the annotation, so other failures,
//     suspension, restarts and changed policies in between preserve them. The last failed pod adds its match by the rules
//     in force, until a successor that is not dismissed carries it.
//   - The memory is min(max, base x factor^matches, rounded up to a Mi), computed with integers, and never less than
//     base, the template's memory. If several rules ask for memory, the largest amount wins.
//   - If the match depends on a budget of the Job, the pod is replaced once the ledger has the decision.
//
// # Crashes
//
// The calls of a Plan do not depend on each other, only on the observation. Whatever subset of the calls takes effect, in
// whatever order, the next Plan is right. Steps that depend on each other are ordered by reading back the writes:
//
//   - The counters and the ledger are written in one call, which fails if the Job has changed since it was read. If the
//     call has no effect, the next Plan repeats it from the same pods.
//   - A pod is released once the observed Job records it. The Job is never read without that record again, and the pod
//     stays in the list until it is gone. A crash between any two steps leaves the pod either held and counted, or
//     recorded.
//   - A dismissed pod, which is not counted, is released only if it has not ended. A pod that ended meanwhile stays held,
//     and is counted.
//   - FailureTarget or SuccessCriteriaMet is stored before pods are taken down, and the pods are recorded before they are
//     released. Complete or Failed follows once no pods are active or terminating, everything is counted, and an
//     observation is certain to miss no pod. Then all pods are released.
//   - With backoffLimitPerIndex, a failed pod of an index is held until its successor exists, which inherits its failure
//     count. The delay is a function of this count and of the finish time, and so survives a restart.
//
// This requires two things of the caller. First, the caches never go back in time, even across a restart: lists ask for
// the newest state. Then a pod that was seen once, and is missing, is gone. Second, pods that the program has created are
// among the pods before the cache shows them. Names would be enough but for one case: an attempt is deleted, its
// successor is created from a list that shows it, and the next list shows neither. Then the slot seems never to have been
// tried, and the first name is free. After a restart the list is the newest, and shows the successor.
//
// # Outlook
//
// [Look] shows users what Next would do, and how much of each limit is used; it shares Next's code. It also handles Jobs
// of kube-controller-manager, by reading their status as a ledger. Kubernetes keeps the back-off of a Job without
// backoffLimitPerIndex in memory, and Look derives it from the failed pods: if kube-controller-manager was restarted
// since the last failure, it creates the next pod earlier than Look predicts. conformance/upstream compares Look with the
// actions of kube-controller-manager.
//
// # Differences from Kubernetes
//
// Conditions, reasons, messages and final counters equal kube-controller-manager's. Visible differences:
//
//   - Finalizers are removed when no other calls are needed, at the latest after the terminal condition.
//   - status.uncountedTerminatedPods stays empty, and status.failed is right in every write. Pods to be released are listed
//     in the condition podverdict.io/Ledger, which is removed when the Job ends.
//   - A failure counts as soon as it is seen (but, as upstream, with backoffLimitPerIndex when the pod is replaced).
//   - Active pods of a failing Job are deleted after FailureTarget is stored, and count when they are terminating.
//   - Failed pods of an index that may be retried are held longer if rules read attempts or have retries.
//   - Pods differ from the template if rules with a retry have matched at their index.
//   - Pod names have upstream's form, but encode slot and attempt. A pod with an owner reference to the Job but neither
//     such a name nor a valid index is dismissed and not counted. Pods are not adopted by labels.
//   - A failed pod made by this controller counts even if lower completions have removed its index since.
//   - The back-off delay of a Job without backoffLimitPerIndex survives a restart: it is a function of the pods. In case
//     failed pods are deleted, the ledger has their number and time, and each pod has the number of earlier failures in
//     the annotation podverdict.io/consecutive-failures.
//   - A Job with rules of custom policies replaces pods only when they have ended, as with a podFailurePolicy.
//   - A pod that is removed uncounted, because of suspension or lower parallelism, counts if it ended just before.
//   - A suspended Job that fails gets a start time in the last write: without one the API server would reject it forever.
//   - Suspension does not reset the failures of an index while its failed pod is held.
//   - Pods have the label batch.kubernetes.io/controller-uid even if manualSelector keeps the API server from adding it.
//   - Success and failure of one index, which only pods made by other clients can cause, do not block the status: the
//     outcome that is stored first stays.
//   - status.active is at most the higher of parallelism and its last value.
//   - The events JobStart and JobFinish of the Job controller proposal are added to upstream's. Its two other fields are the
//     annotations podverdict.io/backoff-seconds and podverdict.io/failed-pods-limit.
package plan
