package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/podverdict/podverdict/internal/kubeversion"
)

// serveMutation gives the API server the flags that an older release needs to serve MutatingAdmissionPolicies. Only a folder that the
// user names has one.
func (p *plane) serveMutation(server *envtest.APIServer) error {
	if os.Getenv(envAssets) == "" {
		return nil
	}
	program := filepath.Join(p.assets, string(APIServer))
	said, err := exec.CommandContext(context.Background(), program, "--version").Output() //nolint:gosec // the user's
	if err != nil {
		return fmt.Errorf("%s --version: %w", program, err)
	}
	release, err := version.ParseGeneric(strings.TrimPrefix(strings.TrimSpace(string(said)), "Kubernetes "))
	if err != nil {
		return fmt.Errorf("%s --version: %w", program, err)
	}
	api, _ := kubeversion.MutationAPIOf(release)
	for flag := range strings.FieldsSeq(api.Flags) {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		server.Configure().Append(name, value)
	}
	return nil
}
