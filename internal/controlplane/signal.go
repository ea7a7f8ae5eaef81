package controlplane

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Kill ends a component at once, as kill -9 does, and returns when it is gone. Open starts it again.
func (c *Cluster) Kill(component Component) error { return c.supervisor.do("Kill", component) }

// Pause stops a component in the middle of what it does: connections stay open, and nobody answers. Resume it.
func (c *Cluster) Pause(component Component) error { return c.supervisor.do("Pause", component) }

// Resume has a paused component go on.
func (c *Cluster) Resume(component Component) error { return c.supervisor.do("Resume", component) }

// Kill kills a component that runs, and waits until it is gone.
func (p *plane) Kill(component Component, _ *string) error {
	return p.with(component, func(running *os.Process) error {
		if err := running.Kill(); err != nil {
			return err
		}
		delete(p.components, component)
		p.killed[component] = component.core()
		return until(nil, func(context.Context) error {
			if running.Signal(syscall.Signal(0)) == nil {
				return errAlive()
			}
			return nil
		})
	})
}

// Pause holds a component that runs.
func (p *plane) Pause(component Component, _ *string) error {
	return p.with(component, func(running *os.Process) error { return running.Signal(pause) })
}

// Resume has a component that is held go on.
func (p *plane) Resume(component Component, _ *string) error {
	return p.with(component, func(running *os.Process) error { return running.Signal(resume) })
}

// with does something to the process of a component.
func (p *plane) with(component Component, do func(*os.Process) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.up(); err != nil {
		return err
	}
	running, err := p.find(component)
	if err != nil {
		return err
	}
	return do(running)
}

// find returns the process of a component.
func (p *plane) find(component Component) (*os.Process, error) {
	if known := p.components[component]; known != nil {
		return known.command.Process, nil
	}
	if !component.core() || p.killed[component] {
		return nil, errNotRunning(component)
	}
	text, err := os.ReadFile(filepath.Join(p.folder, string(component)+pidSuffix))
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil {
		return nil, err
	}
	return os.FindProcess(pid)
}

// pidSuffix ends the name of the file with the id of a process.
const pidSuffix = ".pid"

// launcher writes a script that runs a component in its own place, and returns its path. It leaves the id of the process in
// a file, which envtest keeps to itself.
func (p *plane) launcher(component Component) (path string, err error) {
	binary := "'" + strings.ReplaceAll(filepath.Join(p.assets, string(component)), "'", `'\''`) + "'"
	path = filepath.Join(p.folder, string(component))
	script := "#!/bin/sh\necho $$ >\"$0" + pidSuffix + "\"\nexec " + binary + " \"$@\"\n"
	return path, os.WriteFile(path, []byte(script), 0o700) //nolint:gosec // it is to be executed
}

// restart starts etcd or the API server if it was killed.
func (p *plane) restart(component Component) error {
	if !p.killed[component] {
		return nil
	}
	err := persist(func() error {
		if component == Etcd {
			return p.startEtcd(p.control.Etcd)
		}
		return p.startAPIServer(p.control.APIServer)
	})
	p.killed[component] = err != nil
	return err
}

// resumeAll has everything that runs go on.
func (p *plane) resumeAll() {
	if p.control == nil {
		return
	}
	for _, component := range []Component{Etcd, APIServer, ControllerManager, Scheduler, Kwok} {
		if running, err := p.find(component); err == nil {
			_ = running.Signal(resume) // it may have ended
		}
	}
}
