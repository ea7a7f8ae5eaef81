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

	// Jobs is the number of Jobs that the policy was tried on. Effect is the difference that the policy would have made.
	Jobs   int64  `json:"jobs"`
	Effect Effect `json:"effect"`
	// Own is the number of rules that these Jobs have already. Own rules come first.
	Own   int             `json:"own,omitempty"`
	Rules []SuggestedRule `json:"rules"`
	// TooFew holds rules without any counter-evidence, but with too few Jobs to support them.
	TooFew []SuggestedRule `json:"tooFew"`
	Notes  []string        `json:"notes"`

	// PodFailurePolicy is a policy for the Jobs themselves. Alternatively, Policy and Binding are for podverdict's controller. All are nil
	// without rules.
	PodFailurePolicy *batchv1.PodFailurePolicy         `json:"podFailurePolicy,omitempty"`
	Policy           *v1alpha1.PodFailurePolicy        `json:"policy,omitempty"`
	Binding          *v1alpha1.PodFailurePolicyBinding `json:"binding,omitempty"`

	custom bool
	group  group
	own    []batchv1.PodFailurePolicyRule
}

// SuggestedRule is a rule with its evidence. Exit codes with the same action are merged into one rule of the policy.
type SuggestedRule struct {
	// About is disruption, memory, code or node.
	About  string                         `json:"about"`
	Action batchv1.PodFailurePolicyAction `json:"action"`
	// Code is an exit code of Container, or of any container if that is empty.
	Code      int32  `json:"code,omitempty"`
	Container string `json:"container,omitempty"`
	// Memory is the amount up to which retries may increase a container's memory, in bytes.
	Memory int64 `json:"memory,omitempty"`
	// Node is a node to avoid, and Text the reason.
	Node string `json:"node,omitempty"`
	Text string `json:"text,omitempty"`

	// Pods and Jobs count the Pods and Jobs with failures that the rule decides. Named holds the names of the first Jobs, sorted.
	Pods  int64    `json:"pods"`
	Jobs  int64    `json:"jobs"`
	Named []string `json:"named,omitempty"`
	// For is the number of Jobs that support the rule, and Need the number of missing ones. First reports whether the rule exists only to
	// keep its Pods from the rules after it.
	For   int64 `json:"for"`
	Need  int64 `json:"need,omitempty"`
	First bool  `json:"first,omitempty"`
	// Effect is the effect of this rule without the others.
	Effect Effect `json:"effect"`

	perIndex   bool
	disrupted  bool     // whether a Pod was disrupted
	several    bool     // whether a Pod has several containers
	containers []string // up to two that had the exit code
}

// The subjects of suggested rules.
const (
	OnDisruption = "disruption"
	OnMemory     = "memory"
	OnCode       = "code"
	OnNode       = "node"
)

// String describes the failures that the rule is about.
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

// Suggesting configures Suggest.
type Suggesting struct {
	// Custom selects a custom policy. AllowLoss permits rules that would have failed a few Jobs that completed.
	Custom, AllowLoss bool
	// Wanted selects the Jobs to consider; nil means all.
	Wanted func(*Outcome) bool

	Environment *compiler.Environment
	Policies    *effective.Source
}

// Suggest derives a policy from the Outcomes of Jobs. It reads the families several times: the policy is tried on them, and rules are
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

// pass iterates over the wanted Jobs, and can be repeated.
type pass struct {
	*Suggesting

	families iter.Seq2[gathering.Family, error]
	judge    *snapshot.Rulebook
}

// each calls a function for each Job. The last argument is the reason why the Job has no verdicts, or nil.
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

// trial returns a rulebook with the policies in effect and, if it is a custom policy, the suggested one.
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
