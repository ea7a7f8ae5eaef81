package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
)

// completionTime limits how long a shell waits for names from a cluster.
const completionTime = 2 * time.Second

// CompletedBy returns a cobra completion function that offers a list of names.
func CompletedBy(names func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return names(), cobra.ShellCompDirectiveNoFileComp
	}
}

// AddCompletion adds shell completion for the value of a flag.
func AddCompletion(cmd *cobra.Command, flag string, names func() []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, CompletedBy(names)); err != nil {
		cmd.PrintErrln(err)
	}
}

// AddListCompletion adds shell completion for a flag whose value is a comma-separated list of names.
func AddListCompletion(cmd *cobra.Command, flag string, names func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := word[:strings.LastIndexByte(word, ',')+1]
		given := strings.Split(before, ",")
		var values []cobra.Completion
		for _, name := range names() {
			if !slices.Contains(given, name) {
				values = append(values, before+name)
			}
		}
		return starting(values, word), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		cmd.PrintErrln(err)
	}
}

// AddConnectionCompletions adds shell completion for the connection flags that name entries of a kubeconfig.
func AddConnectionCompletions(cmd *cobra.Command, connection *cluster.Options) {
	for i, flag := range []string{"context", "cluster", "user"} {
		AddCompletion(cmd, flag, func() []string {
			contexts, clusters, users := connection.Kubeconfig()
			return [][]string{contexts, clusters, users}[i]
		})
	}
}

// AddSourceCompletions adds shell completion for objects of a cluster, and for the connection flags.
func AddSourceCompletions(cmd *cobra.Command, s *Source) {
	AddConnectionCompletions(cmd, &s.Connection)
	AddCompletion(cmd, "namespace", s.namespaces)
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		names := s.complete(args, word)
		if len(names) > 0 && strings.HasSuffix(names[0], "/") {
			return names, cobra.ShellCompDirectiveNoSpace
		}
		return names, cobra.ShellCompDirectiveDefault // complete files where no name fits
	}
}

// complete returns the completions of a word: types with a slash, or names of objects of a type.
func (s *Source) complete(args []string, word string) []string {
	if s.FromFiles() || slices.ContainsFunc(args, namesManifest) {
		return nil
	}
	kind, known := cluster.Kind(""), false
	prefix := ""
	if typed, _, ok := strings.Cut(word, "/"); ok {
		kind, known = cluster.KindOf(typed, s.Kinds...)
		prefix = typed + "/"
	} else if len(args) > 0 {
		kind, known = cluster.KindOf(args[0], s.Kinds...)
	}
	if !known && (len(args) == 0 || strings.Contains(args[0], "/")) {
		var types []string
		for _, kind := range s.Kinds {
			types = append(types, string(kind)+"/")
		}
		return starting(types, word)
	}
	var names []string
	for _, name := range s.names(kind) {
		if name = prefix + name; !slices.Contains(args, name) {
			names = append(names, name)
		}
	}
	return starting(names, word)
}

func starting(names []string, word string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, word) })
}

// names returns the names of objects in the cluster, if they can be read within completionTime.
func (s *Source) names(kind cluster.Kind) []string {
	return s.ask(func(ctx context.Context, c *cluster.Cluster) []string { return c.Names(ctx, kind) })
}

func (s *Source) namespaces() []string {
	return s.ask(func(ctx context.Context, c *cluster.Cluster) []string { return c.Namespaces(ctx) })
}

// ask reads names from the cluster. It ignores errors, because shells do not show them.
func (s *Source) ask(names func(context.Context, *cluster.Cluster) []string) []string {
	client, err := s.Connection.Connect(s.Files.Namespace, UserAgent())
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	return names(ctx, client)
}

// CompleteScenarios completes the name of a built-in scenario as the first argument.
func CompleteScenarios(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for i := range scenarios.All {
		names = append(names, cobra.CompletionWithDesc(scenarios.All[i].Name, scenarios.All[i].Means))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
