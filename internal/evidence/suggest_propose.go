package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/podverdict/podverdict/internal/input/gathering"
)

const (
	// enoughJobs is the number of Jobs that must fail after an exit code despite retries. If none of 10 completes, then with 95 %
	// confidence at most 26 % do (1 - 0.05^(1/10)). So ten Jobs save at least one attempt each, at the cost of at most three that must be
	// run again.
	enoughJobs = 10
	// enoughMishaps is the number of Jobs that distinguishes a pattern from an accident, for rules that fail no Job.
	enoughMishaps = 3
	// maxLoss is the number of supporting Jobs required for each Job against a rule, if losses are allowed.
	maxLoss = 20
	// maxRules is the maximum number of rules of a podFailurePolicy.
	maxRules = 20
)

// group identifies Jobs for which a single podFailurePolicy can be suggested: by whether they have backoffLimitPerIndex, and their own
// rules.
type group struct{ perIndex, own bool }

// sight collects observations of Jobs before rules are tried.
type sight struct {
	custom bool
	groups map[group]*groupSight
	own    []string         // up to two different podFailurePolicies of Jobs, encoded
	left   map[string]int64 // number of Jobs without evidence, by reason
}

// groupSight aggregates failures that no rule matched, except disruptions and Pods that ended with their Job.
type groupSight struct {
	Fold

	jobs, disrupted int64 // number of Jobs, and of Jobs that failed because of disruptions
}

func newSight(custom bool) *sight {
	s := &sight{custom: custom, groups: map[group]*groupSight{}, left: map[string]int64{}}
	for _, g := range []group{{}, {perIndex: true}, {own: true}, {true, true}} {
		s.groups[g] = &groupSight{}
	}
	return s
}

// groupOf returns the group of a Job, or the reason why it provides no evidence. A custom policy applies in addition to the Jobs' own
// rules.
func (s *sight) groupOf(f *gathering.Family) (g group, why string) {
	if f.Job == nil {
		return g, "of which only Pods are in the input"
	}
	job := f.Job.Object
	if job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		return g, "with restartPolicy OnFailure, which excludes a podFailurePolicy"
	}
	rules := job.Spec.PodFailurePolicy
	return group{job.Spec.BackoffLimitPerIndex != nil, !s.custom && rules != nil && len(rules.Rules) > 0}, ""
}

// add adds the Outcome of a Job, or the reason why it is unknown.
func (s *sight) add(f *gathering.Family, o *Outcome, wrong error) error {
	g, why := s.groupOf(f)
	if wrong != nil {
		why = "that cannot be judged"
	}
	if why != "" {
		s.left[why]++
		return nil
	}
	if g.own {
		encoded, _ := f.Job.Object.Spec.PodFailurePolicy.Marshal()
		s.own = firstOf(2, append(s.own, string(encoded)))
	}
	seen := s.groups[g]
	seen.jobs++
	if o.Disrupted {
		seen.disrupted++
	}
	some := *o
	some.Attempts = slices.DeleteFunc(slices.Clone(o.Attempts), func(a Attempt) bool { return a.Failed && (a.Disrupted || a.Stopped || a.Verdict.Matched) })
	seen.Add(&some)
	return nil
}

// firstOf returns the first n different strings of a list, sorted.
func firstOf(n int, all []string) []string {
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(n, len(all))]
}

// propose returns the rules to try.
func (s *sight) propose(allowLoss bool) *Suggestion {
	made := &Suggestion{custom: true}
	if s.custom {
		both := Fold{}
		for _, g := range []group{{}, {perIndex: true}} {
			made.group = g
			made.add(s.groups[g], allowLoss)
			both.Merge(&s.groups[g].Fold)
		}
		made.addRetries(&both)
	} else {
		made = s.choose(allowLoss)
	}
	for _, why := range slices.Sorted(maps.Keys(s.left)) {
		made.Notes = append(made.Notes, fmt.Sprintf("left out %s %s", countJobs(s.left[why]), why))
	}
	slices.SortFunc(made.Rules, func(a, b SuggestedRule) int { return cmp.Or(cmp.Compare(b.For, a.For), compareSuggested(a, b)) })
	if room := max(0, maxRules-made.Own); len(made.Rules) > room {
		made.Rules = made.Rules[:room]
	}
	slices.SortFunc(made.Rules, compareSuggested)
	made.APIVersion, made.Kind, made.TooFew = "podverdict.io/v1alpha1", "Suggestion", []SuggestedRule{}
	return made
}

