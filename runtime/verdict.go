package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

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
	// RuleName is the name of the rule that decided, for rules that have one.
	RuleName string
	// Container and ExitCode say which container's exit code the rule matched.
	// ExitCode is not 0 exactly when an exit-code rule decided, because exit
	// code 0 never matches.
	Container string
	ExitCode  int32
	// Condition is the type of the pod condition that the rule matched.
	Condition corev1.PodConditionType
	// Err is why the rules could not be evaluated to the end. The verdict is then
	// that of a pod that no rule matched.
	Err error

	namespace, pod string
	// A verdict read from JSON does not know the pod: it has the message that was
	// written, which may be none.
	read     bool
	reported string
}

// NotTerminal is the verdict on a pod that has not failed, or not yet.
func NotTerminal(pod *corev1.Pod) Verdict {
	return Verdict{Rule: NoRule, namespace: pod.Namespace, pod: pod.Name}
}

// Unmatched is the verdict on a failed pod that no rule matches: the failure is
// counted.
func Unmatched(pod *corev1.Pod) Verdict {
	return Verdict{
		Terminal: true, Counted: true, Action: batchv1.PodFailurePolicyActionCount, Rule: NoRule,
		namespace: pod.Namespace, pod: pod.Name,
	}
}

// Failure is the verdict on a failed pod whose evaluation broke off: an error
// never picks an action, so it means what no match means, and carries the error.
func Failure(pod *corev1.Pod, err error) Verdict {
	v := Unmatched(pod)
	v.Err = err
	return v
}

// MatchedExitCode is the verdict of an exit-code rule that matched a container,
// whose state must be terminated.
func MatchedExitCode(pod *corev1.Pod, rule int, action batchv1.PodFailurePolicyAction, c *corev1.ContainerStatus) Verdict {
	v := matched(pod, rule, action)
	v.Container, v.ExitCode = c.Name, c.State.Terminated.ExitCode
	return v
}

// MatchedCondition is the verdict of a condition rule that matched a condition.
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

// Message is what the Job controller writes for a FailJob verdict, letter for
// letter (matchPodFailurePolicy in pkg/controller/job/pod_failure_policy.go),
// and the same sentence for the other actions. It is empty when no rule matched.
func (v Verdict) Message() string {
	switch {
	case v.read:
		return v.reported
	case !v.Matched:
		return ""
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
		v.Action == w.Action && v.Rule == w.Rule && v.RuleName == w.RuleName &&
		v.Container == w.Container && v.ExitCode == w.ExitCode && v.Condition == w.Condition &&
		errorText(v.Err) == errorText(w.Err) && v.sameMessage(w)
}

func (v Verdict) sameMessage(w Verdict) bool {
	if !v.read && !w.read && v.namespace == w.namespace && v.pod == w.pod {
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

// wireVerdict is the JSON form of a Verdict.
type wireVerdict struct {
	Terminal  bool                           `json:"terminal"`
	Matched   bool                           `json:"matched"`
	Action    batchv1.PodFailurePolicyAction `json:"action,omitempty"`
	Counted   bool                           `json:"counted"`
	Rule      *int                           `json:"rule,omitempty"`
	RuleName  string                         `json:"ruleName,omitempty"`
	Container *string                        `json:"container,omitempty"`
	ExitCode  int32                          `json:"exitCode,omitempty"`
	Condition corev1.PodConditionType        `json:"condition,omitempty"`
	Message   string                         `json:"message,omitempty"`
	Error     string                         `json:"error,omitempty"`
}

// MarshalJSON writes the contract's form of the verdict.
func (v Verdict) MarshalJSON() ([]byte, error) {
	w := wireVerdict{
		Terminal: v.Terminal, Matched: v.Matched, Action: v.Action, Counted: v.Counted,
		RuleName: v.RuleName, ExitCode: v.ExitCode, Condition: v.Condition,
		Message: v.Message(), Error: errorText(v.Err),
	}
	if v.Matched {
		w.Rule = &v.Rule
	}
	if v.ExitCode != 0 {
		w.Container = &v.Container
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads the contract's form of a verdict. The message is kept as
// it was written.
func (v *Verdict) UnmarshalJSON(data []byte) error {
	var w wireVerdict
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("verdict: %w", err)
	}
	*v = Verdict{
		Terminal: w.Terminal, Matched: w.Matched, Action: w.Action, Counted: w.Counted,
		Rule: NoRule, RuleName: w.RuleName, ExitCode: w.ExitCode, Condition: w.Condition,
		read: true, reported: w.Message,
	}
	if w.Rule != nil {
		v.Rule = *w.Rule
	}
	if w.Container != nil {
		v.Container = *w.Container
	}
	if w.Error != "" {
		v.Err = errors.New(w.Error)
	}
	return nil
}
