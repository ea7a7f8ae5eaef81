package observing

import (
	"context"
	"errors"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/runtime/binding"
)

// answer counts the writes of events, and returns the refusal if one is set.
func (o *testLoop) answer(clienttesting.Action) (bool, runtime.Object, error) {
	o.calls.Add(1)
	if refusal := o.refusal.Load(); refusal != nil {
		return true, nil, *refusal
	}
	return false, nil, nil
}

func TestObserverJudges(t *testing.T) {
	running, nobodys, anothers := fixtures.FailedPod("running", 42), fixtures.FailedPod("nobodys", 42), fixtures.FailedPod("anothers", 42)
	running.Status.Phase = corev1.PodRunning
	nobodys.OwnerReferences = nil
	anothers.OwnerReferences[0].UID = "uid-of-an-earlier-job"
	for _, test := range []struct {
		name   string
		blind  bool // does not observe the Jobs of others
		job    *batchv1.Job
		pod    *corev1.Pod
		events []string
		counts map[string]float64
	}{
		{
			name: "a pod that a rule matches", job: fixtures.OthersJob(fixtures.FailJobOn(42)), pod: fixtures.FailedPod("a", 42),
			events: []string{"a Warning: FailJob by rule 0: container main exited with 42"},
			counts: map[string]float64{"verdicts_total{action=FailJob,matched=true,mode=observe}": 1, "verdict_events_total{result=created}": 1},
		},
		{
			name: "a pod that none matches", job: fixtures.OthersJob(fixtures.FailJobOn(42)), pod: fixtures.FailedPod("a", 1),
			events: []string{"a Normal: Count: no rule matches: rule 0: no container has failed with an exit code in [42]"},
			counts: map[string]float64{"verdicts_total{action=Count,matched=false,mode=observe}": 1, "verdict_events_total{result=created}": 1},
		},
		{
			name: "a Job without policy", job: fixtures.OthersJob(nil), pod: fixtures.FailedPod("a", 1),
			counts: map[string]float64{"verdicts_total{action=Count,matched=false,mode=observe}": 1},
		},
		{
			name: "a policy without meaning", job: fixtures.OthersJob(fixtures.Meaningless()), pod: fixtures.FailedPod("a", 1),
			events: []string{"train Warning: rules[0]: onPodConditions asks for more than 100 different statuses"},
			counts: map[string]float64{"verdict_events_total{result=created}": 1},
		},
		{name: "a managed Job with policy, which the reconciler judges", job: fixtures.OwnJob(fixtures.FailJobOn(42)), pod: fixtures.FailedPod("a", 42)},
		{name: "a managed Job without policy, which the reconciler judges", job: fixtures.OwnJob(nil), pod: fixtures.FailedPod("a", 1)},
		{name: "a Job of others, when nobody asks", blind: true, job: fixtures.OthersJob(fixtures.FailJobOn(42)), pod: fixtures.FailedPod("a", 42)},
		{name: "a pod that runs", job: fixtures.OthersJob(fixtures.FailJobOn(42)), pod: running},
		{name: "a pod of no Job", job: fixtures.OthersJob(fixtures.FailJobOn(42)), pod: nobodys},
		{name: "a pod of an earlier Job of that name", job: fixtures.OthersJob(fixtures.FailJobOn(42)), pod: anothers},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := newTestLoop(t, !test.blind, test.job)
			o.enqueue(test.pod)
			o.settleAll(t)
			o.expectNotes(t, test.events...)
			if test.counts == nil {
				test.counts = map[string]float64{}
			}
			o.counts.Expect(t, test.counts)
		})
	}
}

// TestObserverIsToldVerdicts checks that repeated verdicts on pods of managed Jobs are recorded once.
func TestObserverIsToldVerdicts(t *testing.T) {
	o := newTestLoop(t, false, fixtures.OwnJob(fixtures.FailJobOn(42)))
	matching, other := fixtures.FailedPod("a", 42), fixtures.FailedPod("b", 1)
	program := fixtures.MustProgram(t, fixtures.FailJobOn(42))
	for range 3 {
		for _, pod := range []*corev1.Pod{matching, other} {
			o.enqueue(pod)
			o.Judged(pod, program.Evaluate(t.Context(), pod), nil)
		}
		o.settleAll(t)
	}
	o.expectNotes(t, "a Warning: FailJob by rule 0: container main exited with 42")
	o.counts.Expect(t, map[string]float64{
		"verdicts_total{action=FailJob,matched=true,mode=manage}":      1,
		"verdicts_total{action=Count,matched=false,mode=manage}":       1,
		"pod_failures_handled_by_failure_policy_total{action=FailJob}": 1,
		"verdict_events_total{result=created}":                         1,
	})
}

