package plan

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// TestKeptLives compares the Plan from cached state with the Plan from all pods, after every event of lives of all kinds,
// with crashes, lagging caches, changing rules, and an intruder. The other tests of lives do that, too; this one has no
// other checks, so that a million lives take little time:
//
//	go test ./controller/plan -run TestKeptLives -rapid.checks 1000000
func TestKeptLives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := life{t, newWorld(t.Fatalf, drawJob(t))}
		l.lean, l.hostile = true, true
		l.settings = Settings{
			MaxHeld: rapid.SampledFrom([]int{2, 100}).Draw(t, "MaxHeld"), MaxReleasing: rapid.SampledFrom([]int{2, 100}).Draw(t, "MaxReleasing"),
		}
		switch l.draw("rules", 3) {
		case 0:
			l.drawRules()
			l.reads = l.draw("reads", 1) == 0
		case 1:
			l.court = &court{
				own: l.job.Spec.PodFailurePolicy != nil, verdicts: map[types.UID]judgement{}, matched: map[string]map[types.UID]bool{},
				letGo: map[types.UID]bool{},
			}
			l.restart()
		}
		tampers := l.draw("tampers", 3) == 0
		for range rapid.IntRange(10, 60).Draw(t, "steps") {
			if tampers && l.draw("tamper", 3) == 0 {
				l.tamper()
			} else {
				l.step()
			}
		}
	})
}

// checkKept compares the Plan from cached state with the Plan from all pods.
func (w *world) checkKept(o Observation, want Plan) {
	named := map[string][]*corev1.Pod{}
	for _, p := range o.Pods {
		named[p.Name] = append(named[p.Name], p)
	}
	for name := range w.kept.pods {
		w.kept.Set(name, named[name]...)
	}
	for name, pods := range named {
		w.kept.Set(name, pods...)
	}
	if got := w.kept.Next(o); !reflect.DeepEqual(got, want) {
		w.fail("the Plan from what is kept differs: %s", cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })))
	}
}
