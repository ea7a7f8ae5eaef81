//go:build cluster

package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

var (
	policies = v1alpha1.GroupVersion.WithResource(v1alpha1.ResourcePodFailurePolicies)
	bindings = v1alpha1.GroupVersion.WithResource(v1alpha1.ResourcePodFailurePolicyBindings)
)

// world is an API server, and a controller that works with it in this process. The test is the kubelet.
type world struct {
	*testing.T

	cluster   *controlplane.Cluster
	client    *kubernetes.Clientset
	objects   dynamic.Interface
	namespace string

	// The controller that runs.
	controller *controller.Controller
	metrics    *prometheus.Registry
	stop       func()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cluster := controlplane.Start(t)
	w := &world{T: t, cluster: cluster, namespace: cluster.Namespace(t)}
	var err error
	if w.client, err = kubernetes.NewForConfig(cluster.Config); err != nil {
		t.Fatal(err)
	}
	if w.objects, err = dynamic.NewForConfig(cluster.Config); err != nil {
		t.Fatal(err)
	}
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

// start gives the world a controller that remembers nothing.
func (w *world) start() {
	w.Helper()
	w.metrics = prometheus.NewRegistry()
	metrics, err := metrics.New(w.metrics)
	if err != nil {
		w.Fatal(err)
	}
	w.controller, err = controller.New(controller.Options{
		Config: w.cluster.Config, Observe: true, Metrics: metrics,
		Settings: plan.Settings{Backoff: 100 * time.Millisecond, MaxBackoff: time.Second},
	})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.controller.Run(ctx) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	})
}

// until waits for a condition; what it says of itself is told if it is never met.
func (w *world) until(what string, met func(context.Context) (bool, string)) {
	w.Helper()
	last := ""
	err := wait.PollUntilContextTimeout(w.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (ok bool, _ error) {
		ok, last = met(ctx)
		return ok, nil
	})
	if err != nil {
		w.Fatalf("%s: %v: %s", what, err, last)
	}
}

const definitions = "../../../config/crd"

func (w *world) install() {
	w.Helper()
	testcluster.Kubectl(w, w.cluster, nil, "apply", "-f", definitions)
	testcluster.Kubectl(w, w.cluster, nil, "wait", "--for=condition=Established", "-f", definitions, "--timeout=1m")
}

func (w *world) uninstall() {
	w.Helper()
	testcluster.Kubectl(w, w.cluster, nil, "delete", "-f", definitions)
	w.until("the controller has none", func(context.Context) (bool, string) {
		n := w.known()
		return n == 0, fmt.Sprintf("%v are left", n)
	})
}

// known returns the number of policies that the controller knows.
func (w *world) known() (n float64) {
	w.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		w.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "podverdict_custom_policies" {
			for _, m := range family.GetMetric() {
				n += m.GetGauge().GetValue()
			}
		}
	}
	return n
}

// apply applies a policy or binding of the name gpu.
func (w *world) apply(resource schema.GroupVersionResource, kind, spec string) {
	w.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal([]byte("spec: "+spec), &o.Object); err != nil {
		w.Fatal(err)
	}
	o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	o.SetName("gpu")
	if _, err := w.objects.Resource(resource).Apply(w.Context(), "gpu", o, metav1.ApplyOptions{FieldManager: "test", Force: true}); err != nil {
		w.Fatal(err)
	}
}

// keep changes the last good version in the status of the policy, by a merge patch, and returns what there is of it now.
func (w *world) keep(lastGood string) string {
	w.Helper()
	patch := []byte(`{"status":{"lastGood":` + lastGood + `}}`)
	o, err := w.objects.Resource(policies).Patch(w.Context(), "gpu", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		w.Fatal(err)
	}
	return kept(o)
}

// kept returns the last good version in the status of a policy.
func kept(o *unstructured.Unstructured) string {
	lastGood, _, _ := unstructured.NestedFieldNoCopy(o.Object, "status", "lastGood")
	text, err := json.Marshal(lastGood)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// untilKept waits until the status of the policy has this last good version.
func (w *world) untilKept(want string) {
	w.Helper()
	w.until("a version is kept", func(ctx context.Context) (bool, string) {
		o, err := w.objects.Resource(policies).Get(ctx, "gpu", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return kept(o) == want, kept(o)
	})
}

// untilReady waits until the status says this of the newest generation, and returns the whole.
func (w *world) untilReady(resource schema.GroupVersionResource, status, reason, message string) (o *unstructured.Unstructured) {
	w.Helper()
	w.until("Ready is "+status, func(ctx context.Context) (_ bool, last string) {
		var err error
		if o, err = w.objects.Resource(resource).Get(ctx, "gpu", metav1.GetOptions{}); err != nil {
			return false, err.Error()
		}
		observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			c, ok := c.(map[string]any)
			last = fmt.Sprint(c)
			if ok && c["type"] == "Ready" && c["status"] == status && c["reason"] == reason && strings.Contains(c["message"].(string), message) {
				return observed == o.GetGeneration(), last
			}
		}
		return false, last
	})
	return o
}

// run creates a managed Job of one pod.
func (w *world) run(name string) {
	w.Helper()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{
		ManagedBy: new(controller.Name),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "main"}},
		}},
	}}
	if _, err := w.client.BatchV1().Jobs(w.namespace).Create(w.Context(), job, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

// fail waits for the Job's pod, and has it exit with a code.
func (w *world) fail(job string, code int32) (failed *corev1.Pod) {
	w.Helper()
	w.until("there is a pod", func(ctx context.Context) (bool, string) {
		pods, err := w.client.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job})
		if err != nil {
			return false, err.Error()
		}
		for i := range pods.Items {
			if pods.Items[i].Status.Phase == corev1.PodPending {
				failed = &pods.Items[i]
			}
		}
		return failed != nil, fmt.Sprintf("%d pods", len(pods.Items))
	})
	testcluster.End(failed, code)
	if _, err := w.client.CoreV1().Pods(w.namespace).UpdateStatus(w.Context(), failed, metav1.UpdateOptions{}); err != nil {
		w.Fatal(err)
	}
	return failed
}

// untilFailed waits until so many failures count, and there is another pod, or the Job has failed.
func (w *world) untilFailed(name string, failures int32) (job *batchv1.Job) {
	w.Helper()
	w.until(fmt.Sprintf("%d failures count", failures), func(ctx context.Context) (bool, string) {
		var err error
		if job, err = w.client.BatchV1().Jobs(w.namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return false, err.Error()
		}
		failed := func(c batchv1.JobCondition) bool { return c.Type == batchv1.JobFailed }
		settled := job.Status.Active == 1 || slices.ContainsFunc(job.Status.Conditions, failed)
		return job.Status.Failed == failures && settled, fmt.Sprintf("%+v", job.Status)
	})
	return job
}

// untilTold waits for an event about an object.
func (w *world) untilTold(namespace, object, reason, note string) {
	w.Helper()
	w.until("an event "+reason+" is told: "+note, func(ctx context.Context) (bool, string) {
		events, err := w.client.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		var notes []string
		for _, e := range events.Items {
			if e.Regarding.Name == object && e.Reason == reason && strings.Contains(e.Note, note) {
				return true, ""
			}
			notes = append(notes, e.Regarding.Name+" "+e.Reason+" "+e.Note)
		}
		return false, strings.Join(notes, "\n")
	})
}
