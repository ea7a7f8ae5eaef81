package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// A janitor is a shell that waits until this process ends, in whatever way. Then it kills the control plane and removes
// its files.
type janitor struct {
	command *exec.Cmd
	leash   interface{ Close() error } // its standard input; only this process has the other end
}

// newJanitor starts the janitor of a folder, in which each process writes its id to a file. Go test also waits for the
// janitor, because it has our standard error.
func newJanitor(folder string) (*janitor, error) {
	const script = `trap "" HUP INT QUIT TERM
cat >/dev/null
for file in "$0"/*` + pidSuffix + `; do kill -KILL "$(cat "$file")"; done 2>/dev/null
for attempt in 1 2 3 4 5; do rm -rf "$0" && exit; sleep 1; done
exit 1`
	command := exec.Command("sh", "-c", script, folder) //nolint:noctx,gosec // it ends after us, and the folder is ours
	command.Stderr = os.Stderr
	leash, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &janitor{command, leash}, command.Start()
}

// dismiss makes the janitor do its work now.
func (j *janitor) dismiss() error { return errors.Join(j.leash.Close(), j.command.Wait()) }

// pidSuffix is the suffix of the file with the id of a running process.
const pidSuffix = ".pid"

// launcher writes a script that replaces itself with a component, and returns its path. The script fails after the
// janitor has removed the folder.
func (c *Cluster) launcher(component Component) (path string, err error) {
	binary := "'" + strings.ReplaceAll(filepath.Join(c.assets, string(component)), "'", `'\''`) + "'"
	path = filepath.Join(c.directory, string(component))
	script := "#!/bin/sh\necho $$ >\"$0" + pidSuffix + "\" && exec " + binary + " \"$@\"\n"
	return path, os.WriteFile(path, []byte(script), 0o700) //nolint:gosec // it is to be executed
}

func (c *Cluster) pidFile(component Component) string {
	return filepath.Join(c.directory, string(component)+pidSuffix)
}

// start starts the component unless it is running. An error includes the end of its output.
func (c *Cluster) start(component Component) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	component, more := component.split()
	if all := []Component{Etcd, APIServer, ControllerManager, Scheduler, Kwok}; !slices.Contains(all, component) {
		return fmt.Errorf("unknown component %q, there are %q", component, all)
	}
	if _, err := os.Stat(c.pidFile(component)); err == nil {
		return nil
	}
	log, err := os.Create(filepath.Join(c.directory, string(component)+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	switch component {
	case Etcd:
		c.control.Etcd.Out, c.control.Etcd.Err = log, log
		err = c.control.Etcd.Start()
	case APIServer:
		c.control.APIServer.EtcdURL = c.control.Etcd.URL
		c.control.APIServer.Out, c.control.APIServer.Err = log, log
		err = c.control.APIServer.Start()
	default:
		err = persist(func() error { return c.startOther(component, more, log) })
	}
	if err == nil {
		return nil
	}
	_, _ = c.kill(component), os.Remove(c.pidFile(component)) // it may have ended
	text, unread := os.ReadFile(log.Name())
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return errors.Join(fmt.Errorf("start %s: %w; its log ends with:\n  %s", component, err, strings.Join(lines[max(0, len(lines)-20):], "\n  ")), unread)
}

// startOther starts a component unknown to envtest, and waits until all its health checks pass, such as those of each
// controller. It ignores files in the user's home.
func (c *Cluster) startOther(component Component, more []string, log *os.File) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	flags, err := c.flags(component, address)
	if err != nil {
		return err
	}
	path, err := c.launcher(component)
	if err != nil {
		return err
	}
	command := exec.Command(path, append(flags, more...)...) //nolint:gosec,noctx // the tests choose their binaries; the janitor ends them
	command.Stdout, command.Stderr = log, log
	command.Env = append(os.Environ(), "HOME="+c.directory)
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	return awaitHealth("https://"+address, ended)
}

// freeAddress returns an unused address of this machine.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // waits for nothing
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func awaitHealth(url string, ended <-chan error) error {
	// The process has just generated its certificate.
	config := &rest.Config{Host: url, QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		err := client.RESTClient().Get().AbsPath("/healthz").Do(ctx).Error()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case reason := <-ended:
			return errors.Join(errors.New("it ended before it was healthy"), reason)
		case <-ctx.Done():
			return err
		}
	}
}
