package living

import (
	"strconv"
	"testing"
	"time"
)

// Pods of other namespaces may carry the UID of a Job: they have no say in what becomes of its own pods.
func TestPodsOfOtherNamespaces(t *testing.T) {
	inWorld(t, func(w *world) {
		w.bind(startPolicy(lateImage()))
		job := w.createJob("train", nil)
		w.createPod(job, "a")
		forged := job.DeepCopy()
		forged.Namespace = "other"
		for i := range 50 { // the order of looks is that of a map
			w.createPod(forged, "forged-"+strconv.Itoa(i))
		}
		time.Sleep(10*time.Minute + DefaultPeriod)
		w.lookAgain()
		expectStrings(w.T, "the calls", w.took(), patchPod, deletePod)
	})
}
