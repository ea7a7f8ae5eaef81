package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

type explaining struct {
	input  judging
	output format
}

func newExplain() *cobra.Command {
	var e explaining
	cmd := &cobra.Command{
		Use:   "explain {TYPE/NAME... | TYPE [NAME...] | -f JOB -f PODS [-f POLICY] [POD...]}",
		Short: "Say rule by rule why a Pod got its verdict",
		Long: `Say rule by rule why a Pod got its verdict: which rule matched and which did not, because of which container, exit
code or condition, with the values of the sub-expressions and what evaluating them cost.

Jobs and Pods come from a cluster, as for eval, or from files given with -f, where names select Pods.
` + customHelp + connectionHelp,
		Example: `  podverdict explain pod/demo-7xk2p
  podverdict explain job/demo -o json
  podverdict explain pod/demo-7xk2p --policy new.yaml
  podverdict explain -f job.yaml -f pods.yaml
  podverdict explain -f job.yaml -f pods.yaml -f policy.yaml --now 2026-11-22T06:00:00Z
  podverdict explain -f job.yaml -f pods/ demo-7xk2p -o json`,
		RunE: e.run,
	}
	e.input.addFlags(cmd)
	addFormat(cmd, &e.output, "text", "json", "yaml")
	return cmd
}

type explanationList struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []explanationItem `json:"items"`
	Jobs       []jobExplanation  `json:"jobs,omitempty"` // where there are custom policies
}

// jobExplanation is which custom policies are in force for a Job, and why others are not.
type jobExplanation struct {
	Job      reference            `json:"job"`
	Policies []binding.Membership `json:"policies"`
}

type explanationItem struct {
	Job reference `json:"job"`
	Pod reference `json:"pod"`
	runtime.Explanation
	Attempt int64            `json:"attempt,omitempty"` // of the Pod at its index; absent where no custom policy is in force
	Audit   *runtime.Verdict `json:"audit,omitempty"`   // as in eval
	Pending *runtime.Verdict `json:"pending,omitempty"` // as in eval

	judged  verdictItem
	audited *runtime.RuleExplanation // of the rule that decides Audit
	absent  []binding.Membership     // what is not in force for the Job
}

func (e *explaining) run(cmd *cobra.Command, args []string) error {
	var names []string
	if len(e.input.Filenames) > 0 {
		names, args = args, nil
	}
	families, err := e.input.readFamilies(cmd, args)
	if err != nil {
		return err
	}
	if err := selectPods(families, names); err != nil {
		return err
	}
	list, err := e.explain(cmd.Context(), families)
	if err != nil {
		return err
	}
	if e.output.name != "text" {
		return writeObject(cmd.OutOrStdout(), e.output.name, list)
	}
	if e.input.nothing != "" {
		paragraph(cmd.ErrOrStderr(), e.input.nothing)
	}
	for i, item := range list.Items {
		if i > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		item.print(cmd.OutOrStdout())
	}
	return nil
}

func (e *explaining) explain(ctx context.Context, families []family) (explanationList, error) {
	list := explanationList{APIVersion: apiVersion, Kind: "ExplanationList", Items: []explanationItem{}}
	for _, f := range families {
		policies, err := f.custom.Explain(ctx, f.plan.job)
		if err != nil {
			return list, err
		}
		if len(policies) > 0 && len(f.Pods) > 0 {
			list.Jobs = append(list.Jobs, jobExplanation{Job: e.input.jobReference(f.Job), Policies: policies})
		}
		for _, pod := range f.Pods {
			item, err := e.item(ctx, &f, pod)
			if err != nil {
				return list, pod.Origin.Error("", err.Error())
			}
			item.absent = absent(policies)
			list.Items = append(list.Items, item)
		}
	}
	return list, nil
}

// absent are the policies that no binding puts in force, those first that are nearest to it.
func absent(policies []binding.Membership) []binding.Membership {
	inForce := map[string]bool{}
	for _, m := range policies {
		inForce[m.Policy] = inForce[m.Policy] || m.Outcome == binding.InForce
	}
	var all []binding.Membership
	for _, outcome := range []binding.Outcome{binding.ConditionNotMet, binding.JobNotSelected, binding.NamespaceNotSelected} {
		for _, m := range policies {
			if m.Outcome == outcome && !inForce[m.Policy] {
				all = append(all, m)
			}
		}
	}
	return all
}

func (e *explaining) item(ctx context.Context, f *family, pod manifest.Pod) (explanationItem, error) {
	in := e.input.inputOf(f, pod.Object)
	explanation, err := f.program.Explain(ctx, in)
	if err != nil {
		return explanationItem{}, err
	}
	judged := e.input.verdict(ctx, f, pod, explanation.Verdict)
	item := explanationItem{
		Job: judged.Job, Pod: judged.Pod, Explanation: explanation, Audit: judged.Audit, Pending: judged.Pending, judged: judged,
	}
	if !f.selection.Empty() {
		item.Attempt = in.Attempt
	}
	if judged.Audit != nil {
		audited, err := f.audited.Explain(ctx, in)
		if err != nil {
			return explanationItem{}, err
		}
		item.audited = decider(audited.Rules)
	}
	if pod.Object.Status.Phase == corev1.PodPending {
		item.Rules, err = f.selection.ExplainPending(ctx, in)
	}
	return item, err
}

// decider is the rule that decided, or nil.
func decider(rules []runtime.RuleExplanation) *runtime.RuleExplanation {
	for i := range rules {
		if rules[i].Outcome == runtime.OutcomeMatched || rules[i].Outcome == runtime.OutcomeError {
			return &rules[i]
		}
	}
	return nil
}

// selectPods keeps the Pods of the given names (NAME or pod/NAME), or all if there are none. Each name must be that of
// some Pod.
func selectPods(families []family, names []string) error {
	if len(names) == 0 {
		return nil
	}
	found := map[string]bool{}
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "pod/")
	}
	for i := range families {
		var selected = families[i].Pods[:0:0]
		for _, pod := range families[i].Pods {
			if slices.Contains(names, pod.Object.Name) {
				found[pod.Object.Name] = true
				selected = append(selected, pod)
			}
		}
		families[i].Pods = selected
	}
	for _, name := range names {
		if !found[name] {
			return fmt.Errorf("no pod %q in the input", name)
		}
	}
	return nil
}
