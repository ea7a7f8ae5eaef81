package memoryapi

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// started runs check with a server that has a Job and its two pods, and with clients that use protobuf and JSON.
func started(t *testing.T, check func(*testing.T, *Server, kubernetes.Interface)) {
	t.Helper()
	for _, media := range []string{"application/vnd.kubernetes.protobuf", "application/json"} {
		t.Run(media, func(t *testing.T) {
			s := New(now)
			config := rest.CopyConfig(s.Config())
			config.ContentConfig = rest.ContentConfig{ContentType: media, AcceptContentTypes: media}
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			job, err := client.BatchV1().Jobs("ns").Create(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "train"}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"a", "b"} {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: job.Spec.Template.Labels, Finalizers: []string{batchv1.JobTrackingFinalizer}}}
				if _, err := client.CoreV1().Pods("ns").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			check(t, s, client)
		})
	}
}

func TestUpdates(t *testing.T) {
	started(t, func(t *testing.T, _ *Server, client kubernetes.Interface) {
		t.Helper()
		jobs := client.BatchV1().Jobs("ns")
		job, err := jobs.Get(t.Context(), "train", metav1.GetOptions{})
		if err != nil || *job.Spec.BackoffLimit != 6 || job.Spec.Selector == nil {
			t.Fatal(err, job)
		}
		same, err := jobs.UpdateStatus(t.Context(), job.DeepCopy(), metav1.UpdateOptions{})
		if err != nil || same.ResourceVersion != job.ResourceVersion {
			t.Errorf("a write that changes nothing: %v, version %s, was %s", err, same.ResourceVersion, job.ResourceVersion)
		}
		write := job.DeepCopy()
		write.Annotations = map[string]string{"ledger": "1"}
		write.Status.Failed = 1
		write.Spec.BackoffLimit = new(int32(99))
		written, err := jobs.UpdateStatus(t.Context(), write, metav1.UpdateOptions{})
		if err != nil || written.Status.Failed != 1 || written.Annotations["ledger"] != "1" || *written.Spec.BackoffLimit != 6 {
			t.Errorf("%v, %+v", err, written)
		}
		if _, err := jobs.UpdateStatus(t.Context(), write, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("a stale write: %v", err)
		}
		written.Status.Failed = 0
		if _, err := jobs.UpdateStatus(t.Context(), written, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
			t.Errorf("a counter that goes back: %v", err)
		}
		if _, err := jobs.Create(t.Context(), job, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
			t.Errorf("a second Job of that name: %v", err)
		}
	})
}

func TestPatches(t *testing.T) {
	const finalizer = `{"metadata":{"$deleteFromPrimitiveList/finalizers":["batch.kubernetes.io/job-tracking"]`
	tests := map[string]struct {
		kind  types.PatchType
		patch string
		wrong func(error) bool
	}{
		"strategic":           {types.StrategicMergePatchType, finalizer + `}}`, nil},
		"apply":               {types.ApplyPatchType, `{}`, apierrors.IsBadRequest},
		"nonsense":            {types.StrategicMergePatchType, `[`, apierrors.IsBadRequest},
		"of this version":     {types.StrategicMergePatchType, finalizer + `,"resourceVersion":"2","uid":"uid-2"}}`, nil},
		"of an older version": {types.StrategicMergePatchType, finalizer + `,"resourceVersion":"1"}}`, apierrors.IsConflict},
		"of another pod":      {types.StrategicMergePatchType, finalizer + `,"uid":"uid-1"}}`, apierrors.IsInvalid},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			started(t, func(t *testing.T, _ *Server, client kubernetes.Interface) {
				t.Helper()
				pod, err := client.CoreV1().Pods("ns").Patch(t.Context(), "a", test.kind, []byte(test.patch), metav1.PatchOptions{})
				switch {
				case test.wrong != nil && !test.wrong(err):
					t.Error(err)
				case test.wrong == nil && (err != nil || len(pod.Finalizers) > 0):
					t.Error(err, pod.Finalizers)
				}
			})
		})
	}
}

// TestDeletion tests that a running pod gets its grace period, and that another pod is deleted immediately, but not
// before its finalizers.
func TestDeletion(t *testing.T) {
	started(t, func(t *testing.T, s *Server, client kubernetes.Interface) {
		t.Helper()
		pods := client.CoreV1().Pods("ns")
		other := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("uid-1")}
		if err := pods.Delete(t.Context(), "a", other); !apierrors.IsConflict(err) {
			t.Errorf("with the UID of another pod: %v", err)
		}
		s.ChangePod("ns", "a", func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = "node", corev1.PodRunning })
		for _, name := range []string{"a", "b"} {
			if err := pods.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		release := func(name string) { s.ChangePod("ns", name, func(p *corev1.Pod) { p.Finalizers = nil }) }
		release("a")
		if held := s.Pods(); len(held) != 2 || *held[0].DeletionGracePeriodSeconds != 30 || *held[1].DeletionGracePeriodSeconds != 0 {
			t.Fatalf("%+v", held)
		}
		release("b")
		if held := s.Pods(); len(held) != 1 {
			t.Errorf("%d pods are there", len(held))
		}
		if err := s.DeletePod("ns", "a", 0); err != nil || len(s.Pods()) > 0 {
			t.Errorf("%v, %d pods are there", err, len(s.Pods()))
		}
	})
}

