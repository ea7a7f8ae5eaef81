package compiler

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// The words of all findings.

func findNoExitCode(r linted) Finding {
	return Finding{
		Check: CheckUnreachable, Severity: Error, Rule: r.index,
		Field:   r.selector() + ".values",
		Message: "no pod can match: no container of the pod template can fail with such an exit code",
		Hint:    "list exit codes other than 0",
	}
}

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

func findShadowed(r, by linted, d *domain) Finding {
	return Finding{
		Check: CheckShadowed, Severity: Warning, Rule: r.index,
		Field: r.selector(),
		Message: fmt.Sprintf("%s (%s) comes first for %s, so this rule's %s does not apply there",
			ruleNames([]linted{by}), by.Action, failures(d, overlap(r.matches, by.decides)), r.Action),
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

// failures names what two rules of one kind both match.
func failures(d *domain, both *big.Int) string {
	codes, conditions := d.in(both)
	text := make([]string, 0, len(codes)+len(conditions))
	for _, c := range conditions {
		text = append(text, fmt.Sprintf("%s=%s", c.Type, c.Status))
	}
	if len(text) > 0 {
		slices.Sort(text)
		return counted("condition", text)
	}
	for _, code := range codes {
		if code != d.other {
			text = append(text, strconv.Itoa(int(code)))
		}
	}
	switch unlisted := slices.Contains(codes, d.other); {
	case !unlisted:
		return counted("exit code", text)
	case len(text) == 0:
		return "all exit codes that no rule lists"
	default:
		return counted("exit code", text) + " and all that no rule lists"
	}
}

func counted(noun string, text []string) string {
	if len(text) > 1 {
		noun += "s"
	}
	if more := len(text) - maxListed; more > 0 {
		text = append(text[:maxListed:maxListed], fmt.Sprintf("%d more", more))
	}
	return noun + " " + enumerate(text)
}

func enumerate(text []string) string {
	if len(text) < 2 {
		return strings.Join(text, "")
	}
	last := len(text) - 1
	return strings.Join(text[:last], ", ") + " and " + text[last]
}
