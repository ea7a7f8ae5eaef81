package controller_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// Defects that kube-controller-manager once had, by their issue number in kubernetes/kubernetes. Each test recreates the circumstances
// and checks the invariants throughout.

// sound fails the test if an invariant was violated.
func sound(t *testing.T, c *cluster) {
	t.Helper()
	if len(c.violations) > 0 {
		t.Error(c)
	}
}

// 105200: a pod is counted twice if its finalizer has been removed but the cache is not up to date.
func TestStaleFinalizer(t *testing.T) {
	s := scenario{job: managed(1, completions(9)), fate: exits(map[int][]int32{0: {1}})}
	sound(t, isolated(t, s, func(c *cluster) {
		c.work()
		c.moveAll()
		c.moveAll()
		pod := c.server.Pods()[0]
		c.server.ChangePod(pod.Namespace, pod.Name, func(p *corev1.Pod) {
			p.Finalizers = append(p.Finalizers, "example.com/audit") // so that it remains without the tracking finalizer
		})
		if err := c.server.DeletePod(pod.Namespace, pod.Name, 0); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the cache receives this change, and none after it
		c.server.Hold(memoryapi.Pods)
		for range 5 {
			c.work()
			c.changeJob(func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = new(int64(1 << 20)) })
		}
		if released := c.pods[pod.Name]; held(released) || c.job.Status.Failed != 1 {
			t.Errorf("finalizers %v, %s", released.Finalizers, statusText(c.job))
		}
		c.server.ChangePod(pod.Namespace, pod.Name, func(p *corev1.Pod) { p.Finalizers = nil })
		c.settle()
		if c.job.Status.Failed != 1 || c.job.Status.Succeeded != 9 {
			t.Error(statusText(c.job))
		}
	}))
}

// 104666: more than 500 pods end at once, and only the first ones are counted and replaced. 109485: when the Job ends, pods keep their
// finalizers because a removal fails and is not retried.
func TestManyPodsEndAtOnce(t *testing.T) {
	many := int32(1200)
	if testing.Short() {
		many = 600
	}
	half := func(slot, attempt int) int32 {
		if slot%2 == 0 && attempt == 0 {
			return 1
		}
		return 0
	}
	s := scenario{job: managed(many, indexed(many), perIndex(1)), fate: half, calm: true}
	sound(t, isolated(t, s, func(c *cluster) {
		c.work()
		c.moveAll()
		c.server.Hold(memoryapi.Pods)
		c.moveAll()
		c.server.Release(memoryapi.Pods)
		c.work()
		if st := c.job.Status; st.Failed != many/2 || st.Succeeded != many/2 || st.Active != many/2 {
			t.Errorf("%d failed, %d succeeded, %d active", st.Failed, st.Succeeded, st.Active)
		}
		c.moveAll()
		c.moveAll()
		c.workThoughPatchesFail(100)
		if !c.over() {
			t.Errorf("the job does not end, or pods are held: %s", statusText(c.job))
		}
	}))
}

// workThoughPatchesFail is like work, but the first n patches of pods fail.
func (c *cluster) workThoughPatchesFail(n int) {
	for failed := 0; failed < n; {
		synctest.Wait()
		waiting := c.wire.requests()
		if len(waiting) == 0 {
			if c.pause(10 * time.Minute) {
				c.violatedf("%d patches, %d were expected", failed, n)
				return
			}
			continue
		}
		q := waiting[0]
		if q.Verb != "patch" || q.Resource != memoryapi.Pods {
			c.serve(q)
			continue
		}
		failed++
		c.wire.take(q)
		c.wire.refuse(q, apierrors.NewInternalError(errors.New("etcdserver: request timed out")))
	}
	for !c.over() && len(c.violations) == 0 {
		before := c.writes
		if c.work(); before == c.writes {
			c.pause(time.Minute) // the maximum back-off
		}
	}
}

