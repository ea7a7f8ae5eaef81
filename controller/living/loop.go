package living

import (
	"cmp"
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/internal/fair"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Loop ends living pods. Create it with New, pass it the changes in the caches, and call Run once.
type Loop struct {
	Options

	changes changes
	// entries holds the pods to which rules apply, and pods with a condition of a rule that no longer exists.
	entries map[types.NamespacedName]*entry
	// left are the pods for which the last pass had no time.
	left []types.NamespacedName
	// budget is the number of pods that may be ended, as of the time refilled.
	budget   float64
	refilled time.Time
}

// entry is the state of a pod in the loop.
type entry struct {
	uid  types.UID
	node string
	// due is the time at which to evaluate the pod again even without a change. Zero means never.
	due      time.Time
	recorded []string // reasons of the events written, each of which is written once
	failed   bool     // whether the last call for the pod failed
}

// Options configure a Loop. All are required.
type Options struct {
	// Client sets conditions and deletes pods.
	Client kubernetes.Interface
	Caches *caches.Caches
	// Others includes the pods of Jobs run by other controllers.
	Others bool
	// ObserveOnly makes the loop only record its planned actions.
	ObserveOnly bool
	// Selection returns the custom policies in effect for a Job, or an error if they are not known yet.
	Selection func(context.Context, *batchv1.Job) (binding.Selection, error)
	// Count counts a pod that a rule matched, with the result.
	Count    func(job *batchv1.Job, phase corev1.PodPhase, v runtime.Verdict, result string)
	Recorder events.EventRecorder
	Metrics  *metrics.Metrics
	Clock    clock.WithTicker
	// Period is the interval for evaluating pods whose rules do not determine when they are due, and the delay before a failed call
	// is repeated.
	Period time.Duration
	// LostPeriod is how long a pod that was ended on a lost node may remain before it is removed by force.
	LostPeriod time.Duration
}

// New returns a loop that is not running yet.
func New(o Options) *Loop {
	return &Loop{
		Options: o, changes: changes{wake: make(chan struct{}, 1), all: map[any]bool{}}, entries: map[types.NamespacedName]*entry{},
	}
}

// Defaults of Options.
const (
	DefaultPeriod     = 10 * time.Second
	DefaultLostPeriod = time.Minute
)

const (
	// pause is the minimum time between two passes.
	pause = time.Second
	// maxEnded is the average number of pods per second that may be ended. When a scheduler, a registry or many nodes are down, all
	// pods match. The limit gives people time to fix a rule that would end them all.
	maxEnded = 10
	// maxFailures is the number of consecutive failed calls after which a pass ends.
	maxFailures = 5
)

// Run makes passes over the pods that are due until ctx is done. The caches must be filled.
func (l *Loop) Run(ctx context.Context) {
	for {
		rest := l.Period
		_ = l.Metrics.Guard(ctx, metrics.EndingLivingPod, func() error { // Guard has logged it
			rest = l.runOnce(ctx)
			return nil
		})
		select {
		case <-ctx.Done():
			return
		case <-l.Clock.After(rest):
		}
		if l.wait(ctx); ctx.Err() != nil {
			return
		}
	}
}

// wait returns when something has changed or a pod is due.
func (l *Loop) wait(ctx context.Context) {
	if len(l.left) > 0 {
		return
	}
	var due <-chan time.Time
	if next := l.next(); !next.IsZero() {
		timer := l.Clock.NewTimer(next.Sub(l.Clock.Now()))
		defer timer.Stop()
		due = timer.C()
	}
	select {
	case <-ctx.Done():
	case <-l.changes.wake:
	case <-due:
	}
}

// next returns the time at which the first pod is due, or zero.
func (l *Loop) next() (next time.Time) {
	for _, e := range l.entries {
		next = runtime.Earliest(next, e.due)
	}
	return next
}

// runOnce decides on all pods that are due, and then carries out the decisions. Namespaces are served in turn in both steps. Within
// a namespace the oldest pod comes first, but pods whose last call failed come last, so that they do not delay others. It returns
// the time until the next pass, which is longer if the limits of a pass were reached.
func (l *Loop) runOnce(ctx context.Context) (rest time.Duration) {
	p := pass{Loop: l, attempts: map[types.UID]snapshot.Attempts{}}
	l.refill()
	l.left = p.decideAll(ctx, l.due(l.Clock.Now()))
	if ctx.Err() != nil {
		return pause // evaluations may have been interrupted
	}
	slices.SortFunc(p.tasks, func(a, b *task) int {
		return cmp.Or(a.last()-b.last(), a.pod.CreationTimestamp.Compare(b.pod.CreationTimestamp.Time),
			cmp.Compare(a.pod.Namespace, b.pod.Namespace), cmp.Compare(a.pod.Name, b.pod.Name))
	})
	rest = pause
	start := l.Clock.Now()
	fair.InTurns(l.Clock, p.tasks, func(t *task) string { return t.pod.Namespace }, func(t *task) bool {
		if l.budget < 1 || p.failures >= maxFailures || l.Clock.Since(start) >= l.Period {
			t.due, rest = l.Clock.Now(), l.Period
			return true
		}
		p.guard(ctx, nameOf(t.pod), func(ctx context.Context) { p.carryOut(ctx, t) })
		return ctx.Err() == nil
	})
	return rest
}

// refill adds to the budget according to the elapsed time.
func (l *Loop) refill() {
	now := l.Clock.Now()
	most := max(1, maxEnded*l.Period.Seconds())
	l.budget = min(most, l.budget+maxEnded*now.Sub(l.refilled).Seconds())
	l.refilled = now
}

func nameOf(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}
