package runtime_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime"
)

var (
	current   = sync.OnceValues(func() (*compiler.Environment, error) { return compiler.NewEnvironment(compiler.DefaultVersion) })
	before129 = sync.OnceValues(func() (*compiler.Environment, error) { return compiler.NewEnvironment("1.28") })
)

// draws returns the number of cases that a random search tries: all, or few in go test -short.
func draws(all, few int) int {
	if testing.Short() {
		return few
	}
	return all
}

// compiled returns the policy compiled as stored, for the default version.
func compiled(t testing.TB, p *batchv1.PodFailurePolicy) *compiler.Compiled {
	t.Helper()
	return compiledBy(t, current, p)
}

func compiledBy(t testing.TB, environment func() (*compiler.Environment, error), p *batchv1.PodFailurePolicy) *compiler.Compiled {
	t.Helper()
	e, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Compile(compiler.StoredPolicy(p))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// programs returns the specialized and the interpreted program of a policy, by name.
func programs(t testing.TB, p *batchv1.PodFailurePolicy) map[string]*runtime.Program {
	t.Helper()
	return programsOf(compiled(t, p))
}

func programsOf(c *compiler.Compiled) map[string]*runtime.Program {
	special := runtime.NewProgram(c)
	return map[string]*runtime.Program{"specialized": special, "interpreted": special.Interpreted()}
}

// oracle returns the verdict by definition, with the semantics of Evaluate: a pod without a phase
// has not failed.
func oracle(t testing.TB, kubernetes string, p *batchv1.PodFailurePolicy, pod *corev1.Pod) runtime.Verdict {
	t.Helper()
	if pod.Status.Phase == "" {
		return runtime.NotTerminal(pod)
	}
	v, err := conformance.Go(t.Context(), conformance.Request{Kubernetes: kubernetes, Policy: p, Pod: pod})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// policyOf parses rules written as YAML.
func policyOf(t testing.TB, rules string) *batchv1.PodFailurePolicy {
	t.Helper()
	p := &batchv1.PodFailurePolicy{}
	if err := yaml.UnmarshalStrict([]byte(rules), &p.Rules); err != nil {
		t.Fatal(err)
	}
	return p
}

// podOf returns the pod default/p with a status written as YAML. It has failed unless the status
// has a phase.
func podOf(t testing.TB, status string) *corev1.Pod {
	t.Helper()
	pod := failedPod()
	if err := yaml.UnmarshalStrict([]byte(status), &pod.Status); err != nil {
		t.Fatal(err)
	}
	return pod
}

func failedPod() *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.Status.Phase = "default", "p", corev1.PodFailed
	return pod
}

// exited returns n containers c0, c1 and so on that exited with a code.
func exited(n int, code int32) []corev1.ContainerStatus {
	list := make([]corev1.ContainerStatus, n)
	for i := range list {
		list[i].Name = "c" + strconv.Itoa(i)
		list[i].State.Terminated = &corev1.ContainerStateTerminated{ExitCode: code}
	}
	return list
}

// conditions returns n true conditions of types T0, T1 and so on.
func conditions(n int) []corev1.PodCondition {
	list := make([]corev1.PodCondition, n)
	for i := range list {
		list[i] = corev1.PodCondition{Type: corev1.PodConditionType("T" + strconv.Itoa(i)), Status: corev1.ConditionTrue}
	}
	return list
}

// sized is a policy of one of the sizes with a pod of 1, 3 or 10 containers.
type sized struct {
	name   string
	policy *batchv1.PodFailurePolicy
	pod    *corev1.Pod
	rule   int
}

func sizes() []sized {
	var list []sized
	for _, containers := range []int{1, 3, 10} {
		for _, size := range generators.Sizes() {
			list = append(list, sized{
				name:   fmt.Sprintf("policy=%s/containers=%d", size.Name, containers),
				policy: size.Policy, pod: generators.SizedPod(containers), rule: size.Rule,
			})
		}
	}
	return list
}

func onDisruption() batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}
}

// shortRule returns a rule with few codes or conditions, none of which generators.SizedPod has.
func shortRule(i int) batchv1.PodFailurePolicyRule { return rule(i, 4, 2) }

func rule(i, values, patterns int) batchv1.PodFailurePolicyRule {
	r := batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionFailJob}
	if i%2 == 0 {
		on := &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn}
		for v := range values {
			on.Values = append(on.Values, int32(v)+1)
		}
		on.Values[values-1] = 256 + int32(i)
		r.OnExitCodes = on
		return r
	}
	for p := range patterns {
		r.OnPodConditions = append(r.OnPodConditions, batchv1.PodFailurePolicyOnPodConditionsPattern{
			Type: corev1.PodConditionType(fmt.Sprintf("example.com/Absent%d-%d", i, p)), Status: corev1.ConditionTrue,
		})
	}
	return r
}
