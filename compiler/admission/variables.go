package admission

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// variables returns the variables of a policy in dependency order: the locations of the Jobs, the shared variables, and
// the messages of each rule.
func (s *Selection) variables(o Options, held []Rule) []admissionregistrationv1.Variable {
	shared, used := s.catalogue.shared(held)
	all := o.Target.variables(used)
	w := writer{target: o.Target, noun: s.catalogue.noun()}
	for _, v := range shared {
		all = append(all, admissionregistrationv1.Variable{Name: v.name, Expression: w.variable(v)})
	}
	for _, r := range held {
		all = append(all, admissionregistrationv1.Variable{Name: ruleVariable(r.ID), Expression: w.rule(r)})
	}
	return all
}

// ruleVariable returns the name of the variable with a rule's messages: G_TTL for G-TTL.
func ruleVariable(id string) string { return strings.ReplaceAll(id, "-", "_") }

// shared returns the shared variables that the rules use directly or indirectly, and the set of all used names.
func (c *Catalogue) shared(held []Rule) (all []variable, used map[string]bool) {
	used = map[string]bool{}
	use := func(e expression) {
		for _, n := range e.names {
			used[n.ident] = true
		}
	}
	for _, r := range held {
		for _, e := range r.expressions() {
			use(e)
		}
	}
	for _, v := range slices.Backward(c.variables) {
		if used[v.name] {
			all = append(all, v)
			use(v.expression)
		}
	}
	slices.Reverse(all)
	return all, used
}

// writer generates the expressions of a catalogue for a target.
type writer struct {
	target Target
	noun   string // noun for a rule in messages
}

// variable returns the CEL of a shared variable: a list with a value for each Job.
func (w writer) variable(v variable) string {
	return eachJob(v.expression.rewrite(w.meaning(nil)))
}

// rule returns the CEL of the list of a rule's messages about the new object, without the messages already reported for
// the old object. An object that breaks a rule can therefore be changed if the change breaks nothing else.
func (w writer) rule(r Rule) string {
	text := w.messages(r, w.meaning(&r))
	if r.update {
		text = fmt.Sprintf("request.operation != \"UPDATE\" ? [] : (%s)", text)
	}
	return newlySaid(eachJob(text), w.target.count())
}

// messages returns the CEL of the list of a rule's messages about one Job.
func (w writer) messages(r Rule, m meaning) string {
	if !r.messages.isEmpty() {
		return r.messages.rewrite(m)
	}
	return fmt.Sprintf("(%s).map(field,\n  %s)", r.fields.rewrite(m), w.message(r, m))
}

// newlySaid returns the CEL of the messages about the new object's Jobs that were not reported for the old object's. The
// messages about one Job are joined into one text.
func newlySaid(messages, count string) string {
	return fmt.Sprintf(`[%s].map(said, said.transformList(n, now, n < %s,
  now.filter(message, !said.exists(i, before, i >= %s && message in before)).join("; ")
).filter(message, message != ""))[0]`, messages, count, count)
}

// message returns the CEL of a message: the path of the invalid field, the guardrail, the value if the rule has one, and
// the requirement.
func (w writer) message(r Rule, m meaning) string {
	head := fmt.Sprintf(": %s %s: ", w.noun, r.ID)
	if !r.value.isEmpty() {
		return w.tail(fmt.Sprintf("field + %s + %s", quote(head), operand(r.value.rewrite(m))), ": ", r, m)
	}
	return w.tail("field", head, r, m)
}

// tail returns the text followed by the detail. It merges adjacent string literals.
func (w writer) tail(text, between string, r Rule, m meaning) string {
	if detail, ok := r.detail.literal(); ok {
		return text + " + " + quote(between+detail)
	}
	detail := operand(r.detail.rewrite(m))
	if rest, ok := strings.CutPrefix(detail, `"`); ok {
		return text + " + " + strings.TrimSuffix(quote(between), `"`) + rest
	}
	return text + " + " + quote(between) + " + " + detail
}

// operand adds parentheses to an expression that binds less tightly than an addition.
func operand(text string) string {
	for _, operator := range []string{" ? ", " == ", " != ", " < ", " > ", " <= ", " >= ", " in ", "&&", "||"} {
		if strings.Contains(text, operator) && !strings.HasPrefix(text, `"`) {
			return "(" + text + ")"
		}
	}
	return text
}

// eachJob returns the CEL of a list with the value of an expression for each Job.
func eachJob(text string) string {
	return fmt.Sprintf("variables.specs.transformList(n, spec,\n  %s)", strings.ReplaceAll(text, "\n", "\n  "))
}

// meaning returns a function that resolves names to their CEL in this target.
func (w writer) meaning(r *Rule) meaning {
	return func(n name) string {
		switch n.ident {
		case "spec", "root", "owned", "metadata", "old":
			return w.target.meaning(n.ident)
		case "settings":
			return literal(r.Settings[n.setting])
		default:
			return "variables." + n.ident + "[n]"
		}
	}
}
