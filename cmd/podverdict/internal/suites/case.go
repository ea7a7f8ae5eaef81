package suites

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
)

// trial is a case prepared for evaluation.
type trial struct {
	judge *judge
	pod   snapshot.Pod
	// used counts the earlier matches of rules that have a budget.
	used    map[ruleID]int32
	audited bool
}

// input returns the input with which the rules are evaluated.
func (t *trial) input() runtime.Input { return t.pod.Input(t.judge.job, time.Time{}) }

// ruleID identifies a rule by its policy and index. Rules of the Job's own podFailurePolicy have no policy and no name.
type ruleID struct {
	Policy string `json:"policy,omitempty"`
	Rule   int    `json:"rule"`
	Name   string `json:"ruleName,omitempty"`
}

// Subject returns the name of the rule as used in verdicts.
func (r ruleID) Subject() string {
	return runtime.RuleExplanation{Policy: r.Policy, RuleName: r.Name, Rule: r.Rule}.Subject()
}

// defaultAge is the time a Pod has spent in its phase when a case does not specify it.
const defaultAge = time.Minute

// prepare builds the Pod of a case and selects the rules that apply to it.
func (s *Suite) prepare(ctx context.Context, i int) (*trial, error) {
	c, field := &s.document.Cases[i], caseField(i)
	cases, _ := s.tree["cases"].([]any)
	tree, _ := cases[i].(map[string]any)
	t := &trial{judge: s.base, audited: c.Audited}
	b := builder{suite: s, job: s.base.job, built: s.scenarios}
	if tree["job"] != nil {
		given := manifest.Job{Object: s.job.Object.DeepCopy(), Origin: s.origin}
		given.Origin.Path = field + ".job"
		delta{tree["job"], given.Origin.Path}.apply(given.Object, b.fail)
		if err := b.error(); err != nil {
			return nil, err
		}
		changed, err := s.rulebook.judge(ctx, given)
		if err != nil {
			return nil, err
		}
		t.judge = changed
		b.job, b.built = changed.job, maps.Clone(s.pods)
		if reflect.DeepEqual(changed.policy, s.base.policy) {
			changed.own, changed.policy = s.base.own, s.base.policy
		}
	}
	pod := b.build(&c.scenario, tree, field)
	t.pod = snapshot.Pod{Object: pod, Attempt: int64(len(c.Attempts)) + 1, Earlier: c.earlier()}
	t.used = s.usedBudgets(c.Matches, field+".matches", b.fail)
	s.checkRule(&c.Expect, t.judge, field+".expect", b.fail)
	if err := b.error(); err != nil {
		return nil, err
	}
	pod.Namespace = cmp.Or(pod.Namespace, t.judge.job.Namespace)
	if c.Attempt != nil {
		t.pod.Attempt = *c.Attempt
	}
	t.pod.Node, t.pod.NodesRead = b.node(&c.scenario, pod, tree, field), true
	t.pod.Now = c.now(pod, field, b.fail)
	return t, b.error()
}

// earlier returns the earlier attempts in the form that rules read.
func (c *caseDocument) earlier() []cel.Attempt {
	var all []cel.Attempt
	for _, a := range c.Attempts {
		all = append(all, cel.Attempt{
			Node: a.Node, ExitCode: a.ExitCode, Reason: a.Reason, OOMKilled: a.OOMKilled,
			StartTime: a.StartTime.Time, FinishTime: a.FinishTime.Time, Policy: a.Policy, Rule: a.Rule,
		})
	}
	return all
}

// age is a case field for the time that the Pod has spent in a state. Its name is also the name of a CEL function.
type age struct {
	name  string
	given *metav1.Duration
}

func (c *caseDocument) ages() []age {
	return []age{
		{cel.PendingForFunction, c.PendingFor}, {cel.RunningForFunction, c.RunningFor},
		{cel.TerminatingForFunction, c.TerminatingFor}, {cel.NotReadyForFunction, c.NotReadyFor},
	}
}

