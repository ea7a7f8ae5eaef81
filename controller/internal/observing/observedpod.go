package observing

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// observedPod is a failed pod. It is kept while the pod exists, so that its event is written only once.
type observedPod struct {
	stage   stage
	pod     *corev1.Pod
	job     *batchv1.Job // nil if it was not in the caches
	mode    string
	program *runtime.Program // explains why no rule matched, or nil if not needed
	invalid error            // set if the policy does not compile, so that there is no verdict
	counted bool             // counted in the metrics
	gone    bool             // the pod has been deleted
	verdict runtime.Verdict
	// would are the verdicts of custom policies that do not take effect.
	would []binding.Would
	// problems are the match conditions that could not be evaluated, unless another loop records them.
	problems []*binding.ConditionError
}

// podKey identifies a pod.
type podKey struct {
	namespace string
	uid       types.UID
}

func keyOf(pod *corev1.Pod) podKey { return podKey{pod.Namespace, pod.UID} }

func (k podKey) String() string { return k.namespace + "/" + string(k.uid) }

type stage int

const (
	unjudged stage = iota
	judged         // the event has to be written
	done           // nothing is left to do
)

// settle stores the verdict on a pod unless it already has one, and queues its event if one is due.
func (o *Loop) settle(pod *corev1.Pod, s observedPod, due bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.start()
	known := o.observedPods[pod.UID]
	if known != nil && known.stage != unjudged {
		return
	}
	failed := lastSign(pod)
	s.pod, s.gone = pod, known != nil && known.gone
	if s.counted = s.invalid == nil && !failed.Before(o.started); s.counted {
		o.count(&s)
	}
	if s.invalid == nil {
		o.History(pod, s.verdict, s.would)
	}
	due = due && o.Clock.Since(failed) < eventLife
	if due && !o.room.Take(pod.Namespace) {
		o.Metrics.VerdictEvent(metrics.EventDropped)
		due = false
	}
	if due {
		s.stage = judged
		o.observedPods[pod.UID] = &s
		o.events.Add(keyOf(pod))
	} else {
		o.close(keyOf(pod), &s)
	}
}

// finish completes the work on a pod, given the result of writing its event.
func (o *Loop) finish(key podKey, result string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.observedPods[key.uid]
	if s == nil {
		return
	}
	if result != "" {
		o.Metrics.VerdictEvent(result)
	}
	if result == metrics.EventCreated && !s.counted && s.invalid == nil {
		o.count(s)
	}
	if s.stage == judged {
		o.room.Give(key.namespace)
	}
	o.close(key, s)
}

// count counts the verdict in the metrics.
func (o *Loop) count(s *observedPod) {
	o.Metrics.Judged(s.mode, s.verdict)
	o.Count(s.verdict, metrics.ModeEnforce)
	if n := len(s.would); n > 0 {
		o.Count(s.would[n-1].Verdict, metrics.ModeAudit) // as if all policies were enforced
	}
}

// close discards everything except the fact that the pod is done. If the pod has been deleted, this fact is
// kept only for a while.
func (o *Loop) close(key podKey, s *observedPod) {
	o.observedPods[key.uid] = &observedPod{stage: done, gone: s.gone}
	if s.gone {
		o.judging.AddAfter(key, afterlife)
	}
}

// remove forgets a pod, unless it has moved to another stage.
func (o *Loop) remove(uid types.UID, at stage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.observedPods[uid]; s != nil && s.stage == at {
		delete(o.observedPods, uid)
	}
}

func (o *Loop) observedPod(uid types.UID) (observedPod, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, found := o.observedPods[uid]
	if !found {
		return observedPod{}, false
	}
	return *s, true
}
