package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/inforce"
	"github.com/podverdict/podverdict/compiler"
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

// newCustomPolicies compiles custom policies, and warns of what is not in force.
func newCustomPolicies(environment *compiler.Environment, source *inforce.Source, warn func(string)) (*inforce.Policies, error) {
	policies, err := inforce.New(environment, source)
	for _, warning := range policies.Warnings {
		warn(warning)
	}
	for _, b := range source.Missing() {
		warn(b.Origin.Error("spec.policyName", inforce.BindsNothing(b)).Error())
	}
	return policies, err
}

// selectionFor returns what is in force for a Job, and warns of what nobody could find out.
func selectionFor(ctx context.Context, policies *inforce.Policies, job *batchv1.Job, warn func(string)) binding.Selection {
	selected, err := policies.For(ctx, job)
	if err != nil {
		warn(fmt.Sprintf("%v: it is taken to have none but %s", err, corev1.LabelMetadataName))
	}
	for _, problem := range selected.Problems {
		warn(fmt.Sprintf("not in force for Job %s/%s: %v", job.Namespace, cmp.Or(job.Name, job.GenerateName), problem))
	}
	return selected
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