// choose proposes rules for the Jobs without rules, or for all Jobs if all have the same rules. It considers either Jobs with
// backoffLimitPerIndex or the others, whichever are more, because no rule on exit codes fits both.
func (s *sight) choose(allowLoss bool) *Suggestion {
	jobs := func(perIndex, own bool) int64 { return s.groups[group{perIndex, own}].jobs }
	own := len(s.own) == 1 && jobs(false, false)+jobs(true, false) == 0
	made := &Suggestion{group: group{jobs(true, own) > jobs(false, own), own}}
	if own {
		rules := &batchv1.PodFailurePolicy{}
		_ = rules.Unmarshal([]byte(s.own[0]))
		made.own, made.Own = rules.Rules, len(rules.Rules)
	}
	made.add(s.groups[made.group], allowLoss)
	which := map[bool]string{true: "with", false: "without"}
	if n := jobs(false, !own) + jobs(true, !own); n > 0 {
		made.Notes = append(made.Notes, fmt.Sprintf("left out %s with rules: not all have the same; --owner chooses Jobs", countJobs(n)))
	}
	if n := jobs(!made.group.perIndex, own); n > 0 {
		made.Notes = append(made.Notes, fmt.Sprintf("left out %s %s backoffLimitPerIndex; --owner chooses Jobs", countJobs(n), which[!made.group.perIndex]))
	}
	return made
}

// add adds a rule on disruptions, and a rule for each exit code after which nothing succeeded.
func (s *Suggestion) add(seen *groupSight, allowLoss bool) {
	s.Jobs += seen.jobs
	if seen.disrupted > 0 && !slices.ContainsFunc(s.Rules, onDisruption) {
		s.Rules = append(s.Rules, SuggestedRule{About: OnDisruption, Action: batchv1.PodFailurePolicyActionIgnore, For: seen.disrupted})
	}
	action := batchv1.PodFailurePolicyActionFailJob
	if s.group.perIndex {
		action = batchv1.PodFailurePolicyActionFailIndex
	}
	table := seen.By[ByCode]
	if table == nil {
		return
	}
	table.Shrink()
	for value, cell := range table.Cells {
		lost := max(cell.Completed, cell.Recovered)
		code, err := strconv.ParseInt(value, 10, 32)
		if err == nil && cell.Retried > cell.Recovered && (lost == 0 || allowLoss && lost*maxLoss <= cell.Jobs) {
			s.Rules = append(s.Rules, SuggestedRule{About: OnCode, Action: action, Code: int32(code), For: cell.Jobs, perIndex: s.group.perIndex})
		}
	}
}

// addRetries adds the rules that change the next attempt.
func (s *Suggestion) addRetries(f *Fold) {
	if table := f.By[ByReason]; table != nil && table.Cells[oomKilled] != nil {
		s.Rules = append(s.Rules, SuggestedRule{About: OnMemory, Action: batchv1.PodFailurePolicyActionCount, For: table.Cells[oomKilled].Jobs})
	}
	for _, cause := range f.causes() {
		if cause.Kind == OnNode && len(validation.IsDNS1123Subdomain(cause.Value)) == 0 {
			s.Rules = append(s.Rules, SuggestedRule{
				About: OnNode, Action: batchv1.PodFailurePolicyActionCount, Node: cause.Value, Text: cause.Text, For: cause.Jobs,
			})
		}
	}
}

func onDisruption(r SuggestedRule) bool { return r.About == OnDisruption }

// suggestedOrder is the order of rules. Failures that the program did not cause come first, as KEP-3329 recommends.
var suggestedOrder = []string{OnDisruption, OnMemory, OnCode, OnNode}

func compareSuggested(a, b SuggestedRule) int {
	index := func(r SuggestedRule) int { return slices.Index(suggestedOrder, r.About) }
	return cmp.Or(cmp.Compare(index(a), index(b)), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Container, b.Container),
		cmp.Compare(a.Code, b.Code), cmp.Compare(a.Node, b.Node))
}

func countJobs(n int64) string {
	return fmt.Sprintf("%d Job%s", n, map[bool]string{false: "s"}[n == 1])
}
