package main

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime/rego"
)

// printReport writes a report. It returns errFindings when there are findings.
func printReport(c *console, r report.Report, output format) error {
	r.Version = readVersion().Version
	if err := r.Write(c.stdout, output.name); err != nil {
		return err
	}
	if r.Count() > 0 {
		return errFindings
	}
	return nil
}

// jobSubject returns a Job without findings. A Job that was read from a cluster has no file.
func jobSubject(job manifest.Job) report.Subject {
	named := job.Reference()
	s := report.Subject{Namespace: named.Namespace, Name: named.Name}
	if !job.Origin.Live() {
		s.File = job.Origin.Document.File
	}
	return s
}

// finding returns a finding of the verb itself, which is about no rule.
func finding(o manifest.Origin, check string, severity compiler.Severity, path, message, hint string) report.Finding {
	f := report.Finding{Check: check, Severity: string(severity), Field: path, Message: message, Hint: hint}
	return f.Placed(o, o.Position(path))
}

// ownFinding returns what lint has found in the podFailurePolicy of a Job.
func ownFinding(o manifest.Origin, f compiler.Finding) report.Finding {
	found := finding(o, f.Check, f.Severity, f.Field, f.Message, f.Hint)
	found.Rule = &f.Rule
	return found
}

// customFinding returns what the compiler has found in an expression of a custom policy.
func customFinding(o manifest.Origin, f custom.Finding) report.Finding {
	found := report.Finding{
		Check: f.Check, Severity: string(f.Severity), RuleName: f.RuleName, Field: f.Field, Message: f.Message, Hint: f.Hint,
	}
	if f.Rule != custom.NoRule {
		found.Rule = &f.Rule
	}
	return found.Placed(o, o.PositionIn(f.Field, f.Line, f.Column))
}

// invalidFinding returns what the API server would refuse in a custom policy or a binding.
func invalidFinding(o manifest.Origin, e *field.Error) report.Finding {
	found := finding(o, checkInvalid, compiler.Error, e.Field, e.ErrorBody(), "")
	found.Type = string(e.Type)
	return found
}

// regoFinding returns what the bundle has found in a Job.
func regoFinding(o manifest.Origin, f rego.Finding) report.Finding {
	return report.Finding{
		Check: f.ID, Severity: f.Severity, Rule: ruleOf(f.Field), Field: f.Field, Type: f.Type, Message: f.Sentence(),
	}.Placed(o, o.Position(f.Field))
}

var ruleIndex = regexp.MustCompile(`podFailurePolicy\.rules\[(\d+)\]`)

// ruleOf returns the index of the rule that a field belongs to, or nil.
func ruleOf(field string) *int {
	match := ruleIndex.FindStringSubmatch(field)
	if match == nil {
		return nil
	}
	index, err := strconv.Atoi(match[1])
	if err != nil {
		return nil
	}
	return &index
}

// inFileOrder sorts findings by their places.
func inFileOrder(findings []report.Finding) {
	slices.SortStableFunc(findings, func(a, b report.Finding) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
}
