package controller_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// oomRule returns a rule that counts pods that ran out of memory, and gives the next attempt more memory on another node.
func oomRule(factor, most string) v1alpha1.Rule {
	r := rule("oom", "pod.failedContainers().exists(c, c.oomKilled)", count)
	r.Retry = &v1alpha1.Retry{Memory: &v1alpha1.RetryMemory{Factor: factor, Max: most}, AvoidNode: v1alpha1.AvoidRequired}
	return r
}

// withMemory sets the memory of the Job's container.
func withMemory(request, limit string) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) {
		s.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(request)},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)},
		}
	}
}

// mended returns the memory of the active pod, and the nodes that it avoids.
func (w *world) mended() string {
	for _, p := range w.server.Pods() {
		if active(p) {
			return mendedText(p)
		}
	}
	return "no pod"
}

func mendedText(p *corev1.Pod) string {
	memory := p.Spec.Containers[0].Resources
	text := memory.Requests.Memory().String() + "/" + memory.Limits.Memory().String()
	if p.Spec.Affinity != nil {
		for _, term := range p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			text += " not " + strings.Join(term.MatchExpressions[0].Values, ",")
		}
	}
	return text
}

// oomed ends the active pod on a node because it ran out of memory.
func (w *world) oomed(node string) {
	for _, p := range w.server.Pods() {
		if active(p) {
			w.server.ChangePod(p.Namespace, p.Name, func(p *corev1.Pod) { p.Spec.NodeName = node })
			w.end(p, codeOOM)
		}
	}
	w.pass(30 * time.Minute)
}

// TestRetriesAreKept checks that the next attempts keep their memory and avoided nodes, even if the controller restarts, the Job is
// suspended, other failures occur in between, failed pods are deleted, and the policy is deleted.
func TestRetriesAreKept(t *testing.T) {
	large := managed(1, completions(1), backoffLimit(9), withMemory("100Mi", "1Gi"))
	large.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "LARGE", Value: strings.Repeat("v", 100_000)}}
	for name, job := range map[string]*batchv1.Job{
		"by slot": managed(1, completions(1), backoffLimit(9), withMemory("100Mi", "1Gi")), "large": large,
		"by index": managed(1, indexed(1), backoffLimit(9), withMemory("100Mi", "1Gi")), "with a limit for each index": managed(1, indexed(1), perIndex(9), withMemory("100Mi", "1Gi")),
	} {
		t.Run(name, func(t *testing.T) {
			policy := customPolicy("gpu", oomRule("1.5", "2Gi"))
			inWorld(t, func(w *world) { w.apply(policy, bind("gpu")) }, func(w *world) {
				expect := func(after, want string) {
					t.Helper()
					if got := w.mended(); got != want {
						t.Errorf("after %s the next attempt has %s, want %s", after, got, want)
					}
				}
				w.run(job)
				expect("the start", "100Mi/1Gi")
				w.oomed("n1")
				expect("a match", "150Mi/1536Mi not n1")
				w.restart()
				w.server.Delete(memoryapi.Pods, w.fail(1).Name)
				expect("another failure", "150Mi/1536Mi not n1")
				w.oomed("n2")
				expect("a second match", "225Mi/2Gi not n2,n1")
				w.server.ChangeJob(namespace, jobName, func(job *batchv1.Job) { suspend(&job.Spec); job.Generation++ })
				w.pass(time.Minute)
				for _, p := range w.server.Pods() {
					if p.DeletionTimestamp != nil {
						w.end(p, 143)
					}
				}
				w.restart()
				expect("suspension", "no pod")
				w.server.ChangeJob(namespace, jobName, func(job *batchv1.Job) { resume(&job.Spec); job.Generation++ })
				w.pass(time.Minute)
				expect("suspension", "225Mi/2Gi not n2,n1")
				w.server.Delete(memoryapi.Policies, "gpu")
				w.restart()
				w.oomed("n3")
				expect("a failure without policies", "225Mi/2Gi not n2,n1")
			})
		})
	}
}

// TestRefusedRetry checks that a rejected creation is retried after the back-off with the same memory, and that an event of the Job
// contains the values.
func TestRefusedRetry(t *testing.T) {
	inWorld(t, func(w *world) { w.apply(customPolicy("gpu", oomRule("2", "8Gi")), bind("gpu")) }, func(w *world) {
		var refused []time.Time
		var raised atomic.Bool
		w.admit = func(p *corev1.Pod) error {
			if raised.Load() || p.Spec.Containers[0].Resources.Limits.Memory().Cmp(resource.MustParse("1Gi")) <= 0 {
				return nil
			}
			refused = append(refused, time.Now())
			return apierrors.NewForbidden(corev1.Resource("pods"), p.Name, errors.New("maximum memory usage per Container is 1Gi"))
		}
		job := managed(1, indexed(1), backoffLimit(9), withMemory("512Mi", "1Gi"))
		w.run(job)
		w.oomed("n1")
		if got := w.mended(); got != "no pod" {
			t.Errorf("it is retried with %s", got)
		}
		if len(refused) < 3 || refused[2].Sub(refused[1]) < refused[1].Sub(refused[0]) {
			t.Errorf("it is tried %d times, at %v", len(refused), refused)
		}
		const change = "memory of main: request 512Mi -> 1Gi, limit 1Gi -> 2Gi (oom of policy gpu, 1 match); avoids n1 (required)"
		want := "Warning FailedCreate: Error creating: " + change + `: pods "train-0-kz8h6" is forbidden: maximum memory usage per Container is 1Gi`
		w.expectNotes("Job", want)
		raised.Store(true)
		w.pass(30 * time.Minute)
		if got, want := w.mended(), "1Gi/2Gi not n1"; got != want {
			t.Errorf("it is retried with %s, want %s", got, want)
		}
	})
}

// refusal returns the response to the creation of a pod that is rejected by a LimitRange, quota or webhook, or nil.
func (w *world) refusal(r *http.Request) *http.Response {
	if w.admit == nil || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/pods") {
		return nil
	}
	call, err := memoryapi.ReadCall(r)
	if err != nil {
		return nil
	}
	if pod, ok := bodyOf(&request{Call: call}).(*corev1.Pod); ok {
		if err := w.admit(pod); err != nil {
			return memoryapi.Refuse(r, err)
		}
	}
	return nil
}
