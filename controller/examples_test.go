package controller_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// failure has the pod of an example's Job end, or wait, as a pod of the example does, and says what comes of it within twenty minutes.
type failure struct {
	pod    string
	failed int32 // pods that count
	// least and most bound how long after the end of the pod the next one was created.
	least, most time.Duration
	lost        string // indexes
	// memory is that of the next pod's first container, and avoids are the nodes that it keeps away from.
	memory, avoids string
	ends           string // the reason of the Job's end, and its message, in which POD stands for the pod
}

const (
	byPolicy     = "PodFailurePolicy: Pod POD matching FailJob rule "
	limitReached = "BackoffLimitExceeded: Job has reached the specified backoff limit"
)

// exampleLives say what becomes of the Jobs of the examples. Each Job with another outcome is a life.
var exampleLives = []struct {
	example  string
	failures []failure
}{
	// The Job's own rule ignores a disruption, whatever its containers died of. Without one, memory decides.
	{"out-of-memory", []failure{
		{pod: "oom-drained"}, {pod: "killed", failed: 1},
		{pod: "oom", failed: 2, ends: byPolicy + "oom-killed of PodFailurePolicy out-of-memory: OutOfMemory: main ran out of memory"},
	}},
	{"out-of-memory", []failure{
		{pod: "oom-fetch", failed: 1, ends: byPolicy + "oom-killed of PodFailurePolicy out-of-memory: OutOfMemory: fetch ran out of memory"},
	}},
	// A Job whose first failure is its last one survives three refusals.
	{"admission-failure", []failure{
		{pod: "disk", least: 10 * time.Second}, {pod: "device", least: 10 * time.Second}, {pod: "cpu", least: 10 * time.Second},
		{pod: "shutdown", failed: 1, ends: limitReached},
	}},
	{"admission-failure", []failure{{pod: "bad-command", failed: 1, ends: limitReached}}},
	{"admission-failure", []failure{{pod: "pressure", failed: 1, ends: limitReached}}},
	// An index whose pod hung has no other attempt. Other indexes have one.
	{"pod-deadline", []failure{{pod: "1", failed: 1, lost: "1"}, {pod: "3", failed: 2, lost: "1"}, {pod: "2", failed: 3, lost: "1,2"}}},
	{"named-reason", []failure{
		{pod: "other", failed: 1}, {pod: "data", failed: 2, ends: byPolicy + "bad-input of PodFailurePolicy named-reason: BadInput"},
	}},
	{"named-reason", []failure{
		{pod: "config", failed: 1, ends: byPolicy + "bad-configuration of PodFailurePolicy named-reason: BadConfiguration"},
	}},
	// Five disruptions do not count, and their delay does not grow, as the back-off to 10, 20 and 40 seconds would. Those after
	// them count.
	{"disruption-budget", []failure{
		{pod: "drained", least: 10 * time.Second, most: 15 * time.Second}, {pod: "preempted", least: 10 * time.Second, most: 15 * time.Second},
		{pod: "drained", least: 10 * time.Second, most: 15 * time.Second}, {pod: "preempted"}, {pod: "preempted"},
		{pod: "drained", failed: 1}, {pod: "failed", failed: 2, ends: limitReached},
	}},
	{"exit-code-ranges", []failure{
		{pod: "killed", failed: 1}, {pod: "other", failed: 2}, {pod: "service", failed: 3, least: time.Minute},
		{pod: "input", failed: 4, ends: byPolicy + "bad-input of PodFailurePolicy exit-code-ranges: BadInput"},
	}},
	{"exit-code-ranges", []failure{{pod: "segfault", failed: 1, ends: byPolicy + "crash of PodFailurePolicy exit-code-ranges: Crash"}}},
	// A disruption does not excuse what the program did itself, nor a signal itself.
	{"code-and-condition", []failure{
		{pod: "drained"}, {pod: "killed"}, {pod: "drained"}, {pod: "own-fault", failed: 1}, {pod: "sigterm", failed: 2, ends: limitReached},
	}},
	{"sidecar-noise", []failure{
		{pod: "busy", failed: 1}, {pod: "bug", failed: 2, ends: byPolicy + "fatal of PodFailurePolicy sidecar-noise: Fatal: main exited with 1"},
	}},
	{"termination-message", []failure{
		{pod: "device"}, {pod: "device"}, {pod: "device"}, {pod: "device", failed: 1}, {pod: "other", failed: 2},
		{pod: "data", failed: 3, ends: byPolicy + "corrupt-data of PodFailurePolicy termination-message: CorruptData: corrupt record 118241: bad checksum"},
	}},
	// Each index has its own budget.
	{"bounded-retries", []failure{
		{pod: "1"}, {pod: "1"}, {pod: "1"}, {pod: "2"}, {pod: "1", failed: 1, lost: "1"}, {pod: "2", failed: 1, lost: "1"}, {pod: "3", failed: 2, lost: "1"},
	}},
	// A pod waits too long for its image and its ConfigMap, but not yet for a volume or a node.
	{"stuck-pending", []failure{{
		pod: "image", failed: 1,
		ends: byPolicy + `image of PodFailurePolicy stuck-pending: ImageUnavailable: Back-off pulling image "registry.example/embed:1.0"`,
	}}},
	{"stuck-pending", []failure{{pod: "config", failed: 1, ends: byPolicy + "configuration of PodFailurePolicy stuck-pending: ConfigurationMissing"}}},
	{"stuck-pending", []failure{{pod: "volume"}}},
	{"stuck-pending", []failure{{pod: "unschedulable"}}},
	// The pod of a lost node is ended by the rule, and that of another one by its kubelet, which counts.
	{"lost-node", []failure{{pod: "0", least: 5 * time.Minute}, {pod: "1", failed: 1}}},
	// A node that is broken is no fault of the program, and one that fails an index twice is given time. Three nodes end an index.
	{"bad-node", []failure{
		{pod: "0-first", failed: 1}, {pod: "0-second", failed: 2, least: 5 * time.Minute}, {pod: "1", failed: 2},
		{pod: "2-first", failed: 3}, {pod: "2-second", failed: 4}, {pod: "2-third", failed: 5, lost: "2"},
	}},
	// An index that runs out of memory gets more, also after a drain, until it has run out of it four times.
	{"more-memory", []failure{
		{pod: "3-first", memory: "9Gi"}, {pod: "3-second", memory: "9Gi"}, {pod: "3-third", memory: "13824Mi"}, {pod: "3-third", memory: "16Gi"},
		{pod: "4", failed: 1, memory: "6Gi"}, {pod: "3-third", failed: 2, lost: "3"},
	}},
	{"other-node", []failure{
		{pod: "0-first", avoids: "required gpu-1"}, {pod: "0-second", avoids: "required gpu-2 gpu-1"},
		{pod: "1", failed: 1, avoids: "preferred gpu-3"}, {pod: "2", failed: 2},
	}},
	// Too many restarts end an index. Two are not too many, and twenty minutes are not too long.
	{"restart-limit", []failure{{pod: "0", failed: 1, lost: "0"}, {pod: "1", failed: 1, lost: "0"}, {pod: "2", failed: 1, lost: "0"}}},
}

