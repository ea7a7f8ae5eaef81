package generate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/config/gatekeeper"
	"github.com/podverdict/podverdict/policies"
	"github.com/podverdict/podverdict/runtime/rego"
)

// New returns the generate command with its subcommands.
func New(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Generate what other tools enforce",
		Long:  "Generate what other tools enforce, from the same rules that podverdict uses itself.",
		Args:  cli.VerbArgument,
	}
	cmd.RunE = cli.MissingVerb(cmd)
	cmd.AddCommand(newBundle(p), NewVAP(p), newMAP(p), newInstall(p))
	return cmd
}

// bundleOptions holds the flags of generate bundle.
type bundleOptions struct {
	revision string
	target   string
}

func newBundle(p *cli.Program) *cobra.Command {
	var o bundleOptions
	cmd := &cobra.Command{
		Use:   "bundle -o FILE|DIR",
		Short: "Write the rules as an OPA bundle",
		Long: `Write the Rego rules that check asks as an OPA bundle, to a file, or as
bundle.tar.gz into a folder. Its folder gatekeeper has the same rules as
templates and constraints for OPA Gatekeeper. The same rules give the same
bytes. How opa signs it, and how oras and conftest bring it to a registry, is in
docs/admission.md.`,
		Example: `  podverdict generate bundle -o bundle.tar.gz
  podverdict generate bundle -o dist/ --revision v1.2.0`,
		Args: cli.NoArguments,
		RunE: cli.Run(p, &o, generateBundle),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.target, "output", "o", "", "file or folder to write to; a name that ends with a slash is a folder, which is made")
	flags.StringVar(&o.revision, "revision", "", "revision for the manifest (default a digest of the rules)")
	return cmd
}

// generateBundle writes the built-in rules without their tests.
func generateBundle(_ context.Context, c *cli.Console, o *bundleOptions, _ []string) error {
	if o.target == "" {
		return cli.Usagef("no output: give a file or a folder with -o")
	}
	rules, err := rego.Load(policies.FS)
	if err != nil {
		return err
	}
	digest, err := digestOf(rules)
	if err != nil {
		return err
	}
	rules.Manifest.Revision = cmp.Or(o.revision, digest)
	if err := addGatekeeper(rules); err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := bundle.Write(&archive, *rules); err != nil {
		return err
	}
	name, err := inFolder(o.target, "bundle.tar.gz") // the name used by OPA
	if err != nil {
		return err
	}
	if err := cli.WriteFile(name, archive.Bytes()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Stdout, "wrote %s, revision %s\n", name, rules.Manifest.Revision)
	return err
}

// addGatekeeper adds the files for Gatekeeper, which OPA ignores. A bundle can only hold modules and data, so each file is added as a
// module. Each file has its own folder, because conftest reads it as data and rejects two files with the same members in one folder.
func addGatekeeper(rules *bundle.Bundle) error {
	names, err := fs.Glob(gatekeeper.FS, "*.yaml")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := gatekeeper.FS.ReadFile(name)
		if err != nil {
			return err
		}
		rules.Modules = append(rules.Modules, bundle.ModuleFile{Path: path.Join("gatekeeper", strings.TrimSuffix(name, ".yaml"), name), Raw: text})
	}
	return nil
}

// digestOf returns a digest of the rules and their data that identifies a revision.
func digestOf(rules *bundle.Bundle) (string, error) {
	sum := sha256.New()
	add := func(path string, text []byte) { fmt.Fprintf(sum, "%s %d\n%s", path, len(text), text) }
	if len(rules.Data) > 0 {
		data, err := json.Marshal(rules.Data)
		if err != nil {
			return "", err
		}
		add("data.json", data)
	}
	for _, module := range rules.Modules { // sorted by path
		add(strings.TrimPrefix(module.Path, "/"), module.Raw)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// inFolder returns the path of file in target if target is a folder, and target otherwise. A target that ends with a slash is a folder,
// which is created if it does not exist.
func inFolder(target, file string) (string, error) {
	if os.IsPathSeparator(target[len(target)-1]) {
		if err := os.MkdirAll(target, 0o755); err != nil { //nolint:gosec // as open as mkdir makes it, for what is no secret
			return "", err
		}
	}
	if info, err := os.Stat(target); err == nil && info.IsDir() {
		return filepath.Join(target, file), nil
	}
	return target, nil
}
