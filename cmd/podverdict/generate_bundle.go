//go:build !js

package main

import (
	"context"
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
		Args:  verbArgument,
	}
	cmd.RunE = missingVerb(cmd)
	cmd.AddCommand(newGenerateBundle(), newGenerateVAP(), newGenerateMAP(), newGenerateGatekeeper(), newGenerateInstall())
	return cmd
}

// bundleOptions are the flags of generate bundle.
type bundleOptions struct {
	options  bundle.Options
	registry bundle.Registry
	target   string
}

func newGenerateBundle() *cobra.Command {
	var o bundleOptions
	cmd := &cobra.Command{
		Use:   "bundle -o FILE|DIR|oci://REF",
		Short: "Write the rules as an OPA bundle, or push them to a registry",
		Long: `Write the Rego rules that validate uses as an OPA bundle, to a file or folder,
or push them to an OCI registry. The same rules give the same bytes. A registry
gets two artifacts: the bundle for OPA, and, under the tag with the suffix
-conftest, the files for conftest. Log in to it with docker, podman or oras.`,
		Example: `  podverdict generate bundle -o bundle.tar.gz
  podverdict generate bundle -o dist/ --signing-key key.pem --revision v1.2.0
  podverdict generate bundle -o oci://registry.example.com/policies:v1`,
		Args: noArguments,
		RunE: verb(&o, generateBundle),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.target, "output", "o", "", "file, folder or oci://REGISTRY/REPOSITORY:TAG to write to")
	flags.StringVar(&o.options.Revision, "revision", "", "revision for the manifest (default a digest of the rules)")
	flags.StringVar(&o.options.Key, "signing-key", "", "PEM file of the private key to sign with, RSA or ECDSA")
	flags.BoolVar(&o.registry.PlainHTTP, "plain-http", false, "speak HTTP with the registry; those of localhost are spoken to so anyway")
	return cmd
}

// generateBundle builds a bundle, and writes it to a file or pushes it to a registry.
func generateBundle(ctx context.Context, c *console, o *bundleOptions, _ []string) error {
	if o.target == "" {
		return usagef("no output: give a file, a folder or oci://REGISTRY/REPOSITORY:TAG with -o")
	}
	built, err := bundle.Build(policies.FS, o.options)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(o.target, bundle.Scheme) {
		name, err := built.WriteFile(o.target)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "wrote %s, revision %s\n", name, built.Revision)
		return err
	}
	o.registry.Reference = o.target
	pushed, err := built.Push(ctx, o.registry)
	if err != nil {
		return err
	}
	for _, artifact := range pushed {
		fmt.Fprintf(c.stdout, "pushed %s@%s\n", artifact.Reference, artifact.Digest)
	}
	return nil
}
