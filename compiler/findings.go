package compiler

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The words of all findings.

func findNoContainer(r linted) Finding {
	return Finding{
		Check: CheckUnreachable, Severity: Error, Rule: r.index,
		Field:   r.selector() + ".containerName",
		Message: "no pod can match: the pod template has no such container",
		Hint:    "name a container or init container of spec.template, or leave containerName out",
	}
}

func findUnreachable(r linted, by []linted) Finding {
	return Finding{
		Check: CheckUnreachable, Severity: Error, Rule: r.index,
		Field:   rulePath(r.index).String(),
		Message: fmt.Sprintf("never decides: %s %s every failure that it could match", ruleNames(by), takes(by)),
		Hint:    "move it before them, or remove it",
	}
}

func findShadowed(r, by linted, d domain) Finding {
	return Finding{
		Check: CheckShadowed, Severity: Warning, Rule: r.index,
		Field: r.selector(),
		Message: fmt.Sprintf("%s (%s) comes first for %s, so this rule's %s does not apply to them",
			ruleNames([]linted{by}), by.Action, list(r.covered.overlap(by.covered), d), r.Action),
		Hint: "order the rules from the narrowest to the widest, or take them out of one of the two",
	}
}

func findDisruptionOrder(r, by linted) Finding {
	return Finding{
		Check: CheckDisruptionOrder, Severity: Warning, Rule: r.index,
		Field: rulePath(r.index).String(),
		Message: fmt.Sprintf("a disrupted pod's containers exit with 137 or 143, which %s (%s) takes before this rule sees the condition",
			ruleNames([]linted{by}), by.Action),
		Hint: "put the DisruptionTarget rule first",
	}
}

func findSidecar(r linted, sidecar string) Finding {
	return Finding{
		Check: CheckSidecar, Severity: Warning, Rule: r.index,
		Field: r.selector(),
		Message: fmt.Sprintf("sidecar %s is stopped when the main containers end, and its exit code (137 or 143) fires this NotIn rule too",
			sidecar),
		Hint: "set containerName, or add 137 and 143 to values",
	}
}

func findUnboundedIgnore(r linted) Finding {
	return Finding{
		Check: CheckUnboundedIgnore, Severity: Warning, Rule: r.index,
		Field:   rulePath(r.index).String() + ".action",
		Message: "ignored failures are retried without limit, and the Job has no activeDeadlineSeconds",
		Hint:    "set spec.activeDeadlineSeconds, or use Count with a backoffLimit that allows for them",
	}
}

func findFailIndexLimit(r linted) Finding {
	return Finding{
		Check: CheckFailIndexLimit, Severity: Error, Rule: r.index,
		Field:   rulePath(r.index).String() + ".action",
		Message: "FailIndex requires spec.backoffLimitPerIndex: the API server refuses the Job",
		Hint:    "set spec.backoffLimitPerIndex, with completionMode Indexed",
	}
}

func (r linted) selector() string {
	if _, ok := r.Match.(ExitCodes); ok {
		return rulePath(r.index).Child("onExitCodes").String()
	}
	return rulePath(r.index).Child("onPodConditions").String()
}

func ruleNames(rules []linted) string {
	text := make([]string, len(rules))
	for i, r := range rules {
		text[i] = fmt.Sprintf("rule %d", r.index)
	}
	return enumerate(text)
}

func takes(rules []linted) string {
	if len(rules) == 1 {
		return "takes"
	}
	return "take"
}

// maxListed is how many failures a message names before it counts the rest.
const maxListed = 5

func list(c coverage, d domain) string {
	var codes []int32
	var conditions []string
	for f := range c {
		if f.condition.Type != "" {
			conditions = append(conditions, fmt.Sprintf("%s=%s", f.condition.Type, f.condition.Status))
		} else if f.code != d.other {
			codes = append(codes, f.code)
		}
	}
	slices.Sort(codes)
	slices.Sort(conditions)
	for _, code := range slices.Compact(codes) {
		conditions = append(conditions, strconv.Itoa(int(code)))
	}
	text := conditions
	if more := len(text) - maxListed; more > 0 {
		text = append(text[:maxListed:maxListed], fmt.Sprintf("%d more", more))
	}
	if c.hasOther(d) {
		text = append(text, "all codes not listed")
	}
	return enumerate(text)
}

func (c coverage) hasOther(d domain) bool {
	for f := range c {
		if f.condition.Type == "" && f.code == d.other {
			return true
		}
	}
	return false
}

func enumerate(text []string) string {
	if len(text) < 2 {
		return strings.Join(text, "")
	}
	last := len(text) - 1
	return strings.Join(text[:last], ", ") + " and " + text[last]
}
