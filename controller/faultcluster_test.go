package controller_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

const (
	namespace = "ns"
	jobName   = "train"
)

// cluster is an in-memory API server with one Job, a controller that runs it, and simulated users, schedulers and kubelets. It runs
// in a synctest bubble with virtual time, in which the test controls every event.
type cluster struct {
	kubelet
	*invariants

	t       *testing.T
	options controller.Options
	wire    *wire
	kill    func()
	// acts are the actions of users, and acted is the number of completed ones.
	acts  []act
	acted int
	// writes counts the calls that change Jobs and pods, across all restarts of the controller. At write number cutAt the controller
	// crashes: after the write takes effect if cutAfter is set, and before it otherwise.
	writes, cutAt int
	cutAfter      bool
	crashes       int
	// spoiled is true if the status already breaks the API server's rules.
	spoiled bool
	// vain is the number of consecutive writes without effect, since vainSince.
	vain      int
	vainSince time.Time
}

// act is an action of users. It is performed when its condition is met and nothing else happens.
type act struct {
	when func(*cluster) bool
	do   func(*cluster)
}

// newCluster stores the scenario's Job and starts the first controller.
func newCluster(t *testing.T, s scenario) *cluster {
	t.Helper()
	server := memoryapi.New(time.Now)
	c := &cluster{
		t: t, kubelet: kubelet{server: server, fate: s.fate}, invariants: newInvariants(), acts: s.acts,
		options: controller.Options{Settings: s.settings},
	}
	c.calm, server.ListsOnly = s.calm, s.listsOnly
	server.Watch(c.observe)
	for _, o := range s.policies {
		c.policed = true
		if err := server.Apply(o); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range s.mending {
		c.retried = &retried{matches: map[int]map[types.UID]matched{}}
		if err := server.Apply(o); err != nil {
			t.Fatal(err)
		}
	}
	if s.lives != "" {
		c.lives = &lives{nodes: map[string][]epoch{}}
		c.spares = s.lives == ignore
		c.setNode("node-0", true)
		c.setNode("node-1", true)
	}
	if _, err := server.CreateJob(s.job); err != nil {
		t.Fatal(err)
	}
	return c
}

// start starts a new controller without the state of the previous one.
func (c *cluster) start() {
	c.t.Helper()
	c.wire = newWire(c.server, c.checkEnd)
	options := c.options
	options.Config = memoryapi.Config(c.wire)
	live, err := controller.New(options)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(klog.NewContext(c.t.Context(), logr.Discard()))
	done := make(chan error, 1)
	go func() { done <- live.Run(ctx) }()
	c.kill = func() {
		c.wire.cut()
		cancel()
		if err := <-done; err != nil {
			c.violatedf("the controller ends with an error: %v", err)
		}
	}
}

// crash kills the controller and starts another one.
func (c *cluster) crash() {
	c.crashes++
	c.logf("crash")
	c.kill()
	c.start()
}

// serve lets a request through, unless the controller is to crash at it.
func (c *cluster) serve(q *request) {
	c.logf("%s: %s", q.Call, objectOf(q))
	if !q.Writes() {
		c.wire.serve(q)
		return
	}
	c.writes++
	if c.writes == c.cutAt {
		if c.cutAfter {
			c.wire.effect(q)
		}
		c.crash()
		return
	}
	before := c.changes
	if code := c.wire.serve(q); code == http.StatusUnprocessableEntity && !c.spoiled {
		c.violatedf("%s is refused: %q", q.Call, q.Body)
	}
	if c.changes > before {
		c.vain, c.vainSince = 0, time.Now()
		return
	}
	c.vain++
	if took := time.Since(c.vainSince); c.vain > 100 && took < time.Duration(c.vain)*100*time.Millisecond {
		c.violatedf("hot loop: %d calls without effect in %v", c.vain, took)
	}
}

// work serves the controller's calls until it makes none for longer than the first back-off, or for ten minutes at most.
func (c *cluster) work() {
	for until := time.Now().Add(10 * time.Minute); len(c.violations) == 0 && time.Now().Before(until); {
		synctest.Wait()
		if waiting := c.wire.requests(); len(waiting) > 0 {
			c.serve(waiting[0])
		} else if c.pause(15 * time.Second) {
			return
		}
	}
}

// moveAll moves all pods to their next stage, without waiting for the controller.
func (c *cluster) moveAll() {
	for _, pod := range c.busy() {
		c.kubelet.move(pod)
	}
}

// settle lets everything happen, one event at a time, until the Job has ended and nothing happens any more.
func (c *cluster) settle() {
	c.server.Release(memoryapi.Jobs, memoryapi.Pods)
	const stuck, enough = 2 * time.Hour, 5000
	quiet := time.Duration(0)
	before := c.writes
	for len(c.violations) == 0 {
		if synctest.Wait(); c.writes-before > enough {
			c.violatedf("%d writes and no end", enough)
		}
		if waiting := c.wire.requests(); len(waiting) > 0 {
			c.serve(waiting[0])
			quiet = 0
			continue
		}
		if !c.pause(time.Second + quiet/2) {
			continue
		}
		quiet += time.Second + quiet/2
		switch {
		case c.act() || c.move():
			quiet = 0
		case quiet < time.Minute:
		case c.over():
			return
		case quiet > stuck:
			c.violatedf("the job does not end: %s", statusText(c.job))
		}
	}
}

// pause waits for a call of the controller, and reports whether the period ended without one.
func (c *cluster) pause(period time.Duration) bool {
	timeout := time.NewTimer(period)
	defer timeout.Stop()
	select {
	case <-c.wire.arrived:
		return false
	case <-timeout.C:
		return true
	}
}

// act performs the next action of users if its condition is met.
func (c *cluster) act() bool {
	if c.acted == len(c.acts) || c.job == nil || !c.acts[c.acted].when(c) {
		return false
	}
	c.logf("act %d", c.acted)
	c.acts[c.acted].do(c)
	c.acted++
	return true
}

// move moves one pod, if any can move.
func (c *cluster) move() bool {
	busy := c.busy()
	if len(busy) > 0 {
		c.kubelet.move(busy[0])
	}
	return len(busy) > 0
}

// over reports whether the Job has ended or is deleted, and no pod is held.
func (c *cluster) over() bool {
	if c.acted < len(c.acts) || c.job != nil && !ended(c.job) {
		return false
	}
	for _, pod := range c.server.Pods() {
		if _, _, made := slotAndAttempt(pod); made && held(pod) {
			return false
		}
	}
	return true
}

// changeJob changes the spec as a user.
func (c *cluster) changeJob(change func(*batchv1.JobSpec)) {
	c.server.ChangeJob(namespace, jobName, func(job *batchv1.Job) {
		change(&job.Spec)
		job.Generation++
	})
}

// count returns the number of the Job's pods for which like is true.
func (c *cluster) count(like func(*corev1.Pod) bool) int {
	n := 0
	for _, pod := range c.server.Pods() {
		if like(pod) {
			n++
		}
	}
	return n
}

// outcome returns the Job's final status without times.
func (c *cluster) outcome() string {
	if c.job == nil {
		return "gone"
	}
	s := c.job.Status.DeepCopy()
	s.StartTime, s.CompletionTime = nil, nil
	for i := range s.Conditions {
		s.Conditions[i].LastTransitionTime.Reset()
		s.Conditions[i].LastProbeTime.Reset()
	}
	text, err := json.Marshal(s)
	if err != nil || slices.ContainsFunc(s.Conditions, func(c batchv1.JobCondition) bool { return c.Type == plan.LedgerCondition }) {
		c.violatedf("%v, a ledger is left in %s", err, text)
	}
	return string(text)
}

// isolated runs a scenario's cluster in a separate bubble, from the start of the first controller to the end of the last.
func isolated(t *testing.T, s scenario, run func(*cluster)) *cluster {
	t.Helper()
	var ran *cluster
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		ran = newCluster(t, s)
		ran.start()
		run(ran)
		ran.kill()
	})
	return ran
}
