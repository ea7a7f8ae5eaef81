package controller

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
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestObserverJudges(t *testing.T) {
	running, nobodys, anothers := failedPod("running", 42), failedPod("nobodys", 42), failedPod("anothers", 42)
	running.Status.Phase = corev1.PodRunning
	nobodys.OwnerReferences = nil
	anothers.OwnerReferences[0].UID = "uid-of-an-earlier-job"
	for _, test := range []struct {
		name   string
		blind  bool // nobody asks for the Jobs of others
		job    *batchv1.Job
		pod    *corev1.Pod
		events []string
		counts map[string]float64
	}{
		{
			name: "a pod that a rule matches", job: othersJob(failJobOn(42)), pod: failedPod("a", 42),
			events: []string{"a Warning: FailJob by rule 0: container main exited with 42"},
			counts: map[string]float64{"verdicts_total{action=FailJob,matched=true,mode=observe}": 1, "verdict_events_total{result=created}": 1},
		},
		{
			name: "a pod that none matches", job: othersJob(failJobOn(42)), pod: failedPod("a", 1),
			events: []string{"a Normal: Count: no rule matches: rule 0: no container has failed with an exit code in [42]"},
			counts: map[string]float64{"verdicts_total{action=Count,matched=false,mode=observe}": 1, "verdict_events_total{result=created}": 1},
		},
		{
			name: "a Job without policy", job: othersJob(nil), pod: failedPod("a", 1),
			counts: map[string]float64{"verdicts_total{action=Count,matched=false,mode=observe}": 1},
		},
		{
			name: "a policy without meaning", job: othersJob(meaningless()), pod: failedPod("a", 1),
			events: []string{"train Warning: rules[0]: onPodConditions asks for more than 100 different statuses"},
			counts: map[string]float64{"verdict_events_total{result=created}": 1},
		},
		{name: "a managed Job with policy, which the reconciler judges", job: ownJob(failJobOn(42)), pod: failedPod("a", 42)},
		{name: "a managed Job without policy, which the reconciler judges", job: ownJob(nil), pod: failedPod("a", 1)},
		{name: "a Job of others, when nobody asks", blind: true, job: othersJob(failJobOn(42)), pod: failedPod("a", 42)},
		{name: "a pod that runs", job: othersJob(failJobOn(42)), pod: running},
		{name: "a pod of no Job", job: othersJob(failJobOn(42)), pod: nobodys},
		{name: "a pod of an earlier Job of that name", job: othersJob(failJobOn(42)), pod: anothers},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := newObserving(t, !test.blind, test.job)
			o.enqueue(test.pod)
			o.settleAll(t)
			o.expectNotes(t, test.events...)
			if test.counts == nil {
				test.counts = map[string]float64{}
			}
			o.counts.expect(t, test.counts)
		})
	}
}

// The verdicts on pods of managed Jobs come from the reconciler, again and again.
func TestObserverIsToldVerdicts(t *testing.T) {
	o := newObserving(t, false, ownJob(failJobOn(42)))
	matching, other := failedPod("a", 42), failedPod("b", 1)
	program := newTestPrograms(t, 1).mustHave(t, failJobOn(42))
	for range 3 {
		for _, pod := range []*corev1.Pod{matching, other} {
			o.enqueue(pod)
			o.judged(pod, report{verdict: program.Evaluate(t.Context(), pod)})
		}
		o.settleAll(t)
	}
	o.expectNotes(t, "a Warning: FailJob by rule 0: container main exited with 42")
	o.counts.expect(t, map[string]float64{
		"verdicts_total{action=FailJob,matched=true,mode=manage}":      1,
		"verdicts_total{action=Count,matched=false,mode=manage}":       1,
		"pod_failures_handled_by_failure_policy_total{action=FailJob}": 1,
		"verdict_events_total{result=created}":                         1,
	})
}

// markOfOld is that of an object that was trimmed before the rules in force were known.
var markOfOld = []metav1.ManagedFieldsEntry{{Manager: Name}}

