package testcluster

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Replica is a process of the controller.
type Replica struct {
	Process *os.Process
	Ended   chan struct{} // closed when the process has ended

	command *exec.Cmd
	mu      sync.Mutex
	log     bytes.Buffer
}

// A Line is a line of a replica's log.
type Line struct {
	Level, Msg, Address string
	Paths               []string

	Text string `json:"-"`
}

// Start runs a replica with the arguments of the Deployment and additional ones, and waits until it leads and works. It
// is killed at the end of the test. A launcher, if given, is a program that replaces itself with the program in its
// arguments.
func (i *Installation) Start(t testing.TB, kubeconfig string, launcher []string, more ...string) *Replica {
	t.Helper()
	r := i.Launch(t, kubeconfig, launcher, more...)
	r.Await(t, func(l Line) bool { return l.Msg == "Running" })
	return r
}

// Launch is Start without waiting.
func (i *Installation) Launch(t testing.TB, kubeconfig string, launcher []string, more ...string) *Replica {
	t.Helper()
	deployment, err := i.Client.AppsV1().Deployments(Namespace).Get(t.Context(), Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	arguments := slices.Concat(launcher, []string{filepath.Join(i.Programs, Name)}, argumentsOf(deployment), []string{
		"--kubeconfig=" + kubeconfig, "--health-bind-address=127.0.0.1:0", "--metrics-bind-address=localhost:0", "--logging-format=json",
	}, more)
	r := &Replica{command: exec.Command(arguments[0], arguments[1:]...), Ended: make(chan struct{})} //nolint:gosec,noctx // the test's; the cleanup ends it
	r.command.Env, r.command.Stderr = append(os.Environ(), environmentOf(deployment)...), r
	DieWithTest(r.command)
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	r.Process = r.command.Process
	go func() {
		defer close(r.Ended)
		_ = r.command.Wait() // the exit code is read later
	}()
	t.Cleanup(func() {
		r.Kill()
		if t.Failed() {
			const most = 64 << 10
			log := r.Log()
			t.Logf("the end of the log:\n%s", log[max(0, len(log)-most):])
		}
	})
	return r
}

// Kill kills the process, and waits for its end.
func (r *Replica) Kill() {
	_ = r.Process.Kill() // it may have ended
	<-r.Ended
}

// Stop ends the process like the kubelet, and returns the exit code.
func (r *Replica) Stop(t testing.TB) int {
	t.Helper()
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	return r.Wait()
}

// Wait returns the exit code of the process.
func (r *Replica) Wait() int {
	<-r.Ended
	return r.command.ProcessState.ExitCode()
}

// argumentsOf returns the Pods' arguments, expanded like by the kubelet.
func argumentsOf(deployment *appsv1.Deployment) []string {
	values := []string{"$(NAMESPACE)", deployment.Namespace}
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		values = append(values, "$("+variable.Name+")", variable.Value)
	}
	expand := strings.NewReplacer(values...)
	var all []string
	for _, argument := range deployment.Spec.Template.Spec.Containers[0].Args {
		all = append(all, expand.Replace(argument))
	}
	return all
}

// environmentOf returns the Pods' variables whose values are texts or limits of resources.
func environmentOf(deployment *appsv1.Deployment) []string {
	var all []string
	container := deployment.Spec.Template.Spec.Containers[0]
	for _, variable := range container.Env {
		value := variable.Value
		if from := variable.ValueFrom; from != nil && from.ResourceFieldRef != nil {
			name := strings.TrimPrefix(from.ResourceFieldRef.Resource, "limits.")
			limit := container.Resources.Limits[corev1.ResourceName(name)]
			value = strconv.FormatInt(limit.Value(), 10)
		}
		if value != "" {
			all = append(all, variable.Name+"="+value)
		}
	}
	return all
}

// Write appends to the log.
func (r *Replica) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(text)
}

// Lines returns the lines of the log for which such returns true.
func (r *Replica) Lines(such func(Line) bool) (lines []Line) {
	for text := range strings.Lines(r.Log()) {
		l := Line{Text: text}
		_ = json.Unmarshal([]byte(text), &l) //nolint:musttag // a line of the log has more fields than those with tags; a panic has no form
		if such(l) {
			lines = append(lines, l)
		}
	}
	return lines
}

// Await waits for a line of the log. The test fails if the process ends without it.
func (r *Replica) Await(t testing.TB, such func(Line) bool) Line {
	t.Helper()
	var found []Line
	Eventually(t, "the log has a line", func(context.Context) (bool, error) {
		ended := r.hasEnded()
		if found = r.Lines(such); ended && len(found) == 0 {
			t.Fatalf("the process has ended:\n%s", r.Log())
		}
		return len(found) > 0, nil
	})
	return found[0]
}

func (r *Replica) hasEnded() bool {
	select {
	case <-r.Ended:
		return true
	default:
		return false
	}
}

// Log returns the log so far.
func (r *Replica) Log() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}
