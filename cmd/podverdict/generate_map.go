package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/apiserver"
)

type mapGeneration struct {
	common   admissionFlags
	defaults string
	failure  string
	output   format
}

func newGenerateMAP() *cobra.Command {
	var g mapGeneration
	cmd := &cobra.Command{
		Use:   "map -f DEFAULTS",
		Short: "Write a platform's defaults for Jobs as MutatingAdmissionPolicies",
		Long: `Write a platform's defaults for Jobs as MutatingAdmissionPolicies with their bindings, for kubectl apply. The defaults
are a Job that has nothing but them:

  apiVersion: batch/v1
  kind: Job
  spec:
    backoffLimit: 3
    podFailurePolicy:
      rules:
      - action: Ignore
        onPodConditions: [{type: DisruptionTarget}]

There can be defaults for ` + strings.Join(admission.DefaultedFields[:], ", ") + `.

A Job gets what it lacks when it is created, and keeps what it has. It never gets what the API server would refuse: a
failure policy is for Jobs that do not restart their containers, a rule for a container for Jobs that have it, FailIndex
for those with a limit per index, and limits per index for Indexed Jobs. With the failure policy comes the
podReplacementPolicy Failed.

The API server has applied its own defaults by then, so that a backoffLimit of 6 or a podReplacementPolicy of
TerminatingOrFailed counts as not set, unless the Job comes from kubectl apply, which tells what is in the manifest.`,
		Example: `  podverdict generate map -f defaults.yaml | kubectl apply -f -
  podverdict generate map -f defaults.yaml --for job --exempt-namespaces kube-system
  podverdict generate map -f defaults.yaml --kubernetes 1.34 --match-condition 'batch=namespaceObject.metadata.name.startsWith("batch-")'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.run(cmd) },
	}
	g.common.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&g.defaults, "filename", "f", "", "file, URL or - (standard input) with the defaults")
	flags.StringVar(&g.failure, "failure-policy", "Ignore",
		"what happens to a Job for which a --match-condition cannot be evaluated: Ignore gives it no defaults, Fail refuses it")
	addFormat(cmd, &g.output, "yaml", "json")
	return cmd
}

func (g *mapGeneration) run(cmd *cobra.Command) error {
	options, err := g.options(cmd)
	if err != nil {
		return err
	}
	api, err := apiserver.MutationAPIOf(options.Kubernetes)
	if err != nil {
		return errFlag("kubernetes", err)
	}
	targets, err := g.common.targets()
	if err != nil {
		return errUsage(cmd, err)
	}
	defaults, err := g.readDefaults(cmd)
	if err != nil {
		return err
	}
	var all generated
	for _, target := range targets {
		m, err := admission.NewMutation(defaults, target.Kind, options)
		if err != nil {
			return g.common.placed(err)
		}
		all = append(all, generatedObject{object: m.Policy}, generatedObject{object: m.Binding})
	}
	if api.Flags != "" {
		cmd.PrintErrf("note: kube-apiserver %s serves these only with %s\n", options.Kubernetes, api.Flags)
	}
	return all.write(cmd.OutOrStdout(), g.output.name)
}

func (g *mapGeneration) options(cmd *cobra.Command) (admission.MutationOptions, error) {
	o := admission.MutationOptions{
		Name: g.common.name, Kubernetes: g.common.kubernetes,
		FailurePolicy: admissionregistrationv1.FailurePolicyType(g.failure),
	}
	if g.defaults == "" {
		return o, errUsage(cmd, errors.New("no defaults: give a file with -f"))
	}
	if o.FailurePolicy != admissionregistrationv1.Fail && o.FailurePolicy != admissionregistrationv1.Ignore {
		return o, errUsage(cmd, errChoice("failure-policy", g.failure, "Fail", "Ignore"))
	}
	var err error
	if o.Namespaces, o.MatchConditions, err = g.common.scope(); err != nil {
		return o, errUsage(cmd, err)
	}
	return o, nil
}

// readDefaults reads a Job that has nothing but defaults. Its name, which editors ask for, says nothing.
func (g *mapGeneration) readDefaults(cmd *cobra.Command) (admission.Defaults, error) {
	var job batchv1.Job
	o := manifest.Options{Stdin: cmd.InOrStdin()}
	fields, origin, err := manifest.ReadPart(cmd.Context(), o, g.defaults, &job)
	if err != nil {
		return admission.Defaults{}, err
	}
	if err := checkPart(&job, fields, origin); err != nil {
		return admission.Defaults{}, err
	}
	defaults, err := admission.NewDefaults(&job.Spec)
	refused, ok := errors.AsType[*admission.DefaultsError](err)
	if !ok {
		return defaults, err
	}
	slices.SortStableFunc(refused.Errors, func(a, b *field.Error) int {
		return cmp.Compare(origin.Position(a.Field).Line, origin.Position(b.Field).Line)
	})
	var errs []error
	for _, e := range refused.Errors {
		errs = append(errs, origin.Error(e.Field, e.ErrorBody()))
	}
	return defaults, errors.Join(errs...)
}

// checkPart refuses all that is no default.
func checkPart(job *batchv1.Job, fields map[string]any, origin manifest.Origin) error {
	var errs []error
	if job.APIVersion != "batch/v1" || job.Kind != "Job" {
		errs = append(errs, origin.Error("kind",
			fmt.Sprintf("the defaults are those of a batch/v1 Job, not of %q %q", job.APIVersion, job.Kind)))
	}
	only := func(parent string, among any, allowed ...string) {
		members, _ := among.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if !slices.Contains(allowed, name) {
				errs = append(errs, origin.Error(parent+name, "cannot be a default, only "+strings.Join(allowed, ", ")+" can"))
			}
		}
	}
	only("", fields, "apiVersion", "kind", "metadata", "spec")
	only("metadata.", fields["metadata"], "name")
	only("spec.", fields["spec"], admission.DefaultedFields[:]...)
	return errors.Join(errs...)
}
