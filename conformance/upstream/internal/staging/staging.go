// Package staging reads the modules that make up a release of Kubernetes.
package staging

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

// Release is the relevant part of the go.mod of k8s.io/kubernetes.
type Release struct {
	// Godebug has the GODEBUG defaults, which only apply in a main module.
	Godebug []Setting `json:"Godebug"`
	Require []Module  `json:"Require"`
}

// Setting is a GODEBUG setting.
type Setting struct {
	Key   string `json:"Key"`
	Value string `json:"Value"`
}

// Module is a required module.
type Module struct {
	Path    string `json:"Path"`
	Version string `json:"Version"`
}

// Read reads a go.mod.
func Read(ctx context.Context, path string) (Release, error) {
	var r Release
	described, err := exec.CommandContext(ctx, "go", "mod", "edit", "-json", path).Output() //nolint:gosec // the path is ours
	if err != nil {
		return r, fmt.Errorf("go mod edit -json %s: %w", path, err)
	}
	err = json.Unmarshal(described, &r)
	return r, err
}

// Modules returns the staging modules, and their version in the release v1.x.y. The release requires them at v0.0.0,
// which is not published.
func (r Release) Modules(release string) (paths []string, version string) {
	for _, required := range r.Require {
		if required.Version == "v0.0.0" {
			paths = append(paths, required.Path)
		}
	}
	return paths, strings.Replace(release, "v1.", "v0.", 1)
}
