package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/failure"
	"github.com/podverdict/podverdict/internal/kube/kubeversion"
	"github.com/podverdict/podverdict/internal/kube/restart"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
	"github.com/podverdict/podverdict/internal/testing/generators"
)

// TestLongInputHasTheSameItems checks that verdicts and facts are identical whether a Pod is decoded completely, strictly, or only with the
// fields that are read.
func TestLongInputHasTheSameItems(t *testing.T) {
	skipWithRace(t)
	pods := variedPods()
	for name, policy := range map[string]string{"own rules": "", "a custom policy": customReader, "a policy that reads nodes": nodeReader} {
		t.Run(name, func(t *testing.T) {
			head, pods := longJob+"\n"+policy, append(slices.Clone(pods), node)
			held := ndjson(t, head+strings.Join(pods, "\n"))
			if failed := strings.Contains(strings.Join(held, ""), `a-node`); failed != (policy == nodeReader) {
				t.Errorf("a rule has seen the node: %v", failed)
			}
			strict := ndjson(t, head+strings.Join(pods, "\n"), "--strict")
			half := len(pods) / 2 // Pods before it are decoded late, and Pods after it immediately
			long := append(append(append([]string{}, pods[:half]...), enormousPod()), pods[half:]...)
			streamed := ndjson(t, head+strings.Join(long, "\n"))
			if diff := gocmp.Diff(held, strict); diff != "" {
				t.Errorf("strictly (-whole +strict)\n%s", diff)
			}
			if diff := gocmp.Diff(held, streamed); diff != "" {
				t.Errorf("streamed (-whole +streamed)\n%s", diff)
			}
		})
	}
	var got []string
	for _, line := range ndjson(t, longJob+"\n"+strings.Join(pods, "\n")) {
		var item struct{ Failure json.RawMessage }
		if err := json.Unmarshal([]byte(withoutAttempts(t, []string{line})[0]), &item); err != nil {
			t.Fatal(err)
		}
		got = append(got, string(item.Failure))
	}
	want := factsOf(t, pods)
	slices.Sort(want) // in the order in which the Pods ended
	slices.Sort(got)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("facts of the Go types (-want +got)\n%s", diff)
	}
}

// customReader is a policy that reads fields needed neither by verdicts of podFailurePolicy nor by facts.
const customReader = `{"apiVersion":"podverdict.io/v1alpha1","kind":"PodFailurePolicy","metadata":{"name":"reader"},"spec":{"rules":[{"name":"image",` +
	`"when":"attempt > 2 && pod.status.containerStatuses.exists(c, c.image != '' && c.restartCount > 2)","action":"FailJob"}]}}` + "\n"

// node is placed after the Pods on it. nodeReader is a policy that reads it.
const (
	node       = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-1","labels":{"a":"b"}}}`
	nodeReader = `{"apiVersion":"podverdict.io/v1alpha1","kind":"PodFailurePolicy","metadata":{"name":"nodes"},"spec":{"rules":[{"name":"a-node",` +
		`"when":"node.label('a') == 'b' && attempt > 1","action":"FailJob"}]}}` + "\n"
)

// ndjson returns the items printed by eval.
func ndjson(t *testing.T, input string, flags ...string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "input.json")
	if err := os.WriteFile(file, []byte(input), 0o600); err != nil {
		t.Fatal(err)
	}
	out := evaluated(t, nil, append([]string{"-f", file, "-o", "ndjson", "--all"}, flags...)...)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// withoutAttempts removes attempt numbers, which streamed items do not have.
func withoutAttempts(t *testing.T, items []string) []string {
	t.Helper()
	shorter := make([]string, len(items))
	for i, line := range items {
		before, after, found := strings.Cut(line, `,"attempt":`)
		if _, rest, ok := strings.Cut(after, "}"); found && ok {
			line = before + "}" + rest
		}
		shorter[i] = line
	}
	return shorter
}

