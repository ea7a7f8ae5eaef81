package controlplane

import (
	"errors"
	"fmt"
	"strings"
)

func errRun() error {
	return errors.New("no control plane without func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) } in this package")
}

func errRoot(start string) error {
	return fmt.Errorf("the control plane is looked for in .cache of the repository, and no folder above %s has conformance/upstream/go.mod", start)
}

func errBuilt(err error) error {
	return fmt.Errorf("the control plane is not built, run make control-plane: %w", err)
}

func errGiven(folder string, err error) error {
	return fmt.Errorf("%s=%s has no control plane; unset it and run make control-plane, which builds one: %w", envAssets, folder, err)
}

func errStart(err error) error {
	return fmt.Errorf("start the control plane that make control-plane builds: %w", err)
}

func errStop(err error) error {
	return fmt.Errorf("stop the control plane: %w", err)
}

func errComponent(component Component, err error) error {
	return fmt.Errorf("start %s: %w", component, err)
}

func errUnknown(component Component) error {
	return fmt.Errorf("unknown component %q, there are %q, %q and %q", component, ControllerManager, Scheduler, Kwok)
}

func errNotBooted() error { return errors.New("there is no API server yet") }

func errStopped() error { return errors.New("the control plane has been stopped") }

func errExited() error { return errors.New("it ended before it was healthy") }

func errUnhealthy(status string) error {
	return fmt.Errorf("its health check answers %s", status)
}

func errNotRunning(component Component) error { return fmt.Errorf("%s does not run", component) }

func errAlive() error { return errors.New("it was killed, and is still there") }

func errEtcd(path, status string) error { return fmt.Errorf("etcd answers %s with %s", path, status) }

func errSlow(path string) error {
	return fmt.Errorf("%s did not stop in %v and was killed", path, stopTimeout)
}

// errLogged adds what a process has said last.
func errLogged(name string, err error, log string) error {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	lines = lines[max(0, len(lines)-20):]
	return fmt.Errorf("%s: %w; its log ends with:\n  %s", name, err, strings.Join(lines, "\n  "))
}
