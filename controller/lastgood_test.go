package controller_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

const wrong = "spec.rules[0].when:1:18: error: operator == is not for string and int (expression-type)"

// ignoring adds a policy that ignores failures with exit code 3.
func ignoring(w *world) { w.apply(customPolicy("gpu", rule("r", onCode3, ignore)), bind("gpu")) }

// expectLastGood compares the last good version in the policy's status with a generation and its rules. Generation 0 expects none.
func (w *world) expectLastGood(generation int64, rules ...v1alpha1.Rule) {
	w.t.Helper()
	var want *v1alpha1.LastGood
	if generation > 0 {
		stored := customPolicy("gpu", rules...)
		stored.SetDefaults()
		want = &v1alpha1.LastGood{Generation: generation, Spec: stored.Spec}
	}
	if diff := cmp.Diff(want, w.server.Policy("gpu").Status.LastGood); diff != "" {
		w.t.Errorf("the last good version (-want +got):\n%s", diff)
	}
}

// TestLastGoodIsRestored checks that the last good version of a policy stays in effect until the policy is corrected, even for a controller
// that has not observed that version.
func TestLastGoodIsRestored(t *testing.T) {
	inWorld(t, ignoring, func(w *world) {
		w.run(one())
		w.expectLastGood(1, rule("r", onCode3, ignore))
		w.stop()
		w.apply(customPolicy("gpu", rule("r", broken, count)))
		w.start()
		w.fail(3)
		w.expectJob("failed 0")
		w.expectReady(w.server.Policy("gpu"), "False InvalidExpressions: generation 1 stays in force: "+wrong)
		w.expectReady(w.server.Binding("gpu"), "False PolicyInvalid: PodFailurePolicy gpu does not compile: generation 1 stays in force")
		w.expectNotes("PodFailurePolicy", "Warning InvalidExpressions: generation 1 stays in force: "+wrong)
		w.expectSeries("custom_policies", map[string]float64{"ready=false": 1})
		w.expectLastGood(1, rule("r", onCode3, ignore))
		if found := w.server.Policy("gpu").Status.TypeChecking; found == nil || len(found.Findings) != 1 || found.Findings[0].Rule != "r" {
			t.Errorf("the findings are %+v", found)
		}

		writes := w.writes.Load()
		w.restart()
		w.pass(time.Hour)
		w.fail(3)
		w.expectJob("failed 0")
		if more := w.writes.Load() - writes; more != 0 {
			t.Errorf("there were %d writes after a restart", more)
		}

		w.apply(customPolicy("gpu", rule("s", onCode3, count)))
		w.fail(3)
		w.expectJob("failed 1")
		w.expectReady(w.server.Policy("gpu"), "True Compiled: every expression compiles")
		w.expectNotes("PodFailurePolicy", "Normal Compiled: every expression compiles", "Warning InvalidExpressions: generation 1 stays in force: "+wrong)
		if found := w.server.Policy("gpu").Status.TypeChecking; found != nil {
			t.Errorf("the findings are %+v", found)
		}
		w.expectLastGood(3, rule("s", onCode3, count))
		w.apply(customPolicy("gpu", rule("r", broken, ignore)))
		w.restart()
		w.fail(3)
		w.expectJob("failed 2")
		w.expectReady(w.server.Policy("gpu"), "False InvalidExpressions: generation 3 stays in force: "+wrong)
	})
}

// TestLastGoodIsNotAnothers checks that a policy that replaces another one of the same name has no last good version, whether or not a
// controller observed the replacement.
func TestLastGoodIsNotAnothers(t *testing.T) {
	for name, away := range map[string]bool{"seen": false, "while no controller ran": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, ignoring, func(w *world) {
				w.run(one())
				if away {
					w.stop()
				}
				w.server.Delete(memoryapi.Policies, "gpu")
				w.apply(customPolicy("gpu", rule("r", broken, ignore)))
				if away {
					w.start()
				}
				w.fail(3)
				w.expectJob("failed 1")
				w.expectReady(w.server.Policy("gpu"), "False InvalidExpressions: not in force: "+wrong)
				w.expectReady(w.server.Binding("gpu"), "False PolicyInvalid: PodFailurePolicy gpu does not compile: not in force")
				w.expectLastGood(0)
			})
		})
	}
}

