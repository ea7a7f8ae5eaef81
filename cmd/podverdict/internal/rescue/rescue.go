package rescue

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/input/cluster"
)

type rescueOptions struct {
	connection   cluster.Options
	namespace    string
	everywhere   bool
	uninstall    bool
	force, trial bool
	output       cli.Format
}

// New returns the rescue command.
func New(p *cli.Program) *cobra.Command {
	var o rescueOptions
	cmd := &cobra.Command{
		Use:   "rescue",
		Short: "Free Pods that cannot be deleted: their controller is gone",
		Long: `Remove the finalizer batch.kubernetes.io/job-tracking from Pods of managed Jobs
when their controller is gone and nothing else will: from Pods that are being
deleted, and those whose Job is being deleted or gone. Namespaces and Jobs that
wait for these Pods can then be deleted. Other Pods are left alone, so that a
controller that comes back counts them; with --uninstall, no controller will,
and all Pods that it made are let go. They run on, but nobody counts them.

The command refuses while a controller is at work, which does this itself. If a
controller has ended without giving up its lease, finding out takes up to 15
seconds.
` + cli.ConnectionHelp,
		Example: `  podverdict rescue -n team-a
  podverdict rescue --all-namespaces --dry-run
  podverdict rescue --all-namespaces --uninstall`,
		Args: cli.NoArguments,
		RunE: cli.Run(p, &o, runRescue),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the Pods (default that of the kubeconfig)")
	flags.BoolVarP(&o.everywhere, "all-namespaces", "A", false, "in all namespaces of the cluster")
	flags.BoolVar(&o.uninstall, "uninstall", false, "the controller will not come back: let go of Pods whose Jobs live, too")
	flags.BoolVar(&o.force, "force", false, "also while a controller is at work")
	flags.BoolVar(&o.trial, "dry-run", false, "only show which Pods would be let go")
	p.AddFormat(cmd, &o.output, "text", "json", "yaml")
	o.connection.AddFlags(flags)
	cli.AddConnectionCompletions(cmd, &o.connection)
	return cmd
}

// runRescue finds Pods that wait for a controller, checks that no controller is active, removes the finalizers, and prints the Pods.
func runRescue(ctx context.Context, c *cli.Console, o *rescueOptions, _ []string) error {
	if o.everywhere && o.namespace != "" {
		return cli.Usagef("--namespace and --all-namespaces: give one or the other")
	}
	config, namespace, err := o.connection.Config(o.namespace, cli.UserAgent())
	if err != nil {
		return err
	}
	client, err := NewClient(config)
	if err != nil {
		return err
	}
	if o.everywhere {
		namespace = ""
	}
	shown := cli.NewProgress(c.Stderr, "objects read and changed", 0)
	defer shown.End()
	client.Progress = shown.Add
	find := client.Stuck
	if o.uninstall {
		find = client.Held
	}
	pods, err := find(ctx, namespace)
	if err != nil {
		return err
	}
	if !o.trial && len(pods) > 0 {
		if err := o.checkIdle(ctx, client); err != nil {
			return err
		}
		client.Release(ctx, pods)
	}
	shown.End()
	return o.print(c.Stdout, pods)
}

// checkIdle returns an error if a controller is active in any namespace, because it may be responsible for this one.
func (o *rescueOptions) checkIdle(ctx context.Context, client *Client) error {
	if o.force {
		return nil
	}
	err := client.Idle(ctx)
	if live, ok := errors.AsType[*LiveError](err); ok {
		return fmt.Errorf("%w: it lets go of these Pods itself. --force does it all the same", live)
	}
	return err
}

// rescued is the JSON and YAML output.
type rescued struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	DryRun     bool   `json:"dryRun,omitempty"`
	Items      []Pod  `json:"items"`
}

func (o *rescueOptions) print(w io.Writer, pods []Pod) error {
	if o.output.IsObject() {
		if err := o.output.WriteObject(w, rescued{print.APIVersion, "RescuedPodList", o.trial, pods}); err != nil {
			return err
		}
	} else if err := writePods(w, pods); err != nil {
		return err
	}
	for _, pod := range pods {
		if pod.Result != Released && !o.trial {
			return cli.ErrFindings
		}
	}
	return nil
}

func writePods(w io.Writer, pods []Pod) error {
	if len(pods) == 0 {
		_, err := fmt.Fprintln(w, "no Pods wait for a controller")
		return err
	}
	columns := []print.Column{{Name: "RESULT"}, {Name: "NAMESPACE"}, {Name: "POD"}, {Name: "MESSAGE"}}
	table := print.NewTable(w, print.Screen{}, true, columns...)
	for _, p := range pods {
		table.Row(print.Cell{Text: p.Result}, print.Cell{Text: p.Namespace}, print.Cell{Text: p.Name}, print.Cell{Text: p.Message})
	}
	return table.Flush()
}
