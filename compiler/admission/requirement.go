package admission

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/policies"
)

// requirement is a property that a Job needs for rules of a PodFailurePolicy to work.
type requirement struct {
	id, title string
	// always reports whether a violation is an error, or a warning if the policy is only audited. Otherwise a
	// violation is a warning, and is ignored if the policy is only audited.
	always bool
	// of reports whether a rule that can act needs the property.
	of func(v1alpha1.Rule) bool
	// fields, value and detail are as in a rule of a catalogue. In the detail, RULES stands for the rules that need
	// the property, and CONDITIONS for the types of the conditions that they set.
	fields, value, detail string
}

var requirements = []requirement{
	{
		id: "C-RESTART-POLICY", title: "Pods can fail", always: true,
		of:     func(r v1alpha1.Rule) bool { return !v1alpha1.Lives(r.Phase) },
		fields: `restartPolicy == "Never" ? [] : [root + ".template.spec.restartPolicy"]`,
		value:  `restartPolicy`,
		detail: `"must be Never for RULES: Pods restart their containers otherwise, and do not fail"`,
	},
	{
		id: "C-LIMIT-PER-INDEX", title: "Indexes can fail", always: true,
		of: func(r v1alpha1.Rule) bool {
			return r.Action == batchv1.PodFailurePolicyActionFailIndex ||
				r.Budget != nil && r.Budget.Then == batchv1.PodFailurePolicyActionFailIndex
		},
		fields: `perIndex ? [] : [root + ".backoffLimitPerIndex"]`,
		detail: `"must be set for RULES: FailIndex only counts the failure otherwise"`,
	},
	{
		id: "C-INDEXED", title: "There are indexes where a budget is for each", always: true,
		of:     func(r v1alpha1.Rule) bool { return r.Budget != nil && r.Budget.Per == v1alpha1.PerIndex },
		fields: `indexed ? [] : [root + ".completionMode"]`,
		detail: `"must be Indexed for RULES, whose budget is for each index: there is one for the Job otherwise"`,
	},
	{
		id: "C-MANAGED-BY", title: "The controller that enforces policies runs the Job",
		of:     func(r v1alpha1.Rule) bool { return !v1alpha1.Lives(r.Phase) },
		fields: `manager == "` + v1alpha1.JobController + `" ? [] : [root + ".managedBy"]`,
		detail: `(manager == "" ? "" : manager + ": ") + "must be ` + v1alpha1.JobController + ` for RULES: other controllers do not know of it"`,
	},
	{
		id: "C-CONDITION-RULE", title: "Kubernetes' Job controller is told what the end of a living Pod means",
		of: func(r v1alpha1.Rule) bool {
			return v1alpha1.Lives(r.Phase) && r.Action != batchv1.PodFailurePolicyActionCount
		},
		fields: `!(manager in ["", "` + batchv1.JobControllerName + `"]) ||
  "CONDITIONS".split(", ").all(type, rules.exists(rule, rule.?onPodConditions.orValue([]).exists(pattern,
    pattern.?type.orValue("") == type && pattern.?status.orValue("") in ["", "True"]))) ?
  [] : [root + ".podFailurePolicy.rules"]`,
		detail: `"must have one for the Pod condition CONDITIONS for RULES: Kubernetes only counts the failure otherwise"`,
	},
}

// CheckRequirement returns nil for the id of a requirement that custom policies can have, and an error for any other
// id.
func CheckRequirement(id string) error {
	ids := make([]string, len(requirements))
	for i, r := range requirements {
		ids[i] = r.id
	}
	if slices.Contains(ids, id) {
		return nil
	}
	return errUnknownRule(id, ids)
}

// severity returns the severity of a violation under a binding. It is empty if the requirement does not apply.
func (r requirement) severity(mode v1alpha1.Mode) string {
	switch {
	case r.always && mode != v1alpha1.ModeAudit:
		return "error"
	case r.always || mode != v1alpha1.ModeAudit:
		return "warning"
	default:
		return ""
	}
}

// required returns the requirements of a policy's rules under a binding, as a selection of catalogue rules.
func (c Custom) required() (*Selection, error) {
	guardrails, err := Guardrails()
	if err != nil {
		return nil, err
	}
	restartPolicy, err := parse(`spec.?template.?spec.?restartPolicy.orValue("")`)
	if err != nil {
		return nil, err
	}
	manager, err := parse(`spec.?managedBy.orValue("")`)
	if err != nil {
		return nil, err
	}
	s := &Selection{catalogue: &Catalogue{
		Name:      "requirements",
		variables: append(slices.Clone(guardrails.variables), variable{"restartPolicy", restartPolicy}, variable{"manager", manager}),
	}}
	for _, r := range requirements {
		rule, needed, err := r.rule(c)
		if err != nil {
			return nil, err
		}
		if needed {
			s.Rules = append(s.Rules, rule)
		}
	}
	return s, nil
}

// rule returns the requirement as a catalogue rule, and reports whether the policy needs it.
func (r requirement) rule(c Custom) (Rule, bool, error) {
	severity := r.severity(c.Binding.Spec.Mode)
	var names, conditions []string
	for _, rule := range c.Policy.Spec.Rules {
		acts := !v1alpha1.Lives(rule.Phase) || c.Binding.Spec.Ends(rule.Phase)
		if !acts || !r.of(rule) {
			continue
		}
		names = append(names, rule.Name)
		if condition := string(rule.ConditionType()); !slices.Contains(conditions, condition) {
			conditions = append(conditions, condition)
		}
	}
	if severity == "" || len(names) == 0 {
		return Rule{}, false, nil
	}
	words := strings.NewReplacer("RULES", c.named(names), "CONDITIONS", strings.Join(conditions, ", "))
	entry := ruleEntry{
		ID: r.id, Settings: map[string]any{"severity": severity},
		Fields: words.Replace(r.fields), Value: r.value, Detail: words.Replace(r.detail),
	}
	rule, err := entry.rule([]policies.Rule{{ID: r.id, Title: r.title}})
	return rule, true, err
}

// maxNamed is the maximum number of rule names in a message, to keep it short.
const maxNamed = 5

// named returns the rules of the policy as they appear in a message.
func (c Custom) named(rules []string) string {
	noun := "rules "
	if len(rules) == 1 {
		noun = "rule "
	}
	shown := strings.Join(rules[:min(len(rules), maxNamed)], ", ")
	if more := len(rules) - maxNamed; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return noun + shown + " of PodFailurePolicy " + c.Policy.Name
}
