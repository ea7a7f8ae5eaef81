package caches

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

// largePod returns a pod of about 8 KB as returned by API servers: two containers with environments, volumes and resources, and managed
// fields.
func largePod(job, i int, phase corev1.PodPhase) *corev1.Pod {
	pod := fullPod(phase, nil)
	pod.Namespace, pod.Name = fmt.Sprintf("team-%d", job%50), fmt.Sprintf("train-%d-%d-x7k2p", job, i)
	pod.UID, pod.ResourceVersion = types.UID(fmt.Sprintf("d94f8a3e-%04d-4b6f-9c1d-%012d", job, i)), fmt.Sprint(1_000_000+i)
	pod.OwnerReferences[1].Name, pod.OwnerReferences[1].UID = fmt.Sprintf("train-%d", job), types.UID(fmt.Sprintf("uid-of-train-%d", job))
	pod.Labels[batchv1.ControllerUidLabel] = string(pod.OwnerReferences[1].UID)
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:x":{}}`, 200))}}
	amounts := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		amounts[name] = resource.MustParse("2")
	}
	resources := corev1.ResourceRequirements{Limits: amounts, Requests: amounts}
	main, status := pod.Spec.Containers[0], pod.Status.ContainerStatuses[0]
	main.Resources, status.Resources = resources, &resources
	for e := range 40 {
		main.Env = append(main.Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", e), Value: strings.Repeat("v", 20)})
		main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{Name: fmt.Sprintf("volume-%d", e), MountPath: "/mnt"})
	}
	status.ContainerID = "containerd://" + strings.Repeat("0", 64)
	second, secondStatus := main, status
	second.Name, secondStatus.Name = "second", "second"
	pod.Spec.Containers, pod.Status.ContainerStatuses = []corev1.Container{main, second}, []corev1.ContainerStatus{status, secondStatus}
	return pod
}

func largeJob(i int) *batchv1.Job {
	job := fixtures.OthersJob(fixtures.FailJobOn(42))
	job.Name, job.UID = fmt.Sprintf("train-%d", i), types.UID(fmt.Sprintf("uid-of-train-%d", i))
	job.Spec.Template.Spec = largePod(i, 0, corev1.PodPending).Spec
	return job
}

// readNode returns a node of about 15 KB as returned by API servers.
func readNode(t testing.TB, i int) *corev1.Node {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i), ResourceVersion: fmt.Sprint(1_000_000 + i), Labels: map[string]string{}}}
	node.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:x":{}}`, 200))}}
	for n := range 20 {
		node.Labels[fmt.Sprintf("topology.example.com/label-%d", n)] = fmt.Sprintf("value-%d-%d", n, i)
	}
	for n := range 6 {
		condition := corev1.NodeCondition{Type: corev1.NodeConditionType(fmt.Sprint("Condition-", n)), Status: corev1.ConditionTrue, Message: strings.Repeat("m", 60)}
		node.Status.Conditions = append(node.Status.Conditions, condition)
	}
	for n := range 50 {
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{Names: []string{fmt.Sprintf("registry.example.com/image-%d@sha256:%s", n, strings.Repeat("0", 64))}})
	}
	wire, err := node.Marshal()
	fixtures.Put(t, err)
	read := &corev1.Node{}
	fixtures.Put(t, read.Unmarshal(wire))
	return read
}

// heap returns the size of the live heap.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// cachedBytes returns the number of bytes that the caches hold for each of n objects, which are decoded as from the API server.
func cachedBytes(t testing.TB, n int, reads custom.Reads, read func(i int) any, prepare ...func(*caching)) float64 {
	t.Helper()
	caching := newCaching(true)
	for _, do := range prepare {
		do(caching)
	}
	caching.keep(reads)
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, podIndexers)
	before := heap()
	for i := range n {
		object, err := caching.transform(read(i))
		fixtures.Put(t, err)
		fixtures.Put(t, indexer.Add(object))
	}
	bytes := float64(heap()-before) / float64(n)
	runtime.KeepAlive(indexer)
	runtime.KeepAlive(caching)
	return bytes
}

func readPod(t testing.TB, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	wire, err := pod.Marshal()
	fixtures.Put(t, err)
	read := &corev1.Pod{}
	fixtures.Put(t, read.Unmarshal(wire))
	return read
}

