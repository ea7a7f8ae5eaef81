package plan

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/internal/testing/generators"
)

// TestHostileLives is TestLives with an intruder who removes finalizers, writes garbage into annotations, and creates
// pods in the Job's name. The counters are then unpredictable, but the status rules hold, and the Job ends.
func TestHostileLives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := life{t, newWorld(t.Fatalf, drawJob(t))}
		l.hostile = true
		if l.draw("rules", 1) == 0 {
			l.drawRules()
			l.reads = true
		}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if l.draw("hostile", 2) == 0 {
				l.tamper()
			} else {
				l.step()
			}
		}
		l.settle()
	})
}

func (l life) tamper() {
	text := rapid.SampledFrom(generators.Garbage).Draw(l.t, "garbage")
	names := slices.Sorted(maps.Keys(l.pods))
	switch tamper := l.draw("tamper", 4); {
	case tamper == 0:
		key := rapid.SampledFrom([]string{BackoffSecondsAnnotation, FailedPodsLimitAnnotation, "ledger"}).Draw(l.t, "key")
		if key == "ledger" {
			l.job = jobBuilder{l.job}.ledger(text).job()
		} else {
			l.job = jobBuilder{l.job}.annotated(key, text).job()
		}
		l.changedJob()
	case tamper == 1:
		l.intrude(text)
	case len(names) == 0:
	case tamper == 2:
		l.update(names[l.draw("pod", len(names)-1)], func(p *corev1.Pod) { p.Finalizers = nil })
	default:
		key := rapid.SampledFrom([]string{batchv1.JobCompletionIndexAnnotation, batchv1.JobIndexFailureCountAnnotation,
			batchv1.JobIndexIgnoredFailureCountAnnotation, ConsecutiveFailuresAnnotation, MatchesAnnotation, EarlierAttemptsAnnotation}).Draw(l.t, "key")
		l.update(names[l.draw("pod", len(names)-1)], func(p *corev1.Pod) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, key, text) })
	}
}

// intrude creates a pod in the Job's name.
func (l life) intrude(index string) {
	slot, attempt := l.draw("slot", 6), l.draw("attempt", 3)
	p := podOf(jobBuilder{l.job}, slot, attempt)
	if l.draw("named", 1) == 0 {
		p.name("intruder-"+strconv.Itoa(l.version)).annotated(batchv1.JobCompletionIndexAnnotation, index)
	}
	if l.pods[p.p.Name] != nil {
		return
	}
	p.p.UID = types.UID("intruder-" + strconv.Itoa(l.version))
	l.pods[p.p.Name] = p.p
	l.update(p.p.Name, func(p *corev1.Pod) {
		if l.draw("held", 1) == 0 {
			p.Finalizers = nil
		}
	})
}
