package life

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// view has the observed state of a namespace: the Job created last, and all pods that ever existed.
//
// It ignores pods created after their Job was deleted. A controller whose watch of Jobs lags behind its watch of pods
// replaces pods that the garbage collector deletes, and the garbage collector then deletes the replacements.
type view struct {
	indexed bool // the Job's pods have indexes

	mu      sync.Mutex
	job     *batchv1.Job         // nil before its creation, and when it is gone
	uid     types.UID            // UID of the Job
	pods    []*observedPod       // in order of creation, without late ones
	ended   map[types.UID]string // resource versions at which Jobs were deleted
	changed time.Time            // time of the last observed change
	lost    bool                 // whether a watch has ended
	wake    chan struct{}
}

// newView watches an empty namespace until the context is done.
func newView(ctx context.Context, client kubernetes.Interface, namespace string, indexed bool) (*view, error) {
	v := &view{indexed: indexed, wake: make(chan struct{}), ended: map[types.UID]string{}}
	jobs, pods := client.BatchV1().Jobs(namespace), client.CoreV1().Pods(namespace)
	jobList, err := jobs.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	podList, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, source := range []struct {
		version string
		watch   cache.WatchFuncWithContext
	}{
		{jobList.ResourceVersion, jobs.Watch},
		{podList.ResourceVersion, pods.Watch},
	} {
		watcher, err := watchtools.NewRetryWatcherWithContext(ctx, source.version, cache.ToWatcherWithContext(&cache.ListWatch{WatchFuncWithContext: source.watch}))
		if err != nil {
			return nil, err
		}
		go v.follow(watcher)
	}
	return v, nil
}

// follow processes the events of a watch.
func (v *view) follow(watcher watch.Interface) {
	for event := range watcher.ResultChan() {
		v.observe(event)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lost = true
	v.announce()
}

func (v *view) observe(event watch.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch object := event.Object.(type) {
	case *batchv1.Job:
		v.observeJob(object, event.Type == watch.Deleted)
	case *corev1.Pod:
		v.observePod(object, event.Type == watch.Deleted)
	default: // a bookmark, or an error that ends the watch
		return
	}
	v.announce()
}

// announce wakes goroutines that wait for a change. The caller must hold the lock.
func (v *view) announce() {
	v.changed = time.Now()
	close(v.wake)
	v.wake = make(chan struct{})
}

func (v *view) observeJob(job *batchv1.Job, deleted bool) {
	if _, known := v.ended[job.UID]; !known && (deleted || job.DeletionTimestamp != nil) {
		v.ended[job.UID] = job.ResourceVersion
		v.number(slices.DeleteFunc(v.pods, v.late))
	}
	v.job, v.uid = job, job.UID
	if deleted {
		v.job = nil
	}
}

func (v *view) observePod(pod *corev1.Pod, deleted bool) {
	for _, known := range v.pods {
		if known.UID == pod.UID {
			known.Pod, known.gone = pod, deleted
			return
		}
	}
	seen := &observedPod{Pod: pod, gone: deleted, created: pod.ResourceVersion}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		seen.job = owner.UID
	}
	if !v.late(seen) {
		v.number(append(v.pods, seen))
	}
}

// late reports whether a pod was created after its Job was deleted.
func (v *view) late(pod *observedPod) bool {
	ended, is := v.ended[pod.job]
	if !is {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(pod.created, ended)
	return err == nil && order > 0
}

// number stores the pods, and identifies each by the order of creation.
func (v *view) number(pods []*observedPod) {
	v.pods = pods
	attempts := map[int]int{}
	for i, pod := range pods {
		pod.of = Pod{Slot: i}
		if v.indexed {
			slot := slotOf(pod.Pod)
			pod.of = Pod{Slot: slot, Attempt: attempts[slot]}
			attempts[slot]++
		}
	}
}

// pod returns the pod as last observed, or nil. The caller must hold the lock.
func (v *view) pod(of Pod) *observedPod {
	for _, known := range v.pods {
		if known.of == of {
			return known
		}
	}
	return nil
}

// facts describes the current state.
func (v *view) facts(asked []Detail) Facts {
	v.mu.Lock()
	defer v.mu.Unlock()
	return factsOf(v.job, v.pods, asked)
}

// wait waits until so returns true. It holds the lock while it calls so.
func (v *view) wait(ctx context.Context, what string, so func() bool) error {
	for {
		v.mu.Lock()
		done, lost, wake := so(), v.lost, v.wake
		v.mu.Unlock()
		if done {
			return nil
		}
		if err := pause(ctx, lost, wake, nil); err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
	}
}

// pause returns after a change, or when the time is over.
func pause(ctx context.Context, lost bool, wake <-chan struct{}, enough <-chan time.Time) error {
	if lost {
		return errors.New("the watch is lost")
	}
	select {
	case <-wake:
		return nil
	case <-enough:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// settle waits until the facts are as wanted and stable for the time quiet since the call. If want is nil, it accepts any
// facts.
func (v *view) settle(ctx context.Context, quiet time.Duration, asked []Detail, want *Facts) (Facts, error) {
	begin := time.Now()
	for {
		v.mu.Lock()
		facts, lost, wake := factsOf(v.job, v.pods, asked), v.lost, v.wake
		left := quiet - min(time.Since(begin), time.Since(v.changed))
		v.mu.Unlock()
		var enough <-chan time.Time                                   // only a change helps
		if want == nil || equality.Semantic.DeepEqual(facts, *want) { // treats nil and empty alike
			if left <= 0 {
				return facts, nil
			}
			enough = time.After(left)
		}
		if err := pause(ctx, lost, wake, enough); err != nil {
			return facts, fmt.Errorf("waiting for quiet: %w", err)
		}
	}
}

func podWith(uid types.UID, index string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: index}}}
}

