//go:build cluster

package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

var (
	policies = v1alpha1.GroupVersion.WithResource(v1alpha1.ResourcePodFailurePolicies)
	bindings = v1alpha1.GroupVersion.WithResource(v1alpha1.ResourcePodFailurePolicyBindings)
)

// customized is a cluster that starts without the kinds of custom policies, and a controller in this process. The test
// acts as the kubelet.
type customized struct {
	*testcluster.World

	objects dynamic.Interface

	// The running controller.
	controller *controller.Controller
	metrics    *prometheus.Registry
	stop       func()
}

func newCustomized(t *testing.T) *customized {
	t.Helper()
	world := testcluster.Start(t)
	w := &customized{World: world, objects: testcluster.NewDynamic(t, world.Cluster)}
	w.Kubectl(t, nil, "delete", "--ignore-not-found", "-f", definitions)
	w.start(t)
	return w
}

// start starts a controller without state.
func (w *customized) start(t *testing.T) {
	t.Helper()
	w.metrics = prometheus.NewRegistry()
	metrics, err := metrics.New(w.metrics)
	if err != nil {
		t.Fatal(err)
	}
	w.controller, w.stop = testcluster.RunController(t, controller.Options{
		Config: w.Cluster.Config, Observe: true, Metrics: metrics,
		Settings: plan.Settings{Backoff: 100 * time.Millisecond, MaxBackoff: time.Second},
	})
}

const definitions = "../../../config/crd"

func (w *customized) install(t *testing.T) {
	t.Helper()
	w.InstallKinds(t, definitions)
}

func (w *customized) uninstall(t *testing.T) {
	t.Helper()
	w.Kubectl(t, nil, "delete", "-f", definitions)
	testcluster.Eventually(t, "the controller has no policies", func(context.Context) (bool, error) {
		n := w.known(t)
		return n == 0, fmt.Errorf("%v are left", n)
	})
}

// known returns the number of policies known to the controller.
func (w *customized) known(t *testing.T) (n float64) {
	t.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		t.Fatal(err)
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

// apply applies a policy or binding with the name gpu.
func (w *customized) apply(t *testing.T, resource schema.GroupVersionResource, kind, spec string) {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal([]byte("spec: "+spec), &o.Object); err != nil {
		t.Fatal(err)
	}
	o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	o.SetName("gpu")
	if _, err := w.objects.Resource(resource).Apply(t.Context(), "gpu", o, metav1.ApplyOptions{FieldManager: "test", Force: true}); err != nil {
		t.Fatal(err)
	}
}

// keep changes the last good version in the policy's status with a merge patch, and returns the result.
func (w *customized) keep(t *testing.T, lastGood string) string {
	t.Helper()
	patch := []byte(`{"status":{"lastGood":` + lastGood + `}}`)
	o, err := w.objects.Resource(policies).Patch(t.Context(), "gpu", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
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

// untilKept waits until the policy's status has this last good version.
func (w *customized) untilKept(t *testing.T, want string) {
	t.Helper()
	testcluster.Eventually(t, "a version is kept", func(ctx context.Context) (bool, error) {
		o, err := w.objects.Resource(policies).Get(ctx, "gpu", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return kept(o) == want, errors.New(kept(o))
	})
}

// untilReady waits until the status has this condition for the newest generation, and returns the object.
func (w *customized) untilReady(t *testing.T, resource schema.GroupVersionResource, status, reason, message string) (o *unstructured.Unstructured) {
	t.Helper()
	testcluster.Eventually(t, "Ready is "+status, func(ctx context.Context) (_ bool, err error) {
		if o, err = w.objects.Resource(resource).Get(ctx, "gpu", metav1.GetOptions{}); err != nil {
			return false, err
		}
		observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			c, ok := c.(map[string]any)
			err = fmt.Errorf("the last condition is %v", c)
			if ok && c["type"] == "Ready" && c["status"] == status && c["reason"] == reason && strings.Contains(c["message"].(string), message) {
				return observed == o.GetGeneration(), err
			}
		}
		return false, err
	})
	return o
}

// run creates a managed Job with one pod.
func (w *customized) run(t *testing.T, name string) {
	t.Helper()
	w.CreateJob(t, w.Namespace, testcluster.ManagedJob(name, nil))
}

// fail waits for the Job's pod, and makes it exit with a code.
func (w *customized) fail(t *testing.T, job string, code int32) (failed *corev1.Pod) {
	t.Helper()
	testcluster.Eventually(t, "there is a pod", func(ctx context.Context) (bool, error) {
		pods, err := w.Client.CoreV1().Pods(w.Namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job})
		if err != nil {
			return false, err
		}
		for i := range pods.Items {
			if pods.Items[i].Status.Phase == corev1.PodPending {
				failed = &pods.Items[i]
			}
		}
		return failed != nil, fmt.Errorf("%d pods", len(pods.Items))
	})
	testcluster.End(failed, code)
	if _, err := w.Client.CoreV1().Pods(w.Namespace).UpdateStatus(t.Context(), failed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return failed
}

// untilFailed waits until this number of failures is counted, and there is another pod or the Job has failed.
func (w *customized) untilFailed(t *testing.T, name string, failures int32) *batchv1.Job {
	t.Helper()
	return w.UntilJob(t, w.Namespace, name, fmt.Sprintf("has %d failures", failures), func(job *batchv1.Job) bool {
		return job.Status.Failed == failures && (job.Status.Active == 1 || testcluster.Finished(job) != nil)
	})
}
