//go:build cluster

package effect

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/config"
	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/internal/controlplane"
	"github.com/podverdict/podverdict/internal/installed"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// modeLabel is the label of a Job by which the binding of a mode selects it.
const modeLabel = "mode"

// world is a control plane with Kubernetes' controllers and ours, and the policies that are in force there.
type world struct {
	*testing.T

	client    *kubernetes.Clientset
	objects   dynamic.Interface
	namespace string
	language  *compiler.Environment
	set       *binding.Set
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cluster := controlplane.Start(t, controlplane.ControllerManager)
	w := &world{T: t, namespace: cluster.Namespace(t)}
	var err error
	if w.client, err = kubernetes.NewForConfig(cluster.Config); err != nil {
		t.Fatal(err)
	}
	if w.objects, err = dynamic.NewForConfig(cluster.Config); err != nil {
		t.Fatal(err)
	}
	if w.language, err = compiler.NewEnvironment(compiler.DefaultVersion); err != nil {
		t.Fatal(err)
	}
	w.install()
	w.startController(cluster)
	for _, name := range []string{policyName, string(v1alpha1.ModeEnforce), string(v1alpha1.ModeAudit)} {
		w.untilReady(strings.ToLower(name))
	}
	return w
}

// in returns the world of a subtest.
func (w *world) in(t *testing.T) *world {
	t.Helper()
	inner := *w
	inner.T = t
	return &inner
}

// policyName is the name of the policy, and of its rule.
const policyName = "stop"

// install creates the kinds, the policy and a binding of each mode, and makes the same set of them.
func (w *world) install() {
	w.Helper()
	policy := &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: policyName}}
	policy.Spec.Rules = []v1alpha1.Rule{{
		Name: policyName, When: fmt.Sprintf("pod.failedContainers().exists(c, c.exitCode == %d)", codeOfPolicy),
		Action: batchv1.PodFailurePolicyActionFailJob,
	}}
	policy.SetDefaults()
	compiled, err := runtime.NewCustomPolicy(w.language, policy)
	if err != nil {
		w.Fatal(err)
	}
	w.createKinds()
	w.createObject(v1alpha1.ResourcePodFailurePolicies, v1alpha1.KindPodFailurePolicy, policy)
	var bindings []*v1alpha1.PodFailurePolicyBinding
	for _, mode := range []v1alpha1.Mode{v1alpha1.ModeEnforce, v1alpha1.ModeAudit} {
		b := &v1alpha1.PodFailurePolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: strings.ToLower(string(mode))}}
		b.Spec.PolicyName, b.Spec.Mode = policyName, mode
		b.Spec.JobSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]v1alpha1.LabelValue{modeLabel: v1alpha1.LabelValue(mode)}}
		b.SetDefaults()
		w.createObject(v1alpha1.ResourcePodFailurePolicyBindings, v1alpha1.KindPodFailurePolicyBinding, b)
		bindings = append(bindings, b)
	}
	if w.set, err = binding.NewSet(map[string]*runtime.Policy{policyName: compiled}, bindings); err != nil {
		w.Fatal(err)
	}
}

func (w *world) createKinds() {
	w.Helper()
	installation, err := config.Objects(config.Options{})
	if err != nil {
		w.Fatal(err)
	}
	kinds := w.objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	for _, o := range installation {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		if _, err := kinds.Create(w.Context(), o.Unstructured, metav1.CreateOptions{}); err != nil {
			w.Fatal(err)
		}
	}
}

// createObject creates a policy or binding, as soon as its kind is served.
func (w *world) createObject(resource, kind string, object any) {
	w.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		w.Fatal(err)
	}
	created := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &created.Object); err != nil {
		w.Fatal(err)
	}
	created.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	delete(created.Object, "status")
	installed.Eventually(w, kind+" is created", func(ctx context.Context) (bool, error) {
		_, err := w.objects.Resource(v1alpha1.GroupVersion.WithResource(resource)).Create(ctx, created, metav1.CreateOptions{})
		return err == nil, err
	})
}

// startController runs ours until the test ends. It also tells what policies say of Jobs that others run.
func (w *world) startController(cluster *controlplane.Cluster) {
	w.Helper()
	c, err := controller.New(controller.Options{Config: cluster.Config, Observe: true})
	if err != nil {
		w.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(w.Context()))
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	w.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			w.Errorf("the controller: %v", err)
		}
	})
}

// untilReady waits until the controller says that the policy or binding of that name is ready.
func (w *world) untilReady(name string) {
	w.Helper()
	resource := v1alpha1.ResourcePodFailurePolicyBindings
	if name == policyName {
		resource = v1alpha1.ResourcePodFailurePolicies
	}
	installed.Eventually(w, name+" is ready", func(ctx context.Context) (bool, error) {
		o, err := w.objects.Resource(v1alpha1.GroupVersion.WithResource(resource)).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["type"] == v1alpha1.ConditionReady && c["status"] == "True" {
				return true, nil
			}
		}
		return false, fmt.Errorf("%v", conditions)
	})
}

// untilCounted waits until the status of a binding says of how many Jobs, and in how many nobody carries the policy out.
func (w *world) untilCounted(name string, jobs v1alpha1.BoundJobs) {
	w.Helper()
	installed.Eventually(w, fmt.Sprintf("binding %s counts %+v", name, jobs), func(ctx context.Context) (bool, error) {
		o, err := w.objects.Resource(v1alpha1.GroupVersion.WithResource(v1alpha1.ResourcePodFailurePolicyBindings)).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		counted, _, _ := unstructured.NestedMap(o.Object, "status", "jobs")
		return counted["selected"] == int64(jobs.Selected) && counted["notCarriedOut"] == int64(jobs.NotCarriedOut) && counted["because"] == jobs.Because,
			fmt.Errorf("%v", counted)
	})
}

// create creates a Job, and returns it as it is stored.
func (w *world) create(job *batchv1.Job) *batchv1.Job {
	w.Helper()
	created, err := w.client.BatchV1().Jobs(w.namespace).Create(w.Context(), job, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return created
}

// fail has a pod of the Job exit with a code, as soon as there is one, and returns it as it is stored.
func (w *world) fail(job *batchv1.Job, code int32) (failed *corev1.Pod) {
	w.Helper()
	installed.Eventually(w, "a pod of "+job.Name+" fails", func(ctx context.Context) (bool, error) {
		pods, err := w.client.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job.Name})
		if err != nil {
			return false, err
		}
		for i := range pods.Items {
			if pods.Items[i].Status.Phase == corev1.PodPending {
				installed.End(&pods.Items[i], code)
				failed, err = w.client.CoreV1().Pods(w.namespace).UpdateStatus(ctx, &pods.Items[i], metav1.UpdateOptions{})
				return err == nil, err
			}
		}
		return false, fmt.Errorf("%d pods", len(pods.Items))
	})
	return failed
}

// untilTold waits for the event of a verdict on a pod that has a text in it.
func (w *world) untilTold(pod *corev1.Pod, text string) {
	w.Helper()
	installed.Eventually(w, "it is told of "+pod.Name+": "+text, func(ctx context.Context) (bool, error) {
		events, err := w.client.EventsV1().Events(w.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		var notes []string
		for _, e := range events.Items {
			if e.Regarding.UID != pod.UID {
				continue
			}
			if strings.Contains(e.Note, text) {
				return true, nil
			}
			notes = append(notes, e.Note)
		}
		return false, fmt.Errorf("%q", notes)
	})
}
