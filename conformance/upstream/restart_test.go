package upstream

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	_ "unsafe" // for go:linkname

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/klog/v2"
	apipod "k8s.io/kubernetes/pkg/api/pod"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1conversion "k8s.io/kubernetes/pkg/apis/core/v1"
	_ "k8s.io/kubernetes/pkg/kubelet" // holds getPhase
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/internal/kube/restart"
)

//go:linkname getPhase k8s.io/kubernetes/pkg/kubelet.getPhase
func getPhase(logger klog.Logger, pod *corev1.Pod, statuses []corev1.ContainerStatus, ended, initialized bool) corev1.PodPhase

var allRestarts = flag.Bool("all-restarts", false, "compare 10^7 exits of containers, and 10^6 Pods, in each version")

// The versions differ in their enabled feature gates.
var restartVersions = []string{"1.33", "1.34", "1.35", "1.36", "1.37"}

// TestRestarts compares decisions about exited containers with upstream's ContainerShouldRestart.
func TestRestarts(t *testing.T) {
	const codes = 40 // codes per container
	eachVersion(t, 10_000_000/codes, func(t *testing.T, g *restartPods, gates restart.Gates) {
		t.Helper()
		pod := g.pod()
		stored := stored(t, pod)
		for range codes {
			list, kept := pod.InitContainers, stored.InitContainers
			if len(list) == 0 || g.IntN(2) == 0 {
				list, kept = pod.Containers, stored.Containers
			}
			i, exitCode := g.IntN(len(list)), g.code()
			ours := restart.Decide(&list[i], pod, exitCode, gates)
			if theirs := podutil.ContainerShouldRestart(kept[i], *stored, exitCode); theirs != (ours.Action != restart.None) {
				t.Fatalf("%s exits with %d: upstream restarts it: %v, ours %+v\n%s", list[i].Name, exitCode, theirs, ours, text(pod))
			}
			if rule, _ := podutil.FindMatchingContainerRestartRule(kept[i], exitCode); ours.By == restart.ByRule && !cmp.Equal(rule, list[i].RestartPolicyRules[ours.Rule]) {
				t.Fatalf("%s exits with %d: upstream's rule is %+v, ours %d\n%s", list[i].Name, exitCode, rule, ours.Rule, text(pod))
			}
			g.count(string(ours.Action) + " " + ours.Why("it"))
		}
	})
}

// TestPhases compares phases with those of the kubelet's getPhase.
func TestPhases(t *testing.T) {
	eachVersion(t, 1_000_000, func(t *testing.T, g *restartPods, gates restart.Gates) {
		t.Helper()
		pod := &corev1.Pod{Spec: *g.pod()}
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = g.statuses(pod.Spec.InitContainers), g.statuses(pod.Spec.Containers)
		ended, initialized := g.IntN(4) == 0, g.IntN(2) == 0
		kept := *pod
		if !gates.Rules {
			kept.Spec = *stored(t, &pod.Spec)
		}
		statuses := slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses)
		theirs := getPhase(klog.Logger{}, &kept, statuses, ended, initialized)
		if ours := restart.Phase(pod, ended, initialized, gates); ours != theirs {
			t.Fatalf("ended %v, initialized %v: upstream says %s, ours %s\n%s", ended, initialized, theirs, ours, text(pod))
		}
		g.count(string(theirs))
	})
}

// eachVersion runs a comparison n times in each version, or a hundredth of that without the flag.
func eachVersion(t *testing.T, n int, compare func(*testing.T, *restartPods, restart.Gates)) {
	t.Helper()
	if !*allRestarts {
		n /= 100
	}
	for seed, kubernetes := range restartVersions {
		t.Run(kubernetes, func(t *testing.T) {
			v := version.MustParseGeneric(kubernetes)
			featuregatetesting.SetFeatureGateEmulationVersionDuringTest(t, utilfeature.DefaultFeatureGate, v)
			g := &restartPods{Rand: rand.New(rand.NewPCG(uint64(seed), 0)), seen: map[string]int{}}
			for range n {
				compare(t, g, restart.GatesOf(v))
			}
			if t.Log(g.seen); len(g.seen) < 3 {
				t.Error("the Pods are all alike")
			}
		})
	}
}