// The controller does with the Jobs of examples/custom what the examples say, with the policies of all in force.
func TestExamples(t *testing.T) {
	played := map[string]bool{}
	for _, life := range exampleLives {
		played[life.example] = true
		t.Run(life.example+" "+life.failures[0].pod, func(t *testing.T) {
			inWorld(t, applyExamples, func(w *world) {
				job, pods := readExample(t, life.example)
				w.lost = w.applyNodes(life.example)
				w.run(job)
				for _, f := range life.failures {
					w.plays(f, job, pods[f.pod])
				}
			})
		})
	}
	for _, folder := range exampleFiles(t, "policy.yaml") {
		if name := filepath.Base(filepath.Dir(folder)); !played[name] {
			t.Errorf("nobody plays the example %s", name)
		}
	}
}

// plays has the active pod become as the example's is, and compares what comes of it.
func (w *world) plays(f failure, job *batchv1.Job, model *corev1.Pod) {
	w.t.Helper()
	if model == nil {
		w.t.Fatalf("the example has no pod %s", f.pod)
	}
	index := model.Annotations[batchv1.JobCompletionIndexAnnotation]
	pod, ended := w.activePod(index), time.Now()
	w.server.ChangePod(pod.Namespace, pod.Name, func(p *corev1.Pod) {
		p.Spec.NodeName, p.Status = model.Spec.NodeName, *model.Status.DeepCopy()
		if !moveTo(&p.Status, ended) {
			ended = p.CreationTimestamp.Time // nothing else says when
		}
	})
	terminates := v1alpha1.PhaseOf(model) == v1alpha1.PhaseTerminating
	if terminates {
		if err := w.server.DeletePod(pod.Namespace, pod.Name, *model.DeletionGracePeriodSeconds); err != nil {
			w.t.Fatal(err)
		}
	}
	next := w.following(pod, index)
	status, end := w.server.Job(job.Namespace, job.Name).Status, ""
	for _, c := range status.Conditions {
		if c.Type == batchv1.JobFailed {
			end = c.Reason + ": " + strings.ReplaceAll(c.Message, pod.Namespace+"/"+pod.Name, "POD")
		}
	}
	if end != f.ends || status.Failed != f.failed || ptr.Deref(status.FailedIndexes, "") != f.lost {
		w.t.Errorf("%s: want %+v, the end is %q, the status %+v", f.pod, f, end, status)
	}
	lost := index != "" && slices.Contains(strings.Split(f.lost, ","), index)
	switch waits := v1alpha1.Lives(v1alpha1.PhaseOf(model)) && !terminates; {
	case (next == nil) != (f.ends != "" || lost):
		w.t.Fatalf("%s: the next pod is %v", f.pod, next)
	case next == nil:
	case waits != (next.UID == pod.UID):
		w.t.Errorf("%s: %s is followed by %s", f.pod, pod.Name, next.Name)
	case !waits:
		if c := next.Spec.Containers[0].Resources.Limits.Memory().String(); f.memory != "" && c != f.memory {
			w.t.Errorf("%s: the next pod has %s", f.pod, c)
		}
		if avoids := avoidedBy(next); avoids != f.avoids {
			w.t.Errorf("%s: the next pod avoids %q", f.pod, avoids)
		}
		if after := next.CreationTimestamp.Sub(ended); after < f.least || f.most > 0 && after > f.most {
			w.t.Errorf("%s: replaced after %v", f.pod, after)
		}
	}
}

