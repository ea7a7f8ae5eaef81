package controller

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/controller/internal/memoryapi"
	"github.com/podverdict/podverdict/controller/plan"
)

// defective panics in the name of the Job bad, until it is mended.
type defective struct {
	http.RoundTripper
	calls  bool
	mended atomic.Bool
}

func (d *defective) panicFor(name string) {
	if strings.HasPrefix(name, "bad") && !d.mended.Load() {
		panic("a defect") //nolint:forbidigo // it is what is tested
	}
}

// RoundTrip panics when a pod of the Job is created, which other goroutines than the workers do.
func (d *defective) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.calls && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pods") {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte("bad-0-1-")) { // the second pod
			d.panicFor("bad")
		}
	}
	return d.RoundTripper.RoundTrip(r)
}

// A Job that makes the controller panic has an event that says so, and is tried again; the others go on.
func TestPanic(t *testing.T) {
	for name, calls := range map[string]bool{"when its pods are judged": false, "in a call": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { livesThrough(t, &defective{calls: calls}) })
		})
	}
}

func livesThrough(t *testing.T, defect *defective) {
	t.Helper()
	server, counts := memoryapi.New(time.Now), newCounted(t)
	defect.RoundTripper = server
	c, err := New(Options{Config: memoryapi.Config(defect), Metrics: counts.Metrics, Settings: plan.Settings{Backoff: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	if judged := c.reconciler.judged; !defect.calls {
		c.reconciler.judged = func(pod *corev1.Pod, v report) {
			defect.panicFor(pod.Name)
			judged(pod, v)
		}
	}
	ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	for _, name := range []string{"bad", "good"} {
		if _, err := server.CreateJob(failingJob(name)); err != nil {
			t.Fatal(err)
		}
	}
	fail := func() {
		for range 20 {
			time.Sleep(time.Second)
			synctest.Wait()
			for _, pod := range server.Pods() {
				server.ChangePod(pod.Namespace, pod.Name, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
			}
		}
	}
	fail()
	expectFailed(t, server, "bad", false)
	expectFailed(t, server, "good", true)
	tries := counts.series(t)["panics_total{activity=job}"]
	if tries < 3 || tries > 10 {
		t.Errorf("it was tried %v times in 20 seconds", tries)
	}
	if !slices.ContainsFunc(server.Events(), func(e *eventsv1.Event) bool {
		return e.Reason == reasonPanic && e.Regarding.Name == "bad" && strings.Contains(e.Note, "a defect")
	}) {
		t.Error("no event tells of it")
	}
	defect.mended.Store(true)
	time.Sleep(maxDelay)
	fail()
	expectFailed(t, server, "bad", true)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func expectFailed(t *testing.T, server *memoryapi.Server, name string, want bool) {
	t.Helper()
	condition := lastCondition(server.Job("ns", name))
	if failed := condition != nil && condition.Type == batchv1.JobFailed; failed != want {
		t.Errorf("the Job %s has failed: %t, %v", name, failed, condition)
	}
}

// failingJob fails with its second pod.
func failingJob(name string) *batchv1.Job {
	job := managedJob(1)
	job.ObjectMeta = metav1.ObjectMeta{Namespace: "ns", Name: name}
	job.Spec.CompletionMode, job.Spec.BackoffLimitPerIndex, job.Spec.BackoffLimit = nil, nil, new(int32(1))
	return job
}
