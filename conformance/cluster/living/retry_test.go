//go:build cluster

package living

import (
	"context"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/config"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// baseRequest and baseLimit are the memory of the only container of a Job's template, in Mi.
const baseRequest, baseLimit = 301, 500

// retrying is the cluster with the installed controller, and scripts for the Pods of each namespace.
type retrying struct {
	*testcluster.Installation

	kubeconfig string
	controller *testcluster.Replica

	mu      sync.Mutex
	kubelet map[string]testcluster.Script // by namespace
}

func newRetrying(t *testing.T) *retrying {
	t.Helper()
	w := &retrying{Installation: testcluster.Apply(t, start(t), config.Options{}), kubelet: map[string]testcluster.Script{}}
	w.kubeconfig = w.Kubeconfig(t)
	w.Kubectl(t, nil, "apply", "-f", "testdata/retry.yaml")
	w.startController(t)
	w.Kubectl(t, nil, "wait", "--for=condition=Ready", "-f", "testdata/retry.yaml", "--timeout=1m")
	for _, name := range []string{"node-a", "node-b", "node-c"} {
		w.addNode(t, name)
	}
	return w
}

func (w *retrying) startController(t *testing.T) {
	t.Helper()
	w.controller = w.Start(t, w.kubeconfig, nil, "--leader-elect=false")
}

// killController kills the process at any moment, and starts another one.
func (w *retrying) killController(t *testing.T) {
	t.Helper()
	w.controller.Kill()
	w.startController(t)
}

// addNode adds a node that runs the scripts of the Pods' namespaces.
func (w *retrying) addNode(t *testing.T, name string) {
	t.Helper()
	testcluster.PlayNode(t, w.Client, name, map[string]string{corev1.LabelHostname: name}, func(pod *corev1.Pod) testcluster.Act {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.kubelet[pod.Namespace](pod)
	})
}

// namespace returns a new namespace with a script, and the attempts observed there.
func (w *retrying) namespace(t *testing.T, script testcluster.Script) (string, *attempts) {
	t.Helper()
	name := w.Cluster.Namespace(t)
	w.mu.Lock()
	w.kubelet[name] = script
	w.mu.Unlock()
	return name, watchAttempts(t, w.Client, name)
}

// createJob creates an Indexed Job run by our controller.
func (w *retrying) createJob(t *testing.T, namespace, policy string, indexes int32) *batchv1.Job {
	t.Helper()
	memory := func(mi int64) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(mi<<20, resource.BinarySI)}
	}
	job := testcluster.ManagedJob(policy, func(s *batchv1.JobSpec) {
		testcluster.Indexed(s, indexes, indexes)
		s.BackoffLimitPerIndex, s.MaxFailedIndexes = new(int32(3)), new(int32(0))
		s.Template.Spec.TerminationGracePeriodSeconds = new(int64(1))
		s.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: memory(baseRequest), Limits: memory(baseLimit)}
	})
	job.Labels = map[string]string{"policy": policy}
	return w.CreateJob(t, namespace, job)
}

// evict evicts a Pod through the API server.
func (w *retrying) evict(ctx context.Context, pod *corev1.Pod) error {
	err := w.Client.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// attempts has the Pods of a namespace, including deleted ones.
type attempts struct {
	mu   sync.Mutex
	pods map[string]*corev1.Pod // as last observed, by name
	all  []string               // names in the order of creation
}

// watchAttempts watches until the test ends.
func watchAttempts(t *testing.T, client kubernetes.Interface, namespace string) *attempts {
	t.Helper()
	w := &attempts{pods: map[string]*corev1.Pod{}}
	testcluster.WatchPods(t, client, namespace, func(of watch.EventType, pod *corev1.Pod) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if of == watch.Added {
			w.all = append(w.all, pod.Name)
		}
		w.pods[pod.Name] = pod
	})
	return w
}

// seen returns the Pods, in the order of their creation.
func (w *attempts) seen() (all []*corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range w.all {
		all = append(all, w.pods[name])
	}
	return all
}

// sizes returns the memory of the Pods of each index, in the order of their creation.
func (w *attempts) sizes() map[int][]string {
	sizes := map[int][]string{}
	for _, pod := range w.seen() {
		index, _, _ := plan.Place(pod)
		sizes[index] = append(sizes[index], sizeOf(pod))
	}
	return sizes
}

// sizeOf returns the request and the limit of the memory of a Pod's container.
func sizeOf(pod *corev1.Pod) string {
	resources := pod.Spec.Containers[0].Resources
	return resources.Requests.Memory().String() + "/" + resources.Limits.Memory().String()
}