// avoidedBy returns the nodes that a pod avoids, and how strictly.
func avoidedBy(pod *corev1.Pod) string {
	if pod.Spec.Affinity == nil {
		return ""
	}
	how, node := "preferred ", pod.Spec.Affinity.NodeAffinity
	var terms []corev1.NodeSelectorTerm
	for _, preferred := range node.PreferredDuringSchedulingIgnoredDuringExecution {
		terms = append(terms, preferred.Preference)
	}
	if required := node.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		how, terms = "required ", append(terms, required.NodeSelectorTerms...)
	}
	return how + strings.Join(terms[0].MatchExpressions[0].Values, " ")
}

// following waits at most twenty minutes for the pod that replaces another one, and returns which is active then.
func (w *world) following(pod *corev1.Pod, index string) *corev1.Pod {
	for end := time.Now().Add(20 * time.Minute); time.Now().Before(end); {
		w.pass(5 * time.Second)
		if next := w.activePod(index); next != nil && next.UID != pod.UID {
			w.pass(3 * time.Second) // in which the failure is counted
			break
		}
		for _, p := range w.server.Pods() {
			if p.DeletionTimestamp != nil && !w.lost[p.Spec.NodeName] {
				w.move(p) // as the kubelet does with a pod that is deleted
			}
		}
	}
	return w.activePod(index)
}

// activePod returns the active pod of an index, or of any if it is empty, or nil.
func (w *world) activePod(index string) *corev1.Pod {
	for _, pod := range w.server.Pods() {
		if active(pod) && (index == "" || pod.Annotations[batchv1.JobCompletionIndexAnnotation] == index) {
			return pod
		}
	}
	return nil
}

// moveTo moves the end of a pod in time, and is false if no container has ended.
func moveTo(status *corev1.PodStatus, at time.Time) (ended bool) {
	now := metav1.NewTime(at)
	status.StartTime = &now
	for i := range status.Conditions {
		status.Conditions[i].LastTransitionTime = now
	}
	for _, c := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
		if c.State.Terminated != nil {
			c.State.Terminated.StartedAt, c.State.Terminated.FinishedAt, ended = now, now, true
		}
	}
	return ended
}

func exampleFiles(t *testing.T, file string) []string {
	t.Helper()
	files, err := filepath.Glob("../examples/custom/*/" + file)
	if err != nil || len(files) == 0 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	return files
}

// applyExamples applies the policies and bindings of all examples.
func applyExamples(w *world) {
	w.apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceDefault}})
	for _, file := range exampleFiles(w.t, "policy.yaml") {
		for _, text := range documentsOf(w.t, file) {
			object, err := v1alpha1.Decode([]byte(text))
			if err != nil {
				w.t.Fatalf("%s: %v", file, err)
			}
			w.apply(object)
		}
	}
}

// applyNodes applies the nodes of an example, and returns those whose kubelets do not answer.
func (w *world) applyNodes(example string) map[string]bool {
	file, lost := "../examples/custom/"+example+"/nodes.yaml", map[string]bool{}
	if _, err := os.Stat(file); err != nil {
		return nil
	}
	for _, text := range documentsOf(w.t, file) {
		node := &corev1.Node{}
		if err := yaml.UnmarshalStrict([]byte(text), node); err != nil {
			w.t.Fatal(err)
		}
		w.apply(node)
		lost[node.Name] = !slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
	}
	return lost
}

// readExample reads the Job of an example, and its pods by their names without the Job's: oom of train-oom.
func readExample(t *testing.T, name string) (*batchv1.Job, map[string]*corev1.Pod) {
	t.Helper()
	job, pods := &batchv1.Job{}, map[string]*corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(documentsOf(t, "../examples/custom/"+name+"/job.yaml")[0]), job); err != nil {
		t.Fatal(err)
	}
	for _, text := range documentsOf(t, "../examples/custom/"+name+"/pods.yaml") {
		pod := &corev1.Pod{}
		if err := yaml.UnmarshalStrict([]byte(text), pod); err != nil {
			t.Fatal(err)
		}
		pods[strings.TrimPrefix(pod.Name, job.Name+"-")] = pod
	}
	return job, pods
}

// documentsOf returns the documents of a YAML file.
func documentsOf(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n---\n")
}
