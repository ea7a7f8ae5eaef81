package compiler

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

func (r linted) path() string { return rulePath(r.index).String() }

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

// maxListed is the maximum number of failures that a message lists before it
// counts the rest.
const maxListed = 5

// failures describes the failures that two rules of one kind both match.
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
	return noun + " " + listed(text)
}

func codeList(codes []int32) string {
	text := make([]string, len(codes))
	for i, code := range codes {
		text[i] = strconv.Itoa(int(code))
	}
	return counted("exit code", text)
}

func listed(text []string) string {
	if more := len(text) - maxListed; more > 0 {
		text = append(text[:maxListed:maxListed], fmt.Sprintf("%d more", more))
	}
	return enumerate(text)
}

func enumerate(text []string) string {
	if len(text) < 2 {
		return strings.Join(text, "")
	}
	last := len(text) - 1
	return strings.Join(text[:last], ", ") + " and " + text[last]
}