// TestObserverWaitsForTheWhole checks that while custom policies are in effect, a pod is evaluated only once the caches have all needed
// fields of it and its Job.
func TestObserverWaitsForTheWhole(t *testing.T) {
	for name, drop := range map[string]func(*batchv1.Job, *corev1.Pod){
		"the pod is partial":   func(_ *batchv1.Job, pod *corev1.Pod) { pod.ManagedFields = fixtures.MarkOfOld },
		"the Job is partial":   func(job *batchv1.Job, _ *corev1.Pod) { job.ManagedFields = fixtures.MarkOfOld },
		"another pod is there": func(_ *batchv1.Job, pod *corev1.Pod) { pod.ManagedFields, pod.UID = fixtures.MarkOfOld, "another" },
	} {
		t.Run(name, func(t *testing.T) {
			job, pod := fixtures.OthersJob(fixtures.FailJobOn(42)), fixtures.FailedPod("a", 42)
			partialJob, partialPod := job.DeepCopy(), pod.DeepCopy()
			drop(partialJob, partialPod)
			o := newTestLoop(t, true, partialJob)
			set := fixtures.SetOf(t, fixtures.BoundPolicy{Name: "team", Rules: []v1alpha1.Rule{{Name: "any", When: "true", Action: "Ignore"}}})
			o.Selection = func(ctx context.Context, job *batchv1.Job) (binding.Selection, error) {
				if o.Caches.LacksJob(job) {
					return binding.Selection{}, errors.New("partial")
				}
				return set.For(ctx, job, nil), nil
			}
			o.Caches.Keep(fixtures.Everything)
			fixtures.Put(t, o.Caches.Pods.Add(partialPod))
			o.enqueue(partialPod)
			key, _ := o.judging.Get()
			if err := o.judge(quiet(t), key); err == nil {
				t.Error("a part is judged")
			}
			fixtures.Put(t, o.Caches.Jobs.Update(job))
			fixtures.Put(t, o.Caches.Pods.Update(pod))
			err := o.judge(quiet(t), key)
			if s, _ := o.observedPod(key.uid); (err == nil) != (partialPod.UID == pod.UID) || (s.stage != unjudged) != (err == nil) {
				t.Errorf("of the whole: %v", err)
			}
		})
	}
}

// TestObserverIsToldBeforeItJudges checks that a verdict received before the Job is in the caches is not lost.
func TestObserverIsToldBeforeItJudges(t *testing.T) {
	o := newTestLoop(t, true)
	pod := fixtures.FailedPod("a", 42)
	o.enqueue(pod)
	o.Judged(pod, fixtures.MustProgram(t, fixtures.FailJobOn(42)).Evaluate(t.Context(), pod), nil)
	if err := o.Caches.Jobs.Add(fixtures.OwnJob(fixtures.FailJobOn(42))); err != nil {
		t.Fatal(err)
	}
	o.settleAll(t)
	o.Judged(pod, fixtures.MustProgram(t, fixtures.FailJobOn(42)).Evaluate(t.Context(), pod), nil)
	o.settleAll(t)
	o.expectCalls(t, 1)
	o.counts.Expect(t, map[string]float64{
		"verdicts_total{action=FailJob,matched=true,mode=manage}":      1,
		"pod_failures_handled_by_failure_policy_total{action=FailJob}": 1,
		"verdict_events_total{result=created}":                         1,
	})
}

// TestObserverLeavesManagedJobs checks that pods are left to the reconciler if a managed Job appears in the caches after its pods.
func TestObserverLeavesManagedJobs(t *testing.T) {
	o := newTestLoop(t, true)
	pod := fixtures.FailedPod("a", 42)
	o.enqueue(pod)
	if err := o.Caches.Jobs.Add(fixtures.OwnJob(fixtures.FailJobOn(42))); err != nil {
		t.Fatal(err)
	}
	o.settleAll(t)
	o.expectCalls(t, 0)
	o.Judged(pod, fixtures.MustProgram(t, fixtures.FailJobOn(42)).Evaluate(t.Context(), pod), nil)
	o.settleAll(t)
	o.expectCalls(t, 1)
}