// now returns the time at which the Pod is judged. It reports an error for an age that does not fit the Pod's state.
func (c *caseDocument) now(pod *corev1.Pod, field string, fail func(field, message string)) time.Time {
	now := pod.CreationTimestamp.Add(defaultAge)
	for _, a := range c.ages() {
		switch since := cel.Ages[a.name].Since(pod); {
		case a.given != nil && since.IsZero():
			fail(field+"."+a.name, fmt.Sprintf("does not fit the Pod, whose phase is %s", v1alpha1.PhaseOf(pod)))
		case a.given != nil:
			return since.Add(a.given.Duration)
		case !since.IsZero() && a.name != cel.NotReadyForFunction:
			now = since.Add(defaultAge)
		}
	}
	if c.Now != nil {
		return c.Now.Time
	}
	return now
}

// usedBudgets looks up the rules with budgets by name and returns their earlier matches.
func (s *Suite) usedBudgets(matches map[string]int32, field string, fail func(field, message string)) map[ruleID]int32 {
	if len(matches) == 0 {
		return nil
	}
	used, given := map[ruleID]int32{}, map[ruleID]string{}
	for _, name := range slices.Sorted(maps.Keys(matches)) {
		at := manifest.FieldOfKey(field, name)
		found, names := []ruleID{}, []string{}
		var in []string
		budget := true
		for _, p := range s.rulebook.policies {
			for i := range p.Rules {
				names = append(names, p.Rules[i].Name)
				if name == p.Rules[i].Name || name == p.Name+"/"+p.Rules[i].Name {
					found, in, budget = append(found, ruleID{p.Name, i, p.Rules[i].Name}), append(in, p.Name), p.Rules[i].Budget != nil
				}
			}
		}
		switch {
		case len(found) == 0:
			fail(at, cli.UnknownName("rule", name, names))
		case len(found) > 1:
			fail(at, fmt.Sprintf("rule %s is in %s: name the policy, as in %s/%s", name, strings.Join(in, " and "), in[0], name))
		case !budget:
			fail(at, fmt.Sprintf("rule %s has no budget", name))
		case given[found[0]] != "":
			fail(at, "is the same rule as "+given[found[0]])
		default:
			used[found[0]], given[found[0]] = matches[name], name
		}
	}
	return used
}

// checkRule reports an error if the expected policy or rule does not exist.
func (s *Suite) checkRule(e *expectation, j *judge, field string, fail func(field, message string)) {
	var policies, rules []string
	for _, p := range s.rulebook.policies {
		policies = append(policies, p.Name)
		for i := range p.Rules {
			rules = append(rules, p.Rules[i].Name)
		}
	}
	if e.Policy != nil && *e.Policy != "" && !slices.Contains(policies, *e.Policy) {
		fail(field+".policy", cli.UnknownName("policy", *e.Policy, policies))
	}
	if e.Retry != nil {
		e.Retry.check(&j.job.Spec.Template.Spec, field+".retry", fail)
	}
	switch r := e.Rule; {
	case r == nil:
	case r.Type == intstr.String && !slices.Contains(rules, r.StrVal):
		fail(field+".rule", cli.UnknownName("rule", r.StrVal, rules))
	case r.Type == intstr.Int && (r.IntVal < 0 || int(r.IntVal) >= ownRules(j.policy)):
		fail(field+".rule", cli.UnknownName("rule of the Job's own", strconv.Itoa(r.IntValue()), nil))
	}
}

func ownRules(p *batchv1.PodFailurePolicy) int {
	if p == nil {
		return 0
	}
	return len(p.Rules)
}

func (t *trial) decision(ctx context.Context) decision {
	v, spared := t.judge.verdict(ctx, t.input(), t.audited)
	if v.Matched && v.Budget.Limit > 0 && t.used[idOf(v)] >= v.Budget.Limit {
		v = v.UsedUp()
	}
	ended := v.Matched && spared == "" && v1alpha1.Lives(v1alpha1.PhaseOf(t.pod.Object))
	return decision{verdict: v, ended: ended, spared: spared, err: joined(t.judge.selection.Problems, v.Err)}
}

func idOf(v runtime.Verdict) ruleID { return ruleID{v.Policy, v.Rule, v.RuleName} }
