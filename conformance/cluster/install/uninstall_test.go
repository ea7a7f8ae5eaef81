//go:build cluster

package install

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// isLost tests that while no controller runs, background deletion works, and other deletions wait for Pods until they are
// rescued.
func (i *installation) isLost(t *testing.T) {
	i.deleteLease(t)
	p := i.start(t, i.kubeconfig(t, newProxy(t, i.Cluster.Config)),
		"--leader-elect-lease-duration=5s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=500ms")
	p.Await(t, says("Running"))
	here, doomed := i.Cluster.Namespace(t), i.Cluster.Namespace(t)
	for _, job := range []struct{ namespace, name string }{{here, "background"}, {here, "foreground"}, {here, "untouched"}, {doomed, "job"}} {
		testcluster.PlayKubelet(t, i.Client, job.namespace, func(pod *corev1.Pod) (int32, bool) { // one Pod of each has ended, and one waits
			return 0, of(pod, job.name) && strings.HasPrefix(pod.Name, job.name+"-0-")
		})
		i.CreateJob(t, job.namespace, managedJob(job.name, 2, 2))
		i.UntilJob(t, job.namespace, job.name, "has a pod that has succeeded", func(job *batchv1.Job) bool { return job.Status.Succeeded == 1 })
	}
	if code, _, stderr := i.podverdict(t, "rescue", "-n", here); code != 0 {
		t.Errorf("nothing is to be rescued: exit code %d\n%s", code, stderr)
	}
	p.Kill()

	i.deleteJob(t, here, "background", metav1.DeletePropagationBackground)
	i.untilNoPods(t, here, "background") // kube-controller-manager releases them, because their Job is gone
	i.deleteJob(t, here, "foreground", metav1.DeletePropagationForeground)
	if err := i.Client.CoreV1().Namespaces().Delete(t.Context(), doomed, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(t, "the Pods are being deleted", func(ctx context.Context) (bool, error) {
		return i.held(ctx, t, here, "foreground", true) > 0 && i.held(ctx, t, doomed, "job", true) > 0, nil
	})
	before := i.held(t.Context(), t, here, "untouched", false)

	if code, stdout, _ := i.podverdict(t, "rescue", "-A", "--dry-run"); code != 0 || strings.Count(stdout, "found ") < 2 {
		t.Errorf("exit code %d, and it finds\n%s", code, stdout)
	}
	if i.jobThere(t.Context(), here, "foreground") != nil || i.held(t.Context(), t, doomed, "job", true) == 0 {
		t.Error("a dry run has let go of Pods")
	}
	if code, stdout, stderr := i.podverdict(t, "rescue", "-A"); code != 0 {
		t.Fatalf("rescue: exit code %d\n%s%s", code, stdout, stderr)
	}
	i.untilGone(t, here, "foreground", doomed)
	if after := i.held(t.Context(), t, here, "untouched", false); after != before || before == 0 {
		t.Errorf("of the Pods of a Job that nobody deletes %d have their finalizer, and %d had it", after, before)
	}
}

// isUninstalled tests that the commands of docs/controller.md remove everything except the users' objects.
func (i *installation) isUninstalled(t *testing.T) {
	i.deleteLease(t)
	p := i.start(t, i.kubeconfig(t, newProxy(t, i.Cluster.Config)))
	p.Await(t, says("Running"))
	here, doomed := i.Cluster.Namespace(t), i.Cluster.Namespace(t)
	for _, namespace := range []string{here, doomed} {
		i.CreateJob(t, namespace, managedJob("running", 2, 2))
		i.untilActive(t, namespace, "running", 2)
	}
	if code, _, stderr := i.podverdict(t, "rescue", "-A", "--uninstall"); code != 2 || !strings.Contains(stderr, "a controller is at work") {
		t.Errorf("beside a controller: exit code %d\n%s", code, stderr)
	}
	if i.held(t.Context(), t, here, "running", false) != 2 {
		t.Error("Pods were let go of while the controller was at work")
	}
	if code := p.Stop(t); code != 0 { // as by the kubelet when the Deployment is gone
		t.Errorf("exit code %d of the controller", code)
	}
	i.uninstall(t)
	i.leavesNothing(t)
	i.canBeDeleted(t, here, doomed)
}

// uninstall runs the commands of docs/controller.md, except the last one, which deletes the kinds of custom policies.
func (i *installation) uninstall(t *testing.T) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(moduleRoot, "docs", "controller.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## Uninstall\n")
	ran := 0
	for line := range strings.Lines(section) {
		command, _, _ := strings.Cut(strings.TrimPrefix(line, "    "), "#")
		program, arguments, _ := strings.Cut(strings.TrimSpace(command), " ")
		switch {
		case !strings.HasPrefix(line, "    ") && ran > 0:
			return
		case !strings.HasPrefix(line, "    ") || strings.Contains(command, "crds"):
			continue
		case program == "podverdict":
			program = filepath.Join(i.Programs, program)
		case program == "kubectl":
			program = i.Cluster.Kubectl(t)
		}
		output(t, program, append(strings.Fields(arguments), "--kubeconfig", i.Cluster.Kubeconfig(t, "admin", "system:masters"))...)
		ran++
	}
	t.Fatalf("docs/controller.md shows %d commands, and no text behind them", ran)
}

