package running

import (
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/podverdict/podverdict/controller/caches"
	"github.com/podverdict/podverdict/controller/plan"
)

// jobState is what the program knows of a Job before the caches show it. It belongs to the worker that has the Job's key. The
// mutex mu guards the fields that parallel calls change.
type jobState struct {
	owner plan.Owner
	// written is the Job as the last write of its status returned it, or nil; wrote is when that was.
	written *batchv1.Job
	wrote   time.Time
	// took is how long the last sync of the Job took.
	took atomic.Int64
	// creationFailed is true if the last creation failed.
	creationFailed bool
	// verdicts are those of the last sync. problems are those for which events were recorded.
	verdicts map[types.UID]*cachedVerdict
	problems knownTexts

	mu sync.Mutex
	// returned are pods as writes returned them, by UID.
	returned map[types.UID]*corev1.Pod
	// deleted are the pods whose deletion was accepted.
	deleted map[types.UID]bool
	// unknown are the names of pods whose creation has no known outcome, with the last time at which it may take effect.
	unknown map[string]time.Time
	// taken are the names that other owners' pods have.
	taken map[string]bool
}

// jobStates are the states of all Jobs.
type jobStates struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]*jobState
}

// of returns the state of a Job.
func (s *jobStates) of(owner plan.Owner) *jobState {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.byKey[owner.NamespacedName]
	if known == nil || known.owner != owner {
		known = &jobState{
			owner: owner, returned: map[types.UID]*corev1.Pod{}, deleted: map[types.UID]bool{},
			unknown: map[string]time.Time{}, taken: map[string]bool{},
		}
		if s.byKey == nil {
			s.byKey = map[types.NamespacedName]*jobState{}
		}
		s.byKey[owner.NamespacedName] = known
	}
	return known
}

// coalescence returns how long a Job waits for more events after the first one: the longer its last sync took, the longer.
func (s *jobStates) coalescence(key types.NamespacedName) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	const least, most = 20 * time.Millisecond, time.Second
	if known := s.byKey[key]; known != nil {
		return min(max(4*time.Duration(known.took.Load()), least), most)
	}
	return least
}

func (s *jobStates) forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byKey, key)
}

// newestJob returns the newer of the cached Job and the one returned by the last write.
func (s *jobState) newestJob(cached *batchv1.Job) *batchv1.Job {
	if s.written != nil && newer(s.written.ResourceVersion, cached.ResourceVersion) {
		return s.written
	}
	s.written = nil
	return cached
}

// newestPods returns the Job's pods, each in its newest known version, including those that the cache does not show yet.
func (s *jobState) newestPods(caches *caches.Caches) []*corev1.Pod {
	// Read the version before the pods, so that the pods are at least as new.
	shown := caches.Pods.LastStoreSyncResourceVersion()
	pods := caches.PodsOf(s.owner)
	present := make(map[types.UID]bool, len(s.returned)+len(s.deleted))
	for i, cached := range pods {
		present[cached.UID] = true
		pods[i] = s.newestPod(cached)
	}
	return append(pods, s.missing(shown, present)...)
}

// newestPod returns the newer of the cached pod and the one returned by a write. It forgets the latter once the cache has
// caught up.
func (s *jobState) newestPod(cached *corev1.Pod) *corev1.Pod {
	newest := cached
	if known := s.returned[cached.UID]; known != nil {
		if newer(known.ResourceVersion, cached.ResourceVersion) {
			newest = known
		} else {
			delete(s.returned, cached.UID)
		}
	}
	if newest.DeletionTimestamp != nil {
		delete(s.deleted, newest.UID)
	}
	return newest
}

// missing returns the returned pods that the cache, which has reached the version shown, does not have yet. It forgets those
// that the cache no longer has.
func (s *jobState) missing(shown string, present map[types.UID]bool) []*corev1.Pod {
	var pods []*corev1.Pod
	for uid, known := range s.returned {
		switch {
		case present[uid]:
		case newer(known.ResourceVersion, shown):
			pods = append(pods, known)
			present[uid] = true
		default:
			delete(s.returned, uid)
		}
	}
	for uid := range s.deleted {
		if !present[uid] {
			delete(s.deleted, uid)
		}
	}
	return pods
}

// newer reports whether resource version a is newer than b. A valid version is newer than an invalid one.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		_, wrong := resourceversion.CompareResourceVersion(b, "1")
		return wrong != nil
	}
	return order > 0
}

// learn keeps a pod as the API server returned it.
func (s *jobState) learn(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.returned[pod.UID] = pod
	delete(s.unknown, pod.Name)
}

func (s *jobState) learnDeleted(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleted[pod.UID] = true
}

func (s *jobState) learnTaken(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken[name] = true
	delete(s.unknown, name)
}

func (s *jobState) learnUnknown(name string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown[name] = until
}

func (s *jobState) learnNotCreated(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unknown, name)
}
