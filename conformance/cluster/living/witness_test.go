//go:build cluster

package living

import (
	"fmt"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// eagerAnnotation marks Pods whose Job replaces them while they are terminating.
const eagerAnnotation = "eager"

// witness sees every event of every Pod of a namespace.
type witness struct {
	mu       sync.Mutex
	events   int
	seen     []*sighting // in order of creation
	problems []string
	losable  map[string]bool // names of nodes whose Pods may be ended
}

// sighting is the observed state of a Pod.
type sighting struct {
	pod  *corev1.Pod
	gone bool
	// deleted is the first deletionTimestamp, and ended the time when the phase was first terminal, or the Pod was gone.
	deleted, ended time.Time
}

// newWitness watches until the test ends.
func newWitness(t *testing.T, client kubernetes.Interface, namespace string) *witness {
	t.Helper()
	w := &witness{losable: map[string]bool{}}
	t.Cleanup(func() {
		t.Logf("%d events of %d Pods", w.events, len(w.seen))
		for _, problem := range w.problems {
			t.Error(problem)
		}
	})
	testcluster.WatchPods(t, client, namespace, w.see)
	return w
}

// see records an event, and checks the invariants after it.
func (w *witness) see(of watch.EventType, pod *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events++
	s := w.find(func(s *sighting) bool { return s.pod.UID == pod.UID })
	if s == nil {
		s = &sighting{}
		w.seen = append(w.seen, s)
	}
	s.pod, s.gone = pod, of == watch.Deleted
	if s.deleted.IsZero() && pod.DeletionTimestamp != nil {
		s.deleted = pod.DeletionTimestamp.Time
	}
	if s.ended.IsZero() && (s.gone || !v1alpha1.Lives(v1alpha1.PhaseOf(pod))) {
		s.ended = time.Now()
	}
	if testcluster.HasCondition(pod, v1alpha1.Lost) && !w.losable[pod.Spec.NodeName] {
		w.problems = append(w.problems, fmt.Sprintf("%s is ended on %s", pod.Name, pod.Spec.NodeName))
	}
	w.checkDoubles(pod)
}

// checkDoubles records a problem if an index has too many running Pods.
func (w *witness) checkDoubles(pod *corev1.Pod) {
	var running, staying []string
	for _, s := range w.seen {
		if s.gone || s.pod.Status.Phase != corev1.PodRunning || indexOf(s.pod) != indexOf(pod) {
			continue
		}
		running = append(running, s.pod.Name)
		if s.pod.DeletionTimestamp == nil {
			staying = append(staying, s.pod.Name)
		}
	}
	if len(staying) > 1 || len(running) > 1 && pod.Annotations[eagerAnnotation] == "" {
		w.problems = append(w.problems, fmt.Sprintf("these run for one index at the same time: %v", running))
	}
}

// indexOf returns the Job and index of a Pod.
func indexOf(pod *corev1.Pod) string {
	return fmt.Sprint(metav1.GetControllerOf(pod).UID, "/", pod.Annotations[batchv1.JobCompletionIndexAnnotation])
}

func (w *witness) find(such func(*sighting) bool) *sighting {
	for _, s := range w.seen {
		if such(s) {
			return s
		}
	}
	return nil
}

// mayLose allows Pods of a node to be ended.
func (w *witness) mayLose(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.losable[node] = true
}

// deleted returns the first Pod of a Job that is deleted or gone.
func (w *witness) deleted(job string) (name string, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.find(func(s *sighting) bool {
		return s.pod.Labels[batchv1.JobNameLabel] == job && !s.deleted.IsZero()
	})
	if s == nil {
		return "", false
	}
	return s.pod.Name, true
}

// restarts returns the number of restarts of a Pod's container.
func (w *witness) restarts(pod string) int32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.find(func(s *sighting) bool { return s.pod.Name == pod })
	return s.pod.Status.ContainerStatuses[0].RestartCount
}

// of returns copies of the observed states of a Job's Pods.
func (w *witness) of(job types.UID) (all []sighting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.seen {
		if metav1.GetControllerOf(s.pod).UID == job {
			all = append(all, *s)
		}
	}
	return all
}
