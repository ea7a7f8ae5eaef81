package runtime_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
)

// drawAge returns an expression over the ages of a pod.
func drawAge(t *rapid.T, depth int) string {
	sub := func() string { return drawAge(t, depth-1) }
	if depth == 0 {
		age := fmt.Sprintf("pod.%s(now)", rapid.SampledFrom([]string{"pendingFor", "runningFor", "terminatingFor", "notReadyFor"}).Draw(t, "function"))
		limit := fmt.Sprintf("duration('%ds')", rapid.IntRange(-1, 4).Draw(t, "limit"))
		if rapid.Bool().Draw(t, "turned") {
			age, limit = limit, age
		}
		return age + rapid.SampledFrom([]string{" < ", " <= ", " > ", " >= "}).Draw(t, "operator") + limit
	}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return "!(" + sub() + ")"
	case 1:
		return "(" + sub() + " && " + sub() + ")"
	case 2:
		return "(" + sub() + " || " + sub() + ")"
	case 3:
		return "(" + sub() + " ? " + sub() + " : " + sub() + ")"
	case 4:
		return "[1, 2].exists(x, x == attempt && " + sub() + ")"
	default:
		return "(pod.restarts() > 1 || " + sub() + ")"
	}
}

// drawAged returns a pod with all events within some seconds of an instant.
func drawAged(t *rapid.T, instant time.Time) *corev1.Pod {
	at := func(name string) metav1.Time {
		return metav1.NewTime(instant.Add(time.Duration(rapid.IntRange(-2, 3).Draw(t, name)) * time.Second))
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", CreationTimestamp: at("created")}}
	pod.Status.Phase = rapid.SampledFrom([]corev1.PodPhase{corev1.PodPending, corev1.PodRunning}).Draw(t, "phase")
	if rapid.Bool().Draw(t, "started") {
		pod.Status.StartTime = new(at("start"))
	}
	if rapid.Bool().Draw(t, "conditions") {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodReady, Status: rapid.SampledFrom([]corev1.ConditionStatus{"True", "False"}).Draw(t, "ready"), LastTransitionTime: at("transition"),
		}}
	}
	if rapid.IntRange(0, 2).Draw(t, "deleted") == 0 {
		pod.DeletionTimestamp = new(at("deletion"))
	}
	return pod
}

// TestDue checks that the result of a rule does not change before its pod is due, and that the due times eventually end.
func TestDue(t *testing.T) {
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	changes := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			instant := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			pod := drawAged(t, instant)
			p := &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			for i := range rapid.IntRange(1, 2).Draw(t, "rules") {
				p.Spec.Rules = append(p.Spec.Rules, v1alpha1.Rule{
					Name: fmt.Sprint("r", i), Phase: v1alpha1.PhaseOf(pod), Action: "Count", When: drawAge(t, rapid.IntRange(0, 3).Draw(t, "depth")),
				})
			}
			p.SetDefaults()
			policy, err := runtime.NewCustomPolicy(environment, p)
			if err != nil {
				t.Fatal(err)
			}
			changes += checkDue(t, policy, pod, instant)
		}
	})
	if changes < 20 {
		t.Errorf("only %d times a rule changed its mind", changes)
	}
}

// checkDue evaluates a policy between consecutive due times of the pod until there are no more, and returns the number of times
// that the result changed.
func checkDue(t *rapid.T, policy *runtime.Policy, pod *corev1.Pod, instant time.Time) (changes int) {
	said := func(now time.Time) string {
		v, _ := policy.Living(t.Context(), runtime.Input{Pod: pod, Attempt: 1, Now: now})
		return fmt.Sprint(v.Matched, v.RuleName, v.Err)
	}
	now := instant.Add(-5 * time.Second)
	for n := 0; ; n++ {
		due, polled := policy.Due(pod, now)
		if polled || n > 30 {
			t.Fatalf("polled %t, %d times", polled, n)
		}
		end := due
		if due.IsZero() {
			end = instant.Add(time.Minute)
		}
		before := said(now)
		for _, at := range []time.Time{end.Add(-1), now.Add(time.Duration(rapid.Int64Range(0, int64(end.Sub(now))-1).Draw(t, "at")))} {
			if got := said(at); got != before {
				t.Fatalf("%s at %v, %s at %v, and due at %v\n%v", before, now, got, at, due, policy.Rules)
			}
		}
		if due.IsZero() {
			return changes
		}
		if said(due) != before {
			changes++
		}
		now = due
	}
}