// TestLastGoodIsNotUsable checks that a version that this program cannot compile is kept in the status, for a program that can.
func TestLastGoodIsNotUsable(t *testing.T) {
	for name, kept := range map[string]*v1alpha1.LastGood{
		"does not compile":    {Generation: 1, Spec: customPolicy("gpu", rule("r", "unheardOf()", ignore)).Spec},
		"is invalid":          {Generation: 1, Spec: customPolicy("gpu", rule("r", onCode3, "Explode")).Spec},
		"is the current one":  {Generation: 2, Spec: customPolicy("gpu", rule("r", onCode3, ignore)).Spec},
		"is yet to come":      {Generation: 3, Spec: customPolicy("gpu", rule("r", onCode3, ignore)).Spec},
		"could not be parsed": {},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, ignoring, func(w *world) {
				w.run(one())
				w.stop()
				w.apply(customPolicy("gpu", rule("r", broken, ignore)))
				w.server.ChangePolicy("gpu", func(p *v1alpha1.PodFailurePolicy) { p.Status.LastGood = kept })
				w.start()
				w.fail(3)
				w.expectJob("failed 1")
				w.expectReady(w.server.Policy("gpu"), "False InvalidExpressions: not in force: "+wrong)
				if diff := cmp.Diff(kept, w.server.Policy("gpu").Status.LastGood); diff != "" {
					t.Errorf("the last good version (-want +got):\n%s", diff)
				}
				writes := w.writes.Load()
				w.pass(time.Hour)
				if more := w.writes.Load() - writes; more != 0 {
					t.Errorf("there were %d writes more", more)
				}
			})
		})
	}
}

// TestLastGoodOfMemoryComesFirst checks that a version compiled by the controller itself is in effect, regardless of the status.
func TestLastGoodOfMemoryComesFirst(t *testing.T) {
	inWorld(t, ignoring, func(w *world) {
		w.run(one())
		for i := range 2 {
			w.server.ChangePolicy("gpu", func(p *v1alpha1.PodFailurePolicy) {
				p.Status.LastGood = &v1alpha1.LastGood{Generation: 1, Spec: customPolicy("gpu", rule("r", onCode3, failJob)).Spec}
			})
			w.apply(customPolicy("gpu", rule("r", broken, ignore), rule(strings.Repeat("s", i+1), "true", ignore)))
			w.fail(3)
			w.expectJob("failed 0")
			w.expectLastGood(1, rule("r", onCode3, ignore))
		}
	})
}

// TestLastGoodIsLookedForAgain checks that a controller without a good version reads the status again when the policy changes.
func TestLastGoodIsLookedForAgain(t *testing.T) {
	inWorld(t, func(w *world) { w.apply(customPolicy("gpu", rule("r", broken, ignore)), bind("gpu")) }, func(w *world) {
		w.run(one())
		w.fail(3)
		w.expectJob("failed 1")
		w.server.ChangePolicy("gpu", func(p *v1alpha1.PodFailurePolicy) {
			p.Status.LastGood = &v1alpha1.LastGood{Generation: 1, Spec: customPolicy("gpu", rule("r", onCode3, ignore)).Spec}
		})
		w.apply(customPolicy("gpu", rule("s", broken, ignore)))
		w.fail(3)
		w.expectJob("failed 1")
	})
}

// TestLastGoodIsTooLarge checks that if a version is too large for the status, an older one is removed from it, because it would be
// restored instead.
func TestLastGoodIsTooLarge(t *testing.T) {
	large := []v1alpha1.Rule{rule("large", onCode3, count)}
	for i := range 30 {
		large = append(large, rule(strings.Repeat("r", i+1), "'"+strings.Repeat("<", 4000)+"' == ''", count)) // 24 kB in JSON
	}
	inWorld(t, ignoring, func(w *world) {
		w.run(one())
		w.apply(customPolicy("gpu", large...))
		w.expectReady(w.server.Policy("gpu"), "True Compiled: every expression compiles; there are 30 warnings")
		w.expectLastGood(0)
		w.apply(customPolicy("gpu", rule("r", broken, ignore)))
		w.fail(3)
		w.expectJob("failed 1")
		w.expectSeries("custom_policy_verdicts_total", map[string]float64{"action=Count,class=,mode=enforce,policy=gpu,rule=large": 1})
		w.expectReady(w.server.Policy("gpu"), "False InvalidExpressions: generation 2 stays in force: "+wrong)
		w.expectLastGood(0)
		w.restart()
		w.expectReady(w.server.Policy("gpu"), "False InvalidExpressions: not in force: "+wrong)
	})
}
