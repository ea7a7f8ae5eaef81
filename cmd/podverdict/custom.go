package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// customHelp tells which custom policies are in force.
const customHelp = `
Custom policies (PodFailurePolicy, podverdict.io) are in force where PodFailurePolicyBindings say so; from a cluster, both
are read there. Of files, a policy that no binding of the input names is in force for all Jobs of the input, before their
own rules, and Namespaces give the labels that bindings select by. Policies that are only audited do not decide: what they
would change is in explain, -o wide and -o json. Budgets are not counted. The number of an attempt is what the Pod's name
or annotations say, else it comes from the failed Pods of the Job that are read with it: with pod/NAME and --watch, none.
A Pod in phase Pending has no verdict, but the rule on Pending is told that matches it at the time of --now.
`

// customSource is the custom policies that were read, and where the labels of namespaces come from.
type customSource struct {
	policies []manifest.Policy
	bindings []manifest.Binding
	// labelsOf are the labels of a namespace, and why they cannot be told, if so.
	labelsOf func(context.Context, string) (labels.Set, error)
}

// newCustomSource takes the custom policies of files. Those that no binding of the input names are in force for all Jobs
// of the input.
func newCustomSource(set *manifest.Set) *customSource {
	known := set.NamespaceLabels()
	return &customSource{
		policies: set.Policies, bindings: set.Bound(),
		labelsOf: func(_ context.Context, namespace string) (labels.Set, error) {
			if found, ok := known[namespace]; ok {
				return found, nil
			}
			return nil, fmt.Errorf("namespace %s is not in the input", namespace)
		},
	}
}

// add takes a policy for all Jobs, in place of one of the same name and its bindings.
func (s *customSource) add(p manifest.Policy) {
	policies, bindings := []manifest.Policy{p}, []manifest.Binding{p.ToAll()}
	for _, other := range s.policies {
		if other.Object.Name != p.Object.Name {
			policies = append(policies, other)
		}
	}
	for _, b := range s.bindings {
		if b.Object.Spec.PolicyName != p.Object.Name {
			bindings = append(bindings, b)
		}
	}
	s.policies, s.bindings = policies, bindings
}

// audits tells whether some policy is only to be told of.
func (s *customSource) audits() bool {
	return slices.ContainsFunc(s.bindings, func(b manifest.Binding) bool { return b.Object.Spec.Mode == v1alpha1.ModeAudit })
}

// customPolicies are the custom policies of an input, compiled, and what binds them.
type customPolicies struct {
	*customSource

	set  *binding.Set
	warn func(message string) // tells people, everything once
}

// newCustomPolicies compiles custom policies. The error joins all that is wrong with any of them; what is wrong in a
// cluster leaves its last good version in force, or keeps it away, as it does there, and is told of.
func newCustomPolicies(kubernetes string, s *customSource, warn func(string)) (*customPolicies, error) {
	c := &customPolicies{customSource: s, warn: warn}
	if len(s.policies)+len(s.bindings) == 0 {
		return c, nil
	}
	all, err := diagnoseAll(kubernetes, s.policies)
	if err != nil {
		return nil, err
	}
	policies, errs := map[string]*runtime.Policy{}, []error{}
	for i := range all {
		p := all[i].policy.Object
		switch err := all[i].err(); {
		case err == nil:
			policies[p.Name] = all[i].compiled
		case all[i].lastGood != nil:
			policies[p.Name] = all[i].lastGood
			warn(fmt.Sprintf("PodFailurePolicy %s does not compile, generation %d stays in force: %v",
				p.Name, p.Status.LastGood.Generation, err))
		case all[i].policy.Origin.Live():
			warn(fmt.Sprintf("PodFailurePolicy %s is not in force, because it does not compile: %v", p.Name, err))
		default:
			errs = append(errs, err)
		}
	}
	for _, b := range missing(s.policies, s.bindings) {
		warn(b.Origin.Error("spec.policyName", messageNoPolicy(b.Object)).Error())
	}
	c.set, err = binding.NewSet(policies, c.valid(&errs))
	return c, errors.Join(append(errs, err)...)
}

// valid are the bindings that the API server would not refuse. What is wrong with others is appended.
func (c *customPolicies) valid(errs *[]error) []*v1alpha1.PodFailurePolicyBinding {
	var all []*v1alpha1.PodFailurePolicyBinding
	for _, b := range c.bindings {
		invalid := b.Object.Validate()
		if len(invalid) == 0 {
			all = append(all, b.Object)
		}
		*errs = append(*errs, b.Origin.Errors(invalid)...)
	}
	return all
}

// missing are the bindings to policies that are not there.
func missing(policies []manifest.Policy, bindings []manifest.Binding) []manifest.Binding {
	there := map[string]bool{}
	for _, p := range policies {
		there[p.Object.Name] = true
	}
	var all []manifest.Binding
	for _, b := range bindings {
		if !there[b.Object.Spec.PolicyName] {
			all = append(all, b)
		}
	}
	return all
}

// selection is what is in force for a Job.
func (c *customPolicies) selection(ctx context.Context, job *batchv1.Job) binding.Selection {
	if c.set == nil {
		return binding.Selection{}
	}
	selected := c.set.For(ctx, job, c.namespaceOf(ctx, job))
	for _, problem := range selected.Problems {
		c.warn(fmt.Sprintf("not in force for Job %s/%s: %v", job.Namespace, cmp.Or(job.Name, job.GenerateName), problem))
	}
	return selected
}

// memberships are what the bindings make of a Job.
func (c *customPolicies) memberships(ctx context.Context, job *batchv1.Job) ([]binding.Membership, error) {
	if c.set == nil {
		return nil, nil
	}
	return c.set.Explain(ctx, job, c.namespaceOf(ctx, job))
}

// namespaceOf are the labels of a Job's namespace, as far as bindings ask for them and they can be told.
func (c *customPolicies) namespaceOf(ctx context.Context, job *batchv1.Job) labels.Set {
	by := manifest.LabelSelecting(c.bindings)
	if by == "" {
		return manifest.NameLabel(job.Namespace)
	}
	found, err := c.labelsOf(ctx, job.Namespace)
	if err != nil {
		c.warn(fmt.Sprintf("PodFailurePolicyBinding %s selects by labels of the namespace, but %v: it is taken to have none but %s",
			by, err, corev1.LabelMetadataName))
		return manifest.NameLabel(job.Namespace)
	}
	return found
}

// newWarner writes warnings to stderr, each once.
func newWarner(cmd *cobra.Command) func(string) {
	said := map[string]bool{}
	return func(message string) {
		if !said[message] {
			paragraph(cmd.ErrOrStderr(), "warning: "+message)
		}
		said[message] = true
	}
}
