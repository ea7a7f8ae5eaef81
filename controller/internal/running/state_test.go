package running

import (
	"slices"
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

func podAt(name string, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, UID: types.UID(name), ResourceVersion: strconv.Itoa(version),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "job", UID: "job", Controller: new(true)}},
	}}
}

// TestNewestPods checks that the result of a write is used until the cache is as new, and no longer.
func TestNewestPods(t *testing.T) {
	for _, test := range []struct {
		name     string
		cached   []*corev1.Pod
		shown    int // resource version of the cache
		returned []*corev1.Pod
		want     []string
		kept     int // number of returned pods that are kept
	}{
		{"nothing was written", []*corev1.Pod{podAt("a", 1)}, 5, nil, []string{"a@1"}, 0},
		{"the cache does not show the pod yet", nil, 5, []*corev1.Pod{podAt("a", 7)}, []string{"a@7"}, 1},
		{"the cache shows an older state", []*corev1.Pod{podAt("a", 3)}, 5, []*corev1.Pod{podAt("a", 7)}, []string{"a@7"}, 1},
		{"the cache shows the same state", []*corev1.Pod{podAt("a", 7)}, 7, []*corev1.Pod{podAt("a", 7)}, []string{"a@7"}, 0},
		{"the cache shows a newer state", []*corev1.Pod{podAt("a", 10)}, 10, []*corev1.Pod{podAt("a", 9)}, []string{"a@10"}, 0},
		{"the pod was deleted since", nil, 10, []*corev1.Pod{podAt("a", 9)}, nil, 0},
		{"an empty cache has no version", nil, 0, []*corev1.Pod{podAt("a", 9)}, []string{"a@9"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			caches, err := caches.New(fake.NewClientset(), "", false)
			fixtures.Put(t, err)
			indexer := caches.Pods
			for _, pod := range test.cached {
				if err := indexer.Add(pod); err != nil {
					t.Fatal(err)
				}
			}
			indexer.Bookmark("")
			if test.shown > 0 {
				indexer.Bookmark(strconv.Itoa(test.shown))
			}
			r := new(jobStates).of(plan.Owner{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "job"}, UID: "job"})
			for _, pod := range test.returned {
				r.learn(pod)
			}
			var got []string
			r.refresh(caches)
			for _, pod := range r.kept.Changed() {
				got = append(got, pod.Name+"@"+pod.ResourceVersion)
			}
			if !slices.Equal(got, test.want) || len(r.returned) != test.kept {
				t.Errorf("pods are %v, %d are kept; want %v, %d", got, len(r.returned), test.want, test.kept)
			}
		})
	}
}

func TestNewestJob(t *testing.T) {
	r := new(jobStates).of(plan.Owner{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "job"}, UID: "job"})
	version := func(v string) *batchv1.Job { return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{ResourceVersion: v}} }
	r.written = version("10")
	for _, test := range []struct{ cached, want string }{{"9", "10"}, {"10", "10"}, {"100", "100"}, {"9", "9"}} {
		if got := r.newestJob(version(test.cached)).ResourceVersion; got != test.want {
			t.Errorf("with %s in the cache, it is %s, want %s", test.cached, got, test.want)
		}
	}
}

// TestRecollectionsOfUID checks that a Job that was deleted and recreated has a new state.
func TestRecollectionsOfUID(t *testing.T) {
	var r jobStates
	key := types.NamespacedName{Namespace: "ns", Name: "job"}
	of := func(uid types.UID) *jobState { return r.of(plan.Owner{NamespacedName: key, UID: uid}) }
	first := of("1")
	if of("1") != first || of("2") == first {
		t.Error("states of two Jobs of one name are one")
	}
	r.forget(key)
	if len(r.byKey) != 0 {
		t.Error("it is not forgotten")
	}
}
