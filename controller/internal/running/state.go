package running

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/plan"
)

// jobState is the known state of a Job that the caches may not have received yet. It belongs to the worker that processes the Job's key.
// The mutex mu guards the fields that parallel calls change.
type jobState struct {
	owner plan.Owner
	// written is the Job as returned by the last write of its status, or nil. wrote is the time of that write, in nanoseconds.
	written *batchv1.Job
	wrote   atomic.Int64
	// took is the actual or assumed duration of the Job's last sync.
	took atomic.Int64
	// creationFailed is true if the last creation failed.
	creationFailed bool
	// refusals counts the failed creations.
	refusals int
	// verdicts are the verdicts on the failed pods. problems are the texts for which events were recorded.
	verdicts verdicts
	problems knownTexts
	// kept holds the pods, and state that Plans derive from them. Listed is true if all pods have been added to it.
	kept   plan.Kept
	listed bool

	mu sync.Mutex
	// changed holds the names of pods that have changed in the caches since they were set in kept.
	changed map[string]bool
	// returned are pods as returned by writes, by name.
	returned map[string][]*corev1.Pod
	// deleted are the pods whose deletion was accepted.
	deleted map[types.UID]bool
	// unknown holds the names of pods whose creation has an unknown outcome, with the last time at which it may take effect.
	unknown map[string]time.Time
	// taken are the names used by other owners' pods.
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
			owner: owner, verdicts: newVerdicts(), changed: map[string]bool{}, returned: map[string][]*corev1.Pod{}, deleted: map[types.UID]bool{},
			unknown: map[string]time.Time{}, taken: map[string]bool{},
		}
		if s.byKey == nil {
			s.byKey = map[types.NamespacedName]*jobState{}
		}
		s.byKey[owner.NamespacedName] = known
	}
	return known
}

// sinceWrite returns the time since the Job's status was written.
func (s *jobState) sinceWrite(now time.Time) time.Duration {
	return now.Sub(time.Unix(0, s.wrote.Load()))
}

// coalescence returns how long a Job waits for more events after the first one. It grows with the duration of the Job's last sync.
func (s *jobStates) coalescence(key types.NamespacedName) time.Duration {
	return s.patience(key, time.Time{}, 0)
}

// patience returns how long a Job waits for more events after one that only changes counters. This is at least coalescence, and lasts until
// the period since the last write of its status is over.
func (s *jobStates) patience(key types.NamespacedName, now time.Time, period time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	const least, most = 20 * time.Millisecond, time.Second
	known := s.byKey[key]
	if known == nil {
		return least
	}
	wait := min(max(4*time.Duration(known.took.Load()), least), most)
	if period > 0 {
		wait = max(wait, period-known.sinceWrite(now))
	}
	return wait
}

// podChanged records that a pod has changed in the caches.
func (s *jobStates) podChanged(pod *corev1.Pod) {
	owner, owned := plan.OwnerOf(pod)
	if !owned {
		return
	}
	s.mu.Lock()
	known := s.byKey[owner.NamespacedName]
	s.mu.Unlock()
	if known != nil && known.owner == owner {
		known.mu.Lock()
		defer known.mu.Unlock()
		known.changed[pod.Name] = true
	}
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

// refresh updates the Job's changed pods in kept, each in its newest known version, including pods that the cache has not received yet.
func (s *jobState) refresh(caches *caches.Caches) {
	// Read the version before the pods, so that the pods are at least as new.
	shown := caches.Pods.LastStoreSyncResourceVersion()
	for name := range s.takeChanged(caches) {
		before := s.kept.Pods(name)
		now := s.newestPods(caches, name, shown)
		s.kept.Set(name, now...)
		for _, pod := range before {
			if !slices.ContainsFunc(now, func(p *corev1.Pod) bool { return p.UID == pod.UID }) {
				delete(s.deleted, pod.UID)
				s.verdicts.forget(pod.UID)
			}
		}
		for _, pod := range now {
			if pod.DeletionTimestamp != nil {
				delete(s.deleted, pod.UID)
			}
		}
	}
	if len(s.returned) == 0 {
		s.returned = map[string][]*corev1.Pod{} // a map that was large would stay large
	}
}

// takeChanged returns the names of the pods that may have changed since the last call. The first call returns all pods.
func (s *jobState) takeChanged(caches *caches.Caches) map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.changed
	s.changed = map[string]bool{}
	for name := range s.returned {
		changed[name] = true
	}
	if !s.listed { // changes are recorded since the state was created
		there := map[types.UID]bool{}
		for _, pod := range caches.PodsOf(s.owner) {
			changed[pod.Name], there[pod.UID] = true, true
		}
		s.verdicts.forgetOthers(there)
		s.listed = true
	}
	return changed
}

// drop frees the cached state of the pods, which are listed again if the Job is synced once more.
func (s *jobState) drop() { s.kept, s.listed = plan.Kept{}, false }

// newestPods returns the Job's pods of a name: the one in the cache, which has reached the version shown, and the ones returned by writes
// that the cache has not received yet. It forgets the others.
func (s *jobState) newestPods(caches *caches.Caches, name, shown string) []*corev1.Pod {
	var pods []*corev1.Pod
	if cached := caches.Pod(types.NamespacedName{Namespace: s.owner.Namespace, Name: name}); cached != nil {
		if owner, _ := plan.OwnerOf(cached); owner == s.owner {
			pods = append(pods, cached)
		}
	}
	var ahead []*corev1.Pod
	for _, known := range s.returned[name] {
		switch {
		case len(pods) > 0 && pods[0].UID == known.UID:
			if newer(known.ResourceVersion, pods[0].ResourceVersion) {
				pods[0] = known
				ahead = append(ahead, known)
			}
		case newer(known.ResourceVersion, shown):
			pods = append(pods, known)
			ahead = append(ahead, known)
		}
	}
	if len(ahead) == 0 {
		delete(s.returned, name)
	} else {
		s.returned[name] = ahead
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

// learn stores a pod as returned by the API server.
func (s *jobState) learn(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	others := slices.DeleteFunc(s.returned[pod.Name], func(p *corev1.Pod) bool { return p.UID == pod.UID })
	s.returned[pod.Name] = append(others, pod)
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
