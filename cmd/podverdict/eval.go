package main

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"
)

// evalOptions are the flags of eval.
type evalOptions struct {
	input  inputOptions
	watch  bool
	output format
	live   io.Writer // standard output, for verdicts that must not wait for the end
}

func newEval(live io.Writer) *cobra.Command {
	o := evalOptions{live: live}
	cmd := &cobra.Command{
		Use:   "eval {TYPE/NAME... | TYPE [NAME...] | -f JOB -f PODS [-f POLICY]}",
		Short: "Say what each Pod's failure means for its Job",
		Long: `Say what each Pod's failure means for its Job: which rule of spec.podFailurePolicy decides, because of what, and
whether the failure counts towards the Job's backoffLimit.

Jobs and Pods come from files given with -f, or from a cluster. There, job/NAME is a Job with its Pods, cronjob/NAME the
Jobs that a CronJob has made, pod/NAME a single Pod with its Job, and jobs, cronjobs or pods are all of these in the
namespace. -l selects among all, and with -A or -l alone Jobs are meant. A cluster has only the Pods that still exist:
those that are deleted, by hand, with their Job (ttlSecondsAfterFinished, history limits of CronJobs) or by the garbage
collector of Pods, are not seen. With --watch, Pods are judged as they fail, each once, until an interrupt or the end of
--request-timeout; JSON then is an object a line.

With --policy, another podFailurePolicy than the Jobs' own decides: what would it have said of these Pods? The file may also
hold a PodFailurePolicy (podverdict.io): that is then bound to all Jobs, before their own rules, and stands in for the one
of its name and its bindings.
` + customHelp + `
A Pod belongs to the Job that is its controller, else to the one that its job-name label names in its namespace. Pods
of files without either belong to the only Job, if no Pod of the input has one.
` + connectionHelp,
		Example: `  podverdict eval job/demo
  podverdict eval jobs -A -o wide
  podverdict eval jobs -n batch --watch
  podverdict eval pod/demo-7xk2p --policy new.yaml
  podverdict eval -f job.yaml -f pods/ -o json
  podverdict eval -f job.yaml -f pods/ -f policy.yaml -f binding.yaml
  kubectl get jobs,pods -o yaml | podverdict eval -f - -o wide`,
		RunE: verb(&o, eval),
	}
	o.input.addFlags(cmd.Flags())
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "go on with the Pods that fail from now on, until interrupted")
	addFormat(cmd, &o.output, "table", "wide", "json", "yaml")
	return cmd
}

// eval reads Jobs with their Pods, plans what decides on them, judges, and prints the verdicts.
func eval(ctx context.Context, c *console, o *evalOptions, args []string) error {
	if o.watch {
		return watch(ctx, c, o, args)
	}
	in, err := o.input.read(ctx, c, args)
	if err != nil {
		return err
	}
	planner, err := newPlanner(c, o.input.kubernetes, in.policies, in.own)
	if err != nil {
		return err
	}
	plans, err := planner.planAll(ctx, in.families)
	if err != nil {
		return err
	}
	list := verdictList{APIVersion: apiVersion, Kind: "VerdictList", Items: []verdictItem{}}
	for i := range plans {
		list.Items = append(list.Items, plans[i].judge(ctx, in.now)...)
	}
	if o.output.isObject() {
		return writeObject(c.stdout, o.output.name, list)
	}
	if in.nothing != "" {
		c.note(in.nothing)
	}
	audits := slices.ContainsFunc(list.Items, func(i verdictItem) bool { return i.Audit != nil })
	return newVerdictTable(c.stdout, o.output.name == "wide", o.input.source.query.AllNamespaces, audits).print(list.Items)
}