// TestLatePodsAreLeftOut tests that a pod gets no number if a controller created it for a deleted Job before it knew of
// the deletion. It does not matter whether the pod or the deletion is observed first.
func TestLatePodsAreLeftOut(t *testing.T) {
	old := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "old", ResourceVersion: "100"}}
	end := watch.Event{Type: watch.Deleted, Object: old}
	created := func(uid, job types.UID, version string) watch.Event {
		pod := podWith(uid, "1")
		pod.ResourceVersion = version
		pod.OwnerReferences = []metav1.OwnerReference{{UID: job, Controller: new(true)}}
		return watch.Event{Type: watch.Added, Object: pod}
	}
	first, late, second := created("a", "old", "99"), created("b", "old", "101"), created("c", "new", "102")
	for name, events := range map[string][]watch.Event{
		"the deletion is seen first":  {first, end, late, second},
		"the pod is seen first":       {first, late, end, second},
		"the deletion is seen last":   {first, late, second, end},
		"the pod changes after it":    {first, late, end, {Type: watch.Modified, Object: late.Object}, second},
		"the deletion is seen before": {end, first, late, second},
	} {
		t.Run(name, func(t *testing.T) {
			v := &view{indexed: true, wake: make(chan struct{}), ended: map[types.UID]string{}}
			for _, event := range events {
				v.observe(event)
			}
			got := map[types.UID]Pod{}
			for _, pod := range v.pods {
				got[pod.UID] = pod.of
			}
			if diff := cmp.Diff(map[types.UID]Pod{"a": {Slot: 1}, "c": {Slot: 1, Attempt: 1}}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestSettle(t *testing.T) {
	const quiet = 2 * time.Second
	finished := Facts{Job: "gone", Pods: map[string]string{"0": ""}}
	for name, test := range map[string]struct {
		want    *Facts
		changes []time.Duration // times at which a pod changes; the first creates it
		settled time.Duration   // 0 means never
	}{
		"what is wanted is there": {&Facts{Job: "gone"}, nil, quiet},
		"what is wanted comes":    {&finished, []time.Duration{time.Minute}, time.Minute + quiet},
		"what is wanted goes":     {&Facts{Job: "gone"}, []time.Duration{time.Second}, 0},
		"changes start over":      {&finished, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, 3*time.Second + quiet},
		"anything":                {nil, []time.Duration{time.Second}, time.Second + quiet},
		"what never comes":        {&Facts{Job: "deleting"}, []time.Duration{time.Second}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &view{wake: make(chan struct{}), changed: time.Now().Add(-time.Hour)}
				begin := time.Now()
				for _, after := range test.changes {
					time.AfterFunc(after, func() { v.observe(watch.Event{Type: watch.Modified, Object: podWith("a", "0")}) })
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				got, err := v.settle(ctx, quiet, nil, test.want)
				if test.settled == 0 {
					if err == nil {
						t.Errorf("settled with %v", got)
					}
					return
				}
				if took := time.Since(begin); err != nil || took != test.settled {
					t.Errorf("settled after %v with error %v, want %v", took, err, test.settled)
				}
			})
		})
	}
}

func TestLostWatchEndsWaiting(t *testing.T) {
	v := &view{wake: make(chan struct{})}
	watcher := watch.NewFake()
	watcher.Stop()
	v.follow(watcher)
	if err := v.wait(t.Context(), "nothing", func() bool { return false }); err == nil || err.Error() != "waiting for nothing: the watch is lost" {
		t.Errorf("error %v", err)
	}
	if _, err := v.settle(t.Context(), time.Hour, nil, nil); err == nil {
		t.Error("settled without a watch")
	}
}
