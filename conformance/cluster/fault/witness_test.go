//go:build cluster

package fault

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/controller/plan"
)

// witness watches the Jobs and pods of a namespace, and records violations of the invariants. When the API server is down
// it starts over with a new list, which shows one moment, as each event of a watch does.
type witness struct {
	mu    sync.Mutex
	wrong []string
	jobs  map[string]*batchv1.Job
	pods  map[string]map[types.UID]*corev1.Pod // by Job name
	// made has all pods that ever existed, by Job, with the number of earlier pods at their slot. The name gives the same
	// number unless a user deletes pods, because names are then reused.
	made map[string]map[types.UID]sighting
	// succeeded has the pods that succeeded, by Job and slot.
	succeeded map[string]map[int]types.UID
	// told has the version of each pod whose status the kubelet has last written.
	told map[types.UID]string
	// decided has the version of each Job that first showed how it ends.
	decided map[string]string
	// parallelism has the parallelism of each Job.
	parallelism map[string]int
	// deletable has the pods deleted by others than the controller, and the Jobs that delete their own pods.
	deletable     map[types.UID]bool
	deletableJobs map[string]bool
}

// sighting records how a pod was first seen.
type sighting struct {
	name          string
	slot, attempt int
	at            time.Time
	version       string
}

func newWitness(trials ...trial) *witness {
	w := &witness{
		jobs: map[string]*batchv1.Job{}, pods: map[string]map[types.UID]*corev1.Pod{}, made: map[string]map[types.UID]sighting{},
		succeeded: map[string]map[int]types.UID{}, told: map[types.UID]string{},
		parallelism: map[string]int{}, decided: map[string]string{}, deletable: map[types.UID]bool{}, deletableJobs: map[string]bool{},
	}
	for _, r := range trials {
		w.parallelism[r.name] = r.parallelism
		_, w.deletableJobs[r.name] = r.early()
		w.pods[r.name], w.made[r.name], w.succeeded[r.name] = map[types.UID]*corev1.Pod{}, map[types.UID]sighting{}, map[int]types.UID{}
	}
	return w
}

// watch watches until the context is done.
func (w *witness) watch(ctx context.Context, client kubernetes.Interface, namespace string) {
	pods, jobs := client.CoreV1().Pods(namespace), client.BatchV1().Jobs(namespace)
	var both sync.WaitGroup
	both.Go(func() {
		follow(ctx, func(ctx context.Context) (runtime.Object, error) { return pods.List(ctx, metav1.ListOptions{}) }, pods.Watch, w.seePods)
	})
	both.Go(func() {
		follow(ctx, func(ctx context.Context) (runtime.Object, error) { return jobs.List(ctx, metav1.ListOptions{}) }, jobs.Watch, w.seeJobs)
	})
	both.Wait()
}

// follow shows all objects of a list, then each event of a watch, and starts over when the watch breaks.
func follow(
	ctx context.Context, list func(context.Context) (runtime.Object, error),
	watcher func(context.Context, metav1.ListOptions) (watch.Interface, error), see func(kind watch.EventType, objects []runtime.Object),
) {
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		bounded, stop := context.WithTimeout(ctx, callTimeout)
		all, err := list(bounded)
		stop()
		if err != nil {
			continue
		}
		version, items := listed(all)
		see(everything, items)
		events, err := watcher(ctx, metav1.ListOptions{ResourceVersion: version})
		if err != nil {
			continue
		}
		for event := range events.ResultChan() {
			if event.Type == watch.Error {
				break
			}
			see(event.Type, []runtime.Object{event.Object})
		}
		events.Stop()
	}
}

// everything is the kind of event with which a list is shown.
const everything watch.EventType = "LISTED"

func listed(list runtime.Object) (version string, items []runtime.Object) {
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return "", nil
	}
	items, err = meta.ExtractList(list)
	if err != nil {
		return "", nil
	}
	return accessor.GetResourceVersion(), items
}

// seePods records pods, and checks their Jobs.
func (w *witness) seePods(kind watch.EventType, objects []runtime.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	shown := map[types.UID]bool{}
	touched := map[string]bool{}
	for _, object := range objects {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			continue
		}
		owner := metav1.GetControllerOf(pod)
		if owner == nil || w.pods[owner.Name] == nil {
			continue
		}
		touched[owner.Name], shown[pod.UID] = true, true
		w.pods[owner.Name][pod.UID] = pod
		w.seePod(owner.Name, pod)
		if kind == watch.Deleted {
			w.gone(owner.Name, pod)
		}
	}
	for job, pods := range w.pods {
		for uid, pod := range pods {
			if kind == everything && !shown[uid] {
				touched[job] = true
				w.gone(job, pod)
			}
		}
	}
	for job := range touched {
		w.check(job)
	}
}

