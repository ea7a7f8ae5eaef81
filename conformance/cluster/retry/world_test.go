//go:build cluster

package retry

import (
	"context"
	"flag"
	"os"
	"strings"
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
	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

func TestMain(m *testing.M) {
	// A test waits more than it works: more of them than there are cores. -parallel has the last word.
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err) //nolint:forbidigo // there is no test yet to fail
	}
	os.Exit(controlplane.Run(m)) //nolint:forbidigo // main of the tests
}

// baseRequest and baseLimit are the memory of the only container of a Job's template, in Mi.
const baseRequest, baseLimit = 301, 500

// world is the cluster with all controllers.
type world struct {
	cluster      *controlplane.Cluster
	client       *kubernetes.Clientset
	installation *testcluster.Installation
	kubeconfig   string
	controller   *testcluster.Replica

	mu      sync.Mutex
	kubelet map[string]testcluster.Script // by namespace
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cluster := controlplane.Start(t, controlplane.Scheduler, controlplane.ControllerManager)
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{cluster: cluster, client: client, installation: testcluster.Apply(t, cluster, config.Options{}), kubelet: map[string]testcluster.Script{}}
	w.kubeconfig = w.installation.Kubeconfig(t)
	testcluster.Kubectl(t, cluster, nil, "apply", "-f", "testdata/policies.yaml")
	w.startController(t)
	testcluster.Kubectl(t, cluster, nil, "wait", "--for=condition=Ready", "-f", "testdata/policies.yaml", "--timeout=1m")
	for _, name := range []string{"node-a", "node-b", "node-c"} {
		w.addNode(t, name)
	}
	return w
}

func (w *world) startController(t *testing.T) {
	t.Helper()
	w.controller = w.installation.Start(t, w.kubeconfig, nil, "--leader-elect=false")
}

// killController ends the process wherever it is, and starts another one.
func (w *world) killController(t *testing.T) {
	t.Helper()
	if err := w.controller.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-w.controller.Ended
	w.startController(t)
}

// addNode makes a node that plays the scripts of the Pods' namespaces.
func (w *world) addNode(t *testing.T, name string) {
	t.Helper()
	testcluster.PlayNode(t, w.client, name, map[string]string{corev1.LabelHostname: name}, func(pod *corev1.Pod) testcluster.Act {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.kubelet[pod.Namespace](pod)
	})
}

// namespace returns a new namespace with a script, and what the witness sees there.
func (w *world) namespace(t *testing.T, script testcluster.Script) (string, *witness) {
	t.Helper()
	name := w.cluster.Namespace(t)
	w.mu.Lock()
	w.kubelet[name] = script
	w.mu.Unlock()
	return name, newWitness(t, w.client, name)
}

// createJob makes an Indexed Job that our controller runs.
func (w *world) createJob(t *testing.T, namespace, policy string, indexes int32) *batchv1.Job {
	t.Helper()
	memory := func(mi int64) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(mi<<20, resource.BinarySI)}
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: policy, Labels: map[string]string{"policy": policy}},
		Spec: batchv1.JobSpec{
			CompletionMode: new(batchv1.IndexedCompletion), Completions: &indexes, Parallelism: &indexes,
			BackoffLimitPerIndex: new(int32(3)), MaxFailedIndexes: new(int32(0)), ManagedBy: new(controller.Name),
		},
	}
	job.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(int64(1)),
		Containers: []corev1.Container{{
			Name: "main", Image: "image", Resources: corev1.ResourceRequirements{Requests: memory(baseRequest), Limits: memory(baseLimit)},
		}},
	}
	job, err := w.client.BatchV1().Jobs(namespace).Create(t.Context(), job, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// untilFinished waits for the end of a Job.
func (w *world) untilFinished(t *testing.T, namespace, name string) (job *batchv1.Job, last batchv1.JobCondition) {
	t.Helper()
	testcluster.Eventually(t, "Job "+name+" finishes", func(ctx context.Context) (_ bool, err error) {
		if job, err = w.client.BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return false, err
		}
		for _, last = range job.Status.Conditions {
			if last.Type == batchv1.JobComplete || last.Type == batchv1.JobFailed {
				return true, nil
			}
		}
		return false, nil
	})
	return job, last
}

// untilEvent waits for an event whose note has all the words, and returns the note.
func (w *world) untilEvent(t *testing.T, namespace, reason string, words ...string) (note string) {
	t.Helper()
	testcluster.Eventually(t, "event "+reason+" with "+strings.Join(words, ", "), func(ctx context.Context) (bool, error) {
		events, err := w.client.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, e := range events.Items {
			has := e.Reason == reason
			for _, word := range words {
				has = has && strings.Contains(e.Note, word)
			}
			if has {
				note = e.Note
				return true, nil
			}
		}
		return false, nil
	})
	return note
}

// evict asks the API server to evict a Pod.
func (w *world) evict(ctx context.Context, pod *corev1.Pod) error {
	err := w.client.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// witness sees each Pod of a namespace.
type witness struct {
	mu   sync.Mutex
	pods map[string]*corev1.Pod // as last seen, by name
	all  []string               // names in the order of creation
}

// newWitness watches until the test ends.
func newWitness(t *testing.T, client kubernetes.Interface, namespace string) *witness {
	t.Helper()
	w := &witness{pods: map[string]*corev1.Pod{}}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	watching, err := client.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { stop(); <-ended })
	go func() {
		defer close(ended)
		for event := range watching.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok && ctx.Err() != nil {
				return
			}
			if !ok {
				t.Errorf("the watch ends with %v", event.Object)
				return
			}
			w.mu.Lock()
			if event.Type == watch.Added {
				w.all = append(w.all, pod.Name)
			}
			w.pods[pod.Name] = pod
			w.mu.Unlock()
		}
	}()
	return w
}

// seen returns the Pods, in the order of their creation.
func (w *witness) seen() (all []*corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range w.all {
		all = append(all, w.pods[name])
	}
	return all
}

// sizes returns the memory of the Pods of each index, in the order of their creation.
func (w *witness) sizes() map[int][]string {
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