// While custom policies are in force, a pod is judged when the caches have the whole of it and of its Job.
func TestObserverWaitsForTheWhole(t *testing.T) {
	for name, drop := range map[string]func(*batchv1.Job, *corev1.Pod){
		"the pod is partial":   func(_ *batchv1.Job, pod *corev1.Pod) { pod.ManagedFields = markOfOld },
		"the Job is partial":   func(job *batchv1.Job, _ *corev1.Pod) { job.ManagedFields = markOfOld },
		"another pod is there": func(_ *batchv1.Job, pod *corev1.Pod) { pod.ManagedFields, pod.UID = markOfOld, "another" },
	} {
		t.Run(name, func(t *testing.T) {
			job, pod := othersJob(failJobOn(42)), failedPod("a", 42)
			job.Labels = map[string]string{"team": "team-7"}
			partialJob, partialPod := job.DeepCopy(), pod.DeepCopy()
			drop(partialJob, partialPod)
			o := newObserving(t, true, partialJob)
			o.policies = registryOf(t, 8)
			o.policies.build(t.Context())
			put(t, o.attempts.pods.Add(partialPod))
			o.enqueue(partialPod)
			key, _ := o.judging.Get()
			if err := o.judge(quiet(t), key); err == nil {
				t.Error("a part is judged")
			}
			put(t, o.jobs.Update(job))
			put(t, o.attempts.pods.Update(pod))
			err := o.judge(quiet(t), key)
			if s, _ := o.observedPod(key.uid); (err == nil) != (partialPod.UID == pod.UID) || (s.stage != unjudged) != (err == nil) {
				t.Errorf("of the whole: %v", err)
			}
		})
	}
}

// A verdict that comes before the caches show the Job is not lost when they do.
func TestObserverIsToldBeforeItJudges(t *testing.T) {
	o := newObserving(t, true)
	pod := failedPod("a", 42)
	o.enqueue(pod)
	o.judged(pod, report{verdict: newTestPrograms(t, 1).mustHave(t, failJobOn(42)).Evaluate(t.Context(), pod)})
	if err := o.jobs.Add(ownJob(failJobOn(42))); err != nil {
		t.Fatal(err)
	}
	o.settleAll(t)
	o.judged(pod, report{verdict: newTestPrograms(t, 1).mustHave(t, failJobOn(42)).Evaluate(t.Context(), pod)})
	o.settleAll(t)
	o.expectCalls(t, 1)
	o.counts.expect(t, map[string]float64{
		"verdicts_total{action=FailJob,matched=true,mode=manage}":      1,
		"pod_failures_handled_by_failure_policy_total{action=FailJob}": 1,
		"verdict_events_total{result=created}":                         1,
	})
}

// The caches may show a managed Job after its pods. Then the reconciler judges them.
func TestObserverLeavesManagedJobs(t *testing.T) {
	o := newObserving(t, true)
	pod := failedPod("a", 42)
	o.enqueue(pod)
	if err := o.jobs.Add(ownJob(failJobOn(42))); err != nil {
		t.Fatal(err)
	}
	o.settleAll(t)
	o.expectCalls(t, 0)
	o.judged(pod, report{verdict: newTestPrograms(t, 1).mustHave(t, failJobOn(42)).Evaluate(t.Context(), pod)})
	o.settleAll(t)
	o.expectCalls(t, 1)
}

func TestObserverStops(t *testing.T) {
	o := newObserving(t, true, othersJob(failJobOn(42)))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	o.enqueue(failedPod("a", 42))
	o.run(ctx)
	if err := o.judge(ctx, podKey{"default", "uid-of-a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a verdict after the end has error %v", err)
	}
	o.expectCalls(t, 0)
	o.counts.expect(t, map[string]float64{})
}

func TestObserverTellsOnce(t *testing.T) {
	const verdict, created = "verdicts_total{action=FailJob,matched=true,mode=observe}", "verdict_events_total{result=created}"
	o := newObserving(t, true, othersJob(failJobOn(42)))
	pod := failedPod("a", 42)
	changed := pod.DeepCopy()
	changed.Labels = map[string]string{"changed": "yes"}
	for _, state := range []*corev1.Pod{pod, changed} {
		o.enqueue(state)
		o.settleAll(t)
	}
	o.forget(changed)
	o.forget(changed)
	o.enqueue(pod) // by somebody with an older list
	o.settleAll(t)
	o.expectCalls(t, 1)
	o.counts.expect(t, map[string]float64{verdict: 1, created: 1})
}

