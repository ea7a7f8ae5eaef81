package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/internal/didyoumean"
	"github.com/podverdict/podverdict/internal/input/cluster"
)

// NoArguments returns an error if there are arguments.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return WithHelp(cmd, fmt.Errorf("unexpected argument %q", args[0]))
	}
	return nil
}

// FileArguments appends arguments to the file names, like values of -f.
func FileArguments(filenames *[]string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for _, arg := range args {
			if !IsFile(arg) {
				return WithHelp(cmd, fmt.Errorf("%s: no such file", arg))
			}
		}
		*filenames = append(*filenames, args...)
		return nil
	}
}

// VerbArgument returns an error for arguments of a command group, where any argument is an unknown subcommand.
func VerbArgument(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	unknown := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	if meant := MeantVerb(cmd, args[0]); meant != "" {
		unknown = fmt.Errorf("%w, did you mean %s?", unknown, meant)
	}
	return WithHelp(cmd, unknown)
}

// MeantVerb returns the command that was probably meant, or "": a subcommand of cmd with a similar name, or a command with the same name
// elsewhere.
func MeantVerb(cmd *cobra.Command, name string) string {
	var names []string
	for _, below := range cmd.Commands() {
		if slices.Contains(below.SuggestFor, name) {
			return below.Name()
		}
		names = append(names, below.Name())
	}
	if near := didyoumean.Name(name, names); near != "" {
		return near
	}
	for _, verb := range cmd.Root().Commands() {
		for _, below := range append([]*cobra.Command{verb}, verb.Commands()...) {
			if below.Name() == name {
				return below.CommandPath()
			}
		}
	}
	return ""
}

// TakeFiles appends arguments that are files to the values of -f, and returns the others, which name objects. An argument that may name
// an object of the cluster counts as one, unless files are read anyway.
func (s *Source) TakeFiles(args []string) []string {
	var others []string
	anyway := s.FromFiles() || slices.ContainsFunc(args, namesManifest)
	for _, arg := range args {
		_, err := cluster.ParseTargets([]string{arg}, s.Kinds...)
		if namesManifest(arg) || IsFile(arg) && (err != nil || anyway && strings.ContainsRune(arg, filepath.Separator)) {
			s.Files.Filenames = append(s.Files.Filenames, arg)
			continue
		}
		others = append(others, arg)
	}
	return others
}

// IsFile reports whether an argument is an existing file or folder, or standard input.
func IsFile(arg string) bool {
	if arg == "-" {
		return true
	}
	_, err := os.Stat(arg)
	return err == nil
}

// namesManifest reports whether an argument can only be a file: standard input, or a name with a manifest's extension.
func namesManifest(arg string) bool {
	name := strings.TrimSuffix(strings.TrimSuffix(arg, ".gz"), ".zst")
	return arg == "-" || slices.Contains([]string{".yaml", ".yml", ".json", ".ndjson"}, filepath.Ext(name))
}
