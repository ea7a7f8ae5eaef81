package explain

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/terminal"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// maxComparisons is the maximum number of sub-expressions per element in text output; JSON has them all.
const maxComparisons = 8

// maxLine is the maximum length of an expression's line in bytes.
const maxLine = 100

// maxExpression is the maximum length of a sub-expression in text output, in characters.
const maxExpression = 76

// print writes the verdict, followed by its explanation:
//
//	Pod default/demo-1 of Job default/demo
//
//	  VERDICT  Ignore: the Pod is replaced, its failure is not counted
//	  BECAUSE  rule 1: condition DisruptionTarget
//
//	  RULE 0   FailJob: NOT MATCHED, cost 37 of 1000000
//	           no container has failed with an exit code in [42]
func (i explanationItem) print(w io.Writer) {
	of := "no Job"
	if i.Job.Name != "" {
		of = "Job " + i.Job.String()
	}
	fmt.Fprintf(w, "%s\n\n", terminal.Line(fmt.Sprintf("Pod %s of %s", i.Pod, of)))
	if i.NotCounted == "" {
		row(w, "VERDICT", consequence(i.Verdict, i.Restarting()))
	} else {
		row(w, "VERDICT", fmt.Sprintf("%s, but not counted: %s", i.Verdict.Action, i.NotCounted))
	}
	because := i.Decisive()
	if i.Living != nil {
		because = i.PhaseText()
	}
	if v := i.Verdict; v.Matched {
		because = fmt.Sprintf("%s: %s", v.Subject(), because)
	}
	row(w, "BECAUSE", because)
	if i.recorded {
		row(w, "GIVEN", "when the Pod failed; the rules below are those of the input")
	}
	i.printFailure(w)
	printDetails(w, i.Verdict)
	if v := i.Living; v != nil {
		row(w, "LIVING", fmt.Sprintf("%s: %s", v.Subject(), i.LivingText()))
		printDetails(w, *v)
	}
	if s := i.JobSet; s != nil {
		row(w, "JOB", fmt.Sprintf("fails: %s: %s", s.Job.Reason, s.Job.Message))
		row(w, "JOBSET", s.Name+s.Does())
		row(w, "", s.Message)
	}
	i.printWould(w)
	printNext(w, i.NextAttemptLines())
	if i.Attempt > 0 {
		row(w, "ATTEMPT", strconv.FormatInt(i.Attempt, 10))
	}
	for _, a := range i.Earlier {
		row(w, "BEFORE", before(a))
	}
	if i.Forgotten > 0 {
		row(w, "BEFORE", fmt.Sprintf("not known: %d more, whose Pods are gone or not in the input", i.Forgotten))
	}
	for _, rule := range i.Rules {
		printRule(w, rule.RuleExplanation)
	}
	for n, decider := range i.would {
		if decider != nil {
			fmt.Fprintln(w)
			row(w, "WOULD", "this rule would decide, but "+i.Would[n].NotCarriedOut)
			printRule(w, *decider)
		}
	}
	printAbsent(w, i.absent)
}

// maxAbsent is the maximum number of policies not in force in text output; JSON has them all.
const maxAbsent = 8

// printAbsent writes the policies that are not in force for the Job, and the reasons.
func printAbsent(w io.Writer, policies []binding.Membership) {
	for _, m := range policies[:min(len(policies), maxAbsent)] {
		fmt.Fprintln(w)
		row(w, "POLICY "+m.Policy, "NOT IN FORCE by binding "+m.Binding+": "+string(m.Outcome))
		row(w, "", m.Because)
		if c := m.Condition; c != nil {
			if c.Error != "" {
				row(w, "", c.Error)
			}
			printExpression(w, c.Expression, c.Values)
		}
	}
	if more := len(policies) - maxAbsent; more > 0 {
		fmt.Fprintln(w)
		row(w, "", fmt.Sprintf("and by %d more bindings, see -o json", more))
	}
}

// printDetails writes the class, the budget, the delay, the message and the hint of a verdict.
func printDetails(w io.Writer, v runtime.Verdict) {
	if v.Class != "" {
		row(w, "CLASS", v.Class)
	}
	if b := v.Budget; v.IsUsedUp() {
		row(w, "BUDGET", fmt.Sprintf("%s, then %s: used up by Pods before this one", b, b.Then))
	} else if b.Limit > 0 {
		row(w, "BUDGET", fmt.Sprintf("%s, then %s: the controller counts", b, b.Then))
	}
	if v.RetryDelay != nil {
		row(w, "RETRY", v.RetryDelay.String()+" after the failure")
	}
	if message := strings.TrimSuffix(v.Message(), v.Hinted("", custom.MaxMessage)); message != "" {
		row(w, "MESSAGE", message)
	}
	if v.MessageErr != nil {
		row(w, "", "its messageExpression cannot be shown: "+v.MessageErr.Error())
	}
	if v.Hint != "" {
		row(w, "HINT", v.Hint)
	}
}

