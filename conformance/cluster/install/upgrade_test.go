//go:build cluster

package install

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/podverdict/podverdict/config"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

const (
	temporary = 75 // the exit code with a budget
	limit     = 3
)

const policy = `
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicy
metadata: {name: platform}
spec:
  rules: [{name: temporary, when: "pod.failedContainers().exists(c, c.exitCode == 75)", action: Ignore, budget: {limit: 3, then: FailJob}}]
---
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicyBinding
metadata: {name: platform}
spec: {policyName: platform}
`

// shared is a cluster with the installation. The controllers of several versions run in it in turn.
type shared struct {
	*testcluster.Installation

	kubeconfig string
}

func newShared(t *testing.T) *shared {
	t.Helper()
	w := &shared{Installation: testcluster.Apply(t, testcluster.Start(t, controlplane.ControllerManager), config.Options{})}
	w.kubeconfig = w.Kubeconfig(t)
	w.Kubectl(t, []byte(policy), "apply", "-f", "-")
	return w
}

// kind is one of four kinds of Jobs.
type kind struct {
	indexed bool
	fails   bool // by the policy, when its budget is used up; otherwise it completes
}

var kinds = []kind{{true, false}, {true, true}, {false, false}, {false, true}}

// trial is a Job, and the fates of its Pods. It has one more slot than legs. The first slot succeeds in the first leg,
// and one of the others in each later leg. Slot 1 fails in each leg but the last.
type trial struct {
	kind

	namespace string
	legs      int
	// renumbered is true if a version does not know the attempt numbers assigned by another one.
	renumbered bool
	failures   []int32 // exit codes at slot 1 in the first leg; each other leg has one failure with exit code 1
	leg        atomic.Int32

	mu   sync.Mutex
	made map[int][]madePod // by slot, in order of creation
}

// madePod is a Pod that once existed, and its attempt number.
type madePod struct {
	uid     types.UID
	attempt int
}

// see returns the slot of a Pod, and the number of earlier Pods there.
func (r *trial) see(pod *corev1.Pod) (slot, before int) {
	slot, attempt, _ := plan.Place(pod)
	r.mu.Lock()
	defer r.mu.Unlock()
	if before = slices.IndexFunc(r.made[slot], func(m madePod) bool { return m.uid == pod.UID }); before < 0 {
		before = len(r.made[slot])
		r.made[slot] = append(r.made[slot], madePod{pod.UID, attempt})
	}
	return slot, before
}

// attempts returns the numbers of all Pods that existed, by slot.
func (r *trial) attempts() map[int][]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	numbers := map[int][]int{}
	for slot, made := range r.made {
		for _, m := range made {
			numbers[slot] = append(numbers[slot], m.attempt)
		}
	}
	return numbers
}

func (r *trial) name() string {
	return map[bool]string{true: "indexed", false: "slots"}[r.indexed] + map[bool]string{true: "-fails", false: "-completes"}[r.fails]
}

// newTrials creates Jobs in their own namespace.
func (w *shared) newTrials(t *testing.T, kinds []kind, legs int, failures []int32) (trials []*trial) {
	t.Helper()
	namespace := w.Cluster.Namespace(t)
	for _, k := range kinds {
		r := &trial{kind: k, namespace: namespace, legs: legs, failures: failures, made: map[int][]madePod{}}
		trials = append(trials, r)
		w.CreateJob(t, namespace, r.job())
	}
	testcluster.PlayKubelet(t, w.Client, namespace, func(pod *corev1.Pod) (int32, bool) {
		at := slices.IndexFunc(trials, func(r *trial) bool { return r.name() == pod.Labels[batchv1.JobNameLabel] })
		if at < 0 {
			return 0, true // a barrier
		}
		return trials[at].exit(pod, int(trials[at].leg.Load()))
	})
	return trials
}

func (r *trial) job() *batchv1.Job {
	slots := int32(r.legs) + 1
	return testcluster.ManagedJob(r.name(), func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism, s.BackoffLimit = &slots, &slots, new(int32(1000))
		if r.indexed {
			s.CompletionMode = new(batchv1.IndexedCompletion)
		}
	})
}

// exit returns the exit code of a Pod in a leg, and whether it ends in that leg.
func (r *trial) exit(pod *corev1.Pod, leg int) (code int32, ends bool) {
	slot, before := r.see(pod)
	last := r.legs - 1
	switch {
	case slot == 0:
		return 0, true
	case slot == last+1 && r.fails:
		return 0, false // the other Pods run when the policy fails the Job
	case slot > 1:
		return 0, leg >= slot-1
	case before < len(r.failures):
		return r.failures[before], true
	case before < len(r.failures)+last-1:
		return 1, leg > before-len(r.failures)
	case r.fails:
		return temporary, leg == last
	}
	return 0, leg == last
}

