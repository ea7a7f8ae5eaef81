package check

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime/rego"
)

// Checks of this package. The Rego bundle and the compilers define the other checks.
const (
	checkInvalid           = "invalid-field"
	checkNoPolicy          = "missing-policy"
	checkIndexBudget       = "budget-without-indexes"
	checkLivingIgnored     = "living-ignored"
	checkConditionUnread   = "condition-unread"
	checkConditionNeverSet = "condition-never-set"
	checkNeverRestarts     = "never-restarts"
	checkBudget            = "budget-unreachable"
	checkDryRun            = "fails-on-scenario"
	checkIdle              = "verdicts-not-carried-out"
	checkOutlivesQueue     = "retry-outlives-queue"
	checkMaxBelowBase      = "retry-max-below-base"
	checkChangesQoS        = "retry-changes-qos"
	checkBeyondAdmission   = "retry-beyond-admission"
	checkAvoidsTooMany     = "retry-avoids-too-many"
	checkWithoutMemory     = "retry-without-memory"
	checkUnreadable        = "unreadable"
	checkContainer         = "rule-container-unknown"
	checkRunsAgain         = "child-job-runs-again"
	checkTTL               = "ttl-out-of-bounds"
	checkHostname          = "index-hostname-invalid"
	checkBackoffLimit      = "backoff-limit-too-high"
	checkRestarts          = "restarts-in-place"
)

func newSubject(job manifest.Job) findings.Subject {
	named := job.Reference()
	return findings.Subject{Namespace: named.Namespace, Name: named.Name, File: job.Origin.Document.File}
}

// newFinding returns a finding that is not about a rule.
func newFinding(o manifest.Origin, check string, severity compiler.Severity, path, message, hint string) findings.Finding {
	f := findings.Finding{Check: check, Severity: string(severity), Field: path, Message: message, Hint: hint}
	return f.Placed(o, o.Position(path))
}

// compilerFinding converts a compiler finding about the rules of a Job or of a custom policy.
func compilerFinding(o manifest.Origin, f compiler.Finding) findings.Finding {
	found := findings.Finding{
		Check: f.Check, Severity: string(f.Severity), RuleName: f.RuleName, Field: f.Field, Message: f.Message, Hint: f.Hint,
	}
	if f.Rule != compiler.NoRule {
		found.Rule = &f.Rule
	}
	return found.Placed(o, o.PositionIn(f.Field, f.Line, f.Column))
}

// invalidFinding converts a validation error of a custom policy or a binding that the API server would return.
func invalidFinding(o manifest.Origin, e *field.Error) findings.Finding {
	found := newFinding(o, checkInvalid, compiler.Error, e.Field, e.ErrorBody(), "")
	found.Type = string(e.Type)
	return found
}

// regoFinding converts a finding of the Rego bundle about a Job.
func regoFinding(o manifest.Origin, f rego.Finding) findings.Finding {
	rule, _ := catalogue.Find(f.ID)
	found := findings.Finding{
		Check: rule.ID, Aliases: rule.Aliases, Severity: f.Severity, Rule: ruleOf(f.Field), Field: f.Field, Type: f.Type,
		Message: f.Sentence(), Hint: asHint(rule.Fix),
	}
	return found.Placed(o, o.Position(f.Field))
}

// asHint formats the first sentence of advice as a hint: without initial capital, full stop and code marks.
func asHint(fix string) string {
	text, _, _ := strings.Cut(strings.ReplaceAll(fix, "`", ""), ". ")
	return strings.ToLower(text[:1]) + strings.TrimSuffix(text[1:], ".")
}

var ruleIndex = regexp.MustCompile(`podFailurePolicy\.rules\[(\d+)\]`)

// ruleOf returns the index of the rule that contains a field, or nil.
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

// merged adds compiler findings to the bundle's findings. Findings of both in the same rule are reported once, with the severity from the
// bundle's settings and the compiler's message, which names the rules and codes concerned.
func (in inspector) merged(found, compiled []findings.Finding) []findings.Finding {
	for _, a := range compiled {
		if a.Check == compiler.CheckUnreachable && slices.ContainsFunc(found, func(f findings.Finding) bool {
			return f.Check == checkContainer && f.Field == a.Field
		}) {
			continue // the unknown container explains why the rule is unreachable
		}
		i := slices.IndexFunc(found, func(f findings.Finding) bool { return f.Check == a.Check && samePlace(f, a) })
		if i < 0 {
			if !in.choice.decides(a.Check) {
				found = append(found, a)
			}
			continue
		}
		a.Severity, a.Type, a.Aliases = found[i].Severity, found[i].Type, found[i].Aliases
		found[i] = a
	}
	return found
}

func samePlace(a, b findings.Finding) bool {
	if a.Rule != nil && b.Rule != nil {
		return *a.Rule == *b.Rule
	}
	return a.Field == b.Field
}

func inFileOrder(all []findings.Finding) {
	slices.SortStableFunc(all, func(a, b findings.Finding) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
}

// unreadable returns subjects for read errors: invalid documents, and input that could not be read at all.
func unreadable(err error) []findings.Subject {
	var all []findings.Subject
	for _, err := range manifest.EachError(err) {
		f := findings.Finding{Check: checkUnreadable, Severity: string(compiler.Error), Message: err.Error()}
		if placed, ok := errors.AsType[*manifest.Error](err); ok {
			f.At, f.Excerpt, f.Field, f.Message, f.Hint = placed.Position(), placed.Excerpt(), placed.Field, placed.Message, placed.Hint
		}
		if n := len(all); n > 0 && f.At.File != "" && all[n-1].File == f.At.File {
			all[n-1].Findings = append(all[n-1].Findings, f)
			continue
		}
		all = append(all, findings.Subject{Kind: findings.Document, Name: cmp.Or(f.At.File, "input"), File: f.At.File, Findings: []findings.Finding{f}})
	}
	return all
}