// printWould writes the verdicts that are not carried out, and the Job's manager if that is the reason.
func (i explanationItem) printWould(w io.Writer) {
	for _, would := range i.Would {
		text := would.Brief()
		if says := would.Verdict.Says(); says != "" {
			text += ": " + says
		}
		row(w, "WOULD", text)
		row(w, "", "nobody carries it out: "+would.NotCarriedOut)
	}
	switch {
	case i.manager == v1alpha1.JobController || i.manager == batchv1.JobControllerName && !i.custom:
	case i.manager == batchv1.JobControllerName:
		row(w, "MANAGER", i.manager+" carries out the Job's own podFailurePolicy, and no custom policy")
	default:
		row(w, "MANAGER", i.manager+" is taken to carry out the Job's own podFailurePolicy, and no custom policy")
	}
}

func (i explanationItem) printFailure(w io.Writer) {
	f := i.Failure
	if f == nil {
		return
	}
	row(w, "FAILURE", f.Summary)
	var where []string
	if f.Node != "" {
		where = append(where, "on node "+f.Node)
	}
	if f.Duration != "" {
		where = append(where, "after "+f.Duration)
	}
	if len(where) > 0 {
		row(w, "", strings.Join(where, ", "))
	}
	if f.Message != "" && !strings.Contains(f.Summary, f.Message) {
		row(w, "", f.Message)
	}
	for n := range f.Containers {
		if c := &f.Containers[n]; c.Message != "" {
			row(w, "", fmt.Sprintf("%s says: %s", c.Name, shortened(strings.TrimSpace(c.Message))))
		}
	}
}

// consequence describes the effect of a verdict on the Job.
func consequence(v runtime.Verdict, restarting string) string {
	if restarting != "" {
		return "none: the Pod goes on"
	}
	if !v.Terminal {
		return "none yet: only Pods in phase Failed are judged"
	}
	switch v.Action {
	case batchv1.PodFailurePolicyActionFailJob:
		return "FailJob: the Job fails at once"
	case batchv1.PodFailurePolicyActionFailIndex:
		return "FailIndex: the Pod's index fails at once, and the failure is counted"
	case batchv1.PodFailurePolicyActionIgnore:
		return "Ignore: the Pod is replaced, its failure is not counted"
	case "":
		return "none: no Job runs the Pod, and no rules are given"
	default:
		return string(v.Action) + ": the failure is counted towards the Job's limits"
	}
}

// row writes a label and a line of text, which may contain untrusted names.
func row(w io.Writer, label, text string) {
	fmt.Fprintf(w, "  %-7s  %s\n", label, terminal.Line(text))
}

// printRule writes the outcome of a rule. A rule that was not reached gets no details.
func printRule(w io.Writer, r runtime.RuleExplanation) {
	fmt.Fprintln(w)
	label := "RULE " + strings.TrimPrefix(r.Subject(), "rule ")
	if r.Outcome == runtime.OutcomeNotReached {
		truth := "not reached, and would not match"
		if r.Holds {
			truth = "not reached, but would match"
		}
		row(w, label, fmt.Sprintf("%s: %s", r.Action, truth))
		row(w, "", r.Because)
		return
	}
	outcome := strings.ToUpper(string(r.Outcome))
	if r.Outcome == runtime.OutcomeError && r.Ignored {
		outcome += ", ignored"
	}
	row(w, label, fmt.Sprintf("%s: %s, cost %d of %d", r.Action, outcome, r.Cost, compiler.CostLimit))
	row(w, "", r.Because)
	if r.Error != "" {
		row(w, "", r.Error)
	}
	if r.Policy != "" {
		printExpression(w, r.Expression, r.Values)
	}
	for elements := r.Elements; len(elements) > 0; {
		n := alike(elements)
		printElements(w, elements[:n])
		elements = elements[n:]
	}
	if r.Omitted > 0 {
		row(w, "", fmt.Sprintf("  and %d more", r.Omitted))
	}
}

