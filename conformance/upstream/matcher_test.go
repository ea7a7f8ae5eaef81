package upstream

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/runtime"
)

func failedPod(name string, code int32, conditions ...corev1.PodConditionType) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.Status.Phase = "default", "p", corev1.PodFailed
	c := corev1.ContainerStatus{Name: name}
	c.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: code}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{c}
	for _, t := range conditions {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue})
	}
	return pod
}

func policyOf(rules ...batchv1.PodFailurePolicyRule) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: rules}
}

func TestReadRefusesOtherSentences(t *testing.T) {
	policy, pod := policyOf(onExitCodes(batchv1.PodFailurePolicyActionFailJob, 1)), failedPod("main", 1)
	for _, sentence := range []string{
		"",
		"Container main for pod default/p failed with exit code 1",
		"Container main for pod default/p failed with exit code 1 matching FailJob rule at index 1",
		"Container main for pod default/p failed with exit code 1 matching FailJob rule at index x",
		"Container main for pod default/q failed with exit code 1 matching FailJob rule at index 0",
		"Container main for pod default/p failed with exit code 1e3 matching FailJob rule at index 0",
		"Pod default/q has condition A matching FailJob rule at index 0",
		"main for pod default/p failed with exit code 1 matching FailJob rule at index 0",
	} {
		if v, err := read(sentence, policy, pod); err == nil {
			t.Errorf("%q is read as %+v, want an error", sentence, v)
		}
	}
}

// TestReadIsNotMisled tests a container with a name like a sentence.
func TestReadIsNotMisled(t *testing.T) {
	const name = "a for pod default/p failed with exit code 7 matching FailJob rule at index 9"
	v, err := Matcher(t.Context(), conformance.Request{
		Policy: policyOf(onExitCodes(batchv1.PodFailurePolicyActionCount, 42)), Pod: failedPod(name, 42),
	})
	if err != nil || v.Container != name || v.ExitCode != 42 || v.Rule != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestUpstreamAgreesWithNothingElse tests that the comparison with upstream detects every wrong part of a verdict.
func TestUpstreamAgreesWithNothingElse(t *testing.T) {
	rules := []batchv1.PodFailurePolicyRule{
		onExitCodes(batchv1.PodFailurePolicyActionIgnore, 42), onConditions(batchv1.PodFailurePolicyActionFailJob, "A"),
	}
	p := &panel{policy: policyOf(rules...)}
	p.upstream = p.policy
	p.witness = witness(p.policy)
	pods := map[string]*corev1.Pod{
		"exit code": failedPod("main", 42), "condition": failedPod("main", 1, "A"), "no match": failedPod("main", 1),
	}
	changes := map[string]func(*runtime.Verdict){
		"terminal":  func(v *runtime.Verdict) { v.Terminal = !v.Terminal },
		"matched":   func(v *runtime.Verdict) { v.Matched = !v.Matched },
		"counted":   func(v *runtime.Verdict) { v.Counted = !v.Counted },
		"action":    func(v *runtime.Verdict) { v.Action = batchv1.PodFailurePolicyActionFailIndex },
		"rule":      func(v *runtime.Verdict) { v.Rule += 2 },
		"container": func(v *runtime.Verdict) { v.Container += "x" },
		"code":      func(v *runtime.Verdict) { v.ExitCode++ },
		"condition": func(v *runtime.Verdict) { v.Condition += "x" },
	}
	// The message is the same for the other kind; the definition in Go shows the difference.
	unseen := map[string]bool{"exit code/condition": true, "condition/container": true}
	for kind, pod := range pods {
		v, err := p.controller.ask(p.policy, pod)
		if agree, _ := p.upstreamAgrees(v, pod); err != nil || !agree {
			t.Fatalf("%s: upstream does not agree with itself: %+v, error %v", kind, v, err)
		}
		for change, spoil := range changes {
			wrong := v
			spoil(&wrong)
			if agree, _ := p.upstreamAgrees(wrong, pod); agree != unseen[kind+"/"+change] {
				t.Errorf("%s: a wrong %s passes: %v", kind, change, !unseen[kind+"/"+change])
			}
		}
	}
}

// TestPanelHearsEveryEngine tests that each engine of a panel can cause a disagreement. In turn, each engine answers a
// different question than the others.
func TestPanelHearsEveryEngine(t *testing.T) {
	env, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	failIndex := policyOf(onExitCodes(batchv1.PodFailurePolicyActionFailIndex, 42))
	other, err := newPanel(env, controller{}, policyOf(), true)
	if err != nil {
		t.Fatal(err)
	}
	for engine, replace := range map[string]func(*panel){
		"none":        func(*panel) {},
		"special":     func(p *panel) { p.special = other.special },
		"interpreted": func(p *panel) { p.generic = other.generic },
		"go":          func(p *panel) { p.kubernetes = "1.28" }, // where FailIndex is skipped
		"upstream":    func(p *panel) { p.witness = other.witness },
	} {
		p, err := newPanel(env, controller{}, failIndex, true)
		if err != nil {
			t.Fatal(err)
		}
		replace(p)
		if _, agree, err := p.judge(t.Context(), failedPod("main", 42)); err != nil || agree != (engine == "none") {
			t.Errorf("%s answers something else: agree %v, error %v", engine, agree, err)
		}
	}
}
