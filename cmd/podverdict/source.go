package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/inforce"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

// connectionHelp tells of the flags that the list of flags leaves out.
const connectionHelp = `
Clusters are found and spoken with as kubectl does, by the kubeconfig and these flags of kubectl's: --context, --cluster,
--user, --server, --token, --as, --as-group, --as-uid, --as-user-extra, --certificate-authority, --client-certificate,
--client-key, --tls-server-name, --insecure-skip-tls-verify, --proxy-url, --disable-compression, --request-timeout.`

// source is where verbs read that take files with -f, or arguments that name what is in a cluster.
type source struct {
	input

	kinds      []cluster.Kind
	connection cluster.Options
	query      cluster.Query
	nothing    string // what to tell people when there is nothing
}

// addFlags adds those of files and of clusters, and lets arguments name objects of some kinds.
func (s *source) addFlags(cmd *cobra.Command, kinds ...cluster.Kind) {
	s.kinds = kinds
	s.addFileFlags(cmd)
	flags := cmd.Flags()
	flags.Lookup("namespace").Usage = "namespace to read from (default that of the kubeconfig); with -f, that of the objects that name none"
	flags.StringVarP(&s.query.Selector, "selector", "l", "", "label selector for what is read from the cluster, as in app=demo,tier!=test")
	flags.BoolVarP(&s.query.AllNamespaces, "all-namespaces", "A", false, "read from all namespaces of the cluster")
	s.connection.AddFlags(flags)
}

// files tells whether files are read. If not, the query is ready.
func (s *source) files(cmd *cobra.Command, args []string) (bool, error) {
	if len(s.Filenames) > 0 {
		return true, s.checkFiles(cmd, args)
	}
	for _, arg := range args {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(arg)) {
			return false, errUsage(cmd, errArgument(arg, true))
		}
	}
	if len(args) == 0 && s.query.Selector == "" && !s.query.AllNamespaces {
		return false, errUsage(cmd, errors.New("no input: give files with -f, or what to read from the cluster: job/NAME, jobs for all of a namespace"))
	}
	targets, err := cluster.ParseTargets(args, s.kinds...)
	if err != nil {
		return false, errUsage(cmd, err)
	}
	if s.query.Targets = targets; len(args) == 0 {
		s.query.Targets = []cluster.Target{{Kind: cluster.Job}}
	}
	if err := s.query.Check(); err != nil {
		return false, errUsage(cmd, err)
	}
	return false, nil
}

// checkFiles refuses beside files what is for clusters.
func (s *source) checkFiles(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return errUsage(cmd, errArgument(args[0], true))
	}
	for _, name := range []string{"selector", "all-namespaces", "watch"} {
		if cmd.Flags().Changed(name) {
			return errUsage(cmd, fmt.Errorf("--%s is for what is read from a cluster, not for files given with -f", name))
		}
	}
	return nil
}

// connect makes a client. The progress is to be ended when all is read.
func (s *source) connect(cmd *cobra.Command) (*cluster.Cluster, *progress, error) {
	c, err := s.connection.Connect(s.namespace, "podverdict/"+readVersion().Version)
	if err != nil {
		return nil, nil, err
	}
	shown := newProgress(cmd.ErrOrStderr(), "objects read from the cluster", 0)
	c.Progress = shown.add
	return c, shown, nil
}

// readJobs reads Jobs and CronJobs alone. A cluster may have none.
func (s *source) readJobs(cmd *cobra.Command, args []string) ([]manifest.Job, error) {
	files, err := s.files(cmd, args)
	if err != nil {
		return nil, err
	}
	if files {
		set, err := s.read(cmd)
		if err != nil {
			return nil, err
		}
		return set.Jobs, nil
	}
	c, shown, err := s.connect(cmd)
	if err != nil {
		return nil, err
	}
	jobs, err := c.Jobs(cmd.Context(), s.query)
	shown.end()
	if err == nil && len(jobs) == 0 {
		err = s.noteNothing(cmd, c, "Jobs")
	}
	if s.nothing != "" {
		paragraph(cmd.ErrOrStderr(), s.nothing)
	}
	return jobs, err
}

// readMembers reads Jobs with their Pods, and the custom policies beside them.
func (s *source) readMembers(cmd *cobra.Command, args []string) ([]manifest.Family, *inforce.Source, error) {
	files, err := s.files(cmd, args)
	if err != nil {
		return nil, nil, err
	}
	if files {
		return s.readFileMembers(cmd)
	}
	c, shown, err := s.connect(cmd)
	if err != nil {
		return nil, nil, err
	}
	members, err := c.Families(cmd.Context(), s.query)
	if err != nil {
		shown.end()
		return nil, nil, err
	}
	policies, err := readClusterPolicies(cmd, c)
	shown.end()
	if err == nil && !slices.ContainsFunc(members, func(f manifest.Family) bool { return len(f.Pods) > 0 }) {
		err = s.noteNothing(cmd, c, "Pods")
	}
	return members, policies, err
}

func (s *source) readFileMembers(cmd *cobra.Command) ([]manifest.Family, *inforce.Source, error) {
	set, err := s.read(cmd)
	if err != nil {
		return nil, nil, err
	}
	if len(set.Pods) == 0 && set.Lists == 0 {
		return nil, nil, errors.New("no Pods in the input: give them with -f, beside the Job")
	}
	if len(set.Pods) == 0 {
		s.nothing = "no Pods in the input"
	}
	if err := set.CheckPolicies(); err != nil {
		return nil, nil, err
	}
	families, err := set.Families(s.namespace)
	return families, inforce.FromFiles(set), err
}

// readClusterPolicies reads the custom policies of a cluster. Who may not read them is told.
func readClusterPolicies(cmd *cobra.Command, c *cluster.Cluster) (*inforce.Source, error) {
	policies, bindings, unread, err := c.Policies(cmd.Context())
	if err != nil {
		return nil, err
	}
	if unread != "" {
		paragraph(cmd.ErrOrStderr(), "warning: "+unread)
	}
	return &inforce.Source{Policies: policies, Bindings: bindings, NamespaceLabels: c.NamespaceLabels}, nil
}

// noteNothing notes that a cluster has no such objects of what was asked for, which is no error unless the namespace is
// not there.
func (s *source) noteNothing(cmd *cobra.Command, c *cluster.Cluster, objects string) error {
	where := "any namespace"
	if !s.query.AllNamespaces {
		if err := c.CheckNamespace(cmd.Context()); err != nil {
			return err
		}
		where = "namespace " + c.Namespace
	}
	s.nothing = messageNothing(objects, s.query, where)
	return nil
}
