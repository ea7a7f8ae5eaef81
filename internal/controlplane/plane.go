package controlplane

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	// startTimeout is for one process on a machine whose cores are all taken; alone it
	// takes seconds.
	startTimeout = 3 * time.Minute

	// stopTimeout is what a process has before it is killed.
	stopTimeout = 30 * time.Second

	// attempts to start a process, as its port may be taken between its choice and its use.
	attempts = 3
)

// A plane is the control plane, in the supervisor. Its exported methods are what the test
// binary may ask for through net/rpc, and have the form that it wants.
type plane struct {
	directory string

	mu         sync.Mutex
	stopped    bool
	assets     string
	control    *envtest.ControlPlane // once booted
	folder     string                // its files
	components map[Component]*process
	killed     map[Component]bool // of etcd and the API server, which envtest runs
}

func newPlane(directory string) *plane {
	return &plane{directory: directory, components: map[Component]*process{}, killed: map[Component]bool{}}
}

// Boot starts etcd and kube-apiserver from the folder of binaries. The reply is the
// directory of their files.
func (p *plane) Boot(assets string, directory *string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return errStopped()
	}
	p.assets, *directory = assets, p.directory
	return persist(func() (err error) {
		p.control, err = p.boot()
		return err
	})
}

// persist tries again when try fails soon, as it does when a port is taken. A failure
// that took long would take as long again.
func persist(try func() error) (err error) {
	for range attempts {
		begin := time.Now()
		if err = try(); err == nil || time.Since(begin) > startTimeout/attempts {
			return err
		}
	}
	return err
}

func (p *plane) boot() (*envtest.ControlPlane, error) {
	folder, err := os.MkdirTemp(p.directory, "boot-")
	if err != nil {
		return nil, err
	}
	p.folder = folder
	control := &envtest.ControlPlane{Etcd: &envtest.Etcd{}, APIServer: &envtest.APIServer{}}
	if err = p.configureEtcd(control.Etcd); err == nil {
		err = p.startEtcd(control.Etcd)
	}
	if err == nil {
		control.APIServer.EtcdURL = control.Etcd.URL
		err = p.configureAPIServer(control.APIServer)
	}
	if err == nil {
		err = p.startAPIServer(control.APIServer)
	}
	if err == nil {
		err = ready(control)
	}
	if err != nil {
		return nil, errors.Join(err, control.Stop())
	}
	return control, nil
}

func (p *plane) configureEtcd(etcd *envtest.Etcd) (err error) {
	etcd.DataDir = filepath.Join(p.folder, "data")
	etcd.StartTimeout, etcd.StopTimeout = startTimeout, stopTimeout
	etcd.Configure().
		Set("unsafe-no-fsync", "true").          // nobody reads the data after a crash of the machine
		Set("quota-backend-bytes", "8589934592") // the most that it recommends: there are tests that write gigabytes
	etcd.Path, err = p.launcher(Etcd)
	return err
}

func (p *plane) configureAPIServer(server *envtest.APIServer) (err error) {
	certificates, policy := filepath.Join(p.folder, "certificates"), filepath.Join(p.folder, "audit-policy.yaml")
	if err := errors.Join(os.Mkdir(certificates, 0o700), os.WriteFile(policy, []byte(auditPolicy), 0o600)); err != nil {
		return err
	}
	server.CertDir = certificates
	server.StartTimeout, server.StopTimeout = startTimeout, stopTimeout
	server.Configure().
		Set("authorization-mode", "RBAC").
		Set("audit-policy-file", policy).
		Set("audit-log-path", filepath.Join(p.directory, auditLog))
	if err := p.serveMutation(server); err != nil {
		return err
	}
	server.Path, err = p.launcher(APIServer)
	return err
}

// startEtcd starts it, for the first time or after it was killed, with the data that there are.
func (p *plane) startEtcd(etcd *envtest.Etcd) error {
	log, err := openLog(p.folder, string(Etcd))
	if err != nil {
		return err
	}
	defer log.close()
	etcd.Out, etcd.Err = log.file, log.file
	return log.with(etcd.Start())
}

// startAPIServer starts it, for the first time or after it was killed, at the same address and with the same users.
func (p *plane) startAPIServer(server *envtest.APIServer) error {
	log, err := openLog(p.folder, string(APIServer))
	if err != nil {
		return err
	}
	defer log.close()
	server.Out, server.Err = log.file, log.file
	return log.with(server.Start())
}

// ready waits for what the first request of a test takes for granted.
func ready(control *envtest.ControlPlane) error {
	admin, err := control.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(admin.Config())
	if err != nil {
		return err
	}
	return until(nil, func(ctx context.Context) error {
		_, missing := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		return errors.Join(missing, client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error())
	})
}

// up returns an error when there is no control plane, not yet or not any more.
func (p *plane) up() error {
	switch {
	case p.stopped:
		return errStopped()
	case p.control == nil:
		return errNotBooted()
	}
	return nil
}

// Start starts the component unless it runs.
func (p *plane) Start(component Component, _ *string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch err := p.up(); {
	case err != nil:
		return err
	case component.core():
		return p.restart(component)
	case p.components[component] != nil:
		return nil
	}
	flags, err := p.flags(component)
	if err != nil {
		return err
	}
	return persist(func() error {
		process, err := p.startComponent(component, flags)
		if err != nil {
			return err
		}
		p.components[component] = process
		return nil
	})
}

func (p *plane) startComponent(component Component, flags []string) (*process, error) {
	host, port, err := freePort()
	if err != nil {
		return nil, err
	}
	flags = append(slices.Clone(flags), component.listenFlags(host, port)...)
	return startProcess(filepath.Join(p.assets, string(component)), p.directory, flags, net.JoinHostPort(host, port))
}

// User replies with a kubeconfig that has a certificate for the user.
func (p *plane) User(user envtest.User, kubeconfig *[]byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.up(); err != nil {
		return err
	}
	known, err := p.control.AddUser(user, nil)
	if err != nil {
		return err
	}
	*kubeconfig, err = known.KubeConfig()
	return err
}

// stop stops all processes, those that need others first, and removes their files. It
// waits for a start that is under way.
func (p *plane) stop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.resumeAll() // what is paused does not hear that it is to stop
	var failures []error
	for _, component := range []Component{Kwok, Scheduler, ControllerManager} {
		if process := p.components[component]; process != nil {
			failures = append(failures, process.stop())
		}
	}
	if p.control != nil {
		failures = append(failures, p.control.Stop())
	}
	return errors.Join(append(failures, os.RemoveAll(p.directory))...)
}
