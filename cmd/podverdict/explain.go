package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
)

type explaining struct {
	input  judging
	output format
}

func newExplain() *cobra.Command {
	var e explaining
	cmd := &cobra.Command{
		Use:   "explain {TYPE/NAME... | TYPE [NAME...] | -f JOB -f PODS [POD...]}",
		Short: "Say rule by rule why a Pod got its verdict",
		Long: `Say rule by rule why a Pod got its verdict: which rule matched and which did not, because of which container, exit
code or condition, with the values of the sub-expressions and what evaluating them cost.

Jobs and Pods come from a cluster, as for eval, or from files given with -f, where names select Pods.
` + connectionHelp,
		Example: `  podverdict explain pod/demo-7xk2p
  podverdict explain job/demo -o json
  podverdict explain pod/demo-7xk2p --policy new.yaml
  podverdict explain -f job.yaml -f pods.yaml
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
}

type explanationItem struct {
	Job reference `json:"job"`
	Pod reference `json:"pod"`
	runtime.Explanation

	because string
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
	items, err := e.explain(cmd.Context(), families)
	if err != nil {
		return err
	}
	if e.output.name != "text" {
		list := explanationList{APIVersion: apiVersion, Kind: "ExplanationList", Items: items}
		return writeObject(cmd.OutOrStdout(), e.output.name, list)
	}
	if e.input.nothing != "" {
		cmd.PrintErrln(e.input.nothing)
	}
	for i, item := range items {
		if i > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		item.print(cmd.OutOrStdout())
	}
	return nil
}

func (e *explaining) explain(ctx context.Context, families []family) ([]explanationItem, error) {
	items := []explanationItem{}
	for _, f := range families {
		for _, pod := range f.Pods {
			explanation, err := f.program.Explain(ctx, custom.Input{Pod: pod.Object, Job: f.Job.Object})
			if err != nil {
				return nil, pod.Origin.Error("", err.Error())
			}
			judged := e.input.verdict(f, pod, explanation.Verdict)
			items = append(items, explanationItem{
				Job: judged.Job, Pod: judged.Pod, Explanation: explanation, because: judged.because(),
			})
		}
	}
	return items, nil
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
			return errNoPodNamed(name)
		}
	}
	return nil
}
