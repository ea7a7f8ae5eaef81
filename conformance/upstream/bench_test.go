package upstream

import (
	"fmt"
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
)

// benchmark is a policy that decides by its last rule, but for failjob, which is
// small deciding by its first.
type benchmark struct {
	name     string
	policy   *batchv1.PodFailurePolicy
	exitCode int32 // of every container
	rule     int   // that matches
}

func benchmarks() []benchmark {
	return []benchmark{
		{"small", smallPolicy(), 42, 1},
		{"failjob", smallPolicy(), 3, 0},
		{"medium", mediumPolicy(), 42, 7},
		{"worst", worstPolicy(), 255, 19},
	}
}

// BenchmarkMatch measures the Job controller's matcher and podverdict on the
// same question, message included where upstream makes one. Read its output
// through cmd/benchtable.
func BenchmarkMatch(b *testing.B) {
	release, err := Emulate("")
	if err != nil {
		b.Fatal(err)
	}
	defer release()
	env, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		b.Fatal(err)
	}
	for _, bm := range benchmarks() {
		p, err := newPanel(env, bm.policy, false)
		if err != nil {
			b.Fatal(err)
		}
		for _, containers := range []int{1, 3, 10} {
			pod := benchmarkPod(containers, bm.exitCode)
			v, agree, err := p.judge(b.Context(), pod)
			if err != nil || !agree || v.Rule != bm.rule {
				b.Fatalf("%s: verdict %+v, error %v, engines agree: %v; want rule %d", bm.name, v, err, agree, bm.rule)
			}
			name := fmt.Sprintf("policy=%s/containers=%d/engine=", bm.name, containers)
			b.Run(name+"upstream", func(b *testing.B) { benchmarkUpstream(b, bm.policy, pod) })
			b.Run(name+"podverdict", func(b *testing.B) { benchmarkProgram(b, p.special, pod) })
		}
	}
}

func benchmarkUpstream(b *testing.B, policy *batchv1.PodFailurePolicy, pod *corev1.Pod) {
	b.ReportAllocs()
	for b.Loop() {
		matchPodFailurePolicy(policy, pod)
	}
}

func benchmarkProgram(b *testing.B, p *runtime.Program, pod *corev1.Pod) {
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if v := p.Evaluate(ctx, pod); v.Action == batchv1.PodFailurePolicyActionFailJob {
			_ = v.Message()
		}
	}
}

// benchmarkPod has six conditions and n failed containers; of three, one is an
// init container, of ten, three are.
func benchmarkPod(n int, exitCode int32) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = "default", "train-0-x7k2p"
	pod.Status.Phase = corev1.PodFailed
	for i := range n {
		c := corev1.ContainerStatus{Name: "c" + strconv.Itoa(i), Image: "registry.example/worker:1", RestartCount: 1}
		c.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: exitCode, Reason: "Error"}
		if i == 0 {
			c.Name = "main"
		}
		if i < n-n/3 {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, c)
		} else {
			pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, c)
		}
	}
	for _, t := range []corev1.PodConditionType{
		"PodReadyToStartContainers", corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
		corev1.DisruptionTarget,
	} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue})
	}
	return pod
}

func smallPolicy() *batchv1.PodFailurePolicy {
	onMain := onExitCodes(batchv1.PodFailurePolicyActionFailJob, 1, 2, 3)
	onMain.OnExitCodes.ContainerName = new("main")
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		onMain, onConditions(batchv1.PodFailurePolicyActionIgnore, corev1.DisruptionTarget),
	}}
}

func mediumPolicy() *batchv1.PodFailurePolicy {
	p := &batchv1.PodFailurePolicy{}
	for i := range int32(3) {
		onMain := onExitCodes(batchv1.PodFailurePolicyActionFailJob, 100+i, 110+i, 120+i, 130+i)
		onMain.OnExitCodes.ContainerName = new("main")
		absent := corev1.PodConditionType("example.com/Absent" + strconv.Itoa(int(i)))
		p.Rules = append(p.Rules, onMain, onConditions(batchv1.PodFailurePolicyActionIgnore, absent, absent+"x"))
	}
	return &batchv1.PodFailurePolicy{Rules: append(p.Rules,
		onExitCodes(batchv1.PodFailurePolicyActionFailIndex, 2, 3, 5, 7, 11, 13, 17, 19),
		onConditions(batchv1.PodFailurePolicyActionIgnore, corev1.DisruptionTarget),
	)}
}

// worstPolicy is as large as the API server accepts: 20 rules, 255 values, 20
// patterns. The pods exit with 255, which is in none of the lists.
func worstPolicy() *batchv1.PodFailurePolicy {
	p := &batchv1.PodFailurePolicy{}
	for i := range int32(10) {
		values := make([]int32, 255)
		for j := range values {
			values[j] = int32(j) + 1
		}
		values[254] = 256 + i
		types := make([]corev1.PodConditionType, 20)
		for j := range types {
			types[j] = corev1.PodConditionType(fmt.Sprintf("example.com/Absent%d-%d", i, j))
		}
		if i == 9 {
			types[19] = corev1.DisruptionTarget
		}
		p.Rules = append(p.Rules,
			onExitCodes(batchv1.PodFailurePolicyActionFailJob, values...),
			onConditions(batchv1.PodFailurePolicyActionIgnore, types...))
	}
	return p
}

func onExitCodes(action batchv1.PodFailurePolicyAction, values ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{
		Action:      action,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: values},
	}
}

func onConditions(action batchv1.PodFailurePolicyAction, types ...corev1.PodConditionType) batchv1.PodFailurePolicyRule {
	r := batchv1.PodFailurePolicyRule{Action: action}
	for _, t := range types {
		r.OnPodConditions = append(r.OnPodConditions,
			batchv1.PodFailurePolicyOnPodConditionsPattern{Type: t, Status: corev1.ConditionTrue})
	}
	return r
}
