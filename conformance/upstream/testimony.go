package upstream

import (
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/runtime"
)

// read parses upstream's sentence about a witness into a verdict. The pod is known, so the sentence is parsed from both
// ends inwards, and names with spaces or with parts of the sentence in them are parsed correctly.
func read(sentence string, policy *batchv1.PodFailurePolicy, pod *corev1.Pod) (runtime.Verdict, error) {
	head, tail, ok := cutLast(sentence, " matching FailJob rule at index ")
	rule, err := strconv.Atoi(tail)
	if !ok || err != nil || rule < 0 || rule >= len(policy.Rules) {
		return runtime.Verdict{}, contradiction("no rule in %q", sentence)
	}
	action := policy.Rules[rule].Action
	name := pod.Namespace + "/" + pod.Name
	if condition, ok := strings.CutPrefix(head, "Pod "+name+" has condition "); ok {
		return runtime.MatchedCondition(pod, rule, action, &corev1.PodCondition{Type: corev1.PodConditionType(condition)}), nil
	}
	head, tail, _ = cutLast(head, " failed with exit code ")
	code, err := strconv.ParseInt(tail, 10, 32)
	head, isPod := strings.CutSuffix(head, " for pod "+name)
	container, isContainer := strings.CutPrefix(head, "Container ")
	if err != nil || !isPod || !isContainer {
		return runtime.Verdict{}, contradiction("neither a container nor a condition in %q", sentence)
	}
	status := corev1.ContainerStatus{Name: container}
	status.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: int32(code)}
	return runtime.MatchedExitCode(pod, rule, action, &status), nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