// stored returns a Pod's spec without the fields that an API server drops.
func stored(t *testing.T, spec *corev1.PodSpec) *corev1.PodSpec {
	t.Helper()
	var internal core.PodTemplateSpec
	template := &corev1.PodTemplateSpec{Spec: *spec.DeepCopy()} // conversions share memory
	if err := corev1conversion.Convert_v1_PodTemplateSpec_To_core_PodTemplateSpec(template, &internal, nil); err != nil {
		t.Fatal(err)
	}
	apipod.DropDisabledTemplateFields(&internal, nil)
	var out corev1.PodTemplateSpec
	if err := corev1conversion.Convert_core_PodTemplateSpec_To_v1_PodTemplateSpec(&internal, &out, nil); err != nil {
		t.Fatal(err)
	}
	return &out.Spec
}

func text(object any) string {
	out, err := yaml.Marshal(object)
	return fmt.Sprint(string(out), err)
}

// restartPods generates Pods whose containers restart.
type restartPods struct {
	*rand.Rand

	seen map[string]int
}

func (g *restartPods) count(result string) { g.seen[result]++ }

// some returns a random one of the values.
func some[T any](g *restartPods, values ...T) T { return values[g.IntN(len(values))] }

func (g *restartPods) code() int32 { return some[int32](g, 0, 0, 0, 0, 1, 2, 42, 137, -1, 256) }

func (g *restartPods) pod() *corev1.PodSpec {
	spec := &corev1.PodSpec{RestartPolicy: some(g, corev1.RestartPolicyNever, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure, corev1.RestartPolicyAlways)}
	for i := range g.IntN(3) {
		spec.InitContainers = append(spec.InitContainers, g.container(fmt.Sprintf("init-%d", i)))
	}
	for i := range 1 + g.IntN(3) {
		spec.Containers = append(spec.Containers, g.container(fmt.Sprintf("main-%d", i)))
	}
	return spec
}

func (g *restartPods) container(name string) corev1.Container {
	c := corev1.Container{Name: name}
	if policy := some[corev1.ContainerRestartPolicy](g, "", "Never", "Never", "OnFailure", "Always", "Sometimes"); policy != "" {
		c.RestartPolicy = &policy
	}
	for range g.IntN(4) {
		c.RestartPolicyRules = append(c.RestartPolicyRules, g.rule())
	}
	return c
}

func (g *restartPods) rule() corev1.ContainerRestartRule {
	r := corev1.ContainerRestartRule{Action: some[corev1.ContainerRestartRuleAction](g, "Restart", "Restart", "RestartAllContainers", "Terminate")}
	if g.IntN(8) == 0 {
		return r
	}
	r.ExitCodes = &corev1.ContainerRestartRuleOnExitCodes{Operator: some[corev1.ContainerRestartRuleOnExitCodesOperator](g, "In", "In", "NotIn", "")}
	for range g.IntN(4) {
		r.ExitCodes.Values = append(r.ExitCodes.Values, g.code())
	}
	return r
}

// statuses returns the states of containers. A few containers have none.
func (g *restartPods) statuses(containers []corev1.Container) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for _, c := range containers {
		if g.IntN(20) > 0 {
			statuses = append(statuses, corev1.ContainerStatus{
				Name: c.Name, Started: some(g, nil, new(true), new(false)), State: g.state(), LastTerminationState: g.state(),
			})
		}
	}
	return statuses
}

// state returns a random state, usually of an ended container.
func (g *restartPods) state() corev1.ContainerState {
	switch g.IntN(16) {
	case 0:
		return corev1.ContainerState{}
	case 1:
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	case 2:
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	default:
		reason := some(g, "Error", "Error", "Error", restart.Restarting)
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: g.code(), Reason: reason}}
	}
}
