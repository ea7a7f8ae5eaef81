package main

import "github.com/spf13/cobra"

// Nothing is completed: a page has no shell.

func completed(func() []string) cobra.CompletionFunc { return nil }

func addCompletion(*cobra.Command, string, func() []string) {}

func addListCompletion(*cobra.Command, string, func() []string) {}

func addSourceCompletions(*cobra.Command, *source) {}

func completeScenarios(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}
