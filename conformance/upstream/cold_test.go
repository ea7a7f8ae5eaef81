package upstream

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/runtime"
)

// BenchmarkMatchCold measures the conditions of a controller: the next failed pod is one of thousands, and is no longer
// in the caches of the processor's core. The third engine is coldTable.
func BenchmarkMatchCold(b *testing.B) {
	p := coldPanel(b)
	pods := storedPods(b, 4096)
	checkCold(b, p, pods)
	const name = "policy=cold/containers=1-10/engine="
	b.Run(name+"upstream", func(b *testing.B) {
		inTurn(b, pods, func(pod *corev1.Pod) { release.Match(p.policy, pod) })
	})
	b.Run(name+"table", func(b *testing.B) {
		inTurn(b, pods, func(pod *corev1.Pod) { coldTable(pod) })
	})
	b.Run(name+"podverdict", func(b *testing.B) {
		ctx := b.Context()
		inTurn(b, pods, func(pod *corev1.Pod) {
			if v := p.special.Evaluate(ctx, pod); v.Action == batchv1.PodFailurePolicyActionFailJob {
				_ = v.Message()
			}
		})
	})
}

// inTurn calls ask for one pod after the other.
func inTurn(b *testing.B, pods []*corev1.Pod, ask func(pod *corev1.Pod)) {
	b.Helper()
	b.ReportAllocs()
	for next := 0; b.Loop(); next = (next + 1) % len(pods) {
		ask(pods[next])
	}
}

// TestCold tests that the engines of BenchmarkMatchCold agree on a few of its pods.
func TestCold(t *testing.T) { checkCold(t, coldPanel(t), storedPods(t, 64)) }

// checkCold fails unless the engines agree on all pods, and each rule decides on some.
func checkCold(tb testing.TB, p *panel, pods []*corev1.Pod) {
	tb.Helper()
	decided := map[int]int{}
	for _, pod := range pods {
		v, agree, err := p.judge(tb.Context(), pod)
		if table := coldTable(pod); err != nil || !agree || v.Rule != table {
			tb.Fatalf("%s: verdict %+v, error %v, engines agree: %v; rule %d by the table", pod.Name, v, err, agree, table)
		}
		decided[v.Rule]++
	}
	if len(decided) != len(p.policy.Rules)+1 {
		tb.Fatalf("number of pods by the rule that decides: %v", decided)
	}
}

func coldPanel(tb testing.TB) *panel {
	tb.Helper()
	env, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		tb.Fatal(err)
	}
	main := onExitCodes(batchv1.PodFailurePolicyActionFailJob, 2, 42, 126, 127)
	main.OnExitCodes.ContainerName = new("main")
	p, err := newPanel(env, controller{}, &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		main,
		onConditions(batchv1.PodFailurePolicyActionIgnore, corev1.DisruptionTarget),
		onExitCodes(batchv1.PodFailurePolicyActionFailIndex, 13, 42, 77),
		onConditions(batchv1.PodFailurePolicyActionCount, "ConfigIssue"),
	}}, false)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// The rules of coldPanel's policy by exit code, counted from 1: for the container main, and for other containers.
var (
	mainRules  = [256]int{2: 1, 13: 3, 42: 1, 77: 3, 126: 1, 127: 1}
	otherRules = [256]int{13: 3, 42: 3, 77: 3}
)

// coldTable returns the rule of coldPanel's policy that matches, in code written by hand for only this policy. Its time
// is a lower bound for an engine's. It returns less than an engine: neither the action, nor which container or condition
// matched.
func coldTable(pod *corev1.Pod) int {
	const none = 5
	rule := none
	for _, list := range [...][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			terminated := list[i].State.Terminated
			if terminated == nil || uint32(terminated.ExitCode) > 255 {
				continue
			}
			rules := &otherRules
			if list[i].Name == "main" {
				rules = &mainRules
			}
			if found := rules[terminated.ExitCode]; found > 0 {
				rule = min(rule, found)
			}
		}
	}
	for i := range pod.Status.Conditions {
		switch c := &pod.Status.Conditions[i]; {
		case c.Status != corev1.ConditionTrue:
		case c.Type == corev1.DisruptionTarget:
			rule = min(rule, 2)
		case c.Type == "ConfigIssue":
			rule = min(rule, 4)
		}
	}
	if rule == none {
		return runtime.NoRule
	}
	return rule - 1
}

