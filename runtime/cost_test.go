package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
)

// largestPod returns a pod at the bounds for which costs are estimated.
func largestPod() *corev1.Pod {
	pod := exitCode(1)
	pod.Annotations = map[string]string{"log": strings.Repeat("x", custom.MaxAnnotation)}
	pod.Status.ContainerStatuses = nil
	for i := range custom.MaxContainers {
		terminated := &corev1.ContainerStateTerminated{ExitCode: 1, Message: fmt.Sprintf("%0*d", custom.MaxText, i)}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: fmt.Sprint("c", i), State: corev1.ContainerState{Terminated: terminated},
		})
	}
	return pod
}

// TestStaticCostsHold checks that nothing costs more on the largest pod than its estimate, neither
// the libraries' own functions nor variables that have grown. The API server's estimator is itself
// not exact.
func TestStaticCostsHold(t *testing.T) {
	env := newEnvironment(t)
	in := runtime.Input{Pod: largestPod(), Job: &batchv1.Job{}, Attempt: 1, Node: &corev1.Node{}}
	for i := range custom.MaxEntries {
		in.Node.Spec.Taints = append(in.Node.Spec.Taints, corev1.Taint{Key: fmt.Sprint(i)})
		in.Node.Status.Conditions = append(in.Node.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(fmt.Sprint(i))})
	}
	const messages = "pod.containers().map(c, c.message)"
	for _, tc := range []struct{ variable, when string }{
		{"1", "lists.range(900000).size() > 0"},
		{"lists.range(3000)", "variables.v.all(i, i >= 0)"},
		{"1", "sets.contains(pod.containers().map(c, c.name), pod.containers().map(c, c.name + 'x'))"},
		{"1", "pod.containers().map(c, c.name).distinct().size() == 64"},
		{messages + ".join(',')", "variables.v.matches('a+b+c+d+e+f+g+h+')"},
		{messages + ".join(',') + " + messages + ".join(',')", "(variables.v + variables.v).matches('a+b+c+d+')"},
		{"[" + messages + ".join(',')]", "variables.v.exists(m, m.matches('a+b+c+d+e+f+g+h+'))"},
		{"{'all': " + messages + ".join(',')}", "variables.v['all'].matches('a+b+c+d+e+f+g+h+')"},
		{"dyn(" + messages + ".join(','))", "string(variables.v).matches('a+b+c+d+e+f+g+h+')"},
		{"1", "pod.metadata.?annotations[?'log'].orValue('').matches('a+b+c+d+e+f+g+h+')"},
		{"pod.metadata.?annotations[?'log']", "variables.v.orValue('').matches('a+b+c+d+e+f+g+h+')"},
		{"pod.metadata.?annotations.orValue({}) // all", "variables.v['log'].matches('a+b+c+d+e+f+g+h+')"},
		{"lists.range(3)", "variables.v.exists(i, i < 0 || pod.node().unreachable() || node.ready() || node.hasTaint('x') || node.hasCondition('x') || node.label('x') == 'x')"},
		{"node.spec.taints.orValue([])", "variables.v.exists(t, t.key == 'x') || node.spec.taints.orValue([]).exists(t, t.key == 'y')"},
	} {
		spec := rules(tc.when + " || attempt > 0")
		spec.Variables = []v1alpha1.Variable{{Name: "v", Expression: tc.variable}}
		policy := compilePolicy(t, env, spec)
		if actual := policy.ActualCost(0, in); actual > 2*policy.Compiled.Cost || actual < 1000 {
			t.Errorf("%s, and v is %s: costs %d, and was to cost at most %d", tc.when, tc.variable, actual, policy.Compiled.Cost)
		}
	}
}
