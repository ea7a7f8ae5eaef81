package controller

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/runtime"
)

// sighting is what is known of a failed pod. It is kept as long as the pod is, to tell of it once.
type sighting struct {
	opinion

	stage   stage
	pod     *corev1.Pod
	job     *batchv1.Job // nil when the caches did not show it
	mode    string
	program *runtime.Program // says why no rule matches; nil if nobody asks
	invalid error            // the policy does not compile: there is no verdict
	counted bool             // in the metrics
	gone    bool             // the pod
}

type stage int

const (
	unjudged stage = iota
	judged         // its event is to be told
	told           // nothing is left to be done
)

// settle makes s what is known of the pod, unless it was judged before, and has it told if an event is due.
func (o *observer) settle(pod *corev1.Pod, s sighting, due bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.start()
	known := o.sightings[pod.UID]
	if known != nil && known.stage != unjudged {
		return
	}
	failed := lastSign(pod)
	s.pod, s.gone = pod, known != nil && known.gone
	if s.counted = s.invalid == nil && !failed.Before(o.started); s.counted {
		o.count(&s)
	}
	due = due && o.clock.Since(failed) < eventLife
	if due && !o.room.take(pod.Namespace) {
		o.metrics.told(eventDropped)
		due = false
	}
	if due {
		s.stage = judged
		o.sightings[pod.UID] = &s
		o.telling.Add(keyOf(pod))
	} else {
		o.close(keyOf(pod), &s)
	}
}

// finish is for a pod of which there is nothing more to be told, with what became of its event.
func (o *observer) finish(key podKey, result string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.sightings[key.uid]
	if s == nil {
		return
	}
	if result != "" {
		o.metrics.told(result)
	}
	if result == eventCreated && !s.counted && s.invalid == nil {
		o.count(s)
	}
	if s.stage == judged {
		o.room.give(key.namespace)
	}
	o.close(key, s)
}

// count has the verdict in the metrics.
func (o *observer) count(s *sighting) {
	o.metrics.judged(s.mode, s.verdict)
	o.policies.count(s.verdict, modeEnforce)
	if s.would != nil {
		o.policies.count(*s.would, modeAudit)
	}
}

// close keeps only that the pod was told of, for a while if it is gone.
func (o *observer) close(key podKey, s *sighting) {
	o.sightings[key.uid] = &sighting{stage: told, gone: s.gone}
	if s.gone {
		o.judging.AddAfter(key, afterlife)
	}
}

// remove forgets a pod, unless it has got to another stage.
func (o *observer) remove(uid types.UID, at stage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.sightings[uid]; s != nil && s.stage == at {
		delete(o.sightings, uid)
	}
}

func (o *observer) sighting(uid types.UID) (sighting, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, found := o.sightings[uid]
	if !found {
		return sighting{}, false
	}
	return *s, true
}
