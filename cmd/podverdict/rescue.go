//go:build !js

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/uninstall"
)

// rescueOptions are the flags of rescue.
type rescueOptions struct {
	connection   cluster.Options
	namespace    string
	everywhere   bool
	force, trial bool
	output       format
}

func newRescue() *cobra.Command {
	var o rescueOptions
	cmd := &cobra.Command{
		Use:   "rescue",
		Short: "Free Pods that cannot be deleted: their controller is gone",
		Long: `Remove the finalizer batch.kubernetes.io/job-tracking from Pods of managed Jobs
when their controller is gone and nothing else will: from Pods that are being
deleted, and those whose Job is being deleted or gone. Namespaces and Jobs that
wait for these Pods can then be deleted. Other Pods are left alone, so that a
controller that comes back counts them.

The command refuses while a controller is at work, which does this itself. If a
controller has ended without giving up its lease, finding out takes up to 15
seconds.
` + connectionHelp,
		Example: `  podverdict rescue -n team-a
  podverdict rescue --all-namespaces --dry-run`,
		Args: noArguments,
		RunE: verb(&o, rescue),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the Pods (default that of the kubeconfig)")
	flags.BoolVarP(&o.everywhere, "all-namespaces", "A", false, "in all namespaces of the cluster")
	flags.BoolVar(&o.force, "force", false, "also while a controller is at work")
	flags.BoolVar(&o.trial, "dry-run", false, "only show which Pods would be let go")
	addFormat(cmd, &o.output, "text", "json", "yaml")
	o.connection.AddFlags(flags)
	addConnectionCompletions(cmd, &o.connection)
	return cmd
}

// rescue finds stuck Pods, makes sure that no controller is at work, removes the finalizers, and prints the Pods.
func rescue(ctx context.Context, c *console, o *rescueOptions, _ []string) error {
	if o.everywhere && o.namespace != "" {
		return usagef("--namespace and --all-namespaces: give one or the other")
	}
	client, shown, namespace, err := connectUninstall(c, &o.connection, o.namespace)
	if err != nil {
		return err
	}
	if o.everywhere {
		namespace = ""
	}
	defer shown.end()
	stuck, err := client.Stuck(ctx, namespace)
	if err != nil {
		return err
	}
	if !o.trial && len(stuck) > 0 {
		if err := o.checkIdle(ctx, client); err != nil {
			return err
		}
		client.Rescue(ctx, stuck)
	}
	shown.end()
	return o.print(c.stdout, stuck)
}

// checkIdle refuses while a controller is at work in any namespace: it may look after this one.
func (o *rescueOptions) checkIdle(ctx context.Context, client *uninstall.Client) error {
	if o.force {
		return nil
	}
	err := client.Idle(ctx, "")
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

func (o *rescueOptions) print(w io.Writer, pods []uninstall.Pod) error {
	if o.output.isObject() {
		if err := writeObject(w, o.output.name, rescued{apiVersion, "RescuedPodList", o.trial, pods}); err != nil {
			return err
		}
	} else if err := writePods(w, pods); err != nil {
		return err
	}
	for _, pod := range pods {
		if pod.Result != uninstall.Released && !o.trial {
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
