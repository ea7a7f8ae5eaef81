package testcluster

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Replica is a process of the controller.
type Replica struct {
	Process *os.Process
	Ended   chan struct{} // closed when the process has ended

	mu  sync.Mutex
	log bytes.Buffer
}

// Start runs a replica with the arguments of the Deployment and some more, and waits until it leads and works. It is killed
// at the end of the test. A launcher, if there is one, is a program that replaces itself by the one it gets as arguments.
func (i *Installation) Start(t testing.TB, kubeconfig string, launcher []string, more ...string) *Replica {
	t.Helper()
	deployment, err := i.client.AppsV1().Deployments(Namespace).Get(t.Context(), Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	arguments := slices.Concat(launcher, []string{i.program}, argumentsOf(deployment), []string{
		"--kubeconfig=" + kubeconfig, "--health-bind-address=127.0.0.1:0", "--metrics-bind-address=localhost:0", "--logging-format=json",
	}, more)
	command := exec.Command(arguments[0], arguments[1:]...) //nolint:gosec,noctx // the test's; the cleanup ends it
	command.Env = append(os.Environ(), environmentOf(deployment)...)
	DieWithTest(command)
	r := &Replica{Ended: make(chan struct{})}
	command.Stderr = r
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	r.Process = command.Process
	go func() {
		defer close(r.Ended)
		_ = command.Wait() // the log says it
	}()
	t.Cleanup(func() {
		_ = r.Process.Kill() // it may have ended
		<-r.Ended
	})
	Eventually(t, "the controller works", func(context.Context) (bool, error) {
		return r.Said("Running"), nil
	})
	return r
}

// argumentsOf returns the Pods' arguments, as the kubelet would fill them in.
func argumentsOf(deployment *appsv1.Deployment) []string {
	var all []string
	for _, argument := range deployment.Spec.Template.Spec.Containers[0].Args {
		all = append(all, strings.ReplaceAll(argument, "$(NAMESPACE)", deployment.Namespace))
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

// Said reports whether the log has a line with the message.
func (r *Replica) Said(message string) bool {
	return strings.Contains(r.Log(), `"msg":`+strconv.Quote(message))
}

// Log returns the log so far.
func (r *Replica) Log() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}