// canBeDeleted deletes a Job in the foreground, and a namespace with one.
func (i *installation) canBeDeleted(t *testing.T, here, doomed string) {
	t.Helper()
	i.deleteJob(t, here, "running", metav1.DeletePropagationForeground)
	if err := i.Client.CoreV1().Namespaces().Delete(t.Context(), doomed, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	i.untilGone(t, here, "running", doomed)
}

// untilGone waits until a Job and another namespace are gone.
func (i *installation) untilGone(t *testing.T, here, job, doomed string) {
	t.Helper()
	testcluster.Eventually(t, "the Job is gone", func(ctx context.Context) (bool, error) {
		err := i.jobThere(ctx, here, job)
		return apierrors.IsNotFound(err), err
	})
	testcluster.Eventually(t, "the namespace is gone", func(ctx context.Context) (bool, error) {
		_, err := i.Client.CoreV1().Namespaces().Get(ctx, doomed, metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
}

// leavesNothing searches the whole cluster for objects of the installation. The kinds of custom policies remain.
func (i *installation) leavesNothing(t *testing.T) {
	t.Helper()
	kubectl := exec.CommandContext(t.Context(), i.Cluster.Kubectl(t), "--kubeconfig", i.Cluster.Kubeconfig(t, "admin", "system:masters"),
		"get", "-A", "-l", partOf, "-o", "name",
		"namespaces,priorityclasses,serviceaccounts,clusterroles,clusterrolebindings,roles,rolebindings,networkpolicies,poddisruptionbudgets,deployments,replicasets,pods,customresourcedefinitions")
	out, err := kubectl.CombinedOutput()
	if err != nil || strings.Count(string(out), "\n") != 2 || strings.Count(string(out), "customresourcedefinition") != 2 {
		t.Errorf("there are still, %v:\n%s", err, out)
	}
	pods, err := i.Client.CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{LabelSelector: batchv1.ControllerUidLabel})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			t.Errorf("pod %s/%s has its finalizer", pod.Namespace, pod.Name)
		}
	}
}

// podverdict runs the command line as an administrator.
func (i *installation) podverdict(t *testing.T, arguments ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	command := exec.CommandContext(t.Context(), filepath.Join(i.Programs, "podverdict"),
		append(arguments, "--kubeconfig", i.Cluster.Kubeconfig(t, "admin", "system:masters"))...)
	command.Stdout, command.Stderr = &out, &errs
	if exit, failed := errors.AsType[*exec.ExitError](command.Run()); failed {
		code = exit.ExitCode()
	}
	return code, out.String(), errs.String()
}

func (i *installation) deleteJob(t *testing.T, namespace, name string, policy metav1.DeletionPropagation) {
	t.Helper()
	err := i.Client.BatchV1().Jobs(namespace).Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// jobThere returns nil if the Job exists.
func (i *installation) jobThere(ctx context.Context, namespace, name string) error {
	_, err := i.Client.BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
	return err
}

// held returns the number of Pods of a Job with the finalizer; if deleted is set, only of Pods that are being deleted.
func (i *installation) held(ctx context.Context, t *testing.T, namespace, job string, deleted bool) (held int) {
	t.Helper()
	pods, err := i.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if of(&pod, job) && slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) && (!deleted || pod.DeletionTimestamp != nil) {
			held++
		}
	}
	return held
}
