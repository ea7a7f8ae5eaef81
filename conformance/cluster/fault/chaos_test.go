//go:build cluster && unix

package fault

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

var (
	chaosSeed = flag.Uint64("chaos-seed", 1, "what TestChaos does")
	chaosJobs = flag.Int("chaos-jobs", 40, "how many Jobs TestChaos runs")
)

// TestChaos runs Jobs of all shapes under two replicas of the controller, one of them with a wrong clock, while processes
// are killed and paused, the network fails, and etcd forgets its history. The seed decides the Jobs, the fates of their
// pods and the order of the faults; only the timing differs from run to run. Every Job must end according to its fates,
// with one pod at a time for each of its slots, and with counters that never fall.
func TestChaos(t *testing.T) {
	seed, jobs := *chaosSeed, *chaosJobs
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to run it again: make chaos SEED=%d JOBS=%d", seed, jobs)
		}
	})
	c := newChaos(t, seed, jobs)
	c.run(t)
	c.calm()
	c.conclude(t)
	c.reread(t)
}

// chaos is a stage with two replicas of the controller, while faults happen.
type chaos struct {
	*stage

	random   *rand.Rand
	replicas []*replica
}

func newChaos(t *testing.T, seed uint64, jobs int) *chaos {
	t.Helper()
	cluster := controlplane.Start(t)
	var trials []trial
	for n := range jobs {
		trials = append(trials, anyTrial(rand.New(rand.NewPCG(seed, uint64(n))), "job-"+strconv.Itoa(n), 8))
	}
	stream := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1<<32+n)) }
	c := &chaos{stage: newStage(t, cluster, trials...), random: stream(0)}
	c.pace = func(job string, slot, attempt int) time.Duration {
		hash := fnv.New64a()
		fmt.Fprintf(hash, "%d/%s/%d/%d", seed, job, slot, attempt)
		return time.Duration(hash.Sum64() % uint64(2*time.Second))
	}
	c.begin(t)
	c.replicas = []*replica{
		c.shipped(t, build(t), &wire{random: stream(1)}),
		c.shifted(t, &wire{random: stream(2)}, stream(3)),
	}
	for _, r := range c.replicas {
		r.keep(t)
	}
	return c
}

// run injects the faults, using every kind before it repeats one, and creates some of the Jobs before each.
func (c *chaos) run(t *testing.T) {
	t.Helper()
	const least, together = 12, 5 // minimum number of faults, and Jobs for each further fault
	const most = 30               // maximum number of concurrent Jobs: a controller that is killed before its caches are filled does nothing
	steps := max(least, len(c.trials)/together)
	var deck []fault
	for step := range steps {
		until(t, "Jobs get on", func() bool { return c.underWay() < most })
		for _, r := range c.trials[step*len(c.trials)/steps : (step+1)*len(c.trials)/steps] {
			c.create(t, r)
		}
		if len(deck) == 0 {
			deck = slices.Clone(faults)
			c.random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		next := deck[0]
		deck = deck[1:]
		start, underWay := time.Now(), c.underWay()
		next.strike(c, t)
		t.Logf("%d of %d: %s, %.1f s, with %d Jobs under way", step+1, steps, next.name, time.Since(start).Seconds(), underWay)
		if t.Failed() {
			t.FailNow()
		}
		c.sleep(300*time.Millisecond, 1500*time.Millisecond)
	}
}

// underWay returns the number of Jobs that have not ended.
func (c *chaos) underWay() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, job := range c.jobs {
		if !ended(job) {
			n++
		}
	}
	return n
}

// create creates a Job, and retries until it succeeds.
func (c *chaos) create(t *testing.T, r trial) {
	t.Helper()
	until(t, r.name+" is created", func() bool {
		ctx, stop := context.WithTimeout(t.Context(), callTimeout)
		defer stop()
		_, err := c.Client.BatchV1().Jobs(c.Namespace).Create(ctx, r.job(), metav1.CreateOptions{})
		return err == nil || apierrors.IsAlreadyExists(err)
	})
}

// sleep waits for a random time, because a fault needs time to have an effect.
func (c *chaos) sleep(least, most time.Duration) {
	time.Sleep(least + time.Duration(c.random.Int64N(int64(most-least))))
}

// calm ends the faults of the wires; the faults of processes have already ended.
func (c *chaos) calm() {
	for _, r := range c.replicas {
		r.calm()
	}
}

// reread compares the API server's final state with the expectation, without relying on watches.
func (c *chaos) reread(t *testing.T) {
	t.Helper()
	jobs, err := c.Client.BatchV1().Jobs(c.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	over := 0
	for _, job := range jobs.Items {
		if ended(&job) {
			over++
		}
	}
	if over != len(c.trials) {
		t.Errorf("%d Jobs have ended, want %d", over, len(c.trials))
	}
	pods, err := c.Client.CoreV1().Pods(c.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) || active(&pod) {
			t.Errorf("%s is left, %s, with finalizers %v", pod.Name, pod.Status.Phase, pod.Finalizers)
		}
	}
}

// removeFinished deletes, as a user, ended pods of unfinished Jobs for a while.
func (c *chaos) removeFinished(t *testing.T) {
	t.Helper()
	for range 10 {
		for _, pod := range c.finished() {
			ctx, stop := context.WithTimeout(t.Context(), callTimeout)
			// The API server may be down.
			_ = c.Client.CoreV1().Pods(c.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
			stop()
		}
		c.sleep(100*time.Millisecond, 500*time.Millisecond)
	}
}

// finished returns some ended pods of unfinished Jobs. From now on they may be deleted.
func (c *chaos) finished() (pods []*corev1.Pod) {
	const most = 5
	c.mu.Lock()
	defer c.mu.Unlock()
	for job, all := range c.pods {
		if c.jobs[job] == nil || ended(c.jobs[job]) {
			continue
		}
		for _, pod := range all {
			if terminal(pod) && pod.DeletionTimestamp == nil && len(pods) < most {
				c.deletable[pod.UID] = true
				pods = append(pods, pod)
			}
		}
	}
	return pods
}
