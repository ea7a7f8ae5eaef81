package runtime_test

import (
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// TestKnownExpressions lists expressions that the fast path supports completely, and expressions
// that it leaves to the interpreter.
func TestKnownExpressions(t *testing.T) {
	env := newEnvironment(t)
	for when, known := range map[string]bool{
		"pod.failedContainers().all(c, c.name == 'main' || !(c.reason in ['Error', 'x']))":       true,
		"pod.containers().exists_one(c, c.kind == 'sidecar')":                                    true,
		"pod.containers().filter(c, c.restarts > 2).filter(c, c.oomKilled).size() >= 2":          true,
		"size(pod.failedContainers()) == 1 && pod.failedContainers()[0].signalName == 'SIGKILL'": true,
		"variables.failed.exists(c, c.exitCode.between(128, 159)) && variables.number > 3":       true,
		"variables.yes || variables.text == 'x'":                                                 true,
		"pod.condition('x').found":                                                               true,
		"pod.status.reason == 'Evicted'":                                                         true,
		"has(pod.status.reason) && has(pod.metadata.labels.team)":                                true,
		"pod.metadata.labels['team'] == 'x' && 'team' in pod.metadata.labels":                    true,
		"job.spec.?backoffLimit.orValue(6) < attempt && job.spec.suspend":                        true,
		"pod.status.?reason.hasValue()":                                                          true,
		"pod.failedContainers().exists(c, c.message.matches('a.*b') || c.message.contains('x'))": true,
		"pod.failedContainers().exists(c, pod.containers().exists(d, c.name == d.name))":         true,
		"(attempt > 1 ? pod.metadata.name : 'x') == string(attempt) + 'y'":                       true,
		"pod.spec.hostNetwork ? true : false":                                                    true,
		"pod.failedContainers().map(c, c.exitCode) == [1]":                                       false,
		"pod.status.?containerStatuses.orValue([]).exists(c, c.name == 'main')":                  true,
		"pod.status.conditions.exists(c, c.type == 'Ready' && c.?reason.orValue('') == 'x')":     true,
		"pod.status.?ephemeralContainerStatuses.orValue([]).exists(c, c.name == 'main')":         false,
		"pod.metadata.creationTimestamp > timestamp('2026-01-01T00:00:00Z')":                     false,
		"attempt + 1 == 2": false,
		"pod.failedContainers().exists(c, c.name.matches(c.name + 'x'))": false,
		"pod.metadata.name.size() > 3":                                   false,
		"dyn(attempt) == 1":                                              false,
		"pod.spec.overhead['cpu'] == '1'":                                false, // a Quantity only looks like a string
		"pod.kind == 'Pod'":                                              false,
		"variables.list.size() > 3":                                      false,
		"attempt in variables.list":                                      false,
	} {
		t.Run(when, func(t *testing.T) {
			spec := rules(when)
			spec.Variables = []v1alpha1.Variable{
				{Name: "failed", Expression: "pod.failedContainers()"}, {Name: "number", Expression: "attempt"},
				{Name: "yes", Expression: "attempt == 1"}, {Name: "text", Expression: "pod.metadata.name"}, {Name: "list", Expression: "[1, 2]"},
			}
			if got := compilePolicy(t, env, spec).Complete(0); got != known {
				t.Errorf("known is %t, want %t", got, known)
			}
		})
	}
}

// TestPartsAreDecided checks that the fast path still evaluates the rest of an expression with an
// unsupported part.
func TestPartsAreDecided(t *testing.T) {
	env := newEnvironment(t)
	const strange = "pod.failedContainers().map(c, c.exitCode) == [1]"
	in := runtime.Input{Pod: exitCode(1), Attempt: 1}
	for when, decided := range map[string]bool{
		strange:                                false,
		"pod.?status.reason.orValue('') == ''": true,
		"pod.?metadata.labels.team.orValue('') == ''": true,
		"pod.status.reason == ''":                     false, // an error
		strange + " && attempt > 5":                   true,
		"attempt == 1 || " + strange:                  true,
		strange + " && attempt == 1":                  false,
		"pod.containers().exists(c, c.exitCode == 1 || c.name.matches(c.name + 'x'))": true,
		"pod.containers().exists(c, c.exitCode == 2 || c.name.matches(c.name + 'x'))": false,
	} {
		if got := compilePolicy(t, env, rules(when)).Decides(0, in); got != decided {
			t.Errorf("%s: decided is %t, want %t", when, got, decided)
		}
	}
}

// TestManyPairs checks that two long lists in one predicate are not multiplied.
func TestManyPairs(t *testing.T) {
	words := "['" + strings.Repeat("a','", 450) + "']"
	when := "pod.?status.?conditions.orValue([]).exists(c, c.type in " + words + " && c.status in " + words + ")"
	env := newEnvironment(t)
	var before, after goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	policy := compilePolicy(t, env, rules(when))
	goruntime.GC()
	goruntime.ReadMemStats(&after)
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 4<<20 {
		t.Errorf("the rule holds %d bytes", held)
	}
	sameBothWays(t, when, policy)
}

// TestWhatPeopleWrite checks that typical correct rules have no findings, and that the fast path
// supports them completely.
func TestWhatPeopleWrite(t *testing.T) {
	spec := rules(
		"pod.failedContainers().exists(c, c.oomKilled)",
		"pod.neverStarted() && pod.status.?reason.orValue('') in ['Evicted', 'NodeAffinity', 'UnexpectedAdmissionError']",
		"pod.status.?reason.orValue('') == 'DeadlineExceeded'",
		"pod.hasCondition('DisruptionTarget') && pod.failedContainers().exists(c, c.exitCode == 143)",
		"pod.failedContainers().exists(c, c.exitCode.between(128, 159))",
		"pod.failedContainers().exists(c, c.signalName in ['SIGBUS', 'SIGSEGV'])",
		"pod.condition('DisruptionTarget').reason == 'PreemptionByScheduler' && attempt < 10",
		"pod.failedContainers().all(c, c.kind == 'init')",
		"pod.failedContainers().exists(c, c.name == 'main' && c.message.matches('CUDA error|NCCL'))",
		"job.metadata.?labels[?'team'].orValue('') == 'training' && job.status.?failed.orValue(0) > 10",
		"has(pod.spec.nodeName) && pod.spec.nodeName.startsWith('spot-')",
		"pod.failedContainers().exists(c, c.exitCode == 42) && !pod.containers().exists(c, c.kind == 'sidecar' && c.restarts > 3)",
		"pod.metadata.namespace == 'training' && job.spec.backoffLimit > attempt",
		"pod.failedContainers().filter(c, c.kind == 'container').size() == 1",
	)
	spec.Rules = append(spec.Rules,
		v1alpha1.Rule{Name: "image", Phase: "Pending", When: "'ImagePullBackOff' in pod.waitingReasons() && pod.pendingFor(now) > duration('10m')"},
		v1alpha1.Rule{Name: "node", Phase: "Pending", When: "pod.unschedulable() && pod.pendingFor(now) >= duration('1h30m')"},
	)
	policy := compilePolicy(t, newEnvironment(t), spec)
	for _, f := range policy.Compiled.Warnings {
		t.Error(f)
	}
	for i, r := range spec.Rules {
		if !policy.Complete(i) {
			t.Errorf("the fast path does not know all of %s", r.When)
		}
	}
}
