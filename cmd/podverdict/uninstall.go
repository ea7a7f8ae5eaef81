//go:build !js

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/uninstall"
)

// uninstallOptions are the flags of uninstall.
type uninstallOptions struct {
	connection        cluster.Options
	namespace         string
	kinds, yes, trial bool
	wait              time.Duration
	output            format
}

func newUninstall() *cobra.Command {
	var o uninstallOptions
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the Job controller from a cluster",
		Long: `Remove the Job controller from a cluster: stop it, remove the finalizers of its
Jobs' Pods, which would otherwise keep namespaces and Jobs from being deleted,
and delete the objects of the installation. Pods that run go on, but nobody
counts them.

Jobs and custom policies stay. --crds deletes the kinds of custom policies, and
all policies with them. You see what will be removed, and are asked first. After
an interruption or an error, run the command again.
` + connectionHelp,
		Example: `  podverdict uninstall --dry-run
  podverdict uninstall --yes --crds`,
		Args: noArguments,
		RunE: verb(&o, runUninstall),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.namespace, "namespace", "n", "podverdict-system", "namespace that the controller lives in")
	flags.BoolVar(&o.kinds, "crds", false, "delete the kinds of custom policies, too, and all policies with them")
	flags.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	flags.BoolVar(&o.trial, "dry-run", false, "only show what would be removed")
	flags.DurationVar(&o.wait, "wait", 2*time.Minute, "how long to wait for the controller to stop, and then for objects to go")
	addFormat(cmd, &o.output, "text", "json", "yaml")
	o.connection.AddFlags(flags)
	addConnectionCompletions(cmd, &o.connection)
	return cmd
}

// runUninstall finds an installation, asks whether to remove it, removes it, and prints the result for each object.
func runUninstall(ctx context.Context, c *console, o *uninstallOptions, _ []string) error {
	client, shown, _, err := connectUninstall(c, &o.connection, o.namespace)
	if err != nil {
		return err
	}
	client.Wait = o.wait
	found, err := client.Find(ctx, o.namespace, o.kinds)
	shown.end()
	if err != nil {
		return err
	}
	if o.trial || found.Empty() {
		return o.print(c.stdout, found)
	}
	if err := o.confirm(c, found); err != nil {
		return err
	}
	shown = newProgress(c.stderr, "objects read and changed", 0)
	client.Progress = shown.add
	result, err := client.Remove(ctx, found)
	shown.end()
	if err != nil {
		return fmt.Errorf("the controller has not stopped, so its Pods were not touched and no right was taken away: %w", err)
	}
	if err := o.print(c.stdout, result); err != nil {
		return err
	}
	if !result.Complete() {
		return errFindings
	}
	return nil
}

// connectUninstall returns a client. The progress ends when all has been read.
func connectUninstall(c *console, connection *cluster.Options, namespace string) (*uninstall.Client, *progress, string, error) {
	config, namespace, err := connection.Config(namespace, userAgent())
	if err != nil {
		return nil, nil, "", err
	}
	client, err := uninstall.NewClient(config)
	if err != nil {
		return nil, nil, "", err
	}
	shown := newProgress(c.stderr, "objects read from the cluster", 0)
	client.Progress = shown.add
	return client, shown, namespace, nil
}

// confirm shows what is to be removed, and asks whether to go on.
func (o *uninstallOptions) confirm(c *console, found *uninstall.Installation) error {
	if o.yes {
		return nil
	}
	if !isTerminal(c.stdin) {
		return usagef("standard input is not a terminal: give --yes, or --dry-run to see what would be removed")
	}
	if err := writeUninstallation(c.stderr, found); err != nil {
		return err
	}
	fmt.Fprint(c.stderr, "Remove this? [y/N] ")
	answer, err := bufio.NewReader(c.stdin).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); err != nil || answer != "y" && answer != "yes" {
		return errors.New("nothing was done")
	}
	return nil
}

// uninstallationResult is the result as JSON and YAML.
type uninstallationResult struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Namespace  string             `json:"namespace"`
	DryRun     bool               `json:"dryRun,omitempty"`
	Objects    []uninstall.Object `json:"objects"`
	Pods       []uninstall.Pod    `json:"pods"`
	Jobs       []uninstall.Job    `json:"jobs"`
	Policies   int                `json:"policies"`
}

// print writes what is to be removed, or was.
func (o *uninstallOptions) print(w io.Writer, i *uninstall.Installation) error {
	if o.output.isObject() {
		return writeObject(w, o.output.name,
			uninstallationResult{apiVersion, "Uninstallation", i.Namespace, o.trial, i.Objects, i.Pods, i.Jobs, i.Policies})
	}
	return writeUninstallation(w, i)
}

// writeUninstallation writes a table of objects and Pods, and below it what stays behind.
func writeUninstallation(w io.Writer, found *uninstall.Installation) error {
	if len(found.Objects) == 0 && len(found.Pods) == 0 {
		_, err := fmt.Fprintf(w, "nothing to remove: no controller in namespace %s, and no Pods that wait for one\n", found.Namespace)
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "RESULT\tKIND\tNAMESPACE\tNAME\tMESSAGE")
	for _, o := range found.Objects {
		fmt.Fprintln(table, strings.TrimRight(strings.Join([]string{o.Result, o.Kind, o.Namespace, o.Name, o.Message}, "\t"), "\t"))
	}
	for _, p := range found.Pods {
		fmt.Fprintln(table, strings.TrimRight(strings.Join([]string{p.Result, "Pod", p.Namespace, p.Name, p.Message}, "\t"), "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return writeLeft(w, found)
}

// writeLeft writes which Jobs and policies stay behind.
func writeLeft(w io.Writer, found *uninstall.Installation) error {
	const most = 10
	for i, job := range found.Jobs {
		if i == most {
			fmt.Fprintf(w, "... and %d more\n", len(found.Jobs)-most)
			break
		}
		fmt.Fprintf(w, "no controller runs Job %s any more\n", job)
	}
	if found.Policies > 0 {
		fmt.Fprintf(w, "custom policies and bindings: %d\n", found.Policies)
	}
	return nil
}
