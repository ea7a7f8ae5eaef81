// Package plan decides what to do next for a Job: which pods to create, dismiss, delete or let go, and what to write to its
// status. [Next] is a pure function of an [Observation] and knows no cluster. The controller and the simulator carry its
// [Plan] out.
//
//	p := plan.Next(plan.Observation{Job: job, Pods: pods, Judge: judge, Now: now, Current: true})
//
// # Model
//
// Facts are what the API server stores: the Job with its status, its ledger (below), and its pods. All else is derived, each
// time anew; nothing is remembered between two Plans.
//
// A Job's work is divided into slots: the completion indexes of an Indexed Job; as many of a Job with completions; for a work
// queue, one for each pod that may run at once. A slot is worked on by attempts, one after the other. The name of a pod is a
// function of Job, slot and attempt, so that creating a pod twice is creating it once. The next attempt at a slot is made
// only when the last one has ended, and always at the lowest slots that are free. So at most one pod of a slot is active, no
// more than parallelism are in all, and no slot succeeds twice, even when the cache does not show the last pods yet.
//
// A pod is held while it has the tracking finalizer: it cannot vanish. The counters are a function of the held pods, so
// counting needs no write but that of the status. A pod that has ended is let go as soon as nothing depends on it: at once if
// somebody deletes it, if the Job is deleted or if too many are held, else when there is nothing better to call for. What it
// tells is recorded first: success in completedIndexes, or in the ledger for a Job without indexes; failure in the ledger, by
// UID. When the pod is gone, the UID becomes a number. A pod that has ended whose index completions falls below is let go at once,
// a success before completedIndexes forgets it: an index that comes back is worked on again (KEP-3715).
//
//	succeeded = the slots that are recorded, and those of the held pods that succeeded
//	failed    = the number and the UIDs in the ledger, and the held pods that failed and are not among them
//
// # The ledger
//
// The ledger is the message of a condition in the Job's status, of type podverdict.io/Ledger. So it is written in the call that
// writes the counters, and cannot come apart from them. Only those who may write jobs/status can write it: of Kubernetes' own
// roles that is the Job controller's, while edit and admin only read it. It is not part of a manifest, so replacing the Job
// keeps it, and it takes none of the 256 KiB that annotations have.
//
// The other places cost more. An annotation takes no further call, but whoever may edit the Job can edit or remove it, and
// fill the annotations so that no status can be written. An object of our own kind takes a call to create it, one for each
// change and one to collect it, and is not written in one step with the status: each change would need two writes of it.
//
// The ledger is lost when somebody who may write the status removes or alters it, when this program cannot read it, or when an
// earlier program kept it in the annotation podverdict.io/ledger, and may have let pods go which no counter shows. A Plan notices it
// because the status counts what neither the ledger nor a pod knows. Then all budgets count as used up, and stay so. As many slots as
// had succeeded are taken as done: first those with a pod that succeeded, then the lowest without a pod. An event reports it. No
// budget ever starts over. A pod that ends after the ledger is lost, and before a Plan notices it, hides one that was counted: one
// of the two is tried again.
//
// A pod that counts as failed though it has not ended, because it is terminating, could still succeed. It is recorded by UID
// in the write that counts it first, and stays failed.
//
// # Budgets
//
// Judge gives verdicts as if budgets had no end. A match is a failed pod of the Job that is held when its failure is seen,
// and that such a rule decides on. A pod that was dismissed before is none, and a rule with a budget says nothing of it. The
// first matches, as many as the budget allows, have the rule's action, and the others have its other one; which has which
// never changes.
//
//   - Those of the Job are entries of the ledger: a number for each rule, and the UIDs of those that are held. New ones are
//     entered in the order in which the pods finished, then by slot. Of entries that are not stored yet only the write that
//     has them makes use, with the counters and conditions that follow: the pod is neither let go nor replaced before, where
//     its replacement depends on the verdict, and the Job does not end. A number never falls. So a pod that is no entry when
//     the budget is used up is beyond it for good, and needs none.
//   - Those of an index are on its pods: each has the number before it, by rule, as the annotation podverdict.io/matches,
//     and passes it on with its own. A failed pod that knows of matches is held, even if it is deleted or MaxHeld is
//     exceeded, until its successor has ended or its index is done: a successor that is dismissed takes what it knows along.
//     When somebody takes the finalizer of such a pod before it has a successor, its matches are forgotten.
//   - A Job without indexes has one budget where a rule asks for one per index.
//   - FailIndex as the other action is a failure that counts, where there is no backoffLimitPerIndex.
//
// A rule is known by the names of its policy and its own: one that is renamed starts over, and an edited limit is for all
// matches but those that are entered. The ledger has room for 128 rules, as has a pod; the budgets of further ones are taken
// as used up, which is a Problem. It has room for MaxReleasing UIDs. Beyond that a pod waits: its failure means nothing yet,
// its slot is not tried again, and pods are let go to make room.
//
// Volatile rules may be others when a pod is judged again. What they have decided of pods that are let go is past: it is stored,
// and nobody asks again, not even when the rules are gone, of which the ledger tells. Those that are held, because they wait for
// their successor or carry matches, are judged by what is in force.
//
// A rule's retryDelay, used up or not, replaces the back-off after the failure that it decides on. With backoffLimitPerIndex
// that is the last failure of the index, else the last one of the Job. If several finished at the same time, the longest
// wait counts, be it a retryDelay or the back-off. The ledger keeps it, with the time, when the pod loses its finalizer.
//
// # Crashes
//
// No call of a Plan relies on another call of it, only on what was read. Whatever subset of the calls takes effect, in
// whatever order, the next Plan is right. The order of things is that of the writes that were read:
//
//   - The counters and the ledger are in one call, which fails when the Job has changed since it was read. If it has no
//     effect, it is planned again from the same pods.
//   - A pod is released when the Job, as read, records it: the Job is never seen without that again, and the pod is in the list
//     until it is gone. A crash between any two of these steps leaves the pod either held and counted as such, or recorded.
//   - A dismissed pod, which nothing counts, is released only if it has not ended. One that ended in the meantime is held
//     still, and counted.
//   - FailureTarget or SuccessCriteriaMet is stored before pods are taken down, and these are recorded before they are let go.
//     Complete or Failed comes when nothing is active or terminating, when all that there was is counted, and after a look at
//     the pods that overlooks none. Then all pods are let go.
//   - A failed pod of an index, when backoffLimitPerIndex is set, is held until its successor is there, because that has its
//     failure count. The delay is a function of this count and of the finish time, and so survives a restart.
//
// This asks two things of who observes. First, the caches never go back, also not over a restart: lists ask for the newest
// state. Then a pod that was seen once, and is not there, is gone. Second, pods that the program has created are among the
// pods before the cache shows them. Names alone would do, but for one case: an attempt is deleted, its successor is created
// from a list that shows it, and the next list shows neither; then the slot seems never to have been tried, and the first name
// is free. After a restart the list is the newest, and shows the successor.
//
// # Outlook
//
// [Look] tells people what Next would do, and how much of each limit is used: the same code counts, finds the goal and the
// delay. It does so for Jobs of Kubernetes' own controller, too, by reading their status as a ledger. Kubernetes keeps the
// back-off of a Job without backoffLimitPerIndex in memory, and Look takes it from the failed pods: so a controller that was
// started since the last failure creates the next pod earlier than Look says. conformance/upstream holds Look to what
// Kubernetes' controller then does.
//
// # What differs from Kubernetes
//
// Conditions, reasons, messages and final counters are those of kube-controller-manager. Visible differences:
//
//   - Finalizers are removed when there is nothing better to call for, at the latest after the terminal condition.
//   - status.uncountedTerminatedPods stays empty, and status.failed is right in every write. Pods to be let go are in the
//     condition podverdict.io/Ledger, which goes when the Job ends.
//   - A failure counts as soon as it is seen (but as upstream, with backoffLimitPerIndex, when it is replaced).
//   - Active pods of a Job that fails are deleted after FailureTarget is stored, and count when they are terminating.
//   - Names of pods have the form of upstream's, but tell slot and attempt. A pod whose name does not, and that has no valid index,
//     does not belong to the Job, though it has an owner reference to it: it is dismissed, and does not count. Pods are not adopted
//     by labels.
//   - A failed pod of ours counts even if a lower completions has taken its index since.
//   - The back-off delay of a Job without backoffLimitPerIndex survives a restart: it is a function of the pods. In case failed
//     pods are deleted, the ledger has their number and time, and each pod has the number of failures before it as an
//     annotation, podverdict.io/consecutive-failures.
//   - A Job that custom policies have rules for replaces its pods only when they have ended, as with a podFailurePolicy.
//   - A pod that is deleted, or let go uncounted, because of suspension or lower parallelism, counts if it ended just before.
//   - A suspended Job that fails gets a start time in the last write: without one the API server would refuse it for ever.
//   - A suspension does not forget the failures of an index as long as its failed pod is held.
//   - Pods have the label batch.kubernetes.io/controller-uid even if manualSelector keeps the API server from adding it.
//   - Success and failure of one index, which only pods made by others can bring about, do not block the status: what is
//     stored first stays.
//   - status.active is at most the higher of parallelism and its last value.
//   - The events JobStart and JobFinish, of the Job controller proposal, come with upstream's. The annotations
//     podverdict.io/backoff-seconds and podverdict.io/failed-pods-limit are its two other fields.
package plan
