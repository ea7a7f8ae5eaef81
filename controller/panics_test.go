package controller_test

import (
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
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// defective panics on some requests, from a given time on until mended is set.
type defective struct {
	http.RoundTripper
	panics func(*http.Request) bool
	since  time.Time
	mended atomic.Bool
}

func (d *defective) RoundTrip(r *http.Request) (*http.Response, error) {
	if !d.mended.Load() && time.Now().After(d.since) && d.panics(r) {
		panic("a defect") //nolint:forbidigo // it is what is tested
	}
	return d.RoundTripper.RoundTrip(r)
}

// writesBad matches a request made by a worker.
func writesBad(r *http.Request) bool {
	return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/jobs/bad/status")
}

// createsBad matches a request made by a goroutine other than the workers'.
func createsBad(r *http.Request) bool {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/pods") {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return false
	}
	object, _, _ := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil) // nil is not a pod
	pod, ok := object.(*corev1.Pod)
	return ok && pod.OwnerReferences[0].Name == "bad" && pod.Labels[plan.AttemptLabel] == "2"
}

// TestPanic checks that a Job that makes the controller panic gets an event and is retried, and that other Jobs are not affected.
func TestPanic(t *testing.T) {
	for name, panics := range map[string]func(*http.Request) bool{"when its status is written": writesBad, "when its pods are created": createsBad} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { livesThrough(t, &defective{panics: panics}) })
		})
	}
}

func livesThrough(t *testing.T, defect *defective) {
	t.Helper()
	server, counts := memoryapi.New(time.Now), fixtures.NewCounted(t)
	defect.RoundTripper, defect.since = server, time.Now().Add(500*time.Millisecond) // when the first events are written
	c, err := controller.New(controller.Options{Config: memoryapi.Config(defect), Metrics: counts.Metrics, Settings: plan.Settings{Backoff: time.Second}})
	if err != nil {
		t.Fatal(err)
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
	tries := counts.Series(t)["panics_total{activity=job}"]
	if tries < 3 || tries > 10 {
		t.Errorf("it was tried %v times in 20 seconds", tries)
	}
	if !slices.ContainsFunc(server.Events(), func(e *eventsv1.Event) bool {
		return e.Reason == "ControllerPanic" && e.Regarding.Name == "bad" && strings.Contains(e.Note, "a defect")
	}) {
		t.Error("no event tells of it")
	}
	defect.mended.Store(true)
	time.Sleep(time.Minute)
	fail()
	expectFailed(t, server, "bad", true)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func expectFailed(t *testing.T, server *memoryapi.Server, name string, want bool) {
	t.Helper()
	conditions := server.Job("ns", name).Status.Conditions
	if failed := slices.ContainsFunc(conditions, func(c batchv1.JobCondition) bool { return c.Type == batchv1.JobFailed }); failed != want {
		t.Errorf("the Job %s has failed: %t, %v", name, failed, conditions)
	}
}

// failingJob returns a Job that fails with its second pod.
func failingJob(name string) *batchv1.Job {
	job := fixtures.ManagedJob(1)
	job.ObjectMeta = metav1.ObjectMeta{Namespace: "ns", Name: name}
	job.Spec.CompletionMode, job.Spec.BackoffLimitPerIndex, job.Spec.BackoffLimit = nil, nil, new(int32(1))
	return job
}
