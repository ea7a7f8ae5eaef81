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

// failure makes the pod of an example's Job end, or wait, like a pod of the example, and describes the expected result within twenty
// minutes.
type failure struct {
	pod    string
	failed int32 // number of pods counted as failed
	// least and most limit the time between the end of the pod and the creation of the next one.
	least, most time.Duration
	lost        string // failed indexes
	// memory is the memory of the next pod's first container, and avoids are the nodes excluded for it.
	memory, avoids string
	ends           string // reason and message of the Job's end, in which POD is replaced with the pod
}

const (
	byPolicy     = "PodFailurePolicy: Pod POD matching FailJob rule "
	limitReached = "BackoffLimitExceeded: Job has reached the specified backoff limit"
)

// exampleLives describe the outcomes of the examples' Jobs. Each Job appears once for each different outcome.
var exampleLives = []struct {
	example  string
	failures []failure
}{
	// The Job's own rule ignores a disruption, regardless of how its containers ended. Without a disruption, the rule on memory decides.
	{"out-of-memory", []failure{
		{pod: "oom-drained"}, {pod: "killed", failed: 1},
		{pod: "oom", failed: 2, ends: byPolicy + "oom-killed of PodFailurePolicy out-of-memory: OutOfMemory: main ran out of memory"},
	}},
	{"out-of-memory", []failure{
		{pod: "oom-fetch", failed: 1, ends: byPolicy + "oom-killed of PodFailurePolicy out-of-memory: OutOfMemory: fetch ran out of memory"},
	}},
	// A Job that allows no failure survives three rejected admissions.
	{"admission-failure", []failure{
		{pod: "disk", least: 10 * time.Second}, {pod: "device", least: 10 * time.Second}, {pod: "cpu", least: 10 * time.Second},
		{pod: "shutdown", failed: 1, ends: limitReached},
	}},
	{"admission-failure", []failure{{pod: "bad-command", failed: 1, ends: limitReached}}},
	{"admission-failure", []failure{{pod: "pressure", failed: 1, ends: limitReached}}},
	// An index whose pod hung gets no other attempt. Other indexes do.
	{"pod-deadline", []failure{{pod: "1", failed: 1, lost: "1"}, {pod: "3", failed: 2, lost: "1"}, {pod: "2", failed: 3, lost: "1,2"}}},
	{"named-reason", []failure{
		{pod: "other", failed: 1}, {pod: "data", failed: 2, ends: byPolicy + "bad-input of PodFailurePolicy named-reason: BadInput"},
	}},
	{"named-reason", []failure{
		{pod: "config", failed: 1, ends: byPolicy + "bad-configuration of PodFailurePolicy named-reason: BadConfiguration"},
	}},
	// Five disruptions do not count, and their delay does not grow, unlike the back-off with 10, 20 and 40 seconds. Later disruptions
	// count.
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
	// A disruption excuses neither the program's own failures nor a signal by itself.
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
	// The pod of a lost node is ended by the rule. Another pod is ended by its kubelet, which counts.
	{"lost-node", []failure{{pod: "0", least: 5 * time.Minute}, {pod: "1", failed: 1}}},
	// A broken node does not count as the program's failure, and after two failures of an index on a node the next attempt is delayed.
	// Failures on three nodes fail an index.
	{"bad-node", []failure{
		{pod: "0-first", failed: 1}, {pod: "0-second", failed: 2, least: 5 * time.Minute}, {pod: "1", failed: 2},
		{pod: "2-first", failed: 3}, {pod: "2-second", failed: 4}, {pod: "2-third", failed: 5, lost: "2"},
	}},
	// An index that runs out of memory gets more, also after a drain, until it has run out of memory four times.
	{"more-memory", []failure{
		{pod: "3-first", memory: "9Gi"}, {pod: "3-second", memory: "9Gi"}, {pod: "3-third", memory: "13824Mi"}, {pod: "3-third", memory: "16Gi"},
		{pod: "4", failed: 1, memory: "6Gi"}, {pod: "3-third", failed: 2, lost: "3"},
	}},
	{"other-node", []failure{
		{pod: "0-first", avoids: "required gpu-1"}, {pod: "0-second", avoids: "required gpu-2 gpu-1"},
		{pod: "1", failed: 1, avoids: "preferred gpu-3"}, {pod: "2", failed: 2},
	}},
	// Too many restarts fail an index. Two restarts or twenty minutes are within the limits.
	{"restart-limit", []failure{{pod: "0", failed: 1, lost: "0"}, {pod: "1", failed: 1, lost: "0"}, {pod: "2", failed: 1, lost: "0"}}},
}

// TestExamples checks that the controller handles the Jobs of examples/custom as the examples describe, with the policies of all examples
// in effect.
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

// plays makes the active pod end like the example's pod, and compares the result.
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
			ended = p.CreationTimestamp.Time // no container has an end time
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

// avoidedBy returns the nodes that a pod avoids, and whether this is required or preferred.
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

// following waits at most twenty minutes for the replacement of a pod, and returns the pod that is active then.
func (w *world) following(pod *corev1.Pod, index string) *corev1.Pod {
	for end := time.Now().Add(20 * time.Minute); time.Now().Before(end); {
		w.pass(5 * time.Second)
		if next := w.activePod(index); next != nil && next.UID != pod.UID {
			w.pass(3 * time.Second) // until the failure is counted
			break
		}
		for _, p := range w.server.Pods() {
			if p.DeletionTimestamp != nil && !w.lost[p.Spec.NodeName] {
				w.move(p) // as the kubelet does with a deleted pod
			}
		}
	}
	return w.activePod(index)
}

// activePod returns the active pod of an index, or of any index if it is empty. It returns nil if there is none.
func (w *world) activePod(index string) *corev1.Pod {
	for _, pod := range w.server.Pods() {
		if active(pod) && (index == "" || pod.Annotations[batchv1.JobCompletionIndexAnnotation] == index) {
			return pod
		}
	}
	return nil
}

// moveTo changes the times in a pod's status, and reports whether a container has ended.
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

// applyNodes applies the nodes of an example, and returns the nodes whose kubelets are unreachable.
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

// readExample reads the Job of an example, and its pods by name without the Job's prefix, such as oom for train-oom.
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