// run runs a controller for a leg, and ends it. If launcher is not nil, it replaces this version's program with another.
func (w *shared) run(t *testing.T, launcher []string, leg int, trials []*trial) {
	t.Helper()
	replica := w.Start(t, w.kubeconfig, launcher,
		"--kube-api-qps=300", "--kube-api-burst=500", "--pod-failure-backoff=100ms", "--pod-failure-max-backoff=200ms", "--job-batch-period=100ms")
	w.Kubectl(t, nil, "wait", "--for=condition=Ready", "--timeout=1m", "pfp/platform", "pfpb/platform")
	w.barrier(t, leg, trials)
	for _, r := range trials {
		r.leg.Store(int32(leg))
	}
	for _, r := range trials {
		testcluster.Eventually(t, fmt.Sprintf("leg %d of %s in %s is done", leg, r.name(), r.namespace), func(ctx context.Context) (bool, error) {
			select {
			case <-replica.Ended:
				t.Fatalf("the controller has ended:\n%s", replica.Log())
			default:
			}
			return w.done(ctx, r, leg, launcher == nil)
		})
	}
	replica.Stop(t)
}

// barrier waits until the controller has processed each Job: a later Job in the same namespace has ended.
func (w *shared) barrier(t *testing.T, leg int, trials []*trial) {
	t.Helper()
	namespaces := sets.New[string]()
	for _, r := range trials {
		namespaces.Insert(r.namespace)
	}
	job := (&trial{}).job()
	job.Name = fmt.Sprintf("barrier-%d", leg)
	for namespace := range namespaces {
		w.CreateJob(t, namespace, job)
	}
	for namespace := range namespaces {
		w.UntilFinished(t, namespace, job.Name)
	}
}

// done reports whether everything planned for a Job in a leg has happened and is recorded. It waits until ended Pods are
// released if the version releases them before the Job ends.
func (w *shared) done(ctx context.Context, r *trial, leg int, frees bool) (bool, error) {
	job, err := w.Client.BatchV1().Jobs(r.namespace).Get(ctx, r.name(), metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	what := fmt.Errorf("status %+v", job.Status)
	if leg == r.legs-1 {
		return testcluster.Finished(job) != nil, what
	}
	pods, err := w.Client.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + r.name()})
	if err != nil {
		return false, err
	}
	ended, held := 0, false
	for _, pod := range pods.Items {
		if slot, _, _ := plan.Place(&pod); pod.Status.Phase == corev1.PodPending {
			continue
		} else if slot == 1 {
			ended++
		}
		held = held || frees && len(pod.Finalizers) > 0
	}
	s := job.Status
	return int(s.Succeeded) == leg+1 && int(s.Active) == r.legs-leg && ended == len(r.failures)+leg && !held, what
}

func (w *shared) deleteEnded(t *testing.T, namespace string) {
	t.Helper()
	pods, err := w.Client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if pod.Status.Phase == corev1.PodPending {
			continue
		}
		if err := w.Client.CoreV1().Pods(namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
			t.Fatal(err)
		}
	}
}

// created returns the number of Pods created for a Job.
func (w *shared) created(t *testing.T, r *trial) (count int) {
	t.Helper()
	for _, event := range w.Cluster.AuditLog(t, r.namespace) {
		created := event.ResponseStatus != nil && event.ResponseStatus.Code == http.StatusCreated
		if created && event.ObjectRef.Resource == "pods" && event.ObjectRef.Subresource == "" && strings.HasPrefix(event.ObjectRef.Name, r.name()+"-") {
			count++
		}
	}
	return count
}

// used returns the number of matches among the failures.
func used(failures []int32) (matches int) {
	for _, code := range failures {
		if code == temporary {
			matches++
		}
	}
	return matches
}

// check checks that a Job has ended as planned, whatever versions ran it.
func (w *shared) check(t *testing.T, r *trial) {
	t.Helper()
	attempts := r.attempts()
	job, err := w.Client.BatchV1().Jobs(r.namespace).Get(t.Context(), r.name(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, last := job.Status, testcluster.Finished(job)
	succeeded, failed := r.legs+1, len(r.failures)-used(r.failures)+r.legs-2
	condition, reason := batchv1.JobComplete, batchv1.JobReasonCompletionsReached
	if r.fails { // by one Pod, which ends another one with it
		succeeded, failed = r.legs-1, failed+2
		condition, reason = batchv1.JobFailed, batchv1.JobReasonPodFailurePolicy
	}
	if last.Type != condition || last.Reason != reason || int(s.Succeeded) != succeeded || int(s.Failed) != failed {
		t.Errorf("%s: want %s by %s, %d succeeded and %d failed; it is %+v", r.name(), condition, reason, succeeded, failed, s)
	}
	seen := 0
	for slot := range r.legs + 1 {
		got := attempts[slot]
		seen += len(got)
		if slot != 1 && !slices.Equal(got, []int{1}) {
			t.Errorf("%s: slot %d is run by attempts %v", r.name(), slot, got)
		}
		for i, attempt := range got {
			if !r.renumbered && i+1 != attempt {
				t.Errorf("%s: the attempts at slot %d are %v", r.name(), slot, got)
				break
			}
		}
	}
	if created := w.created(t, r); created != seen {
		t.Errorf("%s: %d Pods were created, and the slots have had %v", r.name(), created, attempts)
	}
	if most := len(r.failures) - used(r.failures) + r.legs - 2 + limit + 1; r.fails && len(attempts[1]) > most {
		t.Errorf("%s: slot 1 is tried %d times: the budget of %d allows %d", r.name(), len(attempts[1]), limit, most)
	}
}
