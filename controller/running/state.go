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

// jobState is what the program knows of a Job before the caches show it. It belongs to the worker that has the Job's
// key, but for mu, which guards what calls in parallel add.
type jobState struct {
	owner plan.Owner
	// written is the Job as it was returned by the last write of its status, or nil; wrote is when that was.
	written *batchv1.Job
	wrote   time.Time
	// took is how long the last look at the Job took.
	took atomic.Int64
	// creationFailed is true when the last creation failed.
	creationFailed bool
	// verdicts are those of the last look. problems are those that events were recorded of.
	verdicts map[types.UID]*cachedVerdict
	problems knownTexts

	mu sync.Mutex
	// returned are pods as a write returned them, by UID.
	returned map[types.UID]*corev1.Pod
	// deleted are those whose deletion was accepted.
	deleted map[types.UID]bool
	// unknown are the names of pods whose creation has no known outcome, and the last time at which it may take effect.
	unknown map[string]time.Time
	// taken are the names that pods of others have.
	taken map[string]bool
}

// jobStates are those of all Jobs.
type jobStates struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]*jobState
}

// of returns the state of a Job.
func (r *jobStates) of(owner plan.Owner) *jobState {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.byKey[owner.NamespacedName]
	if known == nil || known.owner != owner {
		known = &jobState{
			owner: owner, returned: map[types.UID]*corev1.Pod{}, deleted: map[types.UID]bool{},
			unknown: map[string]time.Time{}, taken: map[string]bool{},
		}
		if r.byKey == nil {
			r.byKey = map[types.NamespacedName]*jobState{}
		}
		r.byKey[owner.NamespacedName] = known
	}
	return known
}

// coalescence returns how long the Job waits for more events after the first one: the longer, the more a look costs.
func (r *jobStates) coalescence(key types.NamespacedName) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	const least, most = 20 * time.Millisecond, time.Second
	if known := r.byKey[key]; known != nil {
		return min(max(4*time.Duration(known.took.Load()), least), most)
	}
	return least
}

func (r *jobStates) forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byKey, key)
}

// newestJob returns the Job as it was written, or as the cache has it if that is newer.
func (r *jobState) newestJob(cached *batchv1.Job) *batchv1.Job {
	if r.written != nil && newer(r.written.ResourceVersion, cached.ResourceVersion) {
		return r.written
	}
	r.written = nil
	return cached
}

// newestPods returns the Job's pods in the cache, each as new as is known, and those that the cache does not show yet.
func (r *jobState) newestPods(caches *caches.Caches) []*corev1.Pod {
	// Read before the pods: the cache is at least as new as this when they are.
	shown := caches.Pods.LastStoreSyncResourceVersion()
	pods := caches.PodsOf(r.owner)
	present := make(map[types.UID]bool, len(r.returned)+len(r.deleted))
	for i, cached := range pods {
		present[cached.UID] = true
		pods[i] = r.newestPod(cached)
	}
	return append(pods, r.missing(shown, present)...)
}

// newestPod returns the pod as a write returned it, or as the cache has it if that is newer. Then the former is forgotten.
func (r *jobState) newestPod(cached *corev1.Pod) *corev1.Pod {
	newest := cached
	if known := r.returned[cached.UID]; known != nil {
		if newer(known.ResourceVersion, cached.ResourceVersion) {
			newest = known
		} else {
			delete(r.returned, cached.UID)
		}
	}
	if newest.DeletionTimestamp != nil {
		delete(r.deleted, newest.UID)
	}
	return newest
}

// missing returns the returned pods that the cache, of the version that it shows, does not have yet. Those that it does not
// have any more are forgotten.
func (r *jobState) missing(shown string, present map[types.UID]bool) []*corev1.Pod {
	var pods []*corev1.Pod
	for uid, known := range r.returned {
		switch {
		case present[uid]:
		case newer(known.ResourceVersion, shown):
			pods = append(pods, known)
			present[uid] = true
		default:
			delete(r.returned, uid)
		}
	}
	for uid := range r.deleted {
		if !present[uid] {
			delete(r.deleted, uid)
		}
	}
	return pods
}

// newer compares resource versions. An object that has one is newer than an object whose version cannot be read.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		_, wrong := resourceversion.CompareResourceVersion(b, "1")
		return wrong != nil
	}
	return order > 0
}

// learn keeps a pod as the API server returned it.
func (r *jobState) learn(pod *corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.returned[pod.UID] = pod
	delete(r.unknown, pod.Name)
}

func (r *jobState) learnDeleted(pod *corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deleted[pod.UID] = true
}

func (r *jobState) learnTaken(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken[name] = true
	delete(r.unknown, name)
}

func (r *jobState) learnUnknown(name string, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unknown[name] = until
}

func (r *jobState) learnNotCreated(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.unknown, name)
}