// storedPods decodes n failed pods from JSON as stored by an API server. They have 1 to 10 containers, and 8 to 31 KiB of
// JSON, in no order of size or address.
func storedPods(tb testing.TB, n int) []*corev1.Pod {
	tb.Helper()
	const least, most = 8 << 10, 31 << 10
	random := rand.New(rand.NewPCG(8, 31))
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		size := least + (most-least)*i/(n-1)
		text := storedPod(tb, random, i, 1+9*i/(n-1), size)
		if len(text) != size {
			tb.Fatalf("%d bytes of JSON, want %d", len(text), size)
		}
		pods[i] = &corev1.Pod{}
		if err := json.Unmarshal(text, pods[i]); err != nil {
			tb.Fatal(err)
		}
	}
	random.Shuffle(n, func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	return pods
}

// storedPod returns JSON of the given size. A third of the containers are init containers, which have succeeded.
// Environment variables pad the first container.
func storedPod(tb testing.TB, random *rand.Rand, number, containers, size int) []byte {
	tb.Helper()
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = "default", fmt.Sprintf("train-%d-x7k2p", number)
	pod.Status.Phase = corev1.PodFailed
	for i := range containers - containers/3 {
		code := [...]int32{0, 1, 2, 13, 42, 77, 137, 143}[random.IntN(8)]
		addContainer(&pod.Spec.Containers, &pod.Status.ContainerStatuses, i, code)
	}
	for i := range containers / 3 {
		addContainer(&pod.Spec.InitContainers, &pod.Status.InitContainerStatuses, containers-i, 0)
	}
	for _, t := range []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue})
	}
	if more := [...]corev1.PodConditionType{"", "", corev1.DisruptionTarget, "ConfigIssue"}[random.IntN(4)]; more != "" {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: more, Status: corev1.ConditionTrue, Reason: "Observed", Message: "seen by the node's agent",
		})
	}
	env := &pod.Spec.Containers[0].Env
	for {
		text, err := json.Marshal(pod)
		if err != nil {
			tb.Fatal(err)
		}
		missing := size - len(text)
		switch last := len(*env) - 1; {
		case missing > 200:
			for i := range missing / 100 {
				*env = append(*env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d_%d", missing, i), Value: strings.Repeat("v", 50)})
			}
		case missing > 0 && last >= 0:
			(*env)[last].Value += strings.Repeat("v", missing)
		default:
			return text
		}
	}
}

func addContainer(specs *[]corev1.Container, statuses *[]corev1.ContainerStatus, i int, code int32) {
	name := fmt.Sprintf("sidecar-%d", i)
	if i == 0 {
		name = "main"
	}
	image := "registry.example/team/" + name + ":1.0"
	digest := strings.Repeat("b858f7b855f167a8", 4)
	*specs = append(*specs, corev1.Container{
		Name: name, Image: image, Command: []string{"/bin/" + name}, Args: []string{"--config=/etc/" + name + "/config.yaml", "--verbose"},
		VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}, {Name: "token", MountPath: "/var/run/secrets", ReadOnly: true}},
	})
	*statuses = append(*statuses, corev1.ContainerStatus{
		Name: name, Image: image, ImageID: "registry.example/team/" + name + "@sha256:" + digest, ContainerID: "containerd://" + digest,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Reason: "Error", Message: strings.Repeat("a line of the log\n", 20), ContainerID: "containerd://" + digest,
		}},
	})
}
