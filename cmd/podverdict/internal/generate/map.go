package generate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// mapOptions holds the flags of generate map.
type mapOptions struct {
	common   policyFlags
	defaults string
	output   cli.Format
}

func newMAP(p *cli.Program) *cobra.Command {
	var o mapOptions
	cmd := &cobra.Command{
		Use:   "map -f DEFAULTS",
		Short: "Write a platform's defaults for Jobs as MutatingAdmissionPolicies",
		Long: `Write a platform's defaults for Jobs as MutatingAdmissionPolicies with their
bindings, for kubectl apply. The defaults are a Job that has nothing but them:

  apiVersion: batch/v1
  kind: Job
  spec:
    backoffLimit: 3
    podFailurePolicy:
      rules:
      - action: Ignore
        onPodConditions: [{type: DisruptionTarget}]

There can be defaults for:
  ` + strings.Join(admission.DefaultedFields[:], "\n  ") + `

A Job gets what it lacks when it is created, and keeps what it has. It never
gets what the API server would refuse: a failure policy is only for Jobs that do
not restart their containers, a rule for a container for Jobs that have it,
FailIndex for Jobs with a limit per index, and limits per index for Indexed
Jobs. With the failure policy comes the podReplacementPolicy Failed.

The API server has applied its own defaults by then: a backoffLimit of 6 or a
podReplacementPolicy of TerminatingOrFailed counts as not set, unless the Job
comes from kubectl apply, which says what the manifest has.

With --static they are for files in a folder of the API server, as those of
generate vap are.`,
		Example: `  podverdict generate map -f defaults.yaml | kubectl apply -f -
  podverdict generate map -f defaults.yaml --for job --exempt-namespaces kube-system
  podverdict generate map -f defaults.yaml --kubernetes 1.34 --match-condition 'batch=namespaceObject.metadata.name.startsWith("batch-")'`,
		Args: cli.NoArguments,
		RunE: cli.Run(p, &o, generateMAP),
	}
	o.common.addFlags(cmd.Flags())
	flags := cmd.Flags()
	flags.StringVarP(&o.defaults, "filename", "f", "", "file, URL or - (standard input) with the defaults")
	flags.StringVar(&o.common.failure, "failure-policy", "Ignore",
		"what happens to a Job for which a --match-condition cannot be evaluated: Ignore gives it no defaults, Fail refuses it")
	p.AddFormat(cmd, &o.output, "yaml", "json")
	return cmd
}

// generateMAP reads the defaults and writes a policy with its binding for each kind.
func generateMAP(ctx context.Context, c *cli.Console, o *mapOptions, _ []string) error {
	if o.defaults == "" {
		return cli.Usagef("no defaults: give a file with -f")
	}
	options, err := o.common.options()
	if err != nil {
		return cli.UsageError(err)
	}
	warnOfConditions(c, options)
	api, err := apiserver.MutationAPIOf(options.Kubernetes)
	if err != nil {
		return cli.FlagError("kubernetes", err)
	}
	targets, err := o.common.targets()
	if err != nil {
		return err
	}
	defaults, err := readDefaults(ctx, c, o.defaults)
	if err != nil {
		return err
	}
	var all generated
	for _, target := range targets {
		options.Target = target
		m, err := admission.NewMutation(defaults, options)
		if err != nil {
			return o.common.placed(err)
		}
		all = append(all, generatedObject{object: m.Policy}, generatedObject{object: m.Binding})
	}
	if api.Flags != "" {
		fmt.Fprintf(c.Stderr, "note: kube-apiserver %s serves these only with %s\n", options.Kubernetes, api.Flags)
	}
	return o.common.write(c.Stdout, all, "MutatingAdmissionPolicy", o.output.Name)
}

// readDefaults reads a Job that contains only defaults. It may have a name, because editors require one.
func readDefaults(ctx context.Context, c *cli.Console, file string) (*batchv1.JobSpec, error) {
	var job batchv1.Job
	fields, origin, err := manifest.ReadPart(ctx, manifest.Options{Stdin: c.Stdin}, file, &job)
	if err != nil {
		return nil, err
	}
	if err := checkPart(&job, fields, origin); err != nil {
		return nil, err
	}
	return &job.Spec, errors.Join(origin.Errors(admission.CheckDefaults(&job.Spec))...)
}

// checkPart reports fields that cannot have a default.
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