// told returns the events of a watch, up to a number of events.
func told(t *testing.T, w watch.Interface, n int) []string {
	t.Helper()
	var events []string
	for range n {
		select {
		case e := <-w.ResultChan():
			pod, ok := e.Object.(*corev1.Pod)
			if !ok {
				return append(events, string(e.Type))
			}
			events = append(events, string(e.Type)+" "+pod.Name+" "+pod.ResourceVersion)
		case <-t.Context().Done():
			t.Fatal(events)
		}
	}
	return events
}

func TestWatches(t *testing.T) {
	started(t, func(t *testing.T, s *Server, client kubernetes.Interface) {
		t.Helper()
		pods := client.CoreV1().Pods("ns")
		begin := func(o metav1.ListOptions) watch.Interface {
			w, err := pods.Watch(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(w.Stop)
			return w
		}
		s.Hold(Pods)
		s.ChangePod("ns", "a", func(p *corev1.Pod) { p.Labels = nil })
		s.ChangePod("ns", "b", func(p *corev1.Pod) { p.Finalizers = nil })
		labeled := begin(metav1.ListOptions{ResourceVersion: "2", LabelSelector: batchv1.JobNameLabel, AllowWatchBookmarks: true})
		all := begin(metav1.ListOptions{SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true})
		if diff := cmp.Diff([]string{"ADDED b 3"}, told(t, labeled, 1)); diff != "" {
			t.Error("held: " + diff)
		}
		if left := s.Show(Pods, 1); left != 1 {
			t.Errorf("%d changes are left", left)
		}
		s.Release(Pods)
		s.Bookmark(Pods)
		if diff := cmp.Diff([]string{"DELETED a 4", "MODIFIED b 5"}, told(t, labeled, 2)); diff != "" {
			t.Error("released: " + diff)
		}
		if diff := cmp.Diff([]string{"ADDED a 4", "ADDED b 5", "BOOKMARK  5"}, told(t, all, 3)); diff != "" {
			t.Error("initial events: " + diff)
		}
		s.ListsOnly = true
		if _, err := pods.Watch(t.Context(), metav1.ListOptions{SendInitialEvents: new(true)}); !apierrors.IsInvalid(err) {
			t.Errorf("initial events, though there are none: %v", err)
		}
		s.CloseWatches(Pods)
		if _, open := <-all.ResultChan(); open {
			t.Error("the watch is not closed")
		}
		s.Compact(Pods)
		if _, err := pods.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "3"}); !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			t.Errorf("watch from a version that is forgotten: %v", err)
		}
	})
}

func TestListsByVersion(t *testing.T) {
	started(t, func(t *testing.T, s *Server, client kubernetes.Interface) {
		t.Helper()
		s.Hold(Pods)
		if err := s.DeletePod("ns", "a", 0); err != nil {
			t.Fatal(err)
		}
		s.ChangePod("ns", "a", func(p *corev1.Pod) { p.Finalizers = nil })
		for version, want := range map[string]int{"": 1, "0": 2, "3": 2, "4": 2, "6": 1} {
			list, err := client.CoreV1().Pods("ns").List(context.Background(), metav1.ListOptions{ResourceVersion: version})
			if err != nil || len(list.Items) != want {
				t.Errorf("version %q: %d pods, want %d: %v", version, len(list.Items), want, err)
			}
		}
		if _, err := client.CoreV1().Pods("ns").List(context.Background(), metav1.ListOptions{ResourceVersion: "99"}); !apierrors.IsTimeout(err) {
			t.Errorf("a version that is not there yet: %v", err)
		}
	})
}

// TestWatch tests that the observer is notified of everything, before any client.
func TestWatch(t *testing.T) {
	s := New(now)
	var versions []int64
	s.Watch(func(c Change) { versions = append(versions, c.Version) })
	if _, err := s.CreateJob(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "train"}}); err != nil {
		t.Fatal(err)
	}
	s.ChangeJob("ns", "train", func(job *batchv1.Job) { job.Labels = map[string]string{"a": "b"} })
	if err := s.DeleteJob("ns", "train"); err != nil || s.Job("ns", "train") != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{1, 2, 3}, versions); diff != "" {
		t.Error(diff)
	}
}