// factsOf returns the facts of Pods decoded by encoding/json, without Pods in which nothing failed.
func factsOf(t *testing.T, pods []string) []string {
	t.Helper()
	all := make([]string, len(pods))
	for i, text := range pods {
		var pod corev1.Pod
		if err := json.Unmarshal([]byte(text), &pod); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if facts := failure.Of(&pod); facts.Failed(pod.Status.Phase) {
			encoder := json.NewEncoder(&out)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(facts); err != nil {
				t.Fatal(err)
			}
		}
		all[i] = strings.TrimSpace(out.String())
	}
	return all
}

// variedPods returns Pods of the Job as lines: one for each scenario, and generated Pods with everything that facts include.
func variedPods() []string {
	const generated = 800
	job := scenarios.PlainJob()
	job.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "prepare"}, {Name: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
	var lines []string
	add := func(pod *corev1.Pod) {
		i := len(lines)
		pod.APIVersion, pod.Kind, pod.Name, pod.Namespace = "v1", "Pod", fmt.Sprintf("train-%d-%05d", i, i), "default"
		pod.Labels = map[string]string{"batch.kubernetes.io/job-name": "train"}
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "1", Controller: new(true)}}
		text, err := json.Marshal(pod)
		if err != nil {
			panic(err)
		}
		lines = append(lines, string(text))
	}
	for i := range scenarios.All {
		add(scenarios.All[i].Pod(job, restart.Gates{}))
	}
	main := &job.Spec.Template.Spec.Containers[0]
	main.RestartPolicy = new(corev1.ContainerRestartPolicyNever)
	main.RestartPolicyRules = []corev1.ContainerRestartRule{{
		Action:    corev1.ContainerRestartRuleActionRestart,
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{1, 139}},
	}}
	for _, name := range []string{"failed", "segfault", "killed"} {
		add(scenarios.Find(name).Pod(job, restart.GatesOf(kubeversion.Last)))
	}
	source := generators.NewPairs(15, false)
	for i := range generated {
		pod := source.Pod().DeepCopy()
		embellish(pod, i)
		add(pod)
	}
	return lines
}

// embellish adds fields to the i-th Pod that the generator omits because they do not affect verdicts.
func embellish(pod *corev1.Pod, i int) {
	begin := metav1.NewTime(time.Date(2026, 6, 15, 9, 0, i, 0, time.UTC))
	end := metav1.NewTime(begin.Add(time.Duration(i) * time.Second))
	every := func(n int) bool { return i%n == 0 }
	pod.CreationTimestamp, pod.Spec.NodeName = begin, fmt.Sprintf("node-%d", i%7)
	pod.Spec.InitContainers = []corev1.Container{{Name: "prepare", Image: "x"}}
	if every(2) {
		pod.Status.StartTime = &begin
	}
	if every(3) {
		pod.Status.Reason, pod.Status.Message = "Evicted", "The node was low on resource: memory. ⚠ \"quoted\"\n"
	}
	if every(11) {
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds, pod.Finalizers = &end, new(int64(30)), []string{"batch.kubernetes.io/job-tracking"}
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for c := range statuses {
			s := &statuses[c]
			s.Image, s.RestartCount = "x", int32((i+c)%4)
			if every(5) {
				s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", StartedAt: begin, FinishedAt: end}
			}
			for _, t := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
				if t != nil {
					t.StartedAt, t.FinishedAt, t.Signal = begin, end, int32(i%3)
					t.Reason, t.Message = cmp.Or(t.Reason, [...]string{"Error", "OOMKilled", "Completed", ""}[(i+c)%4]), strings.Repeat("log\n", i%3)
				}
			}
			if w := s.State.Waiting; w != nil {
				w.Reason, w.Message = [...]string{"CrashLoopBackOff", "PodInitializing", "ImagePullBackOff", ""}[(i+c)%4], "back-off 5m0s"
			}
		}
	}
	for c := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[c]
		condition.LastTransitionTime, condition.Reason, condition.Message = end, "PreemptionByScheduler", "of a more important Pod"
	}
}

// enormousPod returns a Pod that belongs to no Job and is large enough for the input to be streamed.
func enormousPod() string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"enormous","annotations":{"a":"` + strings.Repeat("x", 9<<20) + `"},` +
		`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"2","controller":true}]}}`
}
