package living

import (
	"strconv"
	"testing"
	"time"
)

// TestPodsOfOtherNamespaces checks that pods of other namespaces with the UID of a Job do not affect
// decisions about its own pods.
func TestPodsOfOtherNamespaces(t *testing.T) {
	inWorld(t, func(w *world) {
		w.bind(startPolicy(lateImage()))
		job := w.createJob("train", nil)
		w.createPod(job, "a")
		forged := job.DeepCopy()
		forged.Namespace = "other"
		for i := range 50 { // pods are evaluated in map order
			w.createPod(forged, "forged-"+strconv.Itoa(i))
		}
		time.Sleep(10*time.Minute + DefaultPeriod)
		w.lookAgain()
		expectStrings(w.T, "the calls", w.took(), patchPod, deletePod)
	})
}
