package repair

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// repair returns the text without what a finding is about. The error says why it cannot be changed.
type repair func(o Options, s source, job manifest.Job, f findings.Finding) (string, error)

// repairs are by the ids of rules. None changes what a Job that works does, but for what the finding is about.
var repairs = map[string]repair{
	"exit-codes-unsorted":         sortCodes,
	"exit-codes-duplicate":        sortCodes,
	"disruption-after-exit-codes": disruptionFirst,
}

// suggestions are limits that a platform wants. They may end a Job that works, so a person decides.
var suggestions = map[string]repair{
	"ttl-out-of-bounds":              bounded("ttlSecondsAfterFinished"),
	"deadline-out-of-bounds":         bounded("activeDeadlineSeconds"),
	"backoff-limit-too-high":         bounded("backoffLimit"),
	"scarce-replacement-not-failed":  set("podReplacementPolicy", "Failed"),
	"indexed-replacement-not-failed": set("podReplacementPolicy", "Failed"),
}

// Can reports whether findings of a rule can be repaired, or with suggest, whether something can be proposed.
func Can(rule string, suggest bool) bool {
	return repairs[rule] != nil || suggest && suggestions[rule] != nil
}

// repairOf returns the repair of a finding about a Job, or nil. Limits of a JobSet's Jobs are left alone: JobSet's webhook demands
// some, and JobSet itself ends and deletes these Jobs.
func (o Options) repairOf(job manifest.Job, f findings.Finding) repair {
	if made := repairs[f.Check]; made != nil || !o.Suggest || job.JobSet != nil {
		return made
	}
	return suggestions[f.Check]
}

// sortCodes puts exit codes in order, each once.
func sortCodes(_ Options, s source, _ manifest.Job, f findings.Finding) (string, error) {
	if f.Rule == nil {
		return "", errLayout
	}
	list, err := s.origin.Node(rulesField + "[" + strconv.Itoa(*f.Rule) + "].onExitCodes.values")
	if err != nil {
		return "", err
	}
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		return "", errLayout
	}
	if err := s.origin.Shared(list); err != nil {
		return "", err
	}
	codes := make([]int64, len(list.Content))
	order := make([]int, len(codes))
	for i, item := range list.Content {
		if codes[i], err = strconv.ParseInt(item.Value, 10, 32); err != nil {
			return "", errLayout
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(codes[a], codes[b]) })
	order = slices.CompactFunc(order, func(a, b int) bool { return codes[a] == codes[b] })
	return s.arranged(list, order)
}

// disruptionFirst moves a rule before the first rule on exit codes.
func disruptionFirst(_ Options, s source, job manifest.Job, f findings.Finding) (string, error) {
	if f.Rule == nil || job.Object.Spec.PodFailurePolicy == nil {
		return "", errLayout
	}
	rules := job.Object.Spec.PodFailurePolicy.Rules
	moved, target := *f.Rule, 0
	for target < moved && rules[target].OnExitCodes == nil {
		target++
	}
	list, err := s.origin.Node(rulesField)
	if err != nil {
		return "", err
	}
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) != len(rules) || target == moved {
		return "", errLayout
	}
	if err := s.origin.Shared(list); err != nil {
		return "", err
	}
	var order []int
	for i := range rules {
		switch {
		case i == target:
			order = append(order, moved, i)
		case i != moved:
			order = append(order, i)
		}
	}
	return s.arranged(list, order)
}

const rulesField = manifest.PolicyField + ".rules"

// beforeComments returns the first of the comments that stand right before a line, indented as it is, or the line.
func beforeComments(lines []string, n, indent int) int {
	for n > 0 {
		above := strings.TrimLeft(lines[n-1], " ")
		if !strings.HasPrefix(above, "#") || len(lines[n-1])-len(above) != indent {
			break
		}
		n--
	}
	return n
}

var (
	errNoBound  = errors.New("the rule has no bound")
	errDeadline = errors.New("a deadline that has passed is not made the shortest one")
)

// bounded sets a number of the Job's spec to the nearest that the guardrail allows, or to the highest when there is none.
func bounded(name string) repair {
	return func(o Options, s source, _ manifest.Job, f findings.Finding) (string, error) {
		value, ok := o.Parameter(f.Check, "max")
		if !ok {
			return "", errNoBound
		}
		node, err := s.origin.Node("spec." + name)
		if err != nil {
			return "", err
		}
		if node != nil {
			given, err := strconv.ParseInt(node.Value, 10, 64)
			if lowest, ok := o.Parameter(f.Check, "min"); ok && err == nil && given < lowest {
				if name == "activeDeadlineSeconds" {
					return "", errDeadline
				}
				value = lowest
			}
		}
		return s.setField(name, strconv.FormatInt(value, 10), 0)
	}
}

// set sets a field of the Job's spec to a word.
func set(name, value string) repair {
	return func(_ Options, s source, _ manifest.Job, _ findings.Finding) (string, error) {
		return s.setField(name, value, yaml.DoubleQuotedStyle)
	}
}

// setField writes a field of the Job's spec: in place of its value, or before the other fields. The style is that of the value in
// JSON.
func (s source) setField(name, value string, inJSON yaml.Style) (string, error) {
	spec, err := s.origin.Node("spec")
	if err != nil {
		return "", err
	}
	if spec == nil || spec.Kind != yaml.MappingNode || len(spec.Content) == 0 {
		return "", errLayout
	}
	if spec.Content[0].Style == yaml.DoubleQuotedStyle {
		value = inQuotes(value, inJSON)
	}
	node, err := s.origin.Node("spec." + name)
	switch {
	case err != nil:
		return "", err
	case node == nil:
		return s.newMember(spec, name, value)
	}
	begin := s.offset(node)
	end, ok := s.end(node)
	if !ok || node.Kind != yaml.ScalarNode {
		return "", errLayout
	}
	return s.text[:begin] + value + s.text[end:], nil
}
