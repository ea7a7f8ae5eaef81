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
	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/internal/fair"
	"github.com/podverdict/podverdict/controller/internal/recorder"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// pass is one pass over the pods that are due.
type pass struct {
	*Loop

	attempts map[types.UID]snapshot.Attempts // attempts by Job, computed on demand
	tasks    []*task
	failures int // consecutive failed calls
}

// task is a pod with the decision about it.
type task struct {
	*entry
	binding.LivingDecision

	job *batchv1.Job
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
		t := &task{entry: p.entryOf(pod), job: owner, pod: pod}
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

// decide decides on one pod.
func (p *pass) decide(ctx context.Context, name types.NamespacedName) {
	switch t := p.taskOf(ctx, p.Caches.Pod(name)); {
	case t == nil:
		delete(p.entries, name)
	case t.Step != binding.LeaveLiving:
		p.tasks = append(p.tasks, t)
	}
}

// taskOf returns the decision about a pod, and records when to evaluate it again. It returns nil if no decision is needed: the pod is gone,
// its Job is not handled by this loop, or no rule applies to it.
func (p *pass) taskOf(ctx context.Context, pod *corev1.Pod) *task {
	if pod == nil || !p.concerns(pod) {
		return nil
	}
	owner := p.Caches.JobOf(pod)
	if owner == nil || !p.Others && !plan.Managed(owner) {
		return nil
	}
	selection, err := p.Selection(ctx, owner)
	if err == nil && !selection.HasRulesOn(v1alpha1.LivingPhases...) && runtime.EndedBy(pod) == nil {
		return nil
	}
	t := &task{p.entryOf(pod), binding.LivingDecision{Step: binding.LeaveLiving}, owner, pod}
	t.node, t.due = pod.Spec.NodeName, time.Time{}
	if err != nil || p.Caches.LacksPod(pod) && !selection.Empty() { // fields read by rules are not known yet
		t.due = p.Clock.Now().Add(p.Period)
		return t
	}
	t.LivingDecision, t.due = p.decision(ctx, pod, owner, selection)
	return t
}

// attemptsOf returns the attempts of a Job. It computes them once per pass.
func (p *pass) attemptsOf(job *batchv1.Job, selection binding.Selection) snapshot.Attempts {
	known, found := p.attempts[job.UID]
	if !found {
		known = snapshot.AttemptsOf(job, p.Caches.PodsOf(plan.OwnerFor(job)), selection.ReadsAttempts())
		p.attempts[job.UID] = known
	}
	return known
}

// decision returns the decision about a pod, and the time at which it may change without other changes.
func (p *pass) decision(ctx context.Context, pod *corev1.Pod, job *batchv1.Job, selection binding.Selection) (d binding.LivingDecision, due time.Time) {
	phase := v1alpha1.PhaseOf(pod)
	if phase != v1alpha1.PhaseTerminating && phase != corev1.PodFailed && !binding.AtWork(job) {
		return binding.LivingDecision{Step: binding.LeaveLiving}, time.Time{}
	}
	attempts := p.attemptsOf(job, selection)
	seen := attempts.Pod(pod)
	seen.Node, seen.NodesRead = p.Caches.NodeOf(pod)
	s := caches.Snapshot(job, snapshot.Rules{Selection: selection}, p.Clock.Now(), seen)
	if phase == corev1.PodFailed {
		return p.removal(ctx, s.Input(0), selection)
	}
	d = s.Living(ctx, 0)
	due, polled := selection.Due(pod, s.Now)
	if polled {
		due = runtime.Earliest(due, s.Now.Add(p.Period))
	}
	switch {
	case p.ObserveOnly && d.Step == binding.EndLiving:
		d.Step, d.Reason = binding.AuditLiving, "the controller only observes"
	case p.ObserveOnly && d.Step == binding.WithdrawLiving:
		d.Step = binding.LeaveLiving
	}
	return d, due
}

// removal decides on a pod that was ended while it was terminating. If the rule would still end it, and its node has not come back, the pod
// is removed when LostPeriod is over. The decision has phase Failed.
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
