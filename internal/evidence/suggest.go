package evidence

import (
	"context"
	"fmt"
	"iter"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/snapshot"
)

// Suggestion is a policy with its evidence; a contract with other programs.
type Suggestion struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`

	// Jobs are those that the policy was tried on, and Effect is what it would have changed in them.
	Jobs   int64  `json:"jobs"`
	Effect Effect `json:"effect"`
	// Own is how many rules these Jobs have already. They come first.
	Own   int             `json:"own,omitempty"`
	Rules []SuggestedRule `json:"rules"`
	// TooFew are rules that have nothing against them, but for which not enough Jobs speak.
	TooFew []SuggestedRule `json:"tooFew"`
	Notes  []string        `json:"notes"`

	// PodFailurePolicy is for the Jobs, or else Policy and Binding for podverdict's controller. All are nil without rules.
	PodFailurePolicy *batchv1.PodFailurePolicy         `json:"podFailurePolicy,omitempty"`
	Policy           *v1alpha1.PodFailurePolicy        `json:"policy,omitempty"`
	Binding          *v1alpha1.PodFailurePolicyBinding `json:"binding,omitempty"`

	custom bool
	group  group
	own    []batchv1.PodFailurePolicyRule
}

// SuggestedRule is a rule with its evidence. Exit codes with the same action are one rule of the policy.
type SuggestedRule struct {
	// About is disruption, memory, code or node.
	About  string                         `json:"about"`
	Action batchv1.PodFailurePolicyAction `json:"action"`
	// Code is an exit code, of Container or else of any.
	Code      int32  `json:"code,omitempty"`
	Container string `json:"container,omitempty"`
	// Memory is the most that a container gets, in bytes.
	Memory int64 `json:"memory,omitempty"`
	// Node is one to avoid, and Text says why.
	Node string `json:"node,omitempty"`
	Text string `json:"text,omitempty"`

	// Pods and Jobs are those with failures that the rule decides, and Named are the first Jobs by name.
	Pods  int64    `json:"pods"`
	Jobs  int64    `json:"jobs"`
	Named []string `json:"named,omitempty"`
	// For are the Jobs that speak for the rule, and Need is how many more would have to. First is whether the rule is there only
	// because its Pods are not for the rules after it.
	For   int64 `json:"for"`
	Need  int64 `json:"need,omitempty"`
	First bool  `json:"first,omitempty"`
	// Effect is that of the rule alone.
	Effect Effect `json:"effect"`

	perIndex   bool
	disrupted  bool     // whether a Pod was disrupted
	several    bool     // whether a Pod has several containers
	containers []string // up to two that had the exit code
}

// What suggested rules are about.
const (
	OnDisruption = "disruption"
	OnMemory     = "memory"
	OnCode       = "code"
	OnNode       = "node"
)

// String names the failures that the rule is about.
func (r *SuggestedRule) String() string {
	switch r.About {
	case OnDisruption:
		return "disruptions"
	case OnMemory:
		return "containers that run out of memory"
	case OnNode:
		return "failures on node " + r.Node
	}
	if r.Container != "" {
		return fmt.Sprintf("exit code %d of container %s", r.Code, r.Container)
	}
	return fmt.Sprintf("exit code %d", r.Code)
}

// Suggesting says what to suggest.
type Suggesting struct {
	// Custom is whether a custom policy is wanted, and AllowLoss whether rules may fail a few Jobs that completed.
	Custom, AllowLoss bool
	// Wanted says which Jobs are looked at; nil means all.
	Wanted func(*Outcome) bool

	Environment *compiler.Environment
	Policies    *effective.Source
}

// Suggest makes a policy from what became of Jobs. It reads the families several times: the policy is tried on them, and rules are
// dropped until none would have failed a Job that completed.
func (s *Suggesting) Suggest(ctx context.Context, families iter.Seq2[gathering.Family, error]) (*Suggestion, error) {
	policies, err := effective.New(s.Environment, s.Policies)
	if err != nil {
		return nil, err
	}
	all := pass{s, families, snapshot.NewRulebook(s.Environment, policies.For)}
	seen := newSight(s.Custom)
	if err := all.each(ctx, seen.add); err != nil {
		return nil, err
	}
	made := seen.propose(s.AllowLoss)
	for changed := len(made.Rules) > 0; changed; changed = made.narrow(s.AllowLoss) {
		trial, err := s.trial(made)
		if err != nil {
			return nil, err
		}
		err = all.each(ctx, func(f *gathering.Family, o *Outcome, wrong error) error {
			if g, why := seen.groupOf(f); wrong != nil || why != "" || !s.Custom && g != made.group {
				return nil //nolint:nilerr // what has no verdicts is not tried
			}
			return made.try(ctx, trial, f, o)
		})
		if err != nil {
			return nil, err
		}
	}
	err = made.finish()
	return made, err
}

// pass is what became of the Jobs that are wanted, to be looked at several times.
type pass struct {
	*Suggesting

	families iter.Seq2[gathering.Family, error]
	judge    *snapshot.Rulebook
}

// each calls a function with each Job. Its last argument says why there are no verdicts.
func (s *pass) each(ctx context.Context, do func(*gathering.Family, *Outcome, error) error) error {
	for whole, err := range gathering.Whole(s.families) {
		if err != nil {
			return err
		}
		for f := range cases(whole) {
			o, wrong := Of(ctx, f, s.judge)
			if len(f.Pods) == 0 || s.Wanted != nil && !s.Wanted(&o) {
				continue
			}
			if err := do(&f, &o, wrong); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// trial returns a judge by the policy, if that is a custom one, and by what is in force.
func (s *Suggesting) trial(made *Suggestion) (*snapshot.Rulebook, error) {
	made.Effect = Effect{}
	for i := range made.Rules {
		r := &made.Rules[i]
		*r = SuggestedRule{About: r.About, Action: r.Action, Code: r.Code, Node: r.Node, Text: r.Text, First: r.First, perIndex: r.perIndex}
	}
	if err := made.write(false); err != nil {
		return nil, err
	}
	source := *s.Policies
	if s.Custom {
		made.Policy.SetDefaults()
		made.Binding.Spec.Mode = v1alpha1.ModeEnforce
		source.Policies = append(slices.Clone(source.Policies), manifest.Policy{Object: made.Policy})
		source.Bindings = append(slices.Clone(source.Bindings), manifest.Binding{Object: made.Binding})
	}
	policies, err := effective.New(s.Environment, &source)
	if err != nil {
		return nil, err
	}
	judge := snapshot.NewRulebook(s.Environment, policies.For)
	judge.AsManaged = s.Custom
	return judge, nil
}
