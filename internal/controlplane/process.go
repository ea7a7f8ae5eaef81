package controlplane

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

// A process is a component's; envtest knows how to run the others.
type process struct {
	command *exec.Cmd
	ended   chan struct{} // closed when there is err
	err     error
}

// startProcess starts a binary and waits until all its health checks pass, such as those
// of each controller, at the address that the flags give it. The folder is for its log,
// and its home: no file of the user's changes what it does.
func startProcess(path, folder string, flags []string, address string) (*process, error) {
	log, err := openLog(folder, filepath.Base(path))
	if err != nil {
		return nil, err
	}
	defer log.close()
	command := exec.Command(path, flags...) //nolint:gosec,noctx // the tests choose their binaries; stop ends them
	command.Stdout, command.Stderr = log.file, log.file
	command.Env = append(os.Environ(), "HOME="+folder)
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &process{command: command, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.err = command.Wait()
	}()
	if err := p.healthy("https://" + address + "/healthz"); err != nil {
		return nil, errors.Join(log.with(err), p.stop())
	}
	return p, nil
}

// freePort returns a port of this machine that nobody listens on.
func freePort() (host, port string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // waits for nothing
	if err != nil {
		return "", "", err
	}
	host, port, err = net.SplitHostPort(listener.Addr().String())
	return host, port, errors.Join(err, listener.Close())
}

func (p *process) healthy(url string) error {
	config := &rest.Config{TLSClientConfig: rest.TLSClientConfig{Insecure: true}} // it has just made its certificate
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	err = until(p.ended, func(ctx context.Context) error { return get(ctx, client, url) })
	select {
	case <-p.ended:
		return errors.Join(errExited(), p.err)
	default:
		return err
	}
}

func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errUnhealthy(response.Status)
	}
	return nil
}

// until tries until there is no error, or it makes no sense any more.
func until(futile <-chan struct{}, try func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-futile:
			return err
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// stop ends the process, at first by asking.
func (p *process) stop() error {
	_ = p.command.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopTimeout):
		return errors.Join(errSlow(p.command.Path), p.command.Process.Kill())
	}
}
