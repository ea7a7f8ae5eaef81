//go:build cluster && unix

package fault

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

// fault is a fault that is repaired again: when strike returns, everything but the Jobs is as before.
type fault struct {
	name   string
	strike func(*chaos, *testing.T)
}

// faults lists all kinds of faults.
//
//nolint:thelper // methods have their receiver before it
var faults = []fault{
	{"leader killed", func(c *chaos, t *testing.T) { c.leader(t).signal(syscall.SIGKILL) }},
	{"both replicas killed", func(c *chaos, _ *testing.T) {
		for _, r := range c.replicas {
			r.signal(syscall.SIGKILL)
		}
	}},
	{"leader paused past its lease", (*chaos).pausePastLease},
	{"leader paused", func(c *chaos, t *testing.T) {
		leader := c.leader(t)
		leader.signal(syscall.SIGSTOP)
		c.sleep(500*time.Millisecond, leaseDuration)
		leader.signal(syscall.SIGCONT)
	}},
	{"leader stopped, another clock", (*chaos).stepClock},
	{"API server killed", func(c *chaos, t *testing.T) { c.killed(t, controlplane.APIServer) }},
	{"etcd killed", func(c *chaos, t *testing.T) { c.killed(t, controlplane.Etcd) }},
	{"everything killed", func(c *chaos, t *testing.T) {
		for _, r := range c.replicas {
			r.signal(syscall.SIGKILL)
		}
		c.killed(t, controlplane.APIServer, controlplane.Etcd)
	}},
	{"API server paused", func(c *chaos, t *testing.T) { c.paused(t, controlplane.APIServer) }},
	{"etcd paused", func(c *chaos, t *testing.T) { c.paused(t, controlplane.Etcd) }},
	{"etcd compacted", (*chaos).compact},
	{"slow network", func(c *chaos, _ *testing.T) { c.weatherIs(slowed, c.replicas...) }},
	{"calls throttled", func(c *chaos, _ *testing.T) { c.weatherIs(throttled, c.replicas...) }},
	{"calls refused", func(c *chaos, _ *testing.T) { c.weatherIs(refused, c.replicas...) }},
	{"leader cut off", func(c *chaos, t *testing.T) { c.weatherIs(cut, c.leader(t)) }},
	{"leader's writes late", (*chaos).delay},
	{"finished pods deleted", (*chaos).removeFinished},
}

// leader waits until a replica holds the lease.
func (c *chaos) leader(t *testing.T) (leader *replica) {
	t.Helper()
	until(t, "there is a leader", func() bool {
		leader = c.latest()
		return time.Since(leader.lastRenewed()) < leaseDuration
	})
	return leader
}

// latest returns the replica that wrote the lease last.
func (c *chaos) latest() *replica {
	return slices.MaxFunc(c.replicas, func(a, b *replica) int { return a.lastRenewed().Compare(b.lastRenewed()) })
}

// pausePastLease pauses the leader until the other replica has worked for a while.
func (c *chaos) pausePastLease(t *testing.T) {
	t.Helper()
	leader := c.leader(t)
	leader.signal(syscall.SIGSTOP)
	defer leader.signal(syscall.SIGCONT)
	c.followed(t, leader)
}

// delay delivers the leader's calls only after the other replica has worked for a while.
func (c *chaos) delay(t *testing.T) {
	t.Helper()
	leader := c.leader(t)
	leader.change(held)
	c.followed(t, leader)
	leader.deliver()
	leader.change(fair)
}

// followed waits until another replica has held the lease for a while.
func (c *chaos) followed(t *testing.T, leader *replica) {
	t.Helper()
	until(t, "another replica has the lease", func() bool { return c.latest() != leader })
	c.sleep(0, 2*time.Second)
}

// stepClock makes another replica, with a different clock, take over immediately.
func (c *chaos) stepClock(t *testing.T) {
	t.Helper()
	leader := c.leader(t)
	if leader == c.replicas[0] {
		c.replicas[1].signal(syscall.SIGKILL) // its next life has a different clock
		time.Sleep(retryPeriod)
	}
	leader.signal(syscall.SIGTERM)
}

// killed kills components, and restarts them in reverse order.
func (c *chaos) killed(t *testing.T, components ...controlplane.Component) {
	t.Helper()
	for _, component := range components {
		if err := c.Cluster.Kill(component); err != nil {
			t.Fatal(err)
		}
	}
	c.sleep(0, 2*time.Second)
	for i := range components {
		if _, err := controlplane.Open(components[len(components)-1-i]); err != nil {
			t.Fatal(err)
		}
	}
}

// paused pauses a component for longer than the timeout of some calls.
func (c *chaos) paused(t *testing.T, component controlplane.Component) {
	t.Helper()
	if err := c.Cluster.Pause(component); err != nil {
		t.Fatal(err)
	}
	c.sleep(time.Second, 6*time.Second)
	if err := c.Cluster.Resume(component); err != nil {
		t.Fatal(err)
	}
}

// compact makes etcd forget all versions that the replicas could resume from, while their watches are cut off.
func (c *chaos) compact(t *testing.T) {
	t.Helper()
	for _, r := range c.replicas {
		r.change(cut)
	}
	c.sleep(0, time.Second)
	err := c.Cluster.Compact()
	for _, r := range c.replicas {
		r.change(fair)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// weatherIs sets the weather of some replicas for a while.
func (c *chaos) weatherIs(w weather, replicas ...*replica) {
	for _, r := range replicas {
		r.change(w)
	}
	c.sleep(2*time.Second, 5*time.Second)
	for _, r := range replicas {
		r.change(fair)
	}
}
