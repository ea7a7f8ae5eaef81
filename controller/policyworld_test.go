package controller_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/history"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// world is an in-memory API server with custom policies and a controller that applies them, in a synctest bubble.
type world struct {
	kubelet

	t      *testing.T
	counts fixtures.Counted
	stop   func()
	// writes is the number of calls that change policies and bindings.
	writes atomic.Int32
	// admit returns an error if a pod must not be created, or nil.
	admit func(*corev1.Pod) error
	// lost holds the nodes whose kubelets are unreachable.
	lost map[string]bool
	// history returns the history writer of the next controller. It may be nil.
	history func() *history.Writer
}

// RoundTrip counts writes of policies and bindings, and rejects pods that are not admitted.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet && strings.HasPrefix(r.URL.Path, "/apis/"+v1alpha1.GroupVersion.Group) {
		w.writes.Add(1)
	}
	if answer := w.refusal(r); answer != nil {
		return answer, nil
	}
	return w.server.RoundTrip(r)
}

// inWorld runs a test in a world. The effects of prepare exist when the controller starts.
func inWorld(t *testing.T, prepare, run func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		w := &world{t: t, kubelet: kubelet{server: memoryapi.New(time.Now), fate: exits(nil)}}
		w.apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
		prepare(w)
		w.start()
		run(w)
		w.stop()
	})
}

func nothing(*world) {}

// start starts a controller.
func (w *world) start() {
	w.t.Helper()
	w.counts = fixtures.NewCounted(w.t)
	options := controller.Options{Config: memoryapi.Config(w), Observe: true, Metrics: w.counts.Metrics}
	if w.history != nil {
		options.History = w.history()
	}
	live, err := controller.New(options)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(klog.NewContext(w.t.Context(), logr.Discard()))
	done := make(chan error, 1)
	go func() { done <- live.Run(ctx) }()
	w.stop = func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
		if live.Ready() == nil {
			w.t.Error("a controller that has stopped says that it is ready")
		}
	}
	w.pass(5 * time.Second)
	if err := live.Ready(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) restart() {
	w.t.Helper()
	w.stop()
	w.start()
}

// pass lets time pass, and waits until nothing more happens.
func (*world) pass(period time.Duration) {
	time.Sleep(period)
	synctest.Wait()
}

func (w *world) apply(objects ...memoryapi.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.server.Apply(o); err != nil {
			w.t.Fatal(err)
		}
	}
	w.pass(time.Second)
}

// run creates a Job and waits for its pods.
func (w *world) run(job *batchv1.Job) {
	w.t.Helper()
	if _, err := w.server.CreateJob(job); err != nil {
		w.t.Fatal(err)
	}
	w.pass(2 * time.Second)
}

// fail ends the active pod with an exit code, and waits for the effects.
func (w *world) fail(code int32) *corev1.Pod {
	w.t.Helper()
	for _, pod := range w.server.Pods() {
		if active(pod) {
			w.end(pod, code)
			w.pass(30 * time.Minute) // longer than any back-off
			return pod
		}
	}
	w.t.Fatal("no pod is active")
	return nil
}

// expectJob compares the Job's status, in the form "failed 1" or "failed 1, FailJob by rule oom of gpu".
func (w *world) expectJob(want string) {
	w.t.Helper()
	job := w.server.Job(namespace, jobName)
	got := "failed " + string('0'+byte(job.Status.Failed))
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobFailed {
			got += ", " + c.Reason + ": " + c.Message
		}
	}
	if got != want {
		w.t.Errorf("the job: %s\nwant:    %s", got, want)
	}
}

// notes returns the notes of the events about objects of a kind, sorted.
func (w *world) notes(kind string) []string {
	var notes []string
	for _, e := range w.server.Events() {
		if e.Regarding.Kind == kind && e.Reason != "SuccessfulCreate" && e.Reason != "SuccessfulDelete" && !strings.HasPrefix(e.Reason, "Job") {
			notes = append(notes, e.Type+" "+e.Reason+": "+e.Note)
		}
	}
	slices.Sort(notes)
	return notes
}

func (w *world) expectNotes(kind string, want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.notes(kind)); diff != "" {
		w.t.Errorf("the events of %ss differ (-want +got):\n%s", kind, diff)
	}
}

// expectReady compares the condition Ready of a policy or binding.
func (w *world) expectReady(o v1alpha1.Object, want string) {
	w.t.Helper()
	var conditions []metav1.Condition
	var observed int64
	switch o := o.(type) {
	case *v1alpha1.PodFailurePolicy:
		conditions, observed = o.Status.Conditions, o.Status.ObservedGeneration
	case *v1alpha1.PodFailurePolicyBinding:
		conditions, observed = o.Status.Conditions, o.Status.ObservedGeneration
	}
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	if ready == nil {
		w.t.Errorf("%s has no condition", o.GetName())
		return
	}
	if got := string(ready.Status) + " " + ready.Reason + ": " + ready.Message; got != want {
		w.t.Errorf("%s is %s\nwant %s", o.GetName(), got, want)
	}
	if observed != o.GetGeneration() || ready.ObservedGeneration != observed {
		w.t.Errorf("%s is of generation %d, the status of %d, and its condition of %d", o.GetName(), o.GetGeneration(), observed, ready.ObservedGeneration)
	}
}

// expectSeries compares the nonzero values of a metric, by labels.
func (w *world) expectSeries(name string, want map[string]float64) {
	w.t.Helper()
	got := map[string]float64{}
	for series, value := range w.counts.Series(w.t) {
		if labels, found := strings.CutPrefix(series, name+"{"); found {
			got[strings.TrimSuffix(labels, "}")] = value
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("%s differs (-want +got):\n%s", name, diff)
	}
}

// rule returns a rule of a policy.
func rule(name, when string, action batchv1.PodFailurePolicyAction) v1alpha1.Rule {
	return v1alpha1.Rule{Name: name, When: when, Action: action}
}

const (
	onCode3 = "pod.failedContainers().exists(c, c.exitCode == 3)"
	broken  = "pod.status.phase == 3"
)

func customPolicy(name string, rules ...v1alpha1.Rule) *v1alpha1.PodFailurePolicy {
	return &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.PodFailurePolicySpec{Rules: rules}}
}

// bind returns a binding for a policy of the same name.
func bind(policy string, changes ...func(*v1alpha1.PodFailurePolicyBindingSpec)) *v1alpha1.PodFailurePolicyBinding {
	b := &v1alpha1.PodFailurePolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy}, Spec: v1alpha1.PodFailurePolicyBindingSpec{PolicyName: policy},
	}
	for _, change := range changes {
		change(&b.Spec)
	}
	return b
}

func audits(s *v1alpha1.PodFailurePolicyBindingSpec) { s.Mode = v1alpha1.ModeAudit }

func inNamespaces(label, value string) func(*v1alpha1.PodFailurePolicyBindingSpec) {
	return func(s *v1alpha1.PodFailurePolicyBindingSpec) {
		s.NamespaceSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]v1alpha1.LabelValue{label: v1alpha1.LabelValue(value)}}
	}
}