func TestObserverStops(t *testing.T) {
	o := newTestLoop(t, true, fixtures.OthersJob(fixtures.FailJobOn(42)))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	o.enqueue(fixtures.FailedPod("a", 42))
	o.Run(ctx)
	if err := o.judge(ctx, podKey{"default", "uid-of-a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a verdict after the end has error %v", err)
	}
	o.expectCalls(t, 0)
	o.counts.Expect(t, map[string]float64{})
}

func TestObserverTellsOnce(t *testing.T) {
	const verdict, created = "verdicts_total{action=FailJob,matched=true,mode=observe}", "verdict_events_total{result=created}"
	o := newTestLoop(t, true, fixtures.OthersJob(fixtures.FailJobOn(42)))
	pod := fixtures.FailedPod("a", 42)
	changed := pod.DeepCopy()
	changed.Labels = map[string]string{"changed": "yes"}
	for _, state := range []*corev1.Pod{pod, changed} {
		o.enqueue(state)
		o.settleAll(t)
	}
	o.forget(changed)
	o.forget(changed)
	o.enqueue(pod) // from an older list
	o.settleAll(t)
	o.expectCalls(t, 1)
	o.counts.Expect(t, map[string]float64{verdict: 1, created: 1})
}

// TestObserverAfterRestart checks how a restarted controller handles pods whose event was written before, or that failed while it was not
// running.
func TestObserverAfterRestart(t *testing.T) {
	const verdict = "verdicts_total{action=FailJob,matched=true,mode=observe}"
	for _, test := range []struct {
		name   string
		failed time.Duration // relative to the start
		told   bool          // whether the event already exists
		calls  int32
		want   map[string]float64
	}{
		{"new", time.Minute, false, 1, map[string]float64{verdict: 1, "verdict_events_total{result=created}": 1}},
		{"new, told by another replica", time.Minute, true, 1, map[string]float64{verdict: 1, "verdict_events_total{result=found}": 1}},
		{"told before", -time.Minute, true, 1, map[string]float64{"verdict_events_total{result=found}": 1}},
		{"not told before", -time.Minute, false, 1, map[string]float64{verdict: 1, "verdict_events_total{result=created}": 1}},
		{"long before", -time.Hour, false, 0, map[string]float64{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := newTestLoop(t, true, fixtures.OthersJob(fixtures.FailJobOn(42)))
			pod := endedAt(fixtures.FailedPod("a", 42), fixtures.Start.Add(test.failed))
			if test.told {
				event := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "podverdict.uid-of-a"}}
				if err := o.api.Tracker().Add(event); err != nil {
					t.Fatal(err)
				}
			}
			o.enqueue(pod)
			o.settleAll(t)
			o.expectCalls(t, test.calls)
			o.counts.Expect(t, test.want)
		})
	}
}

// TestObserverWarnsOnce checks that all pods of a Job share one warning.
func TestObserverWarnsOnce(t *testing.T) {
	o := newTestLoop(t, true, fixtures.OthersJob(fixtures.Meaningless()))
	o.enqueue(fixtures.FailedPod("a", 1))
	o.enqueue(fixtures.FailedPod("b", 1))
	o.settleAll(t)
	o.expectCalls(t, 1)
}

func TestObserverForgets(t *testing.T) {
	verdict := fixtures.MustProgram(t, fixtures.FailJobOn(42)).Evaluate
	for _, test := range []struct {
		name string
		job  *batchv1.Job
		see  func(*testLoop, *corev1.Pod)
	}{
		{"gone before it was seen to have failed", fixtures.OthersJob(fixtures.FailJobOn(42)), func(o *testLoop, pod *corev1.Pod) { o.forget(pod) }},
		{"gone before its event", fixtures.OthersJob(fixtures.FailJobOn(42)), func(o *testLoop, pod *corev1.Pod) {
			o.enqueue(pod)
			drain(t, o.judging, o.judge)
			o.forget(pod)
		}},
		{"gone before its verdict", nil, func(o *testLoop, pod *corev1.Pod) {
			o.forget(pod)
			o.Judged(pod, verdict(t.Context(), pod), nil)
		}},
		{"gone after its event", fixtures.OthersJob(fixtures.FailJobOn(42)), func(o *testLoop, pod *corev1.Pod) {
			o.enqueue(pod)
			o.settleAll(t)
			o.forget(pod)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := newTestLoop(t, true)
			if test.job != nil {
				o.Caches.Jobs.Add(test.job)
			}
			pod := fixtures.FailedPod("a", 42)
			test.see(o, pod)
			o.settleAll(t)
			o.expectNotes(t, "a Warning: FailJob by rule 0: container main exited with 42")
			if _, found := o.observedPod(pod.UID); !found {
				t.Error("a pod is forgotten while an older list may show it")
			}
			o.runUntil(t, func() bool { _, found := o.observedPod(pod.UID); return !found })
		})
	}
}

