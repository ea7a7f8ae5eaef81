package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// wireVerdict is the JSON form of a Verdict.
type wireVerdict struct {
	Terminal  bool                           `json:"terminal"`
	Matched   bool                           `json:"matched"`
	Action    batchv1.PodFailurePolicyAction `json:"action,omitempty"`
	Counted   bool                           `json:"counted"`
	Rule      *int                           `json:"rule,omitempty"`
	Policy    string                         `json:"policy,omitempty"`
	RuleName  string                         `json:"ruleName,omitempty"`
	Reason    string                         `json:"reason,omitempty"`
	Class     string                         `json:"class,omitempty"`
	Hint      string                         `json:"hint,omitempty"`
	Container *string                        `json:"container,omitempty"`
	ExitCode  int32                          `json:"exitCode,omitempty"`
	Condition corev1.PodConditionType        `json:"condition,omitempty"`
	Budget    *wireBudget                    `json:"budget,omitempty"`
	Delay     string                         `json:"retryDelay,omitempty"`
	Retry     *v1alpha1.Retry                `json:"retry,omitempty"`
	Message   string                         `json:"message,omitempty"`
	MsgError  string                         `json:"messageError,omitempty"`
	Error     string                         `json:"error,omitempty"`
}

type wireBudget struct {
	Limit  int32                          `json:"limit"`
	Per    v1alpha1.BudgetScope           `json:"per"`
	Then   batchv1.PodFailurePolicyAction `json:"then"`
	UsedUp bool                           `json:"usedUp,omitempty"`
}

// MarshalJSON returns the verdict in its JSON contract form.
func (v Verdict) MarshalJSON() ([]byte, error) {
	w := wireVerdict{
		Terminal: v.Terminal, Matched: v.Matched, Action: v.Action, Counted: v.Counted,
		Policy: v.Policy, RuleName: v.RuleName, Reason: v.Reason, Class: v.Class, Hint: v.Hint, ExitCode: v.ExitCode, Condition: v.Condition,
		Retry: v.Retry, Message: v.Message(), MsgError: errorText(v.MessageErr), Error: errorText(v.Err),
	}
	if b := v.Budget; b.Limit != 0 {
		w.Budget = &wireBudget{b.Limit, b.Per, b.Then, v.usedUp}
	}
	if v.RetryDelay != nil {
		w.Delay = v.RetryDelay.String()
	}
	if v.Matched {
		w.Rule = &v.Rule
	}
	if v.ExitCode != 0 {
		w.Container = &v.Container
	}
	return json.Marshal(w)
}

// UnmarshalJSON decodes a verdict from its JSON contract form. It keeps the message unchanged.
func (v *Verdict) UnmarshalJSON(data []byte) error {
	var w wireVerdict
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("verdict: %w", err)
	}
	*v = Verdict{
		Terminal: w.Terminal, Matched: w.Matched, Action: w.Action, Counted: w.Counted,
		Rule: NoRule, Policy: w.Policy, RuleName: w.RuleName, Reason: w.Reason, Class: w.Class, Hint: w.Hint, ExitCode: w.ExitCode, Condition: w.Condition,
		Retry: w.Retry, read: true, reported: w.Message,
	}
	if b := w.Budget; b != nil {
		v.Budget, v.usedUp = Budget{b.Limit, b.Per, b.Then}, b.UsedUp
	}
	if w.Delay != "" {
		delay, err := time.ParseDuration(w.Delay)
		if err != nil {
			return fmt.Errorf("verdict: retryDelay: %w", err)
		}
		v.RetryDelay = &delay
	}
	if w.MsgError != "" {
		v.MessageErr = errors.New(w.MsgError)
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
