package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/bundle"
	"github.com/podverdict/podverdict/policies"
)

func newGenerate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Generate what other tools enforce",
		Long:  "Generate what other tools enforce, from the same rules that podverdict uses itself.",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return errUsage(cmd, errors.New("generate what? there are: bundle, gatekeeper, install, map, vap"))
		},
	}
	cmd.AddCommand(newGenerateBundle(), newGenerateVAP(), newGenerateMAP(), newGenerateGatekeeper(), newGenerateInstall())
	return cmd
}

type bundling struct {
	options  bundle.Options
	registry bundle.Registry
	target   string
}

func newGenerateBundle() *cobra.Command {
	var b bundling
	cmd := &cobra.Command{
		Use:   "bundle -o FILE|DIR|oci://REF",
		Short: "Write the rules as an OPA bundle, or push them to a registry",
		Long: `Write the Rego rules that validate uses as an OPA bundle, to a file or folder, or push them to an OCI registry. The
same rules give the same bytes. In a registry there are two artifacts: the bundle for OPA, and, under the tag with the
suffix -conftest, the files for conftest. Registries are logged in to with docker, podman or oras.`,
		Example: `  podverdict generate bundle -o bundle.tar.gz
  podverdict generate bundle -o dist/ --signing-key key.pem --revision v1.2.0
  podverdict generate bundle -o oci://registry.example.com/policies:v1`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&b.target, "output", "o", "", "file, folder or oci://REGISTRY/REPOSITORY:TAG to write to")
	flags.StringVar(&b.options.Revision, "revision", "", "revision for the manifest (default a digest of the rules)")
	flags.StringVar(&b.options.Key, "signing-key", "", "PEM file of the private key to sign with, RSA or ECDSA")
	flags.BoolVar(&b.registry.PlainHTTP, "plain-http", false, "speak HTTP with the registry; those of localhost are spoken to so anyway")
	return cmd
}

func (b *bundling) run(cmd *cobra.Command) error {
	if b.target == "" {
		return errUsage(cmd, errors.New("no output: give a file, a folder or oci://REGISTRY/REPOSITORY:TAG with -o"))
	}
	built, err := bundle.Build(policies.FS, b.options)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if !strings.HasPrefix(b.target, bundle.Scheme) {
		name, err := built.WriteFile(b.target)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "wrote %s, revision %s\n", name, built.Revision)
		return err
	}
	b.registry.Reference = b.target
	pushed, err := built.Push(cmd.Context(), b.registry)
	if err != nil {
		return err
	}
	for _, artifact := range pushed {
		fmt.Fprintf(out, "pushed %s@%s\n", artifact.Reference, artifact.Digest)
	}
	return nil
}