// printExpression writes an expression of a custom policy as its author wrote it, and the values of its parts.
func printExpression(w io.Writer, expression string, values []runtime.Value) {
	for line := range strings.Lines(strings.TrimSpace(expression)) {
		for _, part := range folded(strings.TrimRight(line, "\r\n")) {
			row(w, "", "| "+part)
		}
	}
	printValues(w, "  ", values)
}

// folded breaks a long line at spaces.
func folded(line string) []string {
	var lines []string
	for len(line) > maxLine {
		space := strings.LastIndexByte(line[:maxLine], ' ')
		if space <= 0 {
			break
		}
		lines, line = append(lines, line[:space]), line[space+1:]
	}
	return append(lines, line)
}

// alike counts the leading conditions that do not match for the same reason. A Pod has many conditions that no rule mentions.
func alike(elements []runtime.ElementExplanation) int {
	first, n := elements[0], 1
	for _, e := range elements[1:] {
		if e.Kind != "condition" || e.Matched || first.Matched || e.Because != first.Because {
			break
		}
		n++
	}
	return n
}

func printElements(w io.Writer, alike []runtime.ElementExplanation) {
	e := alike[0]
	if len(alike) > 1 {
		names := make([]string, len(alike))
		for i := range alike {
			names[i] = alike[i].Name
		}
		row(w, "", fmt.Sprintf("  no   %ss %s: each %s", e.Kind, strings.Join(names, ", "), e.Because))
		return
	}
	mark := "no "
	if e.Matched {
		mark = "YES"
	}
	text := fmt.Sprintf("  %s  %s %s, %s", mark, e.Kind, e.Name, e.Observed)
	if e.Because != "" {
		text += ": " + e.Because
	}
	row(w, "", text)
	printValues(w, "         ", e.Values)
}

// comparison is a boolean sub-expression with the value of its operand.
type comparison struct{ expression, value, operand string }

// comparisons returns the boolean values with their operands, which precede them in values, and the variables of custom policies.
func comparisons(values []runtime.Value) []comparison {
	var joined []comparison
	operand := runtime.Value{}
	for _, v := range values {
		if v.Value != "true" && v.Value != "false" {
			operand = v
			if strings.HasPrefix(v.Expression, compiler.VariablesVariable+".") && !strings.ContainsAny(v.Expression, "( ") {
				joined = append(joined, comparison{v.Expression, shortened(v.Value), ""})
			}
			continue
		}
		t := comparison{shortened(v.Expression), v.Value, ""}
		if operand.Expression != "" && strings.Contains(v.Expression, operand.Expression) {
			t.operand = shortened(operand.Value)
		}
		joined = append(joined, t)
	}
	return joined
}

func printValues(w io.Writer, indent string, values []runtime.Value) {
	all := comparisons(values)
	shown := all[:min(len(all), maxComparisons)]
	width := 0
	for _, t := range shown {
		width = max(width, utf8.RuneCountInString(t.expression))
	}
	for _, t := range shown {
		text := fmt.Sprintf("%s%-*s  %s", indent, width, t.expression, t.value)
		if t.operand != "" {
			text += ", with " + t.operand
		}
		row(w, "", text)
	}
	if more := len(all) - len(shown); more > 0 {
		row(w, "", fmt.Sprintf("%sand %d more, see -o json", indent, more))
	}
}

// shortened cuts the middle out of long texts, such as lists of 255 exit codes.
func shortened(text string) string {
	runes := []rune(text)
	if len(runes) <= maxExpression {
		return text
	}
	half := (maxExpression - 3) / 2
	return string(runes[:half]) + "..." + string(runes[len(runes)-half:])
}

// printNext writes the changes to the next attempt.
func printNext(w io.Writer, lines []string) {
	label := "NEXT"
	for _, line := range lines {
		if text, reason, split := strings.Cut(line, " ("); split && len(line) > maxNext {
			row(w, label, text)
			label, line = "", "  ("+reason
		}
		row(w, label, line)
		label = ""
	}
}

// maxNext is the maximum length of a line about the next attempt after its label, on a screen of 80 columns.
const maxNext = 80 - len("  EXPLAIN  ")

// before describes how an earlier attempt ended, and which rule decided.
func before(a cel.Attempt) string {
	parts := []string{fmt.Sprintf("%s: exit code %d", a.FinishTime.Format(time.RFC3339), a.ExitCode)}
	for _, part := range [][2]string{{"", a.Reason}, {"on node ", a.Node}, {"by rule ", a.Rule}} {
		if part[1] != "" {
			parts = append(parts, part[0]+part[1])
		}
	}
	return strings.Join(parts, ", ")
}
