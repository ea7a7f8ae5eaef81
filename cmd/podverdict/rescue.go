package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/uninstall"
)

type rescue struct {
	connection   cluster.Options
	namespace    string
	everywhere   bool
	force, trial bool
	output       format
}

func newRescue() *cobra.Command {
	var r rescue
	cmd := &cobra.Command{
		Use:   "rescue",
		Short: "Let go of Pods that cannot be deleted because their controller is gone",
		Long: `Let go of Pods of managed Jobs that are being deleted, or whose Job is being deleted or gone, and that have the finalizer
batch.kubernetes.io/job-tracking because no controller removes it. Namespaces and Jobs that wait for these Pods are deleted
then. All other Pods are left alone, so that a controller that comes back counts them.

While a controller is at work it does this itself, so the command refuses. To tell whether one that has not said good-bye is
alive takes up to the duration of its lease, 15 seconds.
` + connectionHelp,
		Example: `  podverdict rescue -n team-a
  podverdict rescue --all-namespaces --dry-run`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&r.namespace, "namespace", "n", "", "namespace of the Pods (default that of the kubeconfig)")
	flags.BoolVarP(&r.everywhere, "all-namespaces", "A", false, "in all namespaces of the cluster")
	flags.BoolVar(&r.force, "force", false, "also while a controller is at work")
	flags.BoolVar(&r.trial, "dry-run", false, "only show which Pods would be let go")
	addFormat(cmd, &r.output, "text", "json", "yaml")
	r.connection.AddFlags(flags)
	return cmd
}

func (r *rescue) run(cmd *cobra.Command) error {
	if r.everywhere && r.namespace != "" {
		return errUsage(cmd, errors.New("--namespace and --all-namespaces: give one or the other"))
	}
	client, shown, namespace, err := connectUninstall(cmd, &r.connection, r.namespace)
	if err != nil {
		return err
	}
	if r.everywhere {
		namespace = ""
	}
	defer shown.end()
	stuck, err := client.Stuck(cmd.Context(), namespace)
	if err != nil {
		return err
	}
	if !r.trial && len(stuck) > 0 {
		if err := r.checkIdle(cmd, client); err != nil {
			return err
		}
		client.Rescue(cmd.Context(), stuck)
	}
	shown.end()
	return r.write(cmd.OutOrStdout(), stuck)
}

// checkIdle refuses to do what a controller does. It may look after any namespace, wherever it lives.
func (r *rescue) checkIdle(cmd *cobra.Command, client *uninstall.Client) error {
	if r.force {
		return nil
	}
	err := client.Idle(cmd.Context(), "")
	if live, ok := errors.AsType[*uninstall.LiveError](err); ok {
		return fmt.Errorf("%w: it lets go of these Pods itself. --force does it all the same", live)
	}
	return err
}

// rescued is the result as JSON and YAML.
type rescued struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	DryRun     bool            `json:"dryRun,omitempty"`
	Items      []uninstall.Pod `json:"items"`
}

func (r *rescue) write(w io.Writer, pods []uninstall.Pod) error {
	if r.output.name != "text" {
		if err := writeObject(w, r.output.name, rescued{apiVersion, "RescuedPodList", r.trial, pods}); err != nil {
			return err
		}
	} else if err := writePods(w, pods); err != nil {
		return err
	}
	for _, pod := range pods {
		if pod.Result != uninstall.Released && !r.trial {
			return errFindings
		}
	}
	return nil
}

func writePods(w io.Writer, pods []uninstall.Pod) error {
	if len(pods) == 0 {
		_, err := fmt.Fprintln(w, "no Pods wait for a controller")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "RESULT\tNAMESPACE\tPOD\tMESSAGE")
	for _, p := range pods {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", p.Result, p.Namespace, p.Name, p.Message)
	}
	return table.Flush()
}
