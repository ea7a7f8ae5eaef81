//go:build cluster

package install

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// onlyObserves tests that an installation that only observes needs no permission to write Jobs or Pods, and leaves
// managed Jobs alone.
func (i *installation) onlyObserves(t *testing.T) {
	i.apply(t, "--observe-only")
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")
	wire := newProxy(t, i.Cluster.Config)
	p := i.start(t, i.kubeconfig(t, wire))
	p.untilReady(t)
	jobs := i.Cluster.Namespace(t)
	testcluster.PlayKubelet(t, i.Client, jobs, func(*corev1.Pod) (int32, bool) { return 42, true })
	i.CreateJob(t, jobs, managedJob("managed", 1, 1))
	i.isObserved(t, jobs)
	job, err := i.Client.BatchV1().Jobs(jobs).Get(t.Context(), "managed", metav1.GetOptions{})
	if err != nil || job.Status.StartTime != nil {
		t.Errorf("the managed Job has the status %+v: %v", job.Status, err)
	}
	i.usesPolicies(t, p)
	i.ends(t, p, wire)
}

// worksInOneNamespace tests that an installation for one namespace runs the Jobs there, and has no permissions elsewhere.
func (i *installation) worksInOneNamespace(t *testing.T) {
	jobs, elsewhere := i.Cluster.Namespace(t), i.Cluster.Namespace(t)
	i.apply(t, "--jobs-namespace", jobs)
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")
	wire := newProxy(t, i.Cluster.Config)
	p := i.start(t, i.kubeconfig(t, wire))
	p.untilReady(t)
	testcluster.PlayKubelet(t, i.Client, jobs, func(*corev1.Pod) (int32, bool) { return 0, true })
	i.CreateJob(t, elsewhere, managedJob("foreign", 1, 1))
	i.completes(t, jobs, "complete")
	job, err := i.Client.BatchV1().Jobs(elsewhere).Get(t.Context(), "foreign", metav1.GetOptions{})
	if err != nil || job.Status.StartTime != nil {
		t.Errorf("the Job of another namespace has the status %+v: %v", job.Status, err)
	}
	i.usesPolicies(t, p)
	i.ends(t, p, wire)
}

const nodePolicy = `
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicy
metadata: {name: nodes}
spec: {rules: [{name: lost, when: node.unreachable(), action: Ignore}]}
---
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicyBinding
metadata: {name: nodes}
spec: {policyName: nodes}
`

// mayReadNodesLater tests that an installation without permission to read nodes reports that for a policy that reads
// them. The permission takes effect without a restart.
func (i *installation) mayReadNodesLater(t *testing.T) {
	i.apply(t)
	wire := newProxy(t, i.Cluster.Config)
	p := i.start(t, i.kubeconfig(t, wire))
	p.untilReady(t)
	i.usesPolicies(t, p)
	i.isRefusedNothing(t, wire) // it does not read nodes yet
	until := func(reason string) {
		t.Helper()
		i.Kubectl(t, nil, "wait", "--for=jsonpath={.status.conditions[0].reason}="+reason, "--timeout=1m", "pfp/nodes")
	}
	i.Kubectl(t, []byte(nodePolicy), "apply", "-f", "-")
	until("NodesNotReadable")
	i.apply(t, "--nodes")
	until("Compiled")
	if used := wire.used(); !used.HasAll("list nodes", "watch nodes") || used.Has("get nodes") {
		t.Errorf("it calls %v", used)
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	i.uninstall(t)
	i.leavesNothing(t)
}

// usesPolicies makes the controller use its permissions on custom policies and reviews.
func (i *installation) usesPolicies(t *testing.T, p *process) {
	t.Helper()
	i.applyPolicies(t)
	if _, _, err := p.gather(t, i.token(t, "reader", i.mayRead)); err != nil {
		t.Error(err)
	}
}

// ends stops the controller, checks that no call was forbidden, and removes the installation.
func (i *installation) ends(t *testing.T, p *process, wire *proxy) {
	t.Helper()
	if missing := p.Lines(says("A permission is missing")); len(missing) > 0 {
		t.Errorf("the log says:\n%s", p.Log())
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	i.isRefusedNothing(t, wire)
	i.uninstall(t)
	i.leavesNothing(t)
}