// seePod records the facts that are recorded once for each pod.
func (w *witness) seePod(job string, pod *corev1.Pod) {
	slot, _, named := plan.Place(pod)
	if !named {
		return
	}
	if _, known := w.made[job][pod.UID]; !known {
		w.made[job][pod.UID] = w.sight(job, slot, pod)
	}
	if pod.Status.Phase != corev1.PodSucceeded {
		return
	}
	if other := w.succeeded[job][slot]; other != "" && other != pod.UID {
		w.notef("%s succeeded, and another pod of its slot before it", pod.Name)
	}
	w.succeeded[job][slot] = pod.UID
}

// sight records a pod that is seen for the first time.
func (w *witness) sight(job string, slot int, pod *corev1.Pod) sighting {
	first := sighting{name: pod.Name, slot: slot, at: time.Now(), version: pod.ResourceVersion}
	for uid, other := range w.made[job] {
		if other.slot == slot {
			first.attempt++
		}
		if other.name == pod.Name && !w.deletable[uid] && !w.deletableJobs[job] {
			w.notef("%s was created twice", pod.Name)
		}
	}
	return first
}

// gone removes a pod.
func (w *witness) gone(job string, pod *corev1.Pod) {
	delete(w.pods[job], pod.UID)
	delete(w.told, pod.UID)
	if !w.deletable[pod.UID] && !w.deletableJobs[job] {
		w.notef("%s was deleted", pod.Name)
	}
}

// check checks that a Job has at most one active pod per slot, and not too many active pods.
func (w *witness) check(job string) {
	bySlot := map[int]string{}
	all := 0
	for _, pod := range w.pods[job] {
		slot, _, made := plan.Place(pod)
		if !made || !active(pod) {
			continue
		}
		all++
		if other := bySlot[slot]; other != "" {
			w.notef("%s and %s are active", pod.Name, other)
		}
		bySlot[slot] = pod.Name
	}
	if all > w.parallelism[job] {
		w.notef("%d pods of %s are active", all, job)
	}
}

// notef records a violation once. The caller must hold the mutex.
func (w *witness) notef(format string, arguments ...any) {
	if wrong := fmt.Sprintf(format, arguments...); !slices.Contains(w.wrong, wrong) {
		w.wrong = append(w.wrong, wrong)
	}
}

func (w *witness) seeJobs(kind watch.EventType, objects []runtime.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	shown := map[string]bool{}
	for _, object := range objects {
		if job, ok := object.(*batchv1.Job); ok {
			shown[job.Name] = true
			w.seeJob(job)
			if kind == watch.Deleted {
				w.notef("Job %s was deleted", job.Name)
			}
		}
	}
	for name := range w.jobs {
		if kind == everything && !shown[name] {
			w.notef("Job %s is lost", name)
		}
	}
}

// seeJob checks that counters never fall, and that a Job does not change after its end.
func (w *witness) seeJob(job *batchv1.Job) {
	old := w.jobs[job.Name]
	w.jobs[job.Name] = job
	if w.decided[job.Name] == "" && (ended(job) || slices.ContainsFunc(job.Status.Conditions, isDecision)) {
		w.decided[job.Name] = job.ResourceVersion
	}
	if old == nil {
		return
	}
	if job.Status.Failed < old.Status.Failed || job.Status.Succeeded < old.Status.Succeeded {
		w.notef("%s: counters go back from %+v to %+v", job.Name, old.Status, job.Status)
	}
	if ended(old) && old.Status.String() != job.Status.String() {
		w.notef("%s changes after its end", job.Name)
	}
}

// isDecision reports whether a condition shows how the Job will end.
func isDecision(c batchv1.JobCondition) bool {
	return c.Type == batchv1.JobFailureTarget || c.Type == batchv1.JobSuccessCriteriaMet
}

// settled reports whether a Job has ended and its pods are released.
func (w *witness) settled(job string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.jobs[job] == nil || !ended(w.jobs[job]) {
		return false
	}
	for _, pod := range w.pods[job] {
		if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			return false
		}
	}
	return true
}

// tally has numbers of pods.
type tally struct{ succeeded, failed int }

// account compares the counters of an ended Job with its pods, also for Jobs whose end depends on timing. A pod that a
// former leader creates when the end of the Job is already decided may be uncounted.
func (w *witness) account(r trial) (wrong string) {
	job := w.jobs[r.name]
	var most, least tally
	for uid, pod := range w.made[r.name] {
		late := w.decided[r.name] != "" && newer(pod.version, w.decided[r.name])
		switch {
		case w.succeeded[r.name][pod.slot] == uid:
			most.succeeded++
			if !late {
				least.succeeded++
			}
		case r.code == codeIgnored && !r.endless && pod.slot == 0 && pod.attempt < r.failures[0]:
		default:
			most.failed++
			if !late {
				least.failed++
			}
		}
	}
	got := tally{int(job.Status.Succeeded), int(job.Status.Failed)}
	if least.succeeded <= got.succeeded && got.succeeded <= most.succeeded && least.failed <= got.failed && got.failed <= most.failed {
		return ""
	}
	return fmt.Sprintf("%s has status %+v, and at least %+v, at most %+v; the end was decided at version %s: %+v",
		r.name, job.Status, least, most, w.decided[r.name], slices.Collect(maps.Values(w.made[r.name])))
}

// newer reports whether the first of two object versions is newer.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}
