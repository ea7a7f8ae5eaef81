package binding

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// Outcome describes whether a binding puts its policy into effect for a Job, and the reason if it does not.
type Outcome string

// The values of Outcome.
const (
	InForce              Outcome = "in force"
	BoundByAnother       Outcome = "in force by another binding"
	NamespaceNotSelected Outcome = "namespace not selected"
	JobNotSelected       Outcome = "Job not selected"
	ConditionNotMet      Outcome = "match condition not met"
)

// Membership is the result of a binding for a Job.
type Membership struct {
	Policy   string            `json:"policy"`
	Binding  string            `json:"binding"`
	Position v1alpha1.Position `json:"position"`
	Mode     v1alpha1.Mode     `json:"mode"`
	Outcome  Outcome           `json:"outcome"`
	// Because is the reason, as a sentence. It is empty for a policy that is in effect.
	Because string `json:"because,omitempty"`
	// Condition is the match condition that is not met.
	Condition *runtime.ConditionExplanation `json:"condition,omitempty"`
}

// Explain returns the result of every binding for a Job, sorted by name. It omits bindings whose policy does not exist. The
// policies in effect are those that For selects. It returns an error if the context is done.
func (s *Set) Explain(ctx context.Context, job *batchv1.Job, namespace labels.Set) ([]Membership, error) {
	if s == nil {
		return nil, nil
	}
	selected := s.For(ctx, job, namespace)
	all := make([]Membership, len(s.bound))
	for i := range s.bound {
		b := &s.bound[i]
		spec := &b.binding.Spec
		m := &all[i]
		*m = Membership{Policy: b.policy.Name, Binding: b.binding.Name, Position: spec.Position, Mode: spec.Mode}
		m.Outcome, m.Because = b.selects(job, namespace)
		if m.Outcome != InForce {
			continue
		}
		if at := index(selected.entries, b.policy); at >= 0 {
			if by := selected.entries[at].binding; by != b.binding {
				m.Outcome, m.Because = BoundByAnother, "binding "+by.Name+" binds it to the Job"
			}
			continue
		}
		conditions, err := b.policy.ExplainConditions(ctx, job)
		if err != nil {
			return nil, err
		}
		m.Outcome = ConditionNotMet
		if m.Condition = decisive(conditions); m.Condition != nil {
			m.Because = m.Condition.Because
		}
	}
	return all, nil
}

// selects evaluates the selectors. It returns InForce if both select the Job.
func (b *bound) selects(job *batchv1.Job, namespace labels.Set) (outcome Outcome, because string) {
	if because := unmet(b.namespaces, namespace, "namespace "+job.Namespace); because != "" {
		return NamespaceNotSelected, "namespaceSelector wants " + because
	}
	if because := unmet(b.job, job.Labels, "the Job"); because != "" {
		return JobNotSelected, "jobSelector wants " + because
	}
	return InForce, ""
}

// unmet returns the first requirement of a selector that labels do not meet and their actual value, or an empty string.
func unmet(selector labels.Selector, of labels.Set, owner string) string {
	requirements, _ := selector.Requirements()
	for i := range requirements {
		r := &requirements[i]
		if r.Matches(of) {
			continue
		}
		if value, has := of[r.Key()]; has {
			return fmt.Sprintf("%s, and %s has %s=%s", r, owner, r.Key(), value)
		}
		return fmt.Sprintf("%s, and %s has no such label", r, owner)
	}
	return ""
}

// decisive returns the condition for which the policy is not in effect: the first one that is false, or else the first one
// with an error.
func decisive(conditions []runtime.ConditionExplanation) *runtime.ConditionExplanation {
	var failed *runtime.ConditionExplanation
	for i := range conditions {
		switch c := &conditions[i]; {
		case c.Error == "" && !c.Holds:
			return c
		case c.Error != "" && failed == nil:
			failed = c
		}
	}
	return failed
}
