package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term" // term is a name here

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/uninstall"
)

type uninstallation struct {
	connection        cluster.Options
	namespace         string
	kinds, yes, trial bool
	wait              time.Duration
	output            format
}

func newUninstall() *cobra.Command {
	var u uninstallation
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the Job controller from a cluster",
		Long: `Remove the Job controller from a cluster: stop it, let go of the Pods of its Jobs, which would otherwise keep namespaces
and Jobs from being deleted, and delete the objects of the installation. Pods that run go on, but nobody counts them.

Jobs and custom policies stay, and so do the kinds of custom policies: --crds deletes these, and all policies with them. What is
to be removed is shown first, and done when you agree. What is interrupted, or fails, is done by running it again.
` + connectionHelp,
		Example: `  podverdict uninstall --dry-run
  podverdict uninstall --yes --crds`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return u.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&u.namespace, "namespace", "n", "podverdict-system", "namespace that the controller lives in")
	flags.BoolVar(&u.kinds, "crds", false, "delete the kinds of custom policies, too, and all policies with them")
	flags.BoolVarP(&u.yes, "yes", "y", false, "do not ask")
	flags.BoolVar(&u.trial, "dry-run", false, "only show what would be removed")
	flags.DurationVar(&u.wait, "wait", 2*time.Minute, "how long to wait for the controller to stop, and then for objects to go")
	addFormat(cmd, &u.output, "text", "json", "yaml")
	u.connection.AddFlags(flags)
	return cmd
}

func (u *uninstallation) run(cmd *cobra.Command) error {
	client, shown, _, err := connectUninstall(cmd, &u.connection, u.namespace)
	if err != nil {
		return err
	}
	client.Wait = u.wait
	found, err := client.Find(cmd.Context(), u.namespace, u.kinds)
	shown.end()
	if err != nil {
		return err
	}
	if u.trial || found.Empty() {
		return u.write(cmd.OutOrStdout(), found, nil)
	}
	if err := u.confirm(cmd, found); err != nil {
		return err
	}
	shown = newProgress(cmd.ErrOrStderr(), "objects read and changed", 0)
	client.Progress = shown.add
	result, err := client.Remove(cmd.Context(), found)
	shown.end()
	if err != nil {
		return errNotStopped(err)
	}
	if err := u.write(cmd.OutOrStdout(), found, result); err != nil {
		return err
	}
	if !result.Complete() {
		return errFindings
	}
	return nil
}

// connectUninstall makes a client. The progress is to be ended when all is read.
func connectUninstall(cmd *cobra.Command, connection *cluster.Options, namespace string) (*uninstall.Client, *progress, string, error) {
	config, namespace, err := connection.Config(namespace, "podverdict/"+readVersion().Version)
	if err != nil {
		return nil, nil, "", err
	}
	client, err := uninstall.NewClient(config)
	if err != nil {
		return nil, nil, "", err
	}
	shown := newProgress(cmd.ErrOrStderr(), "objects read from the cluster", 0)
	client.Progress = shown.add
	return client, shown, namespace, nil
}

// confirm shows what is to be removed, and asks.
func (u *uninstallation) confirm(cmd *cobra.Command, found *uninstall.Installation) error {
	if u.yes {
		return nil
	}
	file, ok := cmd.InOrStdin().(*os.File)
	if !ok || !xterm.IsTerminal(int(file.Fd())) {
		return errUsage(cmd, errNoConsent)
	}
	if err := writeUninstallation(cmd.ErrOrStderr(), found, nil); err != nil {
		return err
	}
	cmd.PrintErr("Remove this? [y/N] ")
	answer, err := bufio.NewReader(file).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); err != nil || answer != "y" && answer != "yes" {
		return errNotConfirmed
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

// write writes what was removed, or, without a result, what would be.
func (u *uninstallation) write(w io.Writer, found *uninstall.Installation, result *uninstall.Result) error {
	if u.output.name == "text" {
		return writeUninstallation(w, found, result)
	}
	all := uninstallationResult{apiVersion, "Uninstallation", found.Namespace, u.trial, found.Objects, found.Pods, found.Jobs, found.Policies}
	if result != nil {
		all.Objects, all.Pods = result.Objects, result.Pods
	}
	return writeObject(w, u.output.name, all)
}

// writeUninstallation writes a table and what people have to know beside it.
func writeUninstallation(w io.Writer, found *uninstall.Installation, result *uninstall.Result) error {
	objects, pods := found.Objects, found.Pods
	if result != nil {
		objects, pods = result.Objects, result.Pods
	}
	if len(objects) == 0 && len(pods) == 0 {
		_, err := fmt.Fprintf(w, "nothing to remove: no controller in namespace %s, and no Pods that wait for one\n", found.Namespace)
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "RESULT\tKIND\tNAMESPACE\tNAME\tMESSAGE")
	for _, o := range objects {
		fmt.Fprintln(table, strings.TrimRight(strings.Join([]string{o.Result, o.Kind, o.Namespace, o.Name, o.Message}, "\t"), "\t"))
	}
	for _, p := range pods {
		fmt.Fprintln(table, strings.TrimRight(strings.Join([]string{p.Result, "Pod", p.Namespace, p.Name, p.Message}, "\t"), "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return writeLeft(w, found)
}

// writeLeft writes what stays behind.
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
