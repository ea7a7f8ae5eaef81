package controlplane

import (
	"errors"
	"io"
	"net/rpc"
	"os"
	"os/exec"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// A supervisor is the process that runs the control plane, seen from the test binary.
type supervisor struct {
	command *exec.Cmd
	calls   *rpc.Client
}

// newSupervisor runs the test binary once more. Its standard input is the leash: no other
// process has the end that we hold.
func newSupervisor() (*supervisor, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.Command(self, supervising) //nolint:gosec,noctx // it is us; the leash ends it when no context can
	command.Args[0] = "podverdict-control-plane"
	command.Stderr = os.Stderr // so that go test waits for the supervisor, too
	command.SysProcAttr = ownSession()
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	return &supervisor{command: command, calls: rpc.NewClient(duplex{output, input})}, nil
}

// boot starts etcd and kube-apiserver and returns the directory of their files.
func (s *supervisor) boot(assets string) (directory string, err error) {
	err = s.calls.Call("Plane.Boot", assets, &directory)
	return directory, err
}

// do has a method of the plane do something with the component.
func (s *supervisor) do(method string, component Component) error {
	return s.calls.Call("Plane."+method, component, new(string))
}

// user returns a kubeconfig with a certificate for the user.
func (s *supervisor) user(name string, groups ...string) (kubeconfig []byte, err error) {
	err = s.calls.Call("Plane.User", envtest.User{Name: name, Groups: groups}, &kubeconfig)
	return kubeconfig, err
}

// stop lets go of the leash and waits for the end of all processes.
func (s *supervisor) stop() error {
	return errors.Join(s.calls.Close(), s.command.Wait())
}

// duplex is a connection made of two pipes.
type duplex struct {
	io.ReadCloser
	w io.WriteCloser
}

func (d duplex) Write(p []byte) (int, error) { return d.w.Write(p) }

// Close closes the pipe that we write to; the other end closes the one that we read.
func (d duplex) Close() error { return d.w.Close() }
