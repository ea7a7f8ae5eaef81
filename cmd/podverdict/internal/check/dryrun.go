package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/kube/restart"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
)

// dryRunTime is the time at which rules on living Pods are evaluated, long after the scenarios' Pods were created.
var dryRunTime = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// trial is a Pod of a scenario, evaluated as some attempt of a Job.
type trial struct {
	scenario *scenarios.Scenario
	attempt  int64
	rules    []runtime.RuleExplanation
}

// maxAttempts limits the number of attempts per scenario. The run time is proportional to it.
const maxAttempts = 8

// attempts returns the first attempt, and the attempt numbers at which an expression of the policy may change its result.
func attempts(p *runtime.Policy) []int64 {
	all := []int64{1}
	for _, x := range p.Compiled.Expressions() {
		for _, n := range x.Attempts() {
			all = append(all, max(1, n), max(1, n+1))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxAttempts)]
}

// try evaluates the rules of a policy on the built-in scenarios of a Job. It returns nil if the evaluation fails, such as when the
// context is done.
func try(ctx context.Context, p *runtime.Policy, job *batchv1.Job, attempts []int64) []trial {
	var all []trial
	for i := range scenarios.All {
		s := &scenarios.All[i]
		if s.Phase == corev1.PodSucceeded {
			continue
		}
		pod := snapshot.Pod{Object: s.Pod(job, restart.Gates{}), Node: s.Node(job), NodesRead: true} // more Pods fail without gates
		for _, pod.Attempt = range attempts {
			rules, err := p.Explain(ctx, pod.Input(job, dryRunTime))
			if err != nil {
				return nil
			}
			all = append(all, trial{s, pod.Attempt, rules})
		}
	}
	return all
}

// failure is the first error of a rule on a scenario.
type failure struct {
	trial
	err       string
	scenarios map[string]bool // scenarios with errors
}

// dryRun returns a finding for each rule of a policy that cannot be evaluated on some scenario. Such failures count, regardless of the
// rule's action.
func dryRun(ctx context.Context, p *effective.Policy, job *batchv1.Job) []findings.Finding {
	failures := map[int]*failure{}
	for _, t := range try(ctx, p.Compiled, job, attempts(p.Compiled)) {
		for _, r := range t.rules {
			if r.Error == "" {
				continue
			}
			if failures[r.Rule] == nil {
				failures[r.Rule] = &failure{t, r.Error, map[string]bool{}}
			}
			failures[r.Rule].scenarios[t.scenario.Name] = true
		}
	}
	var found []findings.Finding
	for i, r := range p.Compiled.Rules {
		if f := failures[i]; f != nil && !guarded(p.Findings, i) {
			found = append(found, f.finding(p, i, r.Name))
		}
	}
	return found
}

// guarded reports whether the compiler has already reported that a field may be absent.
func guarded(findings []compiler.Finding, rule int) bool {
	return slices.ContainsFunc(findings, func(f compiler.Finding) bool { return f.Rule == rule && keepsVerdicts(f) })
}

func (f *failure) finding(p *effective.Policy, rule int, name string) findings.Finding {
	which := f.scenario.Name
	if f.attempt > 1 {
		which += fmt.Sprintf(" as attempt %d", f.attempt)
	}
	if more := len(f.scenarios) - 1; more > 0 {
		which += fmt.Sprintf(", and on %d more", more)
	}
	field := fmt.Sprintf("spec.rules[%d].when", rule)
	_, why, _ := strings.Cut(f.err, field+": ")
	message := fmt.Sprintf("the rule cannot be evaluated on the scenario %s: %s", which, firstLine(cmp.Or(why, f.err)))
	found := newFinding(p.Origin, checkDryRun, compiler.Error, field, message,
		"ask first whether there is such an element, key or divisor; podverdict test scenarios "+f.scenario.Name+" shows the Pod")
	found.Rule, found.RuleName = &rule, name
	return found
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
