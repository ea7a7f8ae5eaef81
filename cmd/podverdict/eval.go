package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/runtime"
)

type evaluation struct {
	input  judging
	output format
	watch  bool
	stdout io.Writer // for what must not wait for the end
}

func newEval(stdout io.Writer) *cobra.Command {
	e := evaluation{stdout: stdout}
	cmd := &cobra.Command{
		Use:   "eval {TYPE/NAME... | TYPE [NAME...] | -f JOB -f PODS}",
		Short: "Say what each Pod's failure means for its Job",
		Long: `Say what each Pod's failure means for its Job: which rule of spec.podFailurePolicy decides, because of what, and
whether the failure counts towards the Job's backoffLimit.

Jobs and Pods come from files given with -f, or from a cluster. There, job/NAME is a Job with its Pods, cronjob/NAME the
Jobs that a CronJob has made, pod/NAME a single Pod with its Job, and jobs, cronjobs or pods are all of these in the
namespace. -l selects among all, and with -A or -l alone Jobs are meant. A cluster has only the Pods that still exist:
those that are deleted, by hand, with their Job (ttlSecondsAfterFinished, history limits of CronJobs) or by the garbage
collector of Pods, are not seen. With --watch, Pods are judged as they fail, each once, until an interrupt or the end of
--request-timeout; JSON then is an object a line.

With --policy, another podFailurePolicy than the Jobs' own decides: what would it have said of these Pods?

A Pod belongs to the Job that is its controller, else to the one that its job-name label names in its namespace. Pods
of files without either belong to the only Job, if no Pod of the input has one.
` + connectionHelp,
		Example: `  podverdict eval job/demo
  podverdict eval jobs -A -o wide
  podverdict eval jobs -n batch --watch
  podverdict eval pod/demo-7xk2p --policy new.yaml
  podverdict eval -f job.yaml -f pods/ -o json
  kubectl get jobs,pods -o yaml | podverdict eval -f - -o wide`,
		RunE: e.run,
	}
	e.input.addFlags(cmd)
	cmd.Flags().BoolVarP(&e.watch, "watch", "w", false, "go on with the Pods that fail from now on, until interrupted")
	addFormat(cmd, &e.output, "table", "wide", "json", "yaml")
	return cmd
}

// verdictList is what eval writes as JSON and YAML; a contract with other programs.
type verdictList struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Items      []verdictItem `json:"items"`
}

type verdictItem struct {
	Job     reference       `json:"job"`
	Pod     reference       `json:"pod"`
	Verdict runtime.Verdict `json:"verdict"`

	object *corev1.Pod
	policy bool // the Job has a podFailurePolicy
}

func (e *evaluation) run(cmd *cobra.Command, args []string) error {
	if e.watch {
		return e.follow(cmd, args)
	}
	families, err := e.input.readFamilies(cmd, args)
	if err != nil {
		return err
	}
	list := verdictList{APIVersion: apiVersion, Kind: "VerdictList", Items: e.judge(cmd.Context(), families)}
	if e.output.name == "json" || e.output.name == "yaml" {
		return writeObject(cmd.OutOrStdout(), e.output.name, list)
	}
	if e.input.nothing != "" {
		cmd.PrintErrln(e.input.nothing)
	}
	return newVerdictTable(cmd.OutOrStdout(), e.output.name == "wide", e.input.query.AllNamespaces).print(list.Items)
}

func (e *evaluation) judge(ctx context.Context, families []family) []verdictItem {
	items := []verdictItem{}
	for _, f := range families {
		for _, pod := range f.Pods {
			items = append(items, e.input.verdict(f, pod, f.program.Evaluate(ctx, pod.Object)))
		}
	}
	return items
}

func (in *input) verdict(f family, pod manifest.Pod, v runtime.Verdict) verdictItem {
	return verdictItem{
		Job: in.jobReference(f.Job), Pod: in.podReference(pod), Verdict: v,
		object: pod.Object, policy: f.policy,
	}
}
