package runtime

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

func (p *Policy) customVerdict(pod *corev1.Pod, m *match) Verdict {
	rule := &p.Rules[m.rule.number]
	v := matched(pod, m.rule.number, rule.Action)
	v.Policy, v.RuleName, v.Reason = p.Name, rule.Name, rule.Reason
	v.Class, v.Hint = rule.Class, rule.Hint
	v.detail, v.MessageErr = m.message, m.messageErr
	if b := rule.Budget; b != nil {
		v.Budget = Budget{Limit: b.Limit, Per: b.Per, Then: b.Then}
	}
	if rule.RetryDelay != nil {
		v.RetryDelay = &rule.RetryDelay.Duration
	}
	v.Retry = rule.Retry
	return v
}

// Living returns the verdict of the first rule on the phase of a living pod: the meaning of the pod's failure if the pod is
// ended because of the rule. Decided is false if no rule matches. A rule with an error does not match. The verdict then carries
// the error, and decides only if the policy's failurePolicy is Fail.
func (p *Policy) Living(ctx context.Context, in Input) (v Verdict, decided bool) {
	if !v1alpha1.Lives(v1alpha1.PhaseOf(in.Pod)) {
		return NotTerminal(in.Pod), false
	}
	if ctx.Err() != nil {
		return Failure(in.Pod, p.told(context.Cause(ctx))), true
	}
	m := p.match(ctx, in)
	if m.err != nil {
		return Failure(in.Pod, p.told(m.err)), true
	}
	if m.rule != nil {
		v = p.verdict(in.Pod, &m)
	}
	v.Err = p.told(m.ignored)
	return v, m.rule != nil
}

// customMessage returns the message of a custom rule, without its hint. JobSet and others match regular expressions against
// such messages, so the fixed part comes first.
func (v Verdict) customMessage() string {
	var b strings.Builder
	b.WriteString("Pod " + v.namespace + "/" + v.pod + " matching " + string(v.Action) +
		" rule " + v.RuleName + " of PodFailurePolicy " + v.Policy)
	if v.usedUp {
		b.WriteString(" after its budget of " + v.Budget.String())
	}
	if said := v.Says(); said != "" {
		b.WriteString(": " + said)
	}
	return b.String()
}

// Hinted returns the text followed by the rule's hint. It omits a hint with which the text would be longer than most bytes.
func (v Verdict) Hinted(text string, most int) string {
	if with := text + "; hint: " + v.Hint; v.Hint != "" && len(with) <= most {
		return with
	}
	return text
}

// Says returns a custom rule's own reason and message, if any.
func (v Verdict) Says() string {
	if v.Reason == "" || v.detail == "" {
		return v.Reason + v.detail
	}
	return v.Reason + ": " + v.detail
}

// Subject returns the name of the deciding rule for messages: its index, or its own name and its policy's.
func (v Verdict) Subject() string {
	return ruleSubject(v.Policy, v.RuleName, v.Rule)
}
