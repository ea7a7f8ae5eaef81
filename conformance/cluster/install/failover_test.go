//go:build cluster

package install

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/installed"
)

// The leader is killed when a Job is under way, and the other replica brings it to its end, with no pod too many and none
// counted twice.
func (i *installation) failOver(t *testing.T) {
	const completions, before = 30, 8
	wire := newProxy(t, i.cluster.Config)
	kubeconfig := i.kubeconfig(t, wire)
	short := []string{"--leader-elect-lease-duration=5s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=500ms"}
	replicas := map[string]*process{}
	for range 2 {
		p := i.start(t, kubeconfig, short...)
		p.identity = p.await(t, func(l line) bool { return l.Identity != "" }).Identity
		replicas[p.identity] = p
	}
	leader := i.leader(t, replicas, "")
	other := others(replicas, leader)[0]
	if status, text, err := get(other.health, "/readyz"); status != http.StatusOK || err != nil {
		t.Errorf("/readyz of the replica that waits: %d %s %v", status, text, err)
	}

	// No more than some pods end until the leader is dead.
	var ended atomic.Int32
	dead := make(chan struct{})
	jobs := i.cluster.Namespace(t)
	installed.PlayKubelet(t, i.client, jobs, func(*corev1.Pod) (int32, bool) {
		select {
		case <-dead:
			return 0, true
		default:
			return 0, ended.Add(1) <= before
		}
	})
	i.create(t, jobs, managedJob("job", completions, 4))
	i.untilSucceeded(t, jobs, "job", before)
	if err := leader.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-leader.ended
	close(dead)

	job := i.finished(t, jobs, "job")
	if s := job.Status; !has(job, batchv1.JobComplete) || s.Succeeded != completions || s.Failed != 0 {
		t.Errorf("status %+v", s)
	}
	if got := i.leader(t, replicas, leader.identity); got != other {
		t.Errorf("the leader is %s, want %s", got.identity, other.identity)
	}
	installed.Eventually(t, "there are as many pods as completions, and all are let go", func(ctx context.Context) (bool, error) {
		pods, err := i.client.CoreV1().Pods(jobs).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		held := slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return len(p.Finalizers) > 0 })
		return len(pods.Items) == completions && !held, fmt.Errorf("%d pods", len(pods.Items))
	})
	if code := other.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if refused := wire.refused(); len(refused) > 0 {
		t.Errorf("calls are refused: %v", refused)
	}
}

// leader waits until a replica leads which is not the one that did.
func (i *installation) leader(t *testing.T, replicas map[string]*process, before string) (leader *process) {
	t.Helper()
	installed.Eventually(t, "there is a leader", func(ctx context.Context) (bool, error) {
		holder := i.holder(ctx, t)
		leader = replicas[holder]
		return leader != nil && holder != before, nil
	})
	return leader
}

func others(replicas map[string]*process, leader *process) (all []*process) {
	for _, p := range replicas {
		if p != leader {
			all = append(all, p)
		}
	}
	return all
}

func (i *installation) untilSucceeded(t *testing.T, namespace, name string, succeeded int32) {
	t.Helper()
	installed.Eventually(t, "some pods have succeeded", func(ctx context.Context) (bool, error) {
		job, err := i.client.BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && job.Status.Succeeded == succeeded, err
	})
}

// Without the lease the process ends by itself, so that the kubelet restarts it.
func (i *installation) endsWithItsLease(t *testing.T) {
	p := i.start(t, i.kubeconfig(t, newProxy(t, i.cluster.Config)))
	p.await(t, func(l line) bool { return l.Msg == "Running" })
	leases := i.client.CoordinationV1().Leases(namespace)
	installed.Eventually(t, "the lease is stolen", func(ctx context.Context) (bool, error) {
		lease, err := leases.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		lease.Spec.HolderIdentity = new("thief")
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		return err == nil, err
	})
	<-p.ended
	_ = p.command.Wait() // the code says it
	if code := p.command.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	p.await(t, func(l line) bool { return l.Msg == "The work cannot go on" && strings.Contains(l.text, "is lost") })
}
