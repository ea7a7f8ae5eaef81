package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/compiler"
)

// buildVersion is what version writes.
type buildVersion struct {
	Version    string `json:"version"`
	Revision   string `json:"revision,omitempty"`
	Go         string `json:"go"`
	CEL        string `json:"cel"`
	Kubernetes string `json:"kubernetes"`
}

// readVersion returns what the Go linker recorded.
func readVersion() buildVersion {
	v := buildVersion{Version: "(devel)", CEL: "unknown", Kubernetes: compiler.DefaultVersion}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Go = info.GoVersion
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			v.Revision = setting.Value
		}
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/google/cel-go" {
			v.CEL = module.Version
		}
	}
	return v
}

// userAgent is how requests to API servers name this program.
func userAgent() string { return "podverdict/" + readVersion().Version }

func newVersion() *cobra.Command {
	var output format
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the versions of podverdict, of its Go and cel-go, and of the Kubernetes\nthat it decides for by default.",
		Example: "  podverdict version -o json",
		Args:    noArguments,
		RunE:    verb(&output, version),
	}
	addFormat(cmd, &output, "text", "json", "yaml")
	return cmd
}

func version(_ context.Context, c *console, output *format, _ []string) error {
	if output.isObject() {
		return writeObject(c.stdout, output.name, readVersion())
	}
	return printVersion(c.stdout)
}

func printVersion(out io.Writer) error {
	v := readVersion()
	_, err := fmt.Fprintf(out, "podverdict %s, Kubernetes %s, cel-go %s, %s\n", v.Version, v.Kubernetes, v.CEL, v.Go)
	return err
}
