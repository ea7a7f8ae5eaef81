package controlplane

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

// envAssets is envtest's variable for a folder with binaries.
const envAssets = "KUBEBUILDER_ASSETS"

// findAssets returns the folder of the binaries.
func findAssets() (string, error) {
	if folder := os.Getenv(envAssets); folder != "" {
		if err := hasPlane(folder); err != nil {
			return "", fmt.Errorf("%s=%s has no control plane; unset it and run make control-plane, which builds one: %w", envAssets, folder, err)
		}
		return folder, nil
	}
	root, err := findRoot()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(root, ".cache", "control-plane", kubeversion.Pinned)
	if err := hasPlane(folder); err != nil {
		return "", fmt.Errorf("the control plane is not built, run make control-plane: %w", err)
	}
	return folder, nil
}

// hasPlane checks for the binaries that every test needs; envtest's own archives have no others.
func hasPlane(folder string) error {
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil { //nolint:gosec // the user's folder
			return err
		}
	}
	return nil
}

// findRoot returns the repository's root, above the folder of the package under test.
func findRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "conformance", "upstream", "go.mod")); err == nil {
			return folder, nil
		}
		if filepath.Dir(folder) == folder {
			return "", fmt.Errorf("the control plane is looked for in .cache of the repository, and no folder above %s has conformance/upstream/go.mod", start)
		}
	}
}
