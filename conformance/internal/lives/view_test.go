package lives

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

func podWith(uid types.UID, index string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: index}}}
}

func TestPodsArePicked(t *testing.T) {
	for name, test := range map[string]struct {
		indexed bool
		want    []Pod
	}{
		"by index and attempt":   {true, []Pod{{Slot: 1}, {Slot: 0}, {Slot: 1, Attempt: 1}, {Slot: -1}, {Slot: 1, Attempt: 2}}},
		"by order without index": {false, []Pod{{Slot: 0}, {Slot: 1}, {Slot: 2}, {Slot: 3}, {Slot: 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			v := &view{indexed: test.indexed, wake: make(chan struct{})}
			for _, pod := range []*corev1.Pod{podWith("a", "1"), podWith("b", "0"), podWith("c", "1"), podWith("d", "x"), podWith("e", "1")} {
				v.observe(watch.Event{Type: watch.Added, Object: pod})
				v.observe(watch.Event{Type: watch.Modified, Object: pod})
			}
			v.observe(watch.Event{Type: watch.Deleted, Object: podWith("c", "1")})
			var got []Pod
			for _, pod := range v.pods {
				got = append(got, pod.of)
				if pod.gone != (pod.UID == "c") {
					t.Errorf("pod %s is gone: %t", pod.of, pod.gone)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The end of a Job is not the end of one that was created after it.
func TestJobAnew(t *testing.T) {
	v := &view{wake: make(chan struct{}), ended: map[types.UID]string{}}
	first, second := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "1"}}, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "2"}}
	v.observe(watch.Event{Type: watch.Added, Object: first})
	v.observe(watch.Event{Type: watch.Deleted, Object: first})
	if v.job != nil {
		t.Error("the first Job is not gone")
	}
	v.observe(watch.Event{Type: watch.Added, Object: second})
	v.observe(watch.Event{Type: watch.Deleted, Object: first})
	if v.job != second {
		t.Error("the second Job is gone with the first")
	}
}

// A controller may replace a pod of a deleted Job before it knows of the deletion. Whether the pod or the deletion is seen
// first, the pod has no number.
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
		changes []time.Duration // when a pod changes; the first brings it
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
