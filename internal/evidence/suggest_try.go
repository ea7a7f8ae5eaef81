package evidence

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
)

// maxNamed is the maximum number of Jobs named for a rule.
const maxNamed = 3

// match is a failed Pod that a rule decides.
type match struct {
	*Attempt
	pod     *corev1.Pod
	verdict runtime.Verdict
}

// try adds the difference that the policy would have made in a Job.
func (s *Suggestion) try(ctx context.Context, book *snapshot.Rulebook, f *gathering.Family, o *Outcome) error {
	job := f.Job.Stored()
	if !s.custom {
		job.Spec.PodFailurePolicy = s.PodFailurePolicy
	}
	rules, err := book.For(ctx, job)
	if err != nil {
		return err
	}
	snap := snapshotOf(f.Pods, job, rules, false)
	attempts := map[string]*Attempt{}
	for i := range o.Attempts {
		attempts[o.Attempts[i].Pod] = &o.Attempts[i]
	}
	by := make([][]match, len(s.Rules))
	for i, d := range snap.Decisions(ctx) {
		v := d.Verdict
		if rule, a := s.ruleOf(v), attempts[f.Pods[i].Object.Name]; rule >= 0 && a != nil && !a.Stopped {
			by[rule] = append(by[rule], match{a, f.Pods[i].Object, v})
		}
	}
	s.Effect.Merge(new(replayOf(o, slices.Concat(by...))))
	for i, matches := range by {
		if len(matches) > 0 {
			s.Rules[i].take(o, matches)
		}
	}
	return nil
}

func replayOf(o *Outcome, matches []match) Effect {
	verdicts := make(map[string]runtime.Verdict, len(matches))
	for _, m := range matches {
		verdicts[m.Pod] = m.verdict
	}
	return Replay(o, verdicts)
}

// take adds the Pods of a Job that the rule decides.
func (r *SuggestedRule) take(o *Outcome, matches []match) {
	effect := replayOf(o, matches)
	r.Effect.Merge(&effect)
	r.Pods += int64(len(matches))
	r.Jobs++
	r.Named = firstOf(maxNamed, append(r.Named, o.Namespace+"/"+o.Job))
	speaks := r.About == OnCode && o.State == Failed && effect.Saved > 0 || r.About == OnDisruption && o.Disrupted
	lines := map[int]bool{}
	for _, m := range matches {
		r.disrupted = r.disrupted || m.Disrupted
		switch r.About {
		case OnCode:
			r.containers = firstOf(2, append(r.containers, m.verdict.Container))
			r.several = r.several || len(m.pod.Spec.Containers)+len(m.pod.Spec.InitContainers) > 1
		case OnNode:
			speaks = speaks || m.Recovered
		case OnMemory:
			if had := memoryOf(m.pod, m.Attempt.Container); lines[m.Line] && had > 0 {
				r.Memory, speaks = max(r.Memory, 4*had), true
			}
			lines[m.Line] = true
		}
	}
	if speaks {
		r.For++
	}
}

// memoryOf returns a container's memory limit, or else its request, in bytes: at most 1 PiB.
func memoryOf(pod *corev1.Pod, container string) int64 {
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		if c.Name == container {
			return min(1<<50, max(c.Resources.Limits.Memory().Value(), c.Resources.Requests.Memory().Value()))
		}
	}
	return 0
}

// narrow drops the rules that would have failed completed Jobs, and those that too few Jobs support. It reports whether the remaining
// rules must be tried again.
func (s *Suggestion) narrow(allowLoss bool) bool {
	if s.putFirst() {
		return true
	}
	kept := []SuggestedRule{}
	for _, r := range s.Rules {
		enough := int64(enoughMishaps)
		if r.About == OnCode {
			enough = enoughJobs
		}
		switch {
		case r.Effect.Lost > 0 && !allowLoss:
			s.Notes = append(s.Notes, fmt.Sprintf("no rule on %s: it would have failed %d that completed", &r, r.Effect.Lost))
		case r.First || r.For >= enough:
			kept = append(kept, r)
		case r.For > 0:
			r.Need = enough - r.For
			s.TooFew = append(s.TooFew, r)
		}
	}
	if !slices.ContainsFunc(kept, func(r SuggestedRule) bool { return !r.First }) {
		kept, s.Effect = kept[:0], Effect{}
	}
	changed := len(kept) < len(s.Rules)
	s.Rules = kept
	return changed && len(kept) > 0
}

// putFirst adds a rule on disruptions before rules on exit codes that disrupted Pods also had.
func (s *Suggestion) putFirst() bool {
	overlaps := func(r SuggestedRule) bool { return r.disrupted && r.About == OnCode }
	if !slices.ContainsFunc(s.Rules, overlaps) || slices.ContainsFunc(s.Rules, onDisruption) {
		return false
	}
	rule := SuggestedRule{About: OnDisruption, Action: batchv1.PodFailurePolicyActionIgnore, First: true}
	s.Rules = append([]SuggestedRule{rule}, s.Rules...)
	s.TooFew = slices.DeleteFunc(s.TooFew, onDisruption)
	return true
}

// finish creates the policy.
func (s *Suggestion) finish() error {
	for i := range s.Rules {
		if r := &s.Rules[i]; r.several && len(r.containers) == 1 && len(validation.IsDNS1123Label(r.containers[0])) == 0 {
			r.Container = r.containers[0]
		}
	}
	slices.SortFunc(s.Rules, compareSuggested)
	slices.SortFunc(s.TooFew, compareSuggested)
	slices.Sort(s.Notes)
	s.Rules, s.Notes = append([]SuggestedRule{}, s.Rules...), append([]string{}, s.Notes...)
	s.PodFailurePolicy, s.Policy, s.Binding = nil, nil, nil
	if len(s.Rules) == 0 {
		return nil
	}
	return s.write(true)
}
