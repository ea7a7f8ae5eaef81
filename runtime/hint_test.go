package runtime_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
)

// TestClassAndHint checks that a rule's class and hint are in the verdict and its JSON. The hint is appended to the message
// if there is room, so that existing patterns on messages still match.
func TestClassAndHint(t *testing.T) {
	spec := inCorner("pod.failedContainers().exists(c, c.exitCode == 1)")
	spec.Variables = nil
	spec.Rules[0].Class, spec.Rules[0].Hint, spec.Rules[0].Reason = "out-of-memory", "raise the limit: go/oom", "Limit"
	for message, end := range map[string]string{
		"": ": Limit; hint: raise the limit: go/oom", "'use less'": ": Limit: use less; hint: raise the limit: go/oom",
		"pod.failedContainers()[0].message": strings.Repeat("x", custom.MaxMessage),
	} {
		spec.Rules[0].MessageExpression = message
		policy := compilePolicy(t, newEnvironment(t), spec)
		policy.Name = "gpu"
		pod := failed(corev1.ContainerStateTerminated{ExitCode: 1, Message: strings.Repeat("x", custom.MaxMessage)})
		v := runtime.Join([]*runtime.Policy{policy}, nil, nil).Judge(t.Context(), runtime.Input{Pod: pod})
		if v.Class != "out-of-memory" || v.Hint != "raise the limit: go/oom" || !strings.HasSuffix(v.Message(), end) {
			t.Errorf("%s: %+v says %.200s", message, v, v.Message())
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var read runtime.Verdict
		if err := json.Unmarshal(text, &read); err != nil || !read.Equal(v) || !strings.Contains(string(text), `"class":"out-of-memory","hint":"raise the limit: go/oom"`) {
			t.Errorf("%s reads as %+v, %v", text, read, err)
		}
		other := v
		if other.Hint = ""; other.Equal(v) {
			t.Error("verdicts with different hints are equal")
		}
	}
}

// TestHintOfLivingPod checks that the condition of a pod that a rule ends has no hint: the verdict on the pod has the current
// hint of the rule.
func TestHintOfLivingPod(t *testing.T) {
	spec := inCorner("true")
	spec.Variables = nil
	spec.Rules[0].Phase, spec.Rules[0].Hint, spec.Rules[0].MessageExpression = v1alpha1.PhaseTerminating, "drain it", "'lost'"
	if len(spec.Rules) > 1 {
		spec.Rules = spec.Rules[:1]
	}
	policy := compilePolicy(t, newEnvironment(t), spec)
	policy.Name = "gpu"
	pod := &corev1.Pod{}
	pod.Name, pod.Namespace, pod.DeletionTimestamp = "p", "n", &pod.CreationTimestamp
	v, decided := policy.Living(t.Context(), runtime.Input{Pod: pod})
	if !decided || !strings.HasSuffix(v.Message(), ": lost; hint: drain it") {
		t.Fatalf("decided %v: %s", decided, v.Message())
	}
	condition := policy.PodCondition(v)
	if !strings.HasSuffix(condition.Message, ": lost") {
		t.Errorf("the condition is %+v", condition)
	}
	pod.Status.Phase, pod.Status.Conditions = corev1.PodFailed, []corev1.PodCondition{condition}
	if again := runtime.Join([]*runtime.Policy{policy}, nil, nil).Judge(t.Context(), runtime.Input{Pod: pod}); again.Message() != v.Message() {
		t.Errorf("the verdict says %s, before %s", again.Message(), v.Message())
	}
}
