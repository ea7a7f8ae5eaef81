//go:build cluster

package install

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// runWithoutPermissions tests that without roles each missing permission is logged, and nothing else happens: no crash,
// and no readiness.
func (i *installation) runWithoutPermissions(t *testing.T) {
	p := i.start(t, i.Cluster.Kubeconfig(t, "nobody"), "--leader-elect=false")
	needed := controller.Permissions(controller.Needs{Reviews: true})
	p.Await(t, func(l testcluster.Line) bool {
		return l.Msg == needed[len(needed)-1].Why || strings.Contains(l.Text, needed[len(needed)-1].Why)
	})
	if got := p.Lines(says("A permission is missing")); len(got) != len(needed) {
		t.Errorf("%d permissions are missing, want %d", len(got), len(needed))
	}
	p.Await(t, func(l testcluster.Line) bool { return strings.Contains(l.Text, "cannot list resource") })
	if status, text, err := get(p.health, "/readyz"); status != http.StatusInternalServerError || err != nil {
		t.Errorf("/readyz: %d %s %v", status, text, err)
	}
	if status, text, err := get(p.health, "/healthz"); status != http.StatusOK || err != nil {
		t.Errorf("/healthz: %d %s %v", status, text, err)
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// runWithPermissions runs Jobs that need every permission, with exactly those of the service account.
func (i *installation) runWithPermissions(t *testing.T) {
	i.deleteLease(t) // it exists if the test is repeated
	wire := newProxy(t, i.Cluster.Config)
	t.Setenv("KUBE_FEATURE_WatchListClient", "false") // use lists, as for API servers that do not stream them
	p := i.start(t, i.kubeconfig(t, wire))
	p.Await(t, says("Running"))
	p.untilReady(t)
	if missing := p.Lines(func(l testcluster.Line) bool { return l.Level == "ERROR" }); len(missing) > 0 {
		t.Errorf("the log says:\n%s", p.Log())
	}
	waiting := i.start(t, i.kubeconfig(t, wire))
	waiting.untilReady(t)
	if code := waiting.Stop(t); code != 0 {
		t.Errorf("exit code %d of the replica that waits", code)
	}

	jobs := i.Cluster.Namespace(t)
	testcluster.PlayKubelet(t, i.Client, jobs, func(pod *corev1.Pod) (int32, bool) {
		slot, attempt, _ := plan.Place(pod)
		switch {
		case of(pod, "native"), of(pod, "complete") && slot == 1 && attempt == 1:
			return 42, true
		default:
			return 0, of(pod, "complete") || of(pod, "deaf")
		}
	})
	t.Run("a Job completes", func(t *testing.T) { i.completes(t, jobs, "complete") })
	t.Run("answers are lost", func(t *testing.T) {
		wire.lose(2)
		i.completes(t, jobs, "deaf")
	})
	t.Run("a Job is suspended", func(t *testing.T) { i.isSuspended(t, jobs) })
	t.Run("Jobs are deleted", func(t *testing.T) { i.areDeleted(t, jobs, wire) })
	t.Run("others are observed", func(t *testing.T) { i.isObserved(t, jobs) })
	t.Run("a custom policy ends a pod that does not start", func(t *testing.T) { i.isEndedByPolicy(t, jobs) })

	if status, text, err := get(p.health, "/healthz"); status != http.StatusOK || err != nil {
		t.Errorf("/healthz: %d %s %v", status, text, err)
	}
	_, metrics, err := p.gather(t, i.token(t, "reader", i.mayRead))
	if wanted := "job_controller_jobs_finished_total{"; !strings.Contains(metrics, wanted) || !strings.Contains(metrics, "go_goroutines") {
		t.Errorf("/metrics does not have %s: %v\n%s", wanted, err, metrics)
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if holder := i.holder(t.Context(), t); holder != "" {
		t.Errorf("the lease is still of %s", holder)
	}
	i.holdToGrants(t, wire)
}

// deleteLease removes the lease, so that a new replica does not wait for a leader that was killed.
func (i *installation) deleteLease(t *testing.T) {
	t.Helper()
	err := i.Client.CoordinationV1().Leases(namespace).Delete(t.Context(), name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// holdToGrants compares the permissions used with those granted by the roles. An admission plugin requires the permission
// to update finalizers.
func (i *installation) holdToGrants(t *testing.T, wire *proxy) {
	t.Helper()
	i.isRefusedNothing(t, wire)
	used := wire.used().Insert("update jobs/finalizers.batch")
	if diff := cmp.Diff(sets.List(used), sets.List(i.granted(t))); diff != "" {
		t.Errorf("what the roles grant is not what is used (-used +granted):\n%s", diff)
	}
}

func (i *installation) isRefusedNothing(t *testing.T, wire *proxy) {
	t.Helper()
	if refused := wire.refused(); len(refused) > 0 {
		t.Errorf("calls are refused: %v", refused)
	}
	for _, event := range i.Cluster.AuditLog(t, "") {
		if strings.HasSuffix(event.User.Username, ":"+name) && event.Annotations["authorization.k8s.io/decision"] != "allow" {
			t.Errorf("%s %s is refused", event.Verb, event.RequestURI)
		}
	}
}

// granted returns the permissions that bindings in any namespace grant the service account.
func (i *installation) granted(t *testing.T) sets.Set[string] {
	t.Helper()
	all := sets.New[string]()
	everywhere, err := i.Client.RbacV1().ClusterRoleBindings().List(t.Context(), metav1.ListOptions{LabelSelector: partOf})
	if err != nil {
		t.Fatal(err)
	}
	for _, binding := range everywhere.Items {
		i.add(t, all, "", binding.RoleRef)
	}
	local, err := i.Client.RbacV1().RoleBindings(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{LabelSelector: partOf})
	if err != nil {
		t.Fatal(err)
	}
	for _, binding := range local.Items {
		i.add(t, all, binding.Namespace, binding.RoleRef)
	}
	return all
}

// partOf selects the objects of the installation.
const partOf = "app.kubernetes.io/part-of=podverdict"

// add adds the permissions of a role.
func (i *installation) add(t *testing.T, to sets.Set[string], namespace string, role rbacv1.RoleRef) {
	t.Helper()
	var rules []rbacv1.PolicyRule
	if role.Kind == "ClusterRole" {
		found, err := i.Client.RbacV1().ClusterRoles().Get(t.Context(), role.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rules = found.Rules
	} else {
		found, err := i.Client.RbacV1().Roles(namespace).Get(t.Context(), role.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rules = found.Rules
	}
	for _, rule := range rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				to.Insert(permission(verb, rule.APIGroups[0], resource))
			}
		}
	}
}

// completes runs a managed Job of four indexes with one failure, which its policy ignores.
func (i *installation) completes(t *testing.T, namespace, name string) {
	t.Helper()
	job := managedJob(name, 4, 2)
	job.Spec.PodFailurePolicy = rules(batchv1.PodFailurePolicyActionIgnore)
	i.CreateJob(t, namespace, job)
	job, end := i.UntilFinished(t, namespace, name)
	if s := job.Status; end.Type != batchv1.JobComplete || s.Succeeded != 4 || s.Failed != 0 {
		t.Errorf("status %+v", s)
	}
}

func (i *installation) isSuspended(t *testing.T, namespace string) {
	t.Helper()
	i.CreateJob(t, namespace, managedJob("suspended", 4, 2))
	i.untilActive(t, namespace, "suspended", 2)
	patch := []byte(`{"spec":{"suspend":true}}`)
	if _, err := i.Client.BatchV1().Jobs(namespace).Patch(t.Context(), "suspended", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	i.untilActive(t, namespace, "suspended", 0)
	i.untilNoPods(t, namespace, "suspended")
}

// areDeleted tests that the controller releases the pods of deleted Jobs. The garbage collector deletes the pods, which
// have finalizers. kube-controller-manager removes these, too, when the Job is gone; so the test repeats until the
// controller was first.
func (i *installation) areDeleted(t *testing.T, namespace string, wire *proxy) {
	t.Helper()
	const most = 50
	for n := range most {
		i.isDeleted(t, namespace, "deleted-"+strconv.Itoa(n))
		if wire.used().Has(permission("get", "batch", "jobs")) {
			return
		}
	}
	t.Errorf("the controller did not ask for any of %d Jobs that were deleted", most)
}

func (i *installation) isDeleted(t *testing.T, namespace, job string) {
	t.Helper()
	i.CreateJob(t, namespace, managedJob(job, 4, 2))
	i.untilActive(t, namespace, job, 2)
	err := i.Client.BatchV1().Jobs(namespace).Delete(t.Context(), job,
		metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
	if err != nil {
		t.Fatal(err)
	}
	i.untilNoPods(t, namespace, job)
}

// isObserved tests that the controller reports the verdict if kube-controller-manager runs the Job.
func (i *installation) isObserved(t *testing.T, namespace string) {
	t.Helper()
	job := managedJob("native", 1, 1)
	job.Spec.ManagedBy = nil
	job.Spec.PodFailurePolicy = rules(batchv1.PodFailurePolicyActionFailJob)
	i.CreateJob(t, namespace, job)
	if job, end := i.UntilFinished(t, namespace, "native"); end.Type != batchv1.JobFailed {
		t.Errorf("status %+v", job.Status)
	}
	testcluster.Eventually(t, "there is an event for the pod", func(ctx context.Context) (bool, error) {
		events, err := i.Client.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, e := range events.Items {
			if e.ReportingController == controller.Name && e.Regarding.Kind == "Pod" && strings.HasPrefix(e.Regarding.Name, "native-") &&
				strings.Contains(e.Note+e.Reason+e.Action, "FailJob") {
				return true, nil
			}
		}
		return false, fmt.Errorf("%d events", len(events.Items))
	})
}

// customPolicy is a policy for one Job, whose pods never start here.
const customPolicy = `
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicy
metadata: {name: stuck}
spec:
  rules: [{name: stuck, phase: Pending, when: "pod.pendingFor(now) > duration('1s')", action: FailJob, reason: NeverStarted}]
---
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicyBinding
metadata: {name: stuck}
spec: {policyName: stuck, jobSelector: {matchLabels: {stuck: "true"}}, livingPods: [Pending]}
`

// isEndedByPolicy tests that a policy bound to a managed Job fails it.
func (i *installation) isEndedByPolicy(t *testing.T, namespace string) {
	t.Helper()
	i.applyPolicies(t)
	job := managedJob("stuck", 1, 1)
	job.Labels = map[string]string{"stuck": "true"}
	i.CreateJob(t, namespace, job)
	if job, end := i.UntilFinished(t, namespace, "stuck"); end.Type != batchv1.JobFailed {
		t.Errorf("status %+v", job.Status)
	}
}

// applyPolicies makes the controller write the status of a new policy and its binding.
func (i *installation) applyPolicies(t *testing.T) {
	t.Helper()
	for _, arguments := range [][]string{{"delete", "--ignore-not-found", "-f", "-"}, {"apply", "-f", "-"}} {
		i.Kubectl(t, []byte(customPolicy), arguments...)
	}
	i.Kubectl(t, nil, "wait", "--for=condition=Ready", "--timeout=1m", "pfp/stuck", "pfpb/stuck")
}

func managedJob(name string, completions, parallelism int32) *batchv1.Job {
	return testcluster.ManagedJob(name, func(s *batchv1.JobSpec) {
		testcluster.Indexed(s, completions, parallelism)
		s.BackoffLimit = new(int32)
	})
}

// rules returns rules with one action, for exit code 42.
func rules(action batchv1.PodFailurePolicyAction) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{testcluster.OnExitCodes(action, 42)}}
}

func (i *installation) untilActive(t *testing.T, namespace, name string, active int32) {
	t.Helper()
	i.UntilJob(t, namespace, name, fmt.Sprintf("has %d active pods", active), func(job *batchv1.Job) bool {
		return job.Status.StartTime != nil == (active > 0) && job.Status.Active == active
	})
}

func (i *installation) untilNoPods(t *testing.T, namespace, job string) {
	t.Helper()
	testcluster.Eventually(t, "there are no pods of Job "+job, func(ctx context.Context) (bool, error) {
		pods, err := i.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job})
		return err == nil && len(pods.Items) == 0, err
	})
}

// holder returns the identity of the leader.
func (i *installation) holder(ctx context.Context, t *testing.T) string {
	t.Helper()
	lease, err := i.Client.CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// of reports whether a pod belongs to a Job.
func of(pod *corev1.Pod, job string) bool { return strings.HasPrefix(pod.Name, job+"-") }

// endsWithItsLease tests that the process exits without the lease, so that the kubelet restarts it.
func (i *installation) endsWithItsLease(t *testing.T) {
	p := i.start(t, i.kubeconfig(t, newProxy(t, i.Cluster.Config)))
	p.Await(t, says("Running"))
	leases := i.Client.CoordinationV1().Leases(namespace)
	testcluster.Eventually(t, "the lease is stolen", func(ctx context.Context) (bool, error) {
		lease, err := leases.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		lease.Spec.HolderIdentity = new("thief")
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		return err == nil, err
	})
	if code := p.Wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	p.Await(t, func(l testcluster.Line) bool {
		return l.Msg == "The work cannot go on" && strings.Contains(l.Text, "is lost")
	})
}
