//go:build cluster

package tenants

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

var full = flag.Bool("tenants-full", false, "run the attacks that fill memory at their full size")

// attack is an attempt by a tenant to harm others.
type attack struct {
	name string
	// upstream describes the effect of the attack where Kubernetes' own controller runs the Jobs.
	upstream string
	// before runs when the victim has no Jobs yet, during when its Jobs run but none of their Pods has ended. Actions
	// that they start with again continue until the victim's Jobs have ended.
	before, during func(*attacker)
	// then checks further requirements when the victim's Jobs have ended, or is nil.
	then func(*attacker)
}

// slack is the delay of the victim's Jobs that is tolerated beyond twice their time: some attacks occupy a core of the
// API server, which shares the machine with other tests here.
const slack = 12 * time.Second

// TestTenants tests for each attack that the victim's Jobs end as they do without it.
func TestTenants(t *testing.T) {
	w := newTenancy(t)
	control, _ := w.peace(t)
	again, took := w.peace(t)
	if diff := cmp.Diff(control, again); diff != "" {
		t.Fatalf("two runs without an attack differ:\n%s", diff)
	}
	t.Logf("without an attack, in %v: %+v", took.Round(time.Millisecond), control)
	for _, attacks := range [][]attack{living, forgeries, extremes, books, floods} {
		for _, attack := range attacks {
			t.Run(attack.name, func(t *testing.T) { w.tryAgain(t, attack, control, took) })
		}
	}
}

// peace runs the victim's Jobs without an attack.
func (w *tenancy) peace(t *testing.T) (o outcome, took time.Duration) {
	t.Helper()
	ok := t.Run("peace", func(t *testing.T) {
		o, took = w.newVictim(t, w.newNamespace(t, "view")).run(t)
	})
	if !ok {
		t.FailNow()
	}
	return o, took
}

// tries is the number of runs in which an attack must delay the victim's Jobs to count as a failure: the machine may have
// been busy.
const tries = 3

// tryAgain repeats an attack until it causes no delay.
func (w *tenancy) tryAgain(t *testing.T, attack attack, control outcome, before time.Duration) {
	t.Helper()
	for n := range tries {
		delay := w.try(t, attack, control, before)
		if delay == nil {
			return
		}
		t.Logf("try %d: %v", n+1, delay)
	}
	t.Errorf("delayed in each of %d tries", tries)
}

// try runs the victim's Jobs under an attack. The error reports a delay.
func (w *tenancy) try(t *testing.T, attack attack, control outcome, before time.Duration) error {
	t.Helper()
	t.Cleanup(func() { w.revive(t) })
	a := &attacker{T: t, tenancy: w, user: w.user, namespace: w.newNamespace(t, "edit"), victim: w.newNamespace(t, "view")}
	testcluster.PlayKubelet(t, w.Client, a.namespace, withoutNode(exitOf))
	w.scripts.Store(a.namespace, testcluster.Script(actOf))
	under, stop := context.WithCancel(t.Context())
	a.under = under
	t.Cleanup(func() {
		stop()
		a.loops.Wait()
	})
	forgetPeak(w.replica)
	if attack.before != nil {
		attack.before(a)
	}
	v := w.newVictim(t, a.victim)
	if attack.during != nil {
		begin := time.Now()
		attack.during(a)
		v.begin = v.begin.Add(time.Since(begin)) // the attacker's own time does not count
	}
	got, took := v.run(t)
	if diff := cmp.Diff(control, got); diff != "" {
		t.Errorf("the victim's Jobs end otherwise than without the attack (-without +with):\n%s", diff)
	}
	if attack.then != nil {
		attack.then(a)
	}
	stop()
	a.loops.Wait()
	now, peak, _ := memoryOf(w.replica)
	t.Logf("the victim's Jobs took %v; the controller has %d MiB, %d at its peak", took.Round(time.Millisecond), now>>20, peak>>20)
	if took <= 2*before+slack {
		return nil
	}
	w.clear(t, a.namespace)
	_, without := w.peace(t) // the machine may have slowed down
	if took > 2*max(before, without)+slack {
		return fmt.Errorf("the victim's Jobs took %v, and at most %v before the attack and after it", took, max(before, without))
	}
	return nil
}
