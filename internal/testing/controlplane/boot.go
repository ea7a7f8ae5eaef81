package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

const (
	// startTimeout is the time for starting one process on a machine whose cores are all busy; on an idle one it takes
	// seconds.
	startTimeout = 3 * time.Minute

	// attempts is the number of attempts to start a process, because its port may be used between its choice and its use.
	attempts = 3
)

// persist retries if try fails quickly, as it does if a port is in use. A slow failure would be as slow again.
func persist(try func() error) (err error) {
	for range attempts {
		begin := time.Now()
		if err = try(); err == nil || time.Since(begin) > startTimeout/attempts {
			return err
		}
	}
	return err
}

// boot starts etcd and the API server, and waits for the objects that a test's first request relies on.
func (c *Cluster) boot() error {
	err := persist(func() error {
		control, err := c.configure()
		if err != nil {
			return err
		}
		c.control = control
		if err := c.start(Etcd); err != nil {
			return err
		}
		if err := c.start(APIServer); err != nil {
			return errors.Join(err, c.Kill(Etcd)) // the next attempt starts its own
		}
		return nil
	})
	if err != nil {
		return err
	}
	admin, err := c.kubeconfig("admin", "system:masters")
	if err != nil {
		return err
	}
	if c.Config, err = clientcmd.RESTConfigFromKubeConfig(admin); err != nil {
		return err
	}
	c.Config.QPS = -1
	if c.client, err = kubernetes.NewForConfig(c.Config); err != nil {
		return err
	}
	var missing error
	err = wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
		_, missing = c.client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		missing = errors.Join(missing, c.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error())
		return missing == nil, nil
	})
	if err != nil {
		return errors.Join(err, missing)
	}
	served, err := c.client.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	c.Version = served.GitVersion
	return nil
}

// configure makes a control plane with its own files.
func (c *Cluster) configure() (*envtest.ControlPlane, error) {
	folder, err := os.MkdirTemp(c.directory, "boot-")
	if err != nil {
		return nil, err
	}
	certificates, policy := filepath.Join(folder, "certificates"), filepath.Join(folder, "audit-policy.yaml")
	if err := errors.Join(os.Mkdir(certificates, 0o700), os.WriteFile(policy, []byte(auditPolicy), 0o600)); err != nil {
		return nil, err
	}
	etcd := &envtest.Etcd{DataDir: filepath.Join(folder, "data"), StartTimeout: startTimeout}
	etcd.Configure().
		Set("unsafe-no-fsync", "true").          // the data is not needed after a crash of the machine
		Set("quota-backend-bytes", "8589934592") // the recommended maximum: some tests write gigabytes
	server := &envtest.APIServer{CertDir: certificates, StartTimeout: startTimeout}
	server.Configure().
		Set("authorization-mode", "RBAC").
		Set("audit-policy-file", policy).
		Set("audit-log-path", filepath.Join(c.directory, auditLog))
	appendFlags(server, c.serverFlags)
	if err := c.serveMutation(server); err != nil {
		return nil, err
	}
	if etcd.Path, err = c.launcher(Etcd); err == nil {
		server.Path, err = c.launcher(APIServer)
	}
	return &envtest.ControlPlane{Etcd: etcd, APIServer: server}, err
}

// serveMutation sets the flags that an older API server needs to serve MutatingAdmissionPolicies. Only a folder named by
// the user may have an older one.
func (c *Cluster) serveMutation(server *envtest.APIServer) error {
	if os.Getenv(envAssets) == "" {
		return nil
	}
	program := filepath.Join(c.assets, string(APIServer))
	said, err := exec.CommandContext(context.Background(), program, "--version").Output() //nolint:gosec // the user's
	if err != nil {
		return fmt.Errorf("%s --version: %w", program, err)
	}
	release, err := version.ParseGeneric(strings.TrimPrefix(strings.TrimSpace(string(said)), "Kubernetes "))
	if err != nil {
		return fmt.Errorf("%s --version: %w", program, err)
	}
	api, _ := kubeversion.MutationAPIOf(release)
	appendFlags(server, strings.Fields(api.Flags))
	return nil
}

func appendFlags(server *envtest.APIServer, flags []string) {
	for _, flag := range flags {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		server.Configure().Append(name, value)
	}
}
