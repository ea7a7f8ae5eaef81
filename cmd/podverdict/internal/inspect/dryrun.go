package inspect

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/inforce"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/scenarios"
	"github.com/podverdict/podverdict/runtime"
)

// dryRunTime is the time for rules on Pending, long after the Pods of scenarios were created.
var dryRunTime = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// failure is what happens when a rule is evaluated on scenarios.
type failure struct {
	scenario *scenarios.Scenario // the first that has an error
	err      string
	more     int // scenarios with errors
}

// dryRun evaluates the rules of a policy on each built-in scenario of a Job, and returns a finding for each rule that cannot be
// evaluated on some: its failures would count, whatever the rule says.
func dryRun(ctx context.Context, p *inforce.Policy, job *batchv1.Job) []report.Finding {
	failures := map[int]*failure{}
	for i := range scenarios.All {
		s := &scenarios.All[i]
		if s.Phase != corev1.PodFailed && s.Phase != corev1.PodPending {
			continue
		}
		rules, err := p.Compiled.Explain(ctx, runtime.Input{Pod: s.Pod(job), Job: job, Attempt: 1, Now: dryRunTime})
		if err != nil {
			return nil
		}
		for _, r := range rules {
			switch f := failures[r.Rule]; {
			case r.Error == "":
			case f == nil:
				failures[r.Rule] = &failure{scenario: s, err: r.Error}
			default:
				f.more++
			}
		}
	}
	var found []report.Finding
	for i, r := range p.Compiled.Rules {
		if f := failures[i]; f != nil && !guarded(p, i) {
			found = append(found, f.finding(p, i, r.Name))
		}
	}
	return found
}

// guarded tells whether the compiler has said already that a field may be absent.
func guarded(p *inforce.Policy, rule int) bool {
	for _, f := range p.Findings {
		if f.Rule == rule && (f.Check == "unguarded-field" || f.Check == "unguarded-has") {
			return true
		}
	}
	return false
}

func (f *failure) finding(p *inforce.Policy, rule int, name string) report.Finding {
	others := ""
	if f.more > 0 {
		others = fmt.Sprintf(", and on %d more", f.more)
	}
	field := fmt.Sprintf("spec.rules[%d].when", rule)
	_, why, _ := strings.Cut(f.err, field+": ")
	message := fmt.Sprintf("the rule cannot be evaluated on the scenario %s%s: %s", f.scenario.Name, others, firstLine(cmp.Or(why, f.err)))
	found := newFinding(p.Origin, checkDryRun, compiler.Error, field, message,
		"ask first whether there is such an element, key or divisor; podverdict test scenarios "+f.scenario.Name+" shows the Pod")
	found.Rule, found.RuleName = &rule, name
	return found
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
