package runtime

import (
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
)

// NoRule is the Rule of a Verdict without a matching rule.
const NoRule = -1

// Verdict describes what a pod's failure means for its Job: the action, the rule that decided, and the element of the pod
// that the rule matched. It is an immutable value.
//
// Its JSON form is a contract with other programs: fields that do not apply are absent, and the message is the result of
// Message.
type Verdict struct {
	// Terminal is true if the pod is in phase Failed. Other pods get no verdict: they may still succeed (KEP-3329,
	// "Evaluation").
	Terminal bool
	// Matched is true if a rule decided.
	Matched bool
	// Counted is true if the failure counts towards backoffLimit and backoffLimitPerIndex: always, except with Ignore and for
	// pods that are not terminal.
	Counted bool
	// Action is the action of the rule that decided, Count if none did, and empty if the pod is not terminal.
	Action batchv1.PodFailurePolicyAction
	// Rule is the index of the rule that decided, or NoRule.
	Rule int
	// Policy is the name of the rule's PodFailurePolicy (podverdict.io), and RuleName the rule's name in it. Both are empty
	// for the rules of the Job's own podFailurePolicy, which have no names.
	Policy, RuleName string
	// Reason is the rule's machine-readable reason, if it has one.
	Reason string
	// Class is the kind of failure that the rule detects, and Hint is advice for the owner of the Job. Both are optional.
	Class, Hint string
	// Budget is the rule's budget; its Limit is 0 if the rule has none. The caller counts the matches, and calls UsedUp if
	// there are too many.
	Budget Budget
	// RetryDelay is the delay between the failure and the next attempt, or nil for the Job's back-off.
	RetryDelay *time.Duration
	// Retry holds the rule's changes to the next attempt, or nil. It is nil for a rule with an exhausted budget.
	Retry *v1alpha1.Retry
	// Container and ExitCode identify the exit code that the rule matched. ExitCode is not 0 if and only if an exit-code rule
	// decided, because exit code 0 never matches.
	Container string
	ExitCode  int32
	// Condition is the type of the pod condition that the rule matched.
	Condition corev1.PodConditionType
	// Err is the error that ended the evaluation, if no rule matched. If one did, it is the ignored error of an earlier rule.
	// For rules of custom policies it is a *PolicyError.
	Err error
	// MessageErr is the error of the matching rule's messageExpression.
	MessageErr error

	namespace, pod string
	// detail is the value of a custom rule's messageExpression.
	detail string
	// usedUp is true if the action is the budget's Then.
	usedUp bool
	// read reports whether the verdict was decoded from JSON. Such a verdict does not know the pod, and keeps the decoded
	// message, which may be empty, in reported.
	read     bool
	reported string
}

// NotTerminal returns the verdict on a pod that has not failed, or has not failed yet.
func NotTerminal(pod *corev1.Pod) Verdict {
	return Verdict{Rule: NoRule, namespace: pod.Namespace, pod: pod.Name}
}

// Unmatched returns the verdict on a failed pod that no rule matches: the failure counts.
func Unmatched(pod *corev1.Pod) Verdict {
	return Verdict{
		Terminal: true, Counted: true, Action: batchv1.PodFailurePolicyActionCount, Rule: NoRule,
		namespace: pod.Namespace, pod: pod.Name,
	}
}

// Failure returns the verdict on a failed pod whose evaluation ended with an error. An error never picks an action, so the
// verdict is the one for no match, with the error.
func Failure(pod *corev1.Pod, err error) Verdict {
	v := Unmatched(pod)
	v.Err = err
	return v
}

// MatchedExitCode returns the verdict of an exit-code rule that matched a container,
// whose state must be terminated.
func MatchedExitCode(pod *corev1.Pod, rule int, action batchv1.PodFailurePolicyAction, c *corev1.ContainerStatus) Verdict {
	return Verdict{ // not a modified result of matched: the copy takes a tenth of an evaluation
		Terminal: true, Matched: true, Action: action, Counted: action != batchv1.PodFailurePolicyActionIgnore, Rule: rule,
		Container: c.Name, ExitCode: c.State.Terminated.ExitCode, namespace: pod.Namespace, pod: pod.Name,
	}
}

// MatchedCondition returns the verdict of a condition rule that matched a condition.
func MatchedCondition(pod *corev1.Pod, rule int, action batchv1.PodFailurePolicyAction, c *corev1.PodCondition) Verdict {
	return Verdict{
		Terminal: true, Matched: true, Action: action, Counted: action != batchv1.PodFailurePolicyActionIgnore, Rule: rule,
		Condition: c.Type, namespace: pod.Namespace, pod: pod.Name,
	}
}

func matched(pod *corev1.Pod, rule int, action batchv1.PodFailurePolicyAction) Verdict {
	return Verdict{
		Terminal: true, Matched: true, Action: action,
		Counted: action != batchv1.PodFailurePolicyActionIgnore, Rule: rule,
		namespace: pod.Namespace, pod: pod.Name,
	}
}

// Message returns the exact message that the Job controller writes for a FailJob verdict (matchPodFailurePolicy in
// pkg/controller/job/pod_failure_policy.go), and the same sentence for the other actions. For a custom rule it ends with the
// rule's reason, its own message and its hint. It is empty if no rule matched.
func (v Verdict) Message() string {
	switch {
	case v.read:
		return v.reported
	case !v.Matched:
		return ""
	case v.Policy != "":
		return v.Hinted(v.customMessage(), custom.MaxMessage)
	case v.ExitCode != 0:
		return "Container " + v.Container + " for pod " + v.namespace + "/" + v.pod +
			" failed with exit code " + strconv.Itoa(int(v.ExitCode)) +
			" matching " + string(v.Action) + " rule at index " + strconv.Itoa(v.Rule)
	default:
		return "Pod " + v.namespace + "/" + v.pod + " has condition " + string(v.Condition) +
			" matching " + string(v.Action) + " rule at index " + strconv.Itoa(v.Rule)
	}
}

// Equal reports whether two verdicts are equal, including error and message texts.
func (v Verdict) Equal(w Verdict) bool {
	return v.Terminal == w.Terminal && v.Matched == w.Matched && v.Counted == w.Counted &&
		v.Action == w.Action && v.Rule == w.Rule && v.Policy == w.Policy && v.RuleName == w.RuleName &&
		v.Container == w.Container && v.ExitCode == w.ExitCode && v.Condition == w.Condition &&
		v.Reason == w.Reason && v.Class == w.Class && v.Hint == w.Hint && v.Budget == w.Budget && v.usedUp == w.usedUp &&
		(v.RetryDelay == w.RetryDelay || v.RetryDelay != nil && w.RetryDelay != nil && *v.RetryDelay == *w.RetryDelay) &&
		equality.Semantic.DeepEqual(v.Retry, w.Retry) &&
		errorText(v.Err) == errorText(w.Err) && errorText(v.MessageErr) == errorText(w.MessageErr) && v.sameMessage(w)
}

func (v Verdict) sameMessage(w Verdict) bool {
	if !v.read && !w.read && v.namespace == w.namespace && v.pod == w.pod && v.detail == w.detail {
		return true // the message depends only on what was compared
	}
	return v.Message() == w.Message()
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
