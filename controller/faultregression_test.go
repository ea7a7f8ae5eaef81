package controller_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// exhaust lets the controller work for a while with a quota of pods, and returns the number of rejected creations. It calls meanwhile
// whenever the controller makes no calls.
func (c *cluster) exhaust(quota int, period time.Duration, meanwhile func()) int {
	refused := 0
	for end := time.Now().Add(period); time.Now().Before(end); {
		synctest.Wait()
		waiting := c.wire.requests()
		if len(waiting) == 0 {
			meanwhile()
			c.pause(50 * time.Millisecond)
			continue
		}
		q := waiting[0]
		if q.Verb != "create" || q.Resource != memoryapi.Pods || len(c.server.Pods()) < quota {
			c.serve(q)
			continue
		}
		refused++
		c.wire.take(q)
		c.wire.refuse(q, apierrors.NewForbidden(schema.GroupResource{Resource: q.Resource}, objectOf(q), errors.New("exceeded quota")))
	}
	return refused
}

// TestPodEventsDoNotDefeatTheBackOff checks that changes of pods do not shorten the back-off while creations are rejected.
func TestPodEventsDoNotDefeatTheBackOff(t *testing.T) {
	for name, test := range map[string]struct {
		busy bool
		most int // maximum number of rejected creations in two minutes
	}{
		"nothing else happens": {false, 15},
		"pods change":          {true, 130}, // once per batch period, and some
	} {
		t.Run(name, func(t *testing.T) {
			sound(t, isolated(t, scenario{job: managed(10, completions(10)), fate: succeeds}, func(c *cluster) {
				refused := c.exhaust(5, 2*time.Minute, func() {
					if pods := c.server.Pods(); test.busy && len(pods) > 0 {
						c.server.ChangePod(namespace, pods[0].Name, func(p *corev1.Pod) { p.Status.Message = time.Now().String() })
					}
				})
				if refused == 0 || refused > test.most {
					t.Errorf("%d creations are refused, want 1 to %d", refused, test.most)
				}
			}))
		})
	}
}

// TestDeadlineDoesNotWaitForTheBackOff checks that a deadline does not wait for the back-off of rejected creations.
func TestDeadlineDoesNotWaitForTheBackOff(t *testing.T) {
	s := scenario{job: managed(1, completions(1), deadline(60)), fate: succeeds}
	sound(t, isolated(t, s, func(c *cluster) {
		if refused := c.exhaust(0, 65*time.Second, func() {}); refused == 0 || !isTrue(c.job, batchv1.JobFailed) {
			t.Errorf("5 seconds after its deadline, with %d creations refused: %s", refused, statusText(c.job))
		}
	}))
}

// TestJobThatIsReplacedUnseenLeavesOrphans checks that the pods of a Job are released if another Job replaces it while the watch is
// down.
func TestJobThatIsReplacedUnseenLeavesOrphans(t *testing.T) {
	for name, change := range map[string]func(*batchv1.JobSpec){
		"by a managed one": func(*batchv1.JobSpec) {},
		"by another one":   func(s *batchv1.JobSpec) { s.ManagedBy = nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario{job: managed(1, completions(1)), fate: always(runs, 0)}
			sound(t, isolated(t, s, func(c *cluster) {
				c.work()
				old := c.job.UID
				c.hostile = true
				c.replaceUnseen(t, managed(1, completions(1), change))
				c.workFor(time.Minute)
				if left := c.count(func(p *corev1.Pod) bool { return metav1.GetControllerOf(p).UID == old && held(p) }); left > 0 {
					t.Errorf("%d pods of the old Job are held: %s", left, c)
				}
			}))
		})
	}
}

// replaceUnseen replaces the Job with another one of the same name and deletes a pod of the old one. The controller observes only the
// latter.
func (c *cluster) replaceUnseen(t *testing.T, next *batchv1.Job) {
	t.Helper()
	c.server.Hold(memoryapi.Jobs)
	deletePod(c)
	if err := c.server.DeleteJob(namespace, jobName); err != nil {
		t.Fatal(err)
	}
	if _, err := c.server.CreateJob(next); err != nil {
		t.Fatal(err)
	}
	c.workFor(time.Second)
	c.server.Compact(memoryapi.Jobs)
	c.server.CloseWatches(memoryapi.Jobs)
	c.server.Release(memoryapi.Jobs)
}
