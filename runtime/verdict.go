package runtime

import (
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// NoRule is the Rule of a Verdict that no rule decided.
const NoRule = -1

// Verdict says what a pod's failure means for its Job: what happens, because of
// which rule, and because of what in the pod. It is an immutable value.
//
// Its JSON form is a contract with other programs: fields that do not apply are
// absent, and the message is always that of Message.
type Verdict struct {
	// Terminal is true when the pod is in phase Failed. Other pods get no
	// verdict: they may still succeed (KEP-3329, "Evaluation").
	Terminal bool
	// Matched is true when a rule decided.
	Matched bool
	// Counted is true when the failure counts towards backoffLimit and
	// backoffLimitPerIndex: always, except for Ignore and for pods that are not
	// terminal.
	Counted bool
	// Action is the action of the rule that decided, Count when none did, and
	// empty when the pod is not terminal.
	Action batchv1.PodFailurePolicyAction
	// Rule is the index of the rule that decided, or NoRule.
	Rule int
	// Policy is the name of the PodFailurePolicy (podverdict.io) that the rule is one
	// of, and RuleName its name there. Both are empty for the rules of the Job's own
	// podFailurePolicy, which have no names.
	Policy, RuleName string
	// Reason is the rule's reason for programs, if it has one.
	Reason string
	// Budget is the budget of the rule; its Limit is 0 if the rule has none. A Verdict
	// does not count: the caller counts matches, and calls UsedUp when there have been
	// too many.
	Budget Budget
	// RetryDelay is how long after the failure the next attempt starts, or nil for the
	// Job's back-off.
	RetryDelay *time.Duration
	// Container and ExitCode say which container's exit code the rule matched.
	// ExitCode is not 0 exactly when an exit-code rule decided, because exit
	// code 0 never matches.
	Container string
	ExitCode  int32
	// Condition is the type of the pod condition that the rule matched.
	Condition corev1.PodConditionType
	// Err is why the rules could not be evaluated to the end, if no rule matched. If one
	// did, Err is why a rule before it could not be evaluated, which was ignored. It is a
	// *PolicyError for the rules of custom policies.
	Err error
	// MessageErr is why the messageExpression of a rule that matched has no value.
	MessageErr error

	namespace, pod string
	// detail is the value of a custom rule's messageExpression.
	detail string
	// usedUp is true when the action is the budget's Then.
	usedUp bool
	// A verdict read from JSON does not know the pod: it has the message that was
	// written, which may be none.
	read     bool
	reported string
}

// NotTerminal returns the verdict on a pod that has not failed, or not yet.
func NotTerminal(pod *corev1.Pod) Verdict {
	return Verdict{Rule: NoRule, namespace: pod.Namespace, pod: pod.Name}
}

// Unmatched returns the verdict on a failed pod that no rule matches: the failure is
// counted.
func Unmatched(pod *corev1.Pod) Verdict {
	return Verdict{
		Terminal: true, Counted: true, Action: batchv1.PodFailurePolicyActionCount, Rule: NoRule,
		namespace: pod.Namespace, pod: pod.Name,
	}
}

// Failure returns the verdict on a failed pod whose evaluation broke off. An error never
// picks an action, so the verdict means what no match means, and carries the error.
func Failure(pod *corev1.Pod, err error) Verdict {
	v := Unmatched(pod)
	v.Err = err
	return v
}

// MatchedExitCode returns the verdict of an exit-code rule that matched a container,
// whose state must be terminated.
func MatchedExitCode(pod *corev1.Pod, rule int, action batchv1.PodFailurePolicyAction, c *corev1.ContainerStatus) Verdict {
	v := matched(pod, rule, action)
	v.Container, v.ExitCode = c.Name, c.State.Terminated.ExitCode
	return v
}

// MatchedCondition returns the verdict of a condition rule that matched a condition.
func MatchedCondition(pod *corev1.Pod, rule int, action batchv1.PodFailurePolicyAction, c *corev1.PodCondition) Verdict {
	v := matched(pod, rule, action)
	v.Condition = c.Type
	return v
}

func matched(pod *corev1.Pod, rule int, action batchv1.PodFailurePolicyAction) Verdict {
	return Verdict{
		Terminal: true, Matched: true, Action: action,
		Counted: action != batchv1.PodFailurePolicyActionIgnore, Rule: rule,
		namespace: pod.Namespace, pod: pod.Name,
	}
}

// Message returns what the Job controller writes for a FailJob verdict, letter for letter
// (matchPodFailurePolicy in pkg/controller/job/pod_failure_policy.go), and the same
// sentence for the other actions. That of a custom rule ends with the rule's reason and
// its own message. It is empty when no rule matched.
func (v Verdict) Message() string {
	switch {
	case v.read:
		return v.reported
	case !v.Matched:
		return ""
	case v.Policy != "":
		return v.customMessage()
	case v.ExitCode != 0:
		return "Container " + v.Container + " for pod " + v.namespace + "/" + v.pod +
			" failed with exit code " + strconv.Itoa(int(v.ExitCode)) +
			" matching " + string(v.Action) + " rule at index " + strconv.Itoa(v.Rule)
	default:
		return "Pod " + v.namespace + "/" + v.pod + " has condition " + string(v.Condition) +
			" matching " + string(v.Action) + " rule at index " + strconv.Itoa(v.Rule)
	}
}

// Equal reports whether two verdicts say the same, error and message text
// included.
func (v Verdict) Equal(w Verdict) bool {
	return v.Terminal == w.Terminal && v.Matched == w.Matched && v.Counted == w.Counted &&
		v.Action == w.Action && v.Rule == w.Rule && v.Policy == w.Policy && v.RuleName == w.RuleName &&
		v.Container == w.Container && v.ExitCode == w.ExitCode && v.Condition == w.Condition &&
		v.Reason == w.Reason && v.Budget == w.Budget && v.usedUp == w.usedUp &&
		(v.RetryDelay == w.RetryDelay || v.RetryDelay != nil && w.RetryDelay != nil && *v.RetryDelay == *w.RetryDelay) &&
		errorText(v.Err) == errorText(w.Err) && errorText(v.MessageErr) == errorText(w.MessageErr) && v.sameMessage(w)
}

func (v Verdict) sameMessage(w Verdict) bool {
	if !v.read && !w.read && v.namespace == w.namespace && v.pod == w.pod && v.detail == w.detail {
		return true // the message is a function of what is equal already
	}
	return v.Message() == w.Message()
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