func TestObserverTriesAgain(t *testing.T) {
	events := schema.GroupResource{Group: "events.k8s.io", Resource: "events"}
	terminating := apierrors.NewForbidden(events, "", errors.New("terminating"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for _, test := range []struct {
		name    string
		refusal error
		calls   int32
	}{
		{"forbidden", apierrors.NewForbidden(events, "", errors.New("no role")), maxTries},
		{"no answer", errors.New("connection refused"), maxTries},
		{"terminating namespace", terminating, 1},
		{"no namespace", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "default"), 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := newTestLoop(t, true, fixtures.OthersJob(fixtures.FailJobOn(42)))
			o.refusal.Store(&test.refusal)
			o.enqueue(fixtures.FailedPod("a", 42))
			o.runUntil(t, o.isDone("uid-of-a"))
			o.expectCalls(t, test.calls)
			o.expectNoTries(t)
			o.counts.Expect(t, map[string]float64{
				"verdicts_total{action=FailJob,matched=true,mode=observe}": 1, "verdict_events_total{result=dropped}": 1,
			})
		})
	}
}

func TestObserverRecovers(t *testing.T) {
	o := newTestLoop(t, true, fixtures.OthersJob(fixtures.FailJobOn(42)))
	refusal := errors.New("connection refused")
	o.refusal.Store(&refusal)
	o.enqueue(fixtures.FailedPod("a", 42))
	o.runUntil(t, func() bool {
		if o.calls.Load() == 3 {
			o.refusal.Store(nil)
		}
		return o.isDone("uid-of-a")()
	})
	o.expectNotes(t, "a Warning: FailJob by rule 0: container main exited with 42")
	o.expectNoTries(t)
}

func TestObserverWaitsForTheJob(t *testing.T) {
	o := newTestLoop(t, true)
	o.enqueue(fixtures.FailedPod("a", 42))
	o.runUntil(t, func() bool {
		if o.judging.NumRequeues(podKey{"default", "uid-of-a"}) == 2 {
			if err := o.Caches.Jobs.Add(fixtures.OthersJob(fixtures.FailJobOn(42))); err != nil {
				t.Error(err)
			}
		}
		return o.isDone("uid-of-a")()
	})
	o.expectNotes(t, "a Warning: FailJob by rule 0: container main exited with 42")
}

// TestObserverWithoutJob checks that pods that briefly outlive their Job cause no event.
func TestObserverWithoutJob(t *testing.T) {
	o := newTestLoop(t, true)
	o.enqueue(fixtures.FailedPod("a", 42))
	o.runUntil(t, o.isDone("uid-of-a"))
	o.expectCalls(t, 0)
	o.counts.Expect(t, map[string]float64{})
}

// TestVerdictOnAPodThatIsGoneIsForgotten checks that a verdict on a deleted pod of a managed Job is reported and then forgotten.
func TestVerdictOnAPodThatIsGoneIsForgotten(t *testing.T) {
	policy := fixtures.FailJobOn(42)
	o, pod := newTestLoop(t, false, fixtures.OwnJob(policy)), fixtures.FailedPod("a", 42)
	o.forget(pod)
	o.Judged(pod, fixtures.MustProgram(t, policy).Evaluate(t.Context(), pod), nil)
	o.settleAll(t)
	o.expectNotes(t, "a Warning: FailJob by rule 0: container main exited with 42")
	if s, found := o.observedPod(pod.UID); !found || !s.gone {
		t.Fatalf("the pod is remembered: %t, as one that is gone: %t", found, s.gone)
	}
	o.runUntil(t, func() bool { _, found := o.observedPod(pod.UID); return !found })
}