func readJob(t testing.TB, job *batchv1.Job) *batchv1.Job {
	t.Helper()
	wire, err := job.Marshal()
	fixtures.Put(t, err)
	read := &batchv1.Job{}
	fixtures.Put(t, read.Unmarshal(wire))
	return read
}

// typicalPolicy returns a policy with rules that are typical for platforms, on container statuses, labels and a condition.
func typicalPolicy() *v1alpha1.PodFailurePolicy {
	p := &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: "typical", UID: "typical", Generation: 1}}
	p.Spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "team", Expression: "job.metadata.?labels[?'team'].orValue('') != 'infra'"}}
	p.Spec.Rules = []v1alpha1.Rule{
		{Name: "oom", When: "pod.failedContainers().exists(c, c.oomKilled)", Action: "FailJob", MessageExpression: "pod.failedContainers()[0].message"},
		{Name: "app", When: "pod.metadata.?labels[?'app'].orValue('') == 'train' && pod.failedContainers().exists(c, c.exitCode == 3)", Action: "Ignore"},
		{Name: "drain", When: "pod.condition('DisruptionTarget').reason == 'EvictionByEvictionAPI'", Action: "Ignore"},
	}
	p.SetDefaults()
	return p
}

// readsOf returns the fields that a policy reads.
func readsOf(t testing.TB, p *v1alpha1.PodFailurePolicy) custom.Reads {
	t.Helper()
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	fixtures.Put(t, err)
	compiled, err := custom.Compile(environment, &p.Spec)
	fixtures.Put(t, err)
	return compiled.Reads
}

// memories returns a measurement for each kind of object, and a generous limit for its bytes in the caches.
func memories(t testing.TB) map[string]func(n int) (bytes, most float64) {
	t.Helper()
	const podsOfJob = 10
	none, typical := custom.NewReads(), readsOf(t, typicalPolicy())
	pods := func(phase corev1.PodPhase, reads custom.Reads, most float64) func(int) (float64, float64) {
		return func(n int) (float64, float64) {
			return cachedBytes(t, n, reads, func(i int) any { return readPod(t, largePod(i/podsOfJob, i, phase)) }), most
		}
	}
	jobs := func(reads custom.Reads, most float64) func(int) (float64, float64) {
		return func(n int) (float64, float64) {
			return cachedBytes(t, n, reads, func(i int) any { return readJob(t, largeJob(i)) }), most
		}
	}
	nodes := func(when string, most float64) func(int) (float64, float64) {
		return func(n int) (float64, float64) {
			return cachedBytes(t, n, readsOf(t, ruleOf(when)), func(i int) any { return readNode(t, i) }), most
		}
	}
	return map[string]func(int) (float64, float64){
		"pods/failed with a policy that reads labels of nodes":  pods(corev1.PodFailed, readsOf(t, ruleOf("node.label('pool') == 'spot'")), 4500),
		"nodes with a policy that reads whether they are ready": nodes("node.ready()", 2000),
		"nodes with a policy that reads their labels":           nodes("node.label('pool') == 'spot'", 5000),
		"pods/running":                                pods(corev1.PodRunning, none, 4500),
		"pods/failed":                                 pods(corev1.PodFailed, none, 4500),
		"pods/running with a typical policy":          pods(corev1.PodRunning, typical, 4500),
		"pods/failed with a typical policy":           pods(corev1.PodFailed, typical, 5500),
		"pods/failed with a policy that reads it all": pods(corev1.PodFailed, fixtures.Everything, 42_000),
		"jobs":                                 jobs(none, 5000),
		"jobs with a typical policy":           jobs(typical, 5000),
		"jobs with a policy that reads it all": jobs(fixtures.Everything, 42_000),
	}
}

// TestMemory checks that the cached size of each object is limited.
func TestMemory(t *testing.T) {
	objects := 1000
	if testing.Short() {
		objects = 200
	}
	for name, measure := range memories(t) {
		t.Run(name, func(t *testing.T) {
			if bytes, most := measure(objects); bytes > most {
				t.Errorf("%.0f bytes for each, want at most %.0f", bytes, most)
			}
		})
	}
}

// BenchmarkMemory reports the cached bytes of each object.
func BenchmarkMemory(b *testing.B) {
	for name, measure := range memories(b) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				bytes, _ := measure(2000)
				b.ReportMetric(bytes, "bytes/object")
			}
		})
	}
}
