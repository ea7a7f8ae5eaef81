package controller_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// TestEndWaitsForAnUnknownCreation covers a connection that breaks when the pod of index 1 is created. Index 0 succeeds, which completes
// the Job, but the Job must not end while the API server may still create the pod.
func TestEndWaitsForAnUnknownCreation(t *testing.T) {
	for name, effective := range map[string]bool{"it takes effect": true, "it is lost": false} {
		t.Run(name, func(t *testing.T) {
			s := scenario{job: managed(2, indexed(2), succeededIndexes("0")), fate: succeeds}
			sound(t, isolated(t, s, func(c *cluster) { c.endsLate(t, effective) }))
		})
	}
}

func (c *cluster) endsLate(t *testing.T, effective bool) {
	t.Helper()
	late := c.loseCreation(1)
	c.moveAll()
	c.moveAll()
	for time.Since(late.arrived) < callTimeout-5*time.Second {
		c.workFor(time.Second)
	}
	if ended(c.job) || !isTrue(c.job, batchv1.JobSuccessCriteriaMet) {
		t.Errorf("while the creation is under way: %s", statusText(c.job))
	}
	if effective {
		c.wire.effect(late)
	}
	c.workFor(time.Minute)
	if !isTrue(c.job, batchv1.JobComplete) || !c.over() {
		t.Errorf("afterwards: %s", c)
	}
}

// loseCreation serves calls until all indexes have been created except one, whose connection breaks.
func (c *cluster) loseCreation(index int) *request {
	var lost *request
	for lost == nil {
		synctest.Wait()
		for _, q := range c.wire.requests() {
			if pod, ok := bodyOf(q).(*corev1.Pod); ok && q.Verb == "create" && pod.Annotations[batchv1.JobCompletionIndexAnnotation] == strconv.Itoa(index) {
				lost = q
			} else {
				c.serve(q)
			}
		}
		c.pause(time.Second)
	}
	c.wire.spoil(lost, late)
	return lost
}

// workFor serves the controller's calls for a while.
func (c *cluster) workFor(period time.Duration) {
	for end := time.Now().Add(period); time.Now().Before(end); {
		synctest.Wait()
		if waiting := c.wire.requests(); len(waiting) > 0 {
			c.serve(waiting[0])
			continue
		}
		c.pause(time.Until(end))
	}
}

// TestUnknownCreationHoldsItsSlot covers a slot whose first pod was deleted, counted and released. It is unknown whether its successor was
// created: the response was lost, the cache lags, and lookups fail. No other pod may be created for this slot.
func TestUnknownCreationHoldsItsSlot(t *testing.T) {
	s := scenario{job: managed(1, completions(1)), fate: always(runs, 0)}
	sound(t, isolated(t, s, func(c *cluster) {
		c.work()
		c.moveAll()
		deletePod(c)
		c.moveAll() // it has failed
		c.moveAll() // and is removed when it is released
		synctest.Wait()
		c.server.Hold(memoryapi.Pods)
		c.spoilNext("create", resetAfter)
		c.server.Show(memoryapi.Pods, 2) // it is released and gone, but its successor is missing
		for range 3 {
			c.spoilNext("get", internal)
		}
		c.server.Release(memoryapi.Pods)
		c.fate = succeeds
		c.settle()
		if c.job.Status.Failed != 1 || c.job.Status.Succeeded != 1 {
			t.Error(statusText(c.job))
		}
	}))
}

// spoilNext serves calls up to the next one with the given verb on pods, which fails.
func (c *cluster) spoilNext(verb string, f fault) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && len(c.violations) == 0; {
		synctest.Wait()
		waiting := c.wire.requests()
		if len(waiting) == 0 {
			c.pause(time.Second)
			continue
		}
		if q := waiting[0]; q.Verb == verb && q.Resource == memoryapi.Pods {
			c.logf("fault %d: %s of %s", f, q.Call, objectOf(q))
			c.wire.spoil(q, f)
			return
		}
		c.serve(waiting[0])
	}
}