// TestFinalizersAfterTheEnd also covers 109485: the Job ends while the cache lags, so that its last pods are observed only afterwards,
// and the controller restarts in between.
func TestFinalizersAfterTheEnd(t *testing.T) {
	s := scenario{job: managed(3, indexed(3), succeededIndexes("0")), fate: succeeds}
	sound(t, isolated(t, s, func(c *cluster) {
		c.work()
		c.moveAll()
		c.work()
		c.server.Hold(memoryapi.Pods)
		c.moveAll()
		c.server.Show(memoryapi.Pods, 1) // index 0 has succeeded
		for range 10 {
			c.work()
			c.server.Show(memoryapi.Pods, 1)
			c.moveAll()
		}
		if !ended(c.job) {
			t.Fatal(c)
		}
		c.server.Release(memoryapi.Pods)
		c.crash()
		c.work()
		if !c.over() {
			t.Errorf("pods are held: %s", c)
		}
	}))
}

// 113852, 113856: a failed pod has a container that never ended, and the policy matches its exit code.
func TestContainerWithoutAnEnd(t *testing.T) {
	states := map[string]corev1.ContainerState{
		"running": {Running: &corev1.ContainerStateRunning{}},
		"waiting": {Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
		"unknown": {},
	}
	for name, state := range states {
		t.Run(name, func(t *testing.T) {
			s := scenario{job: managed(1, completions(1), policy), fate: exits(map[int][]int32{0: {runs}}), calm: true}
			sound(t, isolated(t, s, func(c *cluster) {
				c.work()
				c.moveAll()
				pod := c.server.Pods()[0]
				c.server.ChangePod(pod.Namespace, pod.Name, func(p *corev1.Pod) {
					p.Status.Phase = corev1.PodFailed
					p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: state}}
					p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: state}}
				})
				c.settle()
				if c.job.Status.Failed != 1 || !isTrue(c.job, batchv1.JobComplete) {
					t.Error(statusText(c.job))
				}
			}))
		})
	}
}

// 113855: the policy is not evaluated if the pod was deleted before it ended.
func TestPolicyAfterDeletion(t *testing.T) {
	s := scenario{job: managed(2, completions(2), policy), fate: exits(map[int][]int32{0: {runs}, 1: {runs}})}
	sound(t, isolated(t, s, func(c *cluster) {
		c.work()
		c.moveAll()
		c.work()
		pod := c.server.Pods()[0]
		if err := c.server.DeletePod(pod.Namespace, pod.Name, -1); err != nil {
			t.Fatal(err)
		}
		c.work()
		if c.job.Status.Failed != 0 || len(c.server.Pods()) != 2 {
			t.Errorf("a pod counts, or is replaced, before it has ended: %s", statusText(c.job))
		}
		c.end(c.pods[pod.Name], codeFailJob)
		c.settle()
		i := indexOfCondition(c.job, batchv1.JobFailed)
		if i < 0 || c.job.Status.Conditions[i].Reason != batchv1.JobReasonPodFailurePolicy ||
			!strings.Contains(c.job.Status.Conditions[i].Message, pod.Name+" failed with exit code 42 matching FailJob rule at index 3") {
			t.Error(statusText(c.job))
		}
	}))
}

func indexOfCondition(job *batchv1.Job, kind batchv1.JobConditionType) int {
	for i, c := range job.Status.Conditions {
		if c.Type == kind {
			return i
		}
	}
	return -1
}

// 130103: a stale cache leads to one pod too many. Completions 3, parallelism 2: two pods have succeeded and the third one exists, but
// the cache does not include it when the Job is synced again.
func TestNoExtraPodFromAStaleCache(t *testing.T) {
	s := scenario{job: managed(2, completions(3)), fate: succeeds, calm: true}
	sound(t, isolated(t, s, func(c *cluster) {
		c.work()
		c.moveAll()
		c.work()
		pods := c.server.Pods()
		c.end(pods[0], 0)
		c.server.Hold(memoryapi.Pods) // the cache has one success
		c.work()                      // the third pod
		c.end(pods[1], 0)
		for range 5 { // synced repeatedly
			c.changeJob(func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = new(int64(1 << 20)) })
			c.changeJob(func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = nil })
			c.work()
			c.server.Show(memoryapi.Pods, 1)
		}
		c.settle()
		if len(c.server.Pods()) != 3 {
			t.Errorf("%d pods were created", len(c.server.Pods()))
		}
	}))
}
