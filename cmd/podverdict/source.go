package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// connectionHelp names the flags that the list of flags leaves out.
const connectionHelp = `
The cluster is that of kubectl: of the kubeconfig and of kubectl's flags
--context, --cluster, --user, --server, --token, --as, --as-group, --as-uid,
--as-user-extra, --certificate-authority, --client-certificate, --client-key,
--tls-server-name, --insecure-skip-tls-verify, --proxy-url,
--disable-compression, --request-timeout.`

// source is where a verb reads: in files given with -f, or in a cluster, where arguments name objects.
type source struct {
	files      manifest.Options
	kinds      []cluster.Kind // that arguments can name
	connection cluster.Options
	query      cluster.Query
}

func addFileFlags(flags *pflag.FlagSet, files *manifest.Options) {
	flags.StringSliceVarP(&files.Filenames, "filename", "f", nil,
		"file, directory, URL or - (standard input) to read; may be repeated")
	flags.BoolVarP(&files.Recursive, "recursive", "R", false, "read the directories below those given with -f as well")
	flags.StringVarP(&files.Namespace, "namespace", "n", "", `namespace of the objects that name none (default "default")`)
	flags.BoolVar(&files.Strict, "strict", false, "refuse what is otherwise skipped: objects of other kinds, templates to be rendered, files that are no manifests")
	addAtFlag(flags, files)
}

func addKubernetesFlag(flags *pflag.FlagSet, kubernetes *string) {
	flags.StringVar(kubernetes, "kubernetes", compiler.DefaultVersion, "minor version of Kubernetes to decide for")
}

// namespaceUsage is for verbs that read from files and clusters.
const namespaceUsage = "namespace to read from (default that of the kubeconfig); of files, that of the objects that name none"

// addFlags adds the flags for files and for clusters, and lets arguments name objects of some kinds.
func (s *source) addFlags(flags *pflag.FlagSet, kinds ...cluster.Kind) {
	s.kinds = kinds
	addFileFlags(flags, &s.files)
	flags.Lookup("namespace").Usage = namespaceUsage
	flags.StringVarP(&s.query.Selector, "selector", "l", "", "label selector for what is read from the cluster, as in app=demo,tier!=test")
	flags.BoolVarP(&s.query.AllNamespaces, "all-namespaces", "A", false, "read from all namespaces of the cluster")
	s.connection.AddFlags(flags)
}

// fromFiles reports whether files are read, not a cluster.
func (s *source) fromFiles() bool { return len(s.files.Filenames) > 0 }

// parse makes the query of the arguments, and refuses flags and arguments that do not go together.
func (s *source) parse(c *console, args []string) error {
	if args = s.takeFiles(args); s.fromFiles() {
		return checkFileFlags(c, args)
	}
	if len(args) == 0 && s.query.Selector == "" && !s.query.AllNamespaces {
		return usagef("no input: give files with -f, or what to read from the cluster: job/NAME, jobs for all of a namespace")
	}
	targets, err := cluster.ParseTargets(args, s.kinds...)
	if err != nil {
		return newUsageError(err)
	}
	if s.query.Targets = targets; len(args) == 0 {
		s.query.Targets = []cluster.Target{{Kind: cluster.Job}}
	}
	if err := s.query.Check(); err != nil {
		return newUsageError(err)
	}
	return nil
}

// checkFileFlags refuses flags and arguments that are for clusters.
func checkFileFlags(c *console, args []string) error {
	if len(args) > 0 {
		return usagef("%s: what is in a cluster does not go with files", args[0])
	}
	for _, flag := range []string{"selector", "all-namespaces", "watch"} {
		if c.given(flag) {
			return usagef("--%s is for what is read from a cluster, not for files given with -f", flag)
		}
	}
	return nil
}

// connect returns a client. The caller ends the progress when all has been read.
func (s *source) connect(c *console) (*cluster.Cluster, *progress, error) {
	client, err := s.connection.Connect(s.files.Namespace, userAgent())
	if err != nil {
		return nil, nil, err
	}
	shown := newProgress(c.stderr, "objects read from the cluster", 0)
	client.Progress = shown.add
	return client, shown, nil
}

// readFiles reads files, of which one may be standard input.
func readFiles(ctx context.Context, c *console, files manifest.Options) (*manifest.Set, error) {
	files.Stdin = c.stdin
	set, err := manifest.Read(ctx, files)
	noteSkipped(c, set)
	return set, err
}

// readSound reads files as readFiles does, for a verb whose result leaves out documents that are wrong: unread, which is to end it,
// says what is wrong with them. It fails when nothing can be said without them, or the user wants to stop at the first.
func readSound(ctx context.Context, c *console, files manifest.Options) (set *manifest.Set, unread, err error) {
	set, err = readFiles(ctx, c, files)
	unread, err = sound(set, err, files.Strict)
	return set, unread, err
}

// sound separates errors that concern some documents alone from those that end a verb.
func sound(set *manifest.Set, wrong error, strict bool) (unread, err error) {
	if wrong == nil || strict {
		return nil, wrong
	}
	if err := set.CheckUnread(wrong); err != nil {
		return nil, err
	}
	return newUnreadError(wrong), nil
}

// noteSkipped says what was read and is of no interest.
func noteSkipped(c *console, set *manifest.Set) {
	for _, note := range set.Skipped.Notes() {
		c.note(note)
	}
}

// nothingFound returns what to say when a cluster has no Pods for what was asked, which is an error only if the namespace does not
// exist.
func nothingFound(ctx context.Context, client *cluster.Cluster, q cluster.Query) (string, error) {
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
