package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// ConnectionHelp lists the connection flags, which are hidden from the list of flags.
const ConnectionHelp = `
The cluster is that of kubectl: of the kubeconfig and of kubectl's flags
--context, --cluster, --user, --server, --token, --as, --as-group, --as-uid,
--as-user-extra, --certificate-authority, --client-certificate, --client-key,
--tls-server-name, --insecure-skip-tls-verify, --proxy-url,
--disable-compression, --request-timeout.`

// Source is the input of a verb: files given with -f, or objects in a cluster, named by arguments.
type Source struct {
	Files      manifest.Options
	Kinds      []cluster.Kind // kinds that arguments can name
	Connection cluster.Options
	Query      cluster.Query
}

// AddFileFlags adds the flags for input files.
func (p *Program) AddFileFlags(flags *pflag.FlagSet, files *manifest.Options) {
	flags.StringSliceVarP(&files.Filenames, "filename", "f", nil,
		"file, directory, URL or - (standard input) to read; may be repeated")
	flags.BoolVarP(&files.Recursive, "recursive", "R", false, "read the directories below those given with -f as well")
	flags.StringVarP(&files.Namespace, "namespace", "n", "", `namespace of the objects that name none (default "default")`)
	flags.BoolVar(&files.Strict, "strict", false, "refuse what is otherwise skipped: objects of other kinds, templates to be rendered, files that are no manifests")
	if p.AddAtFlag != nil {
		p.AddAtFlag(flags, files)
	}
}

// AddKubernetesFlag adds --kubernetes.
func AddKubernetesFlag(flags *pflag.FlagSet, kubernetes *string) {
	flags.StringVar(kubernetes, "kubernetes", compiler.DefaultVersion, "minor version of Kubernetes to decide for")
}

// NamespaceUsage is the usage of --namespace for verbs that read from files and clusters.
const NamespaceUsage = "namespace to read from (default that of the kubeconfig); of files, that of the objects that name none"

// AddFlags adds the flags for files and clusters, and allows arguments to name objects of the given kinds.
func (s *Source) AddFlags(p *Program, flags *pflag.FlagSet, kinds ...cluster.Kind) {
	s.Kinds = kinds
	p.AddFileFlags(flags, &s.Files)
	flags.Lookup("namespace").Usage = NamespaceUsage
	flags.StringVarP(&s.Query.Selector, "selector", "l", "", "label selector for what is read from the cluster, as in app=demo,tier!=test")
	flags.BoolVarP(&s.Query.AllNamespaces, "all-namespaces", "A", false, "read from all namespaces of the cluster")
	s.Connection.AddFlags(flags)
}

// FromFiles reports whether the verb reads files instead of a cluster.
func (s *Source) FromFiles() bool { return len(s.Files.Filenames) > 0 }

// Parse sets the query from the arguments. It returns an error for flags and arguments that cannot be combined.
func (s *Source) Parse(c *Console, args []string) error {
	if args = s.TakeFiles(args); s.FromFiles() {
		return checkFileFlags(c, args)
	}
	if len(args) == 0 && s.Query.Selector == "" && !s.Query.AllNamespaces {
		return Usagef("no input: give files with -f, or what to read from the cluster: job/NAME, jobs for all of a namespace")
	}
	targets, err := cluster.ParseTargets(args, s.Kinds...)
	if err != nil {
		return UsageError(err)
	}
	if s.Query.Targets = targets; len(args) == 0 {
		s.Query.Targets = []cluster.Target{{Kind: cluster.Job}}
	}
	if err := s.Query.Check(); err != nil {
		return UsageError(err)
	}
	return nil
}

// checkFileFlags returns an error for flags and arguments that need a cluster.
func checkFileFlags(c *Console, args []string) error {
	if len(args) > 0 {
		return Usagef("%s: what is in a cluster does not go with files", args[0])
	}
	for _, flag := range []string{"selector", "all-namespaces", "watch"} {
		if c.Given(flag) {
			return Usagef("--%s is for what is read from a cluster, not for files given with -f", flag)
		}
	}
	return nil
}

// Connect returns a client and its progress. The caller ends the progress after reading.
func (s *Source) Connect(c *Console) (*cluster.Cluster, *progress, error) {
	client, err := s.Connection.Connect(s.Files.Namespace, UserAgent())
	if err != nil {
		return nil, nil, err
	}
	shown := NewProgress(c.Stderr, "objects read from the cluster", 0)
	client.Progress = shown.Add
	return client, shown, nil
}

// ReadFiles reads files. One of them may be standard input.
func ReadFiles(ctx context.Context, c *Console, files manifest.Options) (*manifest.Set, error) {
	files.Stdin = c.Stdin
	set, err := manifest.Read(ctx, files)
	NoteSkipped(c, set)
	return set, err
}

// ReadValid reads files like ReadFiles, for a verb whose result skips invalid documents. The verb ends with unread, which joins the
// errors of these documents. ReadValid returns err if the result would be meaningless without them, or if the user wants to stop at the
// first error.
func ReadValid(ctx context.Context, c *Console, files manifest.Options) (set *manifest.Set, unread, err error) {
	set, err = ReadFiles(ctx, c, files)
	unread, err = SplitErrors(set, err, files.Strict)
	return set, unread, err
}

// SplitErrors separates the errors of single documents from errors that end a verb.
func SplitErrors(set *manifest.Set, wrong error, strict bool) (unread, err error) {
	if wrong == nil || strict {
		return nil, wrong
	}
	if err := set.CheckUnread(wrong); err != nil {
		return nil, err
	}
	return UnreadError(wrong), nil
}

// NoteSkipped prints notes about documents that were read but are irrelevant.
func NoteSkipped(c *Console, set *manifest.Set) {
	for _, note := range set.Skipped.Notes() {
		c.Note(note)
	}
}

// NothingFound returns the message for a query that finds no Pods in a cluster. A missing namespace is an error.
func NothingFound(ctx context.Context, client *cluster.Cluster, q cluster.Query) (string, error) {
	where := "any namespace"
	if !q.AllNamespaces {
		if err := client.CheckNamespace(ctx); err != nil {
			return "", err
		}
		where = "namespace " + client.Namespace
	}
	kinds := make([]string, len(q.Targets))
	for i, target := range q.Targets {
		kinds[i] = target.String()
	}
	text := fmt.Sprintf("no Pods found for %s in %s", strings.Join(kinds, ", "), where)
	if q.Selector != "" {
		text += " with labels " + q.Selector
	}
	return text, nil
}