// A restarted controller sees pods that were told of before, or that failed while it was away.
func TestObserverAfterRestart(t *testing.T) {
	const verdict = "verdicts_total{action=FailJob,matched=true,mode=observe}"
	for _, test := range []struct {
		name   string
		failed time.Duration // after the start
		told   bool          // before
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
			o := newObserving(t, true, othersJob(failJobOn(42)))
			pod := endedAt(failedPod("a", 42), start.Add(test.failed))
			if test.told {
				event := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "podverdict.uid-of-a"}}
				if err := o.client.Tracker().Add(event); err != nil {
					t.Fatal(err)
				}
			}
			o.enqueue(pod)
			o.settleAll(t)
			o.expectCalls(t, test.calls)
			o.counts.expect(t, test.want)
		})
	}
}

// One warning is for all pods of a Job.
func TestObserverWarnsOnce(t *testing.T) {
	o := newObserving(t, true, othersJob(meaningless()))
	o.enqueue(failedPod("a", 1))
	o.enqueue(failedPod("b", 1))
	o.settleAll(t)
	o.expectCalls(t, 1)
}

func TestObserverForgets(t *testing.T) {
	verdict := newTestPrograms(t, 1).mustHave(t, failJobOn(42)).Evaluate
	for _, test := range []struct {
		name string
		job  *batchv1.Job
		see  func(*observing, *corev1.Pod)
	}{
		{"gone before it was seen to have failed", othersJob(failJobOn(42)), func(o *observing, pod *corev1.Pod) { o.forget(pod) }},
		{"gone before its event", othersJob(failJobOn(42)), func(o *observing, pod *corev1.Pod) {
			o.enqueue(pod)
			drain(t, o.judging, o.judge)
			o.forget(pod)
		}},
		{"gone before its verdict", nil, func(o *observing, pod *corev1.Pod) {
			o.forget(pod)
			o.judged(pod, report{verdict: verdict(t.Context(), pod)})
		}},
		{"gone after its event", othersJob(failJobOn(42)), func(o *observing, pod *corev1.Pod) {
			o.enqueue(pod)
			o.settleAll(t)
			o.forget(pod)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := newObserving(t, true)
			if test.job != nil {
				o.jobs.Add(test.job)
			}
			pod := failedPod("a", 42)
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
			o := newObserving(t, true, othersJob(failJobOn(42)))
			o.refusal.Store(&test.refusal)
			o.enqueue(failedPod("a", 42))
			o.runUntil(t, o.told("uid-of-a"))
			o.expectCalls(t, test.calls)
			o.counts.expect(t, map[string]float64{
				"verdicts_total{action=FailJob,matched=true,mode=observe}": 1, "verdict_events_total{result=dropped}": 1,
			})
		})
	}
}

func TestObserverRecovers(t *testing.T) {
	o := newObserving(t, true, othersJob(failJobOn(42)))
	refusal := errors.New("connection refused")
	o.refusal.Store(&refusal)
	o.enqueue(failedPod("a", 42))
	o.runUntil(t, func() bool { return o.calls.Load() == 3 })
	o.expectNotes(t)
}

func TestObserverWaitsForTheJob(t *testing.T) {
	o := newObserving(t, true)
	o.enqueue(failedPod("a", 42))
	o.runUntil(t, func() bool {
		if o.judging.NumRequeues(podKey{"default", "uid-of-a"}) == 2 {
			if err := o.jobs.Add(othersJob(failJobOn(42))); err != nil {
				t.Error(err)
			}
		}
		return o.told("uid-of-a")()
	})
	o.expectNotes(t, "a Warning: FailJob by rule 0: container main exited with 42")
}

// Pods outlive their Job for a moment. That is nothing to be told.
func TestObserverWithoutJob(t *testing.T) {
	o := newObserving(t, true)
	o.enqueue(failedPod("a", 42))
	o.runUntil(t, o.told("uid-of-a"))
	o.expectCalls(t, 0)
	o.counts.expect(t, map[string]float64{})
}
