package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/kube/restart"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
	"github.com/podverdict/podverdict/runtime"
)

// TestShadowedRulesNeverDecide checks the analysis on pairs of random rules over the same few values, for the Pods of all scenarios
// and for random ones.
func TestShadowedRulesNeverDecide(t *testing.T) {
	env := newEnvironment(t)
	shadowed := 0
	for seed := range uint64(draws(1500, 200)) {
		r := rand.New(rand.NewPCG(seed, 9))
		wide, narrow := related(r, 2), related(r, 2)
		policy, err := newPolicy(env, rules(wide, narrow))
		if err != nil {
			t.Fatal(err)
		}
		if !isShadowed(policy.Compiled.Warnings) {
			continue
		}
		shadowed++
		for _, pod := range relatedPods(r) {
			in := runtime.Input{Pod: pod, Job: plausibleJob(r), Attempt: int64(1 + r.IntN(5)), Now: someTime}
			if m, err := policy.Evaluate(t.Context(), in); m.Rule == 1 {
				t.Fatalf("seed %d: %s decides after %s on attempt %d, error %v:\n%+v", seed, narrow, wide, in.Attempt, err, pod.Status)
			}
		}
	}
	t.Logf("%d are shadowed", shadowed)
	if shadowed < draws(1500, 200)/50 {
		t.Errorf("only %d rules are shadowed: the test tests nothing", shadowed)
	}
}

func isShadowed(all []compiler.Finding) bool {
	for _, f := range all {
		if f.Check == compiler.CheckUnreachable && f.Rule == 1 {
			return true
		}
	}
	return false
}

// related returns a rule over a few values, in many forms.
func related(r *rand.Rand, depth int) string {
	if depth == 0 {
		return comparison(r, "attempt", "pod.status.?reason.orValue('')", "pod.neverStarted()")
	}
	switch r.IntN(6) {
	case 0, 1:
		return "(" + related(r, depth-1) + " && " + related(r, depth-1) + ")"
	case 2:
		return "(" + related(r, depth-1) + " || " + related(r, depth-1) + ")"
	case 3:
		return related(r, 0)
	default:
		within := comparison(r, "c.exitCode", "c.reason", "c.oomKilled")
		for range r.IntN(3) {
			within += pick(r, []string{" && ", " || "}) + comparison(r, "c.exitCode", "c.reason", "c.oomKilled")
		}
		list := pick(r, []string{"pod.failedContainers()", "pod.failedContainers()", "pod.containers()"})
		return fmt.Sprintf("%s.%s(c, %s)", list, pick(r, []string{"exists", "exists", "all"}), within)
	}
}

// comparison returns a term with a number, a word or a bool.
func comparison(r *rand.Rand, number, word, truth string) string {
	n := func() string { return pick(r, []string{"1", "2", "3", "42", "137"}) }
	w := func() string { return pick(r, []string{"'Error'", "'OOMKilled'", "'Evicted'", "''"}) }
	not := pick(r, []string{"", "", "!"})
	switch r.IntN(7) {
	case 0:
		return not + truth
	case 1:
		return fmt.Sprintf("%s %s %s", word, pick(r, []string{"==", "!="}), w())
	case 2:
		return fmt.Sprintf("%s(%s in [%s, %s])", not, word, w(), w())
	case 3:
		return fmt.Sprintf("%s(%s in [%s, %s, %s])", not, number, n(), n(), n())
	case 4:
		return fmt.Sprintf("%s%s.between(%s, %s)", not, number, n(), n())
	default:
		return fmt.Sprintf("%s(%s %s %s)", not, number, pick(r, []string{"==", "!=", "<", "<=", ">", ">="}), n())
	}
}

// relatedPods returns failed pods with the values of comparison.
func relatedPods(r *rand.Rand) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, name := range scenarios.Names() {
		pods = append(pods, scenarios.Find(name).Pod(scenarios.PlainJob(), restart.Gates{}))
	}
	for range 60 {
		pod := plausiblePod(r)
		pod.Status.Reason = pick(r, []string{"", "Error", "OOMKilled", "Evicted"})
		for i := range pod.Status.ContainerStatuses {
			if ended := pod.Status.ContainerStatuses[i].State.Terminated; ended != nil {
				ended.ExitCode = pick(r, []int32{0, 1, 2, 3, 4, 42, 137})
			}
		}
		pods = append(pods, pod)
	}
	for _, pod := range pods {
		pod.Status.Phase = corev1.PodFailed
	}
	return pods
}
