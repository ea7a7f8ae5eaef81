package living

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/library"
	"github.com/podverdict/podverdict/controller/caches"
	"github.com/podverdict/podverdict/controller/fair"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/controller/recorder"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// pass is one pass over the pods that are due.
type pass struct {
	*Loop

	jobs     map[types.UID]*job
	tasks    []*task
	failures int // failed calls in a row
}

// job is what all pods of a Job have in common.
type job struct {
	*batchv1.Job

	selection binding.Selection
	err       error // the selection is not known yet
	// attempts are the pods' attempt numbers, and earlier the attempts before each pod, if rules read them. They are computed when
	// they are needed first.
	attempts map[types.UID]int64
	earlier  map[string][]library.Attempt
}

// task is a pod to act on.
type task struct {
	*entry
	binding.LivingDecision

	job *job
	pod *corev1.Pod
}

func (t *task) last() int {
	if t.failed {
		return 1
	}
	return 0
}

// decideAll decides on pods for at most one period. It returns the pods for which there was no time.
func (p *pass) decideAll(ctx context.Context, names []types.NamespacedName) []types.NamespacedName {
	start := p.Clock.Now()
	return fair.InTurns(p.Clock, names, func(name types.NamespacedName) string { return name.Namespace }, func(name types.NamespacedName) bool {
		p.guard(ctx, name, func(ctx context.Context) { p.decide(ctx, name) })
		return ctx.Err() == nil && p.Clock.Since(start) < p.Period
	})
}

// guard recovers from a panic over one pod, so that the others are still handled.
func (p *pass) guard(ctx context.Context, name types.NamespacedName, do func(context.Context)) {
	err := p.Metrics.Guard(ctx, metrics.EndingLivingPod, func() error {
		do(fair.InNamespace(ctx, name.Namespace))
		return nil
	})
	if !metrics.Panicked(err) {
		return
	}
	pod := p.Caches.Pod(name)
	if pod == nil {
		return
	}
	if owner := p.Caches.JobOf(pod); owner != nil {
		t := &task{entry: p.entryOf(pod), job: &job{Job: owner}, pod: pod}
		p.once(t, recorder.ReasonPanic, func() { p.event(t, corev1.EventTypeWarning, recorder.ReasonPanic, recorder.PanicNote(err)) })
		t.due = p.Clock.Now().Add(p.Period)
	}
}

// entryOf returns the entry of a pod, or a new one.
func (p *pass) entryOf(pod *corev1.Pod) *entry {
	name := nameOf(pod)
	if e := p.entries[name]; e != nil && e.uid == pod.UID {
		return e
	}
	e := &entry{uid: pod.UID}
	p.entries[name] = e
	return e
}

// decide decides on one pod, and when to look at it again.
func (p *pass) decide(ctx context.Context, name types.NamespacedName) {
	pod := p.Caches.Pod(name)
	var j *job
	if pod != nil && p.concerns(pod) {
		j = p.jobOf(ctx, pod)
	}
	if j == nil || j.err == nil && !j.selection.HasRulesOn(v1alpha1.LivingPhases...) && runtime.EndedBy(pod) == nil {
		delete(p.entries, name)
		return
	}
	e := p.entryOf(pod)
	e.node, e.due = pod.Spec.NodeName, time.Time{}
	if j.err != nil || p.Caches.LacksPod(pod) && !j.selection.Empty() { // what rules read is not known yet
		e.due = p.Clock.Now().Add(p.Period)
		return
	}
	var d binding.LivingDecision
	if d, e.due = p.decision(ctx, pod, j); d.Step != binding.LeaveLiving {
		p.tasks = append(p.tasks, &task{e, d, j, pod})
	}
}

// jobOf returns the Job of a pod, or nil if there is none whose pods are ours to end. It looks up the policies in force once per
// Job and pass.
func (p *pass) jobOf(ctx context.Context, pod *corev1.Pod) *job {
	owner := p.Caches.JobOf(pod)
	if owner == nil || !p.Others && !plan.Managed(owner) {
		return nil
	}
	j := p.jobs[owner.UID]
	if j == nil {
		j = &job{Job: owner}
		j.selection, j.err = p.Selection(ctx, owner)
		p.jobs[owner.UID] = j
	}
	return j
}

// decision returns what to do with a pod now, and when time alone may change that.
func (p *pass) decision(ctx context.Context, pod *corev1.Pod, j *job) (d binding.LivingDecision, due time.Time) {
	phase := v1alpha1.PhaseOf(pod)
	if phase != v1alpha1.PhaseTerminating && phase != corev1.PodFailed && !binding.AtWork(j.Job) {
		return binding.LivingDecision{Step: binding.LeaveLiving}, time.Time{}
	}
	if j.attempts == nil {
		pods := p.Caches.PodsOf(plan.OwnerFor(j.Job))
		j.attempts = plan.AttemptsByUID(j.Job, pods)
		if j.selection.ReadsAttempts() {
			j.earlier = plan.EarlierAttempts(plan.Observation{Job: j.Job, Pods: pods})
		}
	}
	in := caches.Input(pod, j.Job, j.attempts[pod.UID], p.Clock.Now())
	in.Attempts = j.earlier[pod.Name]
	in.Node, in.NodesRead = p.Caches.NodeOf(pod)
	if phase == corev1.PodFailed {
		return p.removal(ctx, in, j.selection)
	}
	d = j.selection.DecideLiving(ctx, in)
	due, polled := j.selection.Due(pod, in.Now)
	if polled {
		due = runtime.Earliest(due, in.Now.Add(p.Period))
	}
	switch {
	case p.ObserveOnly && d.Step == binding.EndLiving:
		d.Step, d.Reason = binding.AuditLiving, "the controller only observes"
	case p.ObserveOnly && d.Step == binding.WithdrawLiving:
		d.Step = binding.LeaveLiving
	}
	return d, due
}

// removal decides on a pod that was ended while it was terminating. If the rule would still end it, and its node has not come
// back, the pod is removed when the time for that has come. The decision has phase Failed.
func (p *pass) removal(ctx context.Context, in runtime.Input, selection binding.Selection) (d binding.LivingDecision, due time.Time) {
	leave := binding.LivingDecision{Step: binding.LeaveLiving}
	before := *in.Pod
	before.Status.Phase = corev1.PodRunning
	in.Pod = &before
	d = selection.DecideLiving(ctx, in)
	foreign := func(finalizer string) bool { return finalizer != batchv1.JobTrackingFinalizer }
	if d.Step != binding.EndLiving || p.ObserveOnly || slices.ContainsFunc(before.Finalizers, foreign) || ptr.Deref(before.DeletionGracePeriodSeconds, 1) == 0 {
		return leave, time.Time{}
	}
	for _, c := range before.Status.Conditions {
		if c.Type == d.Conditions[0].Type && c.Status == corev1.ConditionTrue && runtime.EndsBy(&before, &c) {
			if due = c.LastTransitionTime.Add(p.LostPeriod); in.Now.Before(due) {
				return leave, due
			}
			d.Phase = corev1.PodFailed
			return d, time.Time{}
		}
	}
	return leave, time.Time{}
}
