// Package staging reads of which modules a release of Kubernetes is made.
package staging

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

// Release is what the go.mod of k8s.io/kubernetes says.
type Release struct {
	// Godebug are the defaults of GODEBUG, which count in a main module only.
	Godebug []Setting `json:"Godebug"`
	Require []Module  `json:"Require"`
}

// Setting is one of GODEBUG.
type Setting struct {
	Key   string `json:"Key"`
	Value string `json:"Value"`
}

// Module is one that is required.
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

// Modules returns the staging modules, and their version in the release v1.x.y. It requires them at v0.0.0, which nobody published.
func (r Release) Modules(release string) (paths []string, version string) {
	for _, required := range r.Require {
		if required.Version == "v0.0.0" {
			paths = append(paths, required.Path)
		}
	}
	return paths, strings.Replace(release, "v1.", "v0.", 1)
}
