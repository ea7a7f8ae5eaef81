//go:build cluster

package controller_test

import (
	"context"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/internal/fixtures"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/controlplane"
)

// node is a test's kubelet: it ends the pods of a namespace as the test says.
type node struct {
	kubernetes.Interface
	namespace string
}

// end gives the pods that run the exit codes that are asked for.
func (n node) end(ctx context.Context, exitCode func(*corev1.Pod) int32) error {
	pods, err := n.CoreV1().Pods(n.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		if pod.Status.Phase != corev1.PodPending {
			continue
		}
		code := exitCode(&pod)
		pod.Status.Phase = corev1.PodSucceeded
		if code != 0 {
			pod.Status.Phase = corev1.PodFailed
		}
		now := metav1.Now()
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: now, FinishedAt: now},
		}}}
		if _, err := n.CoreV1().Pods(n.namespace).UpdateStatus(ctx, &pod, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// started runs a controller until the end of the test.
func started(t *testing.T, config *rest.Config) {
	t.Helper()
	c, err := controller.New(controller.Options{Config: config, Observe: true, Settings: plan.Settings{Backoff: 100 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A managed Job lives on the real API server: each index fails once, is tried again, and succeeds.
func TestRun(t *testing.T) {
	cluster := controlplane.Start(t)
	started(t, cluster.Config)
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	kubelet := node{client, cluster.Namespace(t)}
	jobs := client.BatchV1().Jobs(kubelet.namespace)
	if _, err := jobs.Create(t.Context(), fixtures.ManagedJob(20), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var job *batchv1.Job
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		if err := kubelet.end(ctx, firstFails); err != nil {
			return false, err
		}
		job, err = jobs.Get(ctx, "train", metav1.GetOptions{})
		return err == nil && job.Status.CompletionTime != nil, err
	})
	if err != nil {
		t.Fatalf("%v; the status is %+v", err, job.Status)
	}
	if s := job.Status; s.Succeeded != 20 || s.Failed != 20 || s.CompletedIndexes != "0-19" || s.Active != 0 {
		t.Errorf("the status is %+v", s)
	}
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		pods, err := client.CoreV1().Pods(kubelet.namespace).List(ctx, metav1.ListOptions{})
		held := 0
		for _, pod := range pods.Items {
			held += len(pod.Finalizers)
		}
		return held == 0 && len(pods.Items) == 40, err
	})
	if err != nil {
		t.Errorf("pods are held after the end: %v", err)
	}
}

func firstFails(pod *corev1.Pod) int32 {
	if pod.Annotations[batchv1.JobIndexFailureCountAnnotation] == "0" {
		return 1
	}
	return 0
}

// What RBAC gives nobody is missed, each permission in a line; an administrator misses nothing.
func TestPreflight(t *testing.T) {
	cluster := controlplane.Start(t)
	nobody, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig(t, "nobody"))
	if err != nil {
		t.Fatal(err)
	}
	needed := controller.Permissions(all)
	lines := preflight(t, kubernetes.NewForConfigOrDie(nobody), needed)
	if len(lines) != len(needed) {
		t.Fatalf("%d lines for %d permissions:\n%s", len(lines), len(needed), strings.Join(lines, "\n"))
	}
	for text, want := range map[string]int{
		`verb="patch" resource="jobs.batch/status" namespace="all namespaces" needed="to count the pods`:               1,
		`verb="get" resource="leases.coordination.k8s.io/podverdict-controller" namespace="podverdict-system" needed=`: 1,
		`verb="create" resource="pods" namespace="all namespaces" needed="to run managed Jobs"`:                        1,
		`"A permission is missing"`: len(needed),
	} {
		if got := strings.Count(strings.Join(lines, "\n"), text); got != want {
			t.Errorf("%s is there %d times, want %d:\n%s", text, got, want, strings.Join(lines, "\n"))
		}
	}
	if lines := preflight(t, kubernetes.NewForConfigOrDie(cluster.Config), needed); len(lines) > 0 {
		t.Errorf("an administrator is told:\n%s", strings.Join(lines, "\n"))
	}
}
