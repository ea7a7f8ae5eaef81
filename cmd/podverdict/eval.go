package main

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
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
	// Audit is the verdict if policies that are only audited were enforced; absent when it is the same.
	Audit *runtime.Verdict `json:"audit,omitempty"`
	// Pending is what the failure of a Pod in phase Pending would mean because of a rule about that phase.
	Pending *runtime.Verdict `json:"pending,omitempty"`

	object  *corev1.Pod
	noRules string                            // why there are none, or empty
	binding *v1alpha1.PodFailurePolicyBinding // of Pending
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
		paragraph(cmd.ErrOrStderr(), e.input.nothing)
	}
	audits := slices.ContainsFunc(list.Items, func(i verdictItem) bool { return i.Audit != nil })
	return newVerdictTable(cmd.OutOrStdout(), e.output.name == "wide", e.input.query.AllNamespaces, audits).print(list.Items)
}

func (e *evaluation) judge(ctx context.Context, families []family) []verdictItem {
	items := []verdictItem{}
	for i := range families {
		for _, pod := range families[i].Pods {
			items = append(items, e.input.judge(ctx, &families[i], pod))
		}
	}
	return items
}

// judge gives the verdict on a Pod.
func (j *judging) judge(ctx context.Context, f *family, pod manifest.Pod) verdictItem {
	in := j.inputOf(f, pod.Object)
	return j.verdict(ctx, f, pod, f.program.Judge(ctx, in))
}

// verdict is what there is to tell beside the verdict on a Pod.
func (j *judging) verdict(ctx context.Context, f *family, pod manifest.Pod, v runtime.Verdict) verdictItem {
	in := j.inputOf(f, pod.Object)
	item := verdictItem{
		Job: j.jobReference(f.Job), Pod: j.podReference(pod), Verdict: v, object: pod.Object, noRules: f.noRules(),
	}
	if f.audited != nil {
		if audit := f.audited.Judge(ctx, in); !audit.Equal(v) {
			item.Audit = &audit
		}
	}
	if pod.Object.Status.Phase == corev1.PodPending {
		item.Pending, item.binding = f.pending(ctx, in)
	}
	return item
}

// pending is the verdict of a rule on Pending, and what binds it: of one that ends the Pod, if there is one.
func (p *plan) pending(ctx context.Context, in runtime.Input) (*runtime.Verdict, *v1alpha1.PodFailurePolicyBinding) {
	v, by := p.selection.EndedPending(ctx, in)
	if by == nil {
		v, by = p.selection.Pending(ctx, in)
	}
	if by == nil && v.Err == nil {
		return nil, nil
	}
	return &v, by
}
