package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/internal/terminal"
	"github.com/podverdict/podverdict/runtime"
)

type evaluation struct {
	input  input
	output format
}

func newEval() *cobra.Command {
	var e evaluation
	cmd := &cobra.Command{
		Use:   "eval -f JOB -f PODS",
		Short: "Say what each Pod's failure means for its Job",
		Long: `Say what each Pod's failure means for its Job: which rule of spec.podFailurePolicy decides, because of what, and
whether the failure counts towards the Job's backoffLimit.

A Pod belongs to the Job that is its controller, else to the one that its job-name label names in its namespace. Pods
without either belong to the only Job, if no Pod of the input has one.`,
		Example: `  podverdict eval -f job.yaml -f pods/
  kubectl get job/demo -o yaml | podverdict eval -f - -f pods.yaml -o json
  kubectl get jobs,pods -o yaml | podverdict eval -f - -o wide`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.run(cmd) },
	}
	e.input.addFlags(cmd)
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

func (e *evaluation) run(cmd *cobra.Command) error {
	families, err := e.input.readFamilies(cmd)
	if err != nil {
		return err
	}
	list := verdictList{APIVersion: apiVersion, Kind: "VerdictList", Items: e.judge(cmd.Context(), families)}
	if e.output.name == "json" || e.output.name == "yaml" {
		return writeObject(cmd.OutOrStdout(), e.output.name, list)
	}
	if len(list.Items) == 0 {
		cmd.PrintErrln("no Pods in the input")
	}
	return list.print(cmd.OutOrStdout(), e.output.name == "wide")
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
		object: pod.Object, policy: f.Job.Object.Spec.PodFailurePolicy != nil,
	}
}

// print writes the table, wide or not.
func (l verdictList) print(w io.Writer, wide bool) error {
	const always, wideOnly = 0, 1
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "Job", Priority: always},
		{Name: "Pod", Priority: always},
		{Name: "Verdict", Priority: always},
		{Name: "Rule", Priority: always},
		{Name: "Counted", Priority: always},
		{Name: "Because", Priority: always},
		{Name: "Namespace", Priority: wideOnly},
		{Name: "Message", Priority: wideOnly},
	}}
	for _, item := range l.Items {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: item.cells()})
	}
	return printers.NewTablePrinter(printers.PrintOptions{Wide: wide}).PrintObj(table, w)
}

// none stands in the table for what does not apply.
const none = "-"

func (i verdictItem) cells() []any {
	v := i.Verdict
	action, rule, counted := string(v.Action), none, "no"
	if !v.Terminal {
		action, counted = none, none
	}
	if v.Matched {
		rule = strconv.Itoa(v.Rule)
	}
	if v.Counted {
		counted = "yes"
	}
	message := v.Message()
	if message == "" {
		message = none
	}
	cells := []any{}
	for _, text := range []string{i.Job.Name, i.Pod.Name, action, rule, counted, i.because(), i.Pod.Namespace, message} {
		cells = append(cells, terminal.Line(text)) // kubectl's printer escapes only some of it
	}
	return cells
}

func (i verdictItem) because() string {
	v := i.Verdict
	switch {
	case !v.Terminal:
		return notTerminal(i.object)
	case v.Err != nil:
		return "error: " + v.Err.Error()
	case v.ExitCode != 0:
		return fmt.Sprintf("container %s exited with %d", v.Container, v.ExitCode)
	case v.Matched:
		return fmt.Sprintf("condition %s", v.Condition)
	case !i.policy:
		return "the Job has no podFailurePolicy"
	}
	return "no rule matches"
}

// notTerminal says why a Pod gets no verdict yet.
func notTerminal(pod *corev1.Pod) string {
	phase := string(pod.Status.Phase)
	if phase == "" {
		phase = "unknown"
	}
	if pod.DeletionTimestamp != nil {
		return "still terminating: phase is " + phase
	}
	return "phase is " + phase
}
