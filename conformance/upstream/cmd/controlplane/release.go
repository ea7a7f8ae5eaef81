package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/podverdict/podverdict/conformance/upstream/internal/staging"
)

// writeModule writes a go.mod for the module of the working directory to the folder, which requires only another release
// of Kubernetes, and returns its path and its text. The go command adds the other requirements, at the versions that the
// release requires. GODEBUG defaults come only from the main module, so the release's defaults are copied.
func writeModule(ctx context.Context, folder, version string) (path, text string, err error) {
	own, err := output(ctx, ".", "list", "-m", "-f", "module {{.Path}}\n\ngo {{.GoVersion}}\n")
	if err != nil {
		return "", "", err
	}
	theirs, err := output(ctx, ".", "list", "-m", "-f", "{{.GoMod}}", "k8s.io/kubernetes@"+version)
	if err != nil {
		return "", "", err
	}
	release, err := staging.Read(ctx, strings.TrimSpace(theirs))
	if err != nil {
		return "", "", err
	}
	path, text = filepath.Join(folder, "go.mod"), own+directives(release, version)
	return path, text, os.WriteFile(path, []byte(text), 0o600)
}

// directives returns the directives that require the release.
func directives(release staging.Release, version string) string {
	var b strings.Builder
	for _, setting := range release.Godebug {
		fmt.Fprintf(&b, "\ngodebug %s=%s\n", setting.Key, setting.Value)
	}
	fmt.Fprintf(&b, "\nrequire k8s.io/kubernetes %s\n\n", version)
	modules, staged := release.Modules(version)
	for _, module := range modules {
		fmt.Fprintf(&b, "replace %s => %s %s\n", module, module, staged)
	}
	return b.String()
}
