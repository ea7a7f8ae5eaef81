package repair

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
)

// repair returns lines without what a finding is about, or false if the text is not of the kind that it can change.
type repair func(o Options, lines []string, job manifest.Job, f report.Finding) ([]string, bool)

// repairs are by the ids of rules.
var repairs = map[string]repair{
	"exit-codes-unsorted":            sortCodes,
	"exit-codes-duplicate":           sortCodes,
	"disruption-after-exit-codes":    disruptionFirst,
	"ttl-out-of-bounds":              bounded("ttlSecondsAfterFinished"),
	"deadline-out-of-bounds":         bounded("activeDeadlineSeconds"),
	"backoff-limit-too-high":         bounded("backoffLimit"),
	"scarce-replacement-not-failed":  set("podReplacementPolicy", "Failed"),
	"indexed-replacement-not-failed": set("podReplacementPolicy", "Failed"),
}

// Can tells whether findings of a rule can be repaired.
func Can(rule string) bool { return repairs[rule] != nil }

// code is an exit code with the lines that it has in a list: comments before it, and its own.
type code struct {
	value int64
	lines []string
}

// sortCodes puts exit codes in order, each once.
func sortCodes(_ Options, lines []string, job manifest.Job, f report.Finding) ([]string, bool) {
	if f.Rule == nil {
		return nil, false
	}
	node, at := job.Origin.Block(rulePath(*f.Rule) + ".onExitCodes.values")
	if node == nil || node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
		return nil, false
	}
	codes := make([]code, len(node.Content))
	for i, item := range node.Content {
		value, err := strconv.ParseInt(item.Value, 10, 32)
		if err != nil || item.Kind != yaml.ScalarNode || item.Anchor != "" {
			return nil, false
		}
		codes[i].value = value
	}
	first := at.Line - 1
	if node.Style&yaml.FlowStyle != 0 {
		return sortFlow(lines, first, at.Column-1, codes)
	}
	previous := first - 1
	for i, item := range node.Content {
		line := first + item.Line - node.Line
		if !strings.HasPrefix(strings.TrimLeft(lines[line], " "), "- ") {
			return nil, false
		}
		codes[i].lines = lines[previous+1 : line+1]
		previous = line
	}
	var sorted []string
	for _, c := range unique(codes) {
		sorted = append(sorted, c.lines...)
	}
	return slices.Concat(lines[:first], sorted, lines[previous+1:]), true
}

// unique sorts codes and leaves out repetitions.
func unique(codes []code) []code {
	slices.SortStableFunc(codes, func(a, b code) int { return cmp.Compare(a.value, b.value) })
	return slices.CompactFunc(codes, func(a, b code) bool { return a.value == b.value })
}

// sortFlow sorts a list on one line, as in [1, 2].
func sortFlow(lines []string, n, column int, codes []code) ([]string, bool) {
	runes := []rune(lines[n])
	if column >= len(runes) || runes[column] != '[' {
		return nil, false
	}
	inner, rest, closed := strings.Cut(string(runes[column+1:]), "]")
	if !closed || strings.Contains(inner, "#") {
		return nil, false
	}
	separator := ","
	if strings.Contains(inner, ", ") || !strings.Contains(inner, ",") {
		separator = ", "
	}
	var texts []string
	for _, c := range unique(codes) {
		texts = append(texts, strconv.FormatInt(c.value, 10))
	}
	changed := slices.Clone(lines)
	changed[n] = string(runes[:column+1]) + strings.Join(texts, separator) + "]" + rest
	return changed, true
}

// disruptionFirst moves a rule before the first rule on exit codes.
func disruptionFirst(_ Options, lines []string, job manifest.Job, f report.Finding) ([]string, bool) {
	if f.Rule == nil || job.Object.Spec.PodFailurePolicy == nil {
		return nil, false
	}
	rules := job.Object.Spec.PodFailurePolicy.Rules
	target := 0
	for target < *f.Rule && rules[target].OnExitCodes == nil {
		target++
	}
	if target >= *f.Rule {
		return nil, false
	}
	begin, end, ok := item(lines, job, rulePath(*f.Rule))
	to, _, okTarget := item(lines, job, rulePath(target))
	if !ok || !okTarget || to >= begin {
		return nil, false
	}
	return slices.Concat(lines[:to], lines[begin:end], lines[to:begin], lines[end:]), true
}

func rulePath(i int) string { return manifest.PolicyField + ".rules[" + strconv.Itoa(i) + "]" }

// item returns the lines of a list's item, from the comments before it to its last.
func item(lines []string, job manifest.Job, path string) (begin, end int, ok bool) {
	node, at := job.Origin.Block(path)
	if node == nil || node.Kind == yaml.AliasNode || node.Anchor != "" || at.Line > len(lines) {
		return 0, 0, false
	}
	begin = at.Line - 1
	text := strings.TrimLeft(lines[begin], " ")
	if !strings.HasPrefix(text, "- ") {
		return 0, 0, false
	}
	end = manifest.EndOfBlock(lines, begin) + 1
	return beforeComments(lines, begin, len(lines[begin])-len(text)), end, true
}

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

// bounded sets a number of the Job's spec to the nearest that the guardrail allows, or to the highest when there is none.
func bounded(name string) repair {
	return func(o Options, lines []string, job manifest.Job, f report.Finding) ([]string, bool) {
		value, ok := o.Parameter(f.Check, "max")
		if !ok {
			return nil, false
		}
		if node, _ := job.Origin.Block("spec." + name); node != nil {
			given, err := strconv.ParseInt(node.Value, 10, 64)
			if lowest, ok := o.Parameter(f.Check, "min"); ok && err == nil && given < lowest {
				if name == "activeDeadlineSeconds" {
					return nil, false // the shortest deadline is no better than one that has passed
				}
				value = lowest
			}
		}
		return setField(lines, job, name, strconv.FormatInt(value, 10))
	}
}

// set sets a field of the Job's spec.
func set(name, value string) repair {
	return func(_ Options, lines []string, job manifest.Job, _ report.Finding) ([]string, bool) {
		return setField(lines, job, name, value)
	}
}

// setField writes a field of the Job's spec: in place of its value, or on a line of its own before the other fields.
func setField(lines []string, job manifest.Job, name, value string) ([]string, bool) {
	changed := slices.Clone(lines)
	if node, at := job.Origin.Block("spec." + name); node != nil {
		line := []rune(lines[at.Line-1])
		begin, end := at.Column-1, at.Column-1+len([]rune(node.Value))
		if node.Kind != yaml.ScalarNode || end > len(line) || string(line[begin:end]) != node.Value || node.Value == "" {
			return nil, false
		}
		changed[at.Line-1] = string(line[:begin]) + value + string(line[end:])
		return changed, true
	}
	spec, at := job.Origin.Block("spec")
	if spec == nil || spec.Kind != yaml.MappingNode || spec.Style&yaml.FlowStyle != 0 || spec.Anchor != "" || len(spec.Content) == 0 {
		return nil, false
	}
	first := lines[at.Line-1]
	indent := at.Column - 1
	if strings.TrimLeft(first[:min(indent, len(first))], " ") != "" {
		return nil, false
	}
	return slices.Insert(changed, beforeComments(lines, at.Line-1, indent), first[:indent]+name+": "+value), true
}
