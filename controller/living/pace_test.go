package living

import (
	"strconv"
	"testing"
	"time"

	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// TestPodsEndAtAPace checks that when all pods match, they are deleted at a limited rate, oldest first.
func TestPodsEndAtAPace(t *testing.T) {
	inWorld(t, func(w *world) {
		w.bind(startPolicy(lateImage()))
		job := w.createJob("train", nil)
		const pods = 250
		for i := range pods {
			w.createPod(job, "p-"+strconv.Itoa(pods-i))
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		for look, want := range []int{100, 200, pods, pods} {
			w.lookAgain()
			deleted := 0
			for _, pod := range w.server.Pods() {
				age, _ := strconv.Atoi(pod.Name[len("p-"):])
				switch isDeleted := pod.DeletionTimestamp != nil; {
				case isDeleted:
					deleted++
				case age > pods-want:
					w.Errorf("look %d: %s is older than others that are deleted", look, pod.Name)
				}
			}
			if deleted != want {
				w.Errorf("look %d: %d pods are deleted, want %d", look, deleted, want)
			}
		}
		w.counts.Expect(w.T, map[string]float64{deletions: pods})
	})
}

// TestFailuresComeLast checks that pods that cannot be deleted come last, and that a pass ends early if no call
// succeeds.
func TestFailuresComeLast(t *testing.T) {
	inWorld(t, func(w *world) {
		w.bind(startPolicy(lateImage()))
		job := w.createJob("train", nil)
		for i := range 12 {
			w.createPod(job, "p-"+strconv.Itoa(i+10))
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		w.before = func(call memoryapi.Call) error {
			if call.Name < "p-17" { // the seven oldest
				return errCrash
			}
			return nil
		}
		for look, want := range []int{5, 2 + 10 + 5, 5, 5} {
			w.lookAgain()
			if calls := w.took(); len(calls) != want {
				w.Errorf("look %d: %d calls, want %d: %q", look, len(calls), want, calls)
			}
		}
		if told := w.told(); len(told) != 12 {
			w.Errorf("%d events: %q", len(told), told)
		}
		w.before = nil
		w.lookAgain()
		w.counts.Expect(w.T, map[string]float64{deletions: 12, "living_pod_errors_total{kind=call,mode=observe}": 22})
	})
}
